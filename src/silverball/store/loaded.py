"""Tournaments kept in memory at a revision, so that a result need not load a night from its rows."""

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
    # The newest action in the journal; None when nobody has looked.
    newest_action_id: int | None = None


class SnapshotCache:
    """The tournaments that were worked on lately."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tournaments: OrderedDict[int, LoadedTournament] = OrderedDict()

    def get(self, tournament_id: int, revision: int) -> LoadedTournament | None:
        """The tournament, if it is kept at just this revision."""
        with self._lock:
            kept = self._tournaments.get(tournament_id)
            if kept is None or kept.revision != revision:
                return None
            self._tournaments.move_to_end(tournament_id)
            return kept

    def put(self, kept: LoadedTournament) -> None:
        """Keep it, unless a newer one is kept already."""
        key = kept.tournament.tournament_id
        with self._lock:
            old = self._tournaments.get(key)
            if old is not None and old.revision > kept.revision:
                return
            self._tournaments[key] = kept
            self._tournaments.move_to_end(key)
            while len(self._tournaments) > TOURNAMENTS_CACHED_MAX:
                self._tournaments.popitem(last=False)
