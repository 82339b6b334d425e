"""Failed sign-ins, counted over all processes of one database."""

from collections.abc import Callable, Sequence

from sqlalchemy import case, delete, update

from silverball.store import upserts
from silverball.store.shared_counts import FAILURES_KEPT_SECONDS, SharedCounts
from silverball.store.tables import sign_in_failure

# The failures of each key and the time of the last -> the seconds to wait.
WaitFor = Callable[[Sequence[tuple[int, float]]], float]
FAILURE = sign_in_failure.c


class StoredFailures:
    """The failures of all processes. Every call raises DatabaseFault."""

    def __init__(self, counts: SharedCounts) -> None:
        self._counts = counts

    def attempt(self, names: Sequence[str], at: float, wait_for: WaitFor) -> float:
        """Count an attempt for each name and return 0; or count nothing and return the seconds to wait.

        Attempts of one name wait for each other, so that many at once are as slow. `names` are in the
        same order each time: who comes first waits for nobody who waits for them.
        """
        with self._counts.transaction() as db:
            new = upserts.insert_into(db, sign_in_failure).values(
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
            is_forgotten = at - FAILURE.last_at > FAILURES_KEPT_SECONDS
            failures = case((is_forgotten, 1), else_=FAILURE.failures + 1)
            counted = update(sign_in_failure).where(FAILURE.name.in_(names))
            db.execute(counted.values(failures=failures, last_at=at))
        return 0.0

    def forgive(self, own: str, shared: Sequence[str]) -> None:
        """Forget the failures of one name, and take one from each of the others, in their order."""
        with self._counts.transaction() as db:
            db.execute(delete(sign_in_failure).where(FAILURE.name == own))
            for name in shared:
                lowered = update(sign_in_failure).where(FAILURE.name == name, FAILURE.failures > 0)
                db.execute(lowered.values(failures=FAILURE.failures - 1))
