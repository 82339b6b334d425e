"""Which of many ids of several tables are in use, in one statement."""

from collections.abc import Collection, Iterator, Mapping

from sqlalchemy import Column, Connection

# In one statement.
IDS_AT_ONCE = 5_000
Ids = Mapping[str, Collection[int]]


def present_ids(db: Connection, columns: Mapping[str, Column[int]], ids: Ids) -> dict[str, set[int]]:
    """Those of the ids of each kind that are in use; `columns` has the id column of each kind."""
    found: dict[str, set[int]] = {kind: set() for kind in ids}
    kinds = list(ids)
    for parts in _statements(columns, ids, kinds):
        for place, present in db.exec_driver_sql(" UNION ALL ".join(parts)):
            found[kinds[place]].add(present)
    return found


def _statements(columns: Mapping[str, Column[int]], ids: Ids, kinds: list[str]) -> Iterator[list[str]]:
    """The parts of each statement. The ids are in the text: binding them takes longer than the search."""
    parts: list[str] = []
    count = 0
    for place, kind in enumerate(kinds):
        ordered = sorted({int(each) for each in ids[kind]})
        for start in range(0, len(ordered), IDS_AT_ONCE):
            some = ordered[start : start + IDS_AT_ONCE]
            if count and count + len(some) > IDS_AT_ONCE:
                yield parts
                parts, count = [], 0
            parts.append(_select(place, columns[kind], some))
            count += len(some)
    if parts:
        yield parts


def _select(place: int, column: Column[int], ids: list[int]) -> str:
    table, listed = column.table.name, ", ".join(map(str, ids))
    return f'SELECT {place}, "{column.name}" FROM "{table}" WHERE "{column.name}" IN ({listed})'  # noqa: S608  # names of our own, and numbers
