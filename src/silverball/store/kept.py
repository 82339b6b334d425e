"""Tournaments kept in memory at a revision, so that a result need not load a night from its rows."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from silverball.rules.tournament import Tournament

KEPT_MAX = 64


@dataclass(frozen=True)
class Kept:
    """A tournament at a revision, with its stored standings (player id -> row as text)."""

    revision: int
    tournament: Tournament
    standings: Mapping[int, str] = field(default_factory=dict)
    # The newest action in the journal; None when nobody has looked.
    action_id: int | None = None


class Snapshots:
    """The tournaments that were worked on lately."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, Kept] = OrderedDict()

    def get(self, tournament_id: int, revision: int) -> Kept | None:
        """The tournament, if it is kept at just this revision."""
        with self._lock:
            kept = self._kept.get(tournament_id)
            if kept is None or kept.revision != revision:
                return None
            self._kept.move_to_end(tournament_id)
            return kept

    def put(self, kept: Kept) -> None:
        """Keep it, unless a newer one is kept already."""
        key = kept.tournament.tournament_id
        with self._lock:
            old = self._kept.get(key)
            if old is not None and old.revision > kept.revision:
                return
            self._kept[key] = kept
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT_MAX:
                self._kept.popitem(last=False)
