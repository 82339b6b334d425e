"""The minutes for which the site has run: a stored counter that no clock of the wall can move.

A computer without a battery for its clock gets its time from the network, days after its last one. What must
outlast such a jump is counted in these minutes. Each process that serves looks once a minute, and adds one
if nobody else has since it looked last, so that all together add one a minute at most.
"""

import time
from collections.abc import Callable

from sqlalchemy import Connection, cast, exists, insert, literal, select, update

from silverball.store.database.engine import Store
from silverball.store.tables import idempotency, site_value
from silverball.store.types import Id

MINUTE_SECONDS = 60.0
NAME = "running_minutes"
_V = site_value.c
_MINUTES = select(cast(_V.value, Id)).where(_V.name == NAME)


def current_minute(db: Connection) -> int:
    """The counter as it stands; 0 before its first minute."""
    return int(db.execute(_MINUTES).scalar_one_or_none() or 0)


class RunningMinutes:
    """Counts for one process. `advance` is called about once a minute, by one thread."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        # The counter as it was read last, and when it was first seen so.
        self._seen: int | None = None
        self._seen_at = 0.0

    def advance(self) -> bool:
        """Add a minute if the counter has stood for one. Returns False: nothing more is to do at once."""
        with self._store.read() as db:
            # A site without stored replies writes nothing while nobody uses it.
            is_needed = db.execute(select(exists(select(idempotency.c.key)))).scalar_one()
            minute = current_minute(db)
        now = self._clock()
        if minute == self._seen and is_needed and now - self._seen_at >= MINUTE_SECONDS:
            with self._store.write(quiet=True) as transaction:
                _raise_from(transaction.connection, minute)
            minute += 1
        if minute != self._seen:
            self._seen, self._seen_at = minute, now
        return False


def _raise_from(db: Connection, minute: int) -> None:
    """Add one, unless another process has just done so."""
    raised = update(site_value).where(_V.name == NAME, _V.value == str(minute)).values(value=str(minute + 1))
    if db.execute(raised).rowcount or minute:
        return
    is_counted = exists(select(_V.name).where(_V.name == NAME))
    first = select(literal(NAME), literal("1")).where(~is_counted)
    db.execute(insert(site_value).from_select(["name", "value"], first))
