"""Long work in short transactions: whoever waits for a lock gets it after each slice.

A slice is complete in itself, so a job that is stopped in between goes on where it was.
"""

import time
from collections.abc import Callable

from sqlalchemy import ColumnElement, Connection, Table, delete, select

from silverball.store.database.engine import Store

# Other programs that write leave their turn to SQLite, which looks every 25 ms at most at first, and every
# 100 ms after 0.08 seconds. A rest is longer than that, or they would miss it for seconds.
SHORT_WORK_SECONDS = 0.05
SHORT_REST_SECONDS, REST_SECONDS = 0.03, 0.11
# Some hundredths of a second, also for rows of a few kilobytes.
SLICE_ROWS = 2_000


def run_slices(
    store: Store, run_slice: Callable[[Connection], int], *, tournament_id: int | None = None
) -> int:
    """Run it in one transaction after the other until there is nothing left to do; returns the sum.

    The transactions are quiet: it must change nothing that an answer shows.
    """
    total = 0
    while True:
        begun_at = time.monotonic()
        with store.write(tournament_id, quiet=True) as transaction:
            changed = run_slice(transaction.connection)
        if not changed:
            return total
        total += changed
        rest(store, time.monotonic() - begun_at)


def rest(store: Store, worked_seconds: float) -> None:
    """Let writers of other processes have a turn after a slice; on PostgreSQL they need none."""
    if store.is_sqlite:
        time.sleep(SHORT_REST_SECONDS if worked_seconds < SHORT_WORK_SECONDS else REST_SECONDS)


def delete_slice(db: Connection, table: Table, *conditions: ColumnElement[bool]) -> int:
    """Delete some of the rows that meet the conditions, and return how many.

    Rows that another transaction has locked, such as the same job of another node, are left to it.
    """
    (key,) = table.primary_key.columns
    some = select(key).where(*conditions).limit(SLICE_ROWS).with_for_update(skip_locked=True)
    # SQLite has one writer in all and knows no such clause; SQLAlchemy leaves it out there.
    return int(db.execute(delete(table).where(key.in_(some))).rowcount)
