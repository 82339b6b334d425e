"""Tournaments in memory by revision, so that a result need not load a whole night from its rows."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from silverball.rules.model.tournament import Tournament

TOURNAMENTS_CACHED_MAX = 64
# Execution option of every connection: the tournaments that the process has in memory.
SNAPSHOTS = "silverball_snapshots"


@dataclass(frozen=True)
class LoadedTournament:
    """A tournament at a revision, with its stored standings (player id -> row as text)."""

    revision: int
    tournament: Tournament
    standings: Mapping[int, str] = field(default_factory=dict)
    # The newest action in the journal; None when it was not looked up.
    newest_action_id: int | None = None


class SnapshotCache:
    """The most recently used tournaments of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tournaments: OrderedDict[int, LoadedTournament] = OrderedDict()

    def get(self, tournament_id: int, revision: int) -> LoadedTournament | None:
        """The tournament, if it is cached at exactly this revision."""
        with self._lock:
            cached = self._tournaments.get(tournament_id)
            if cached is None or cached.revision != revision:
                return None
            self._tournaments.move_to_end(tournament_id)
            return cached

    def add(self, loaded: LoadedTournament) -> None:
        """Cache the tournament, unless a newer revision of it is cached already."""
        tournament_id = loaded.tournament.tournament_id
        with self._lock:
            cached = self._tournaments.get(tournament_id)
            if cached is not None and cached.revision > loaded.revision:
                return
            self._tournaments[tournament_id] = loaded
            self._tournaments.move_to_end(tournament_id)
            while len(self._tournaments) > TOURNAMENTS_CACHED_MAX:
                self._tournaments.popitem(last=False)
