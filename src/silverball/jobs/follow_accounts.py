"""The job that goes on where a server was stopped while tournaments followed a large account."""

from datetime import datetime

from silverball.jobs.clock import Job, JobClock
from silverball.kit.measures import Measures
from silverball.service.accounts import announcing
from silverball.store.engine import Store

# Nothing is left to do but after a crash; then others may still see what somebody has hidden.
FIRST_AFTER_SECONDS, EVERY_SECONDS = 5.0, 60.0


def create_clock(store: Store, measures: Measures) -> JobClock:
    """A clock that looks every minute."""
    return JobClock(
        store,
        [Job("follow_accounts", run)],
        measures=measures,
        first_after_seconds=FIRST_AFTER_SECONDS,
        every_seconds=EVERY_SECONDS,
    )


def run(store: Store, _now: datetime) -> None:
    """Let the tournaments follow."""
    announcing.finish_announcing(store)
