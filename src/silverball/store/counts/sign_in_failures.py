"""Failed sign-ins, counted over all nodes of a PostgreSQL database."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, case, delete, select, text, update

from silverball.store.database import statements
from silverball.store.tables import sign_in_failure

KEPT_SECONDS = 3_600.0
KEPT_MAX = 50_000
PRUNE_SECONDS = 60.0
# The failures of each key and the time of the last -> the seconds to wait.
WaitFor = Callable[[Sequence[tuple[int, float]]], float]
FAILURE = sign_in_failure.c


class StoredFailures:
    """The failures of all nodes. Every call raises DatabaseFault."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._pruned_at = time.monotonic()

    def attempt(self, names: Sequence[str], at: float, wait_for: WaitFor) -> float:
        """Count an attempt for each name and return 0; or count nothing and return the seconds to wait.

        Attempts of one name wait for each other, so that many at once are as slow. `names` are in the
        same order each time: who comes first waits for nobody who waits for them.
        """
        self._prune_when_due(at)
        with self._transaction() as db:
            new = statements.insert_into(db, sign_in_failure).values(
                [{"name": name, "failures": 0, "last_at": at} for name in names]
            )
            # An update that changes nothing holds the row until the end.
            held = new.on_conflict_do_update(
                index_elements=[FAILURE.name], set_={"failures": FAILURE.failures}
            )
            rows = {row.name: row for row in db.execute(held.returning(*FAILURE))}
            seconds = wait_for([(rows[name].failures, rows[name].last_at) for name in names])
            if seconds > 0:
                return seconds
            is_forgotten = at - FAILURE.last_at > KEPT_SECONDS
            failures = case((is_forgotten, 1), else_=FAILURE.failures + 1)
            counted = update(sign_in_failure).where(FAILURE.name.in_(names))
            db.execute(counted.values(failures=failures, last_at=at))
        return 0.0

    def forgive(self, own: str, shared: Sequence[str]) -> None:
        """Forget the failures of one name, and take one from each of the others, in their order."""
        with self._transaction() as db:
            db.execute(delete(sign_in_failure).where(FAILURE.name == own))
            for name in shared:
                lowered = update(sign_in_failure).where(FAILURE.name == name, FAILURE.failures > 0)
                db.execute(lowered.values(failures=FAILURE.failures - 1))

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """A short transaction of its own."""
        options: dict[str, Any] = {"isolation_level": "READ COMMITTED", "postgresql_readonly": False}
        with self._engine.connect().execution_options(**options) as db, db.begin():
            db.execute(text("SET LOCAL lock_timeout = '1s'; SET LOCAL statement_timeout = '2s'"))
            yield db

    def _prune_when_due(self, at: float) -> None:
        if time.monotonic() < self._pruned_at + PRUNE_SECONDS:
            return
        self._pruned_at = time.monotonic()
        newest = select(FAILURE.last_at).order_by(FAILURE.last_at.desc())
        with self._transaction() as db:
            db.execute(delete(sign_in_failure).where(FAILURE.last_at < at - KEPT_SECONDS))
            oldest = db.execute(newest.offset(KEPT_MAX).limit(1)).scalar_one_or_none()
            if oldest is not None:
                db.execute(delete(sign_in_failure).where(FAILURE.last_at <= oldest))
