"""Totals and ids of long lists, kept in memory by filter and revision.

A page costs as much as its rows, but counting costs as much as the whole list. What is kept holds as
long as no process commits anything: every commit raises the revision of the world, which is read in the
snapshot that the list is read in.
"""

import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable, Hashable

from msgspec import Struct
from sqlalchemy import Connection, func, select

from silverball.store import tables
from silverball.store.database.statements import Statement
from silverball.store.database.transaction import WRITES
from silverball.store.revisions.stamps import Revision

# Ids of all lists together, 4 MB; a list costs this many more for its filter.
IDS_KEPT_MAX = 500_000
LIST_COST = 100
# Execution option of every connection: the lists that the process has in memory.
LISTS = "silverball_lists"
_WORLD = tables.world.c
_WORLD_REVISION = Statement(
    select(func.sum(_WORLD.revision).label("revision"), func.sum(_WORLD.stamp).label("stamp"))
)


class KeptList(Struct, frozen=True):
    """The number of rows that pass a filter, and the ids of the first of them where no index has them."""

    total: int
    ids: "array[int]"


class KeptLists:
    """The most recently used lists of one database."""

    def __init__(self, ids_max: int = IDS_KEPT_MAX) -> None:
        self._lock = threading.Lock()
        self._ids_max = ids_max
        self._cost = 0
        # Filter -> revision of the world, and the list at that revision.
        self._lists: OrderedDict[Hashable, tuple[Revision, KeptList]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._lists)

    def get(self, filters: Hashable, revision: Revision) -> KeptList | None:
        """The list, if it is kept as of exactly this revision."""
        with self._lock:
            kept = self._lists.get(filters)
            if kept is None or kept[0] != revision:
                return None
            self._lists.move_to_end(filters)
            return kept[1]

    def keep(self, filters: Hashable, revision: Revision, found: KeptList) -> None:
        """Keep the list, unless that of a newer revision is kept; drop the least recently used to fit it."""
        with self._lock:
            kept = self._lists.get(filters)
            if kept is not None and kept[0].number > revision.number:
                return
            self._drop(filters)
            self._lists[filters] = (revision, found)
            self._cost += LIST_COST + len(found.ids)
            while self._cost > self._ids_max:
                self._drop(next(iter(self._lists)))

    def clear(self) -> None:
        """Forget all lists."""
        with self._lock:
            self._lists.clear()
            self._cost = 0

    def _drop(self, filters: Hashable) -> None:
        dropped = self._lists.pop(filters, None)
        if dropped is not None:
            self._cost -= LIST_COST + len(dropped[1].ids)


def kept_list(db: Connection, filters: Hashable, find: Callable[[], KeptList]) -> KeptList:
    """The list with these filters; `find` reads it from the database when it is not kept."""
    options = db.get_execution_options()
    if options.get(WRITES, False):
        # What a writer sees may be rolled back, and has no revision yet.
        return find()
    lists: KeptLists = options[LISTS]
    # Null before the first commit.
    row = _WORLD_REVISION.rows(db)[0]
    revision = Revision(int(row.revision or 0), int(row.stamp or 0))
    found = lists.get(filters, revision)
    if found is None:
        found = find()
        lists.keep(filters, revision, found)
    return found
