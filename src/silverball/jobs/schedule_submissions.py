"""The job that assigns approved submissions to their day's rating period when the day is over."""

from datetime import datetime

from silverball.service.submissions.reads import due
from silverball.service.submissions.writes import moving
from silverball.store.engine import Store


def run(store: Store, now: datetime) -> None:
    """Schedule them, each in a transaction of its own."""
    with store.read() as db:
        submission_ids = due.approved_submission_ids(db, now.date())
    for submission_id in submission_ids:
        with store.write() as transaction:
            moving.schedule_submission(transaction.connection, submission_id, now)
