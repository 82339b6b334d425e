"""Lists of ids cut into pieces that fit into one statement."""

from collections.abc import Collection, Iterator

# SQLite takes 32,766 parameters in one statement.
IDS_PER_STATEMENT = 5_000


def ascending_batches(ids: Collection[int], size: int = IDS_PER_STATEMENT) -> Iterator[list[int]]:
    """The ids, ascending and without repeats, so many at a time."""
    ordered = sorted(set(ids))
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]
