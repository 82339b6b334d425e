"""Tournaments in memory by revision, so that a result need not load a whole night from its rows."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from silverball.rules.model.tournament import Tournament
from silverball.store.revisions.stamps import Revision
from silverball.store.tournament.chain import JournalEnd

TOURNAMENTS_CACHED_MAX = 64
# Earlier states share with the present one whatever has not changed since.
PAST_CACHED_MAX = 64
# Execution option of every connection: the tournaments that the process has in memory.
SNAPSHOTS = "silverball_snapshots"


class DerivedOnce:
    """A value that the first who asks computes, while others wait for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: list[Any] = []

    def get(self, compute: Callable[[], Any]) -> Any:
        """The value; every caller has to give the same function. What it raises is not kept."""
        with self._lock:
            if not self._values:
                self._values.append(compute())
            return self._values[0]


class LoadedTournament(Struct, frozen=True):
    """A tournament at a revision."""

    revision: Revision
    tournament: Tournament
    # The newest line of the journal; None when it was not looked up.
    journal_end: JournalEnd | None = None
    # The games whose rows have facts that came with an import, and that the rules do not know.
    imported_fact_ids: frozenset[int] = frozenset()
    # Its standings, ranked when somebody asks for them.
    ranking: DerivedOnce = field(default_factory=DerivedOnce)


class SnapshotCache:
    """The most recently used tournaments of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tournaments: OrderedDict[int, LoadedTournament] = OrderedDict()
        # By tournament, action of its journal, and revision of the tournament when it was rebuilt.
        self._past: OrderedDict[tuple[int, int, Revision], Tournament] = OrderedDict()

    def get(self, tournament_id: int, revision: Revision) -> LoadedTournament | None:
        """The tournament, if it is cached at exactly this revision."""
        with self._lock:
            cached = self._tournaments.get(tournament_id)
            if cached is None or cached.revision != revision:
                return None
            self._tournaments.move_to_end(tournament_id)
            return cached

    def add(self, loaded: LoadedTournament) -> LoadedTournament:
        """Cache the tournament, unless a newer revision of it is cached already.

        Returns the one that is cached at this revision, so that all who load it rank it once.
        """
        tournament_id = loaded.tournament.tournament_id
        with self._lock:
            cached = self._tournaments.get(tournament_id)
            if cached is not None and cached.revision == loaded.revision:
                return cached
            if cached is not None and cached.revision.number > loaded.revision.number:
                return loaded
            self._tournaments[tournament_id] = loaded
            self._tournaments.move_to_end(tournament_id)
            while len(self._tournaments) > TOURNAMENTS_CACHED_MAX:
                self._tournaments.popitem(last=False)
        return loaded

    def find_past(self, tournament_id: int, action_id: int, revision: Revision) -> Tournament | None:
        """The tournament after this action, if it was rebuilt from exactly this revision."""
        with self._lock:
            return self._past.get((tournament_id, action_id, revision))

    def add_past(self, past: Tournament, action_id: int, revision: Revision) -> None:
        """Cache the tournament as it stood after this action."""
        with self._lock:
            self._past[past.tournament_id, action_id, revision] = past
            while len(self._past) > PAST_CACHED_MAX:
                self._past.popitem(last=False)

    def clear(self) -> None:
        """Forget all tournaments."""
        with self._lock:
            self._tournaments.clear()
            self._past.clear()
