"""Submissions that a scheduled job must act on."""

from datetime import date

from sqlalchemy import Connection, select

from silverball.store.tables import rating_submission

SUBMISSIONS_MAX = 1000
_SUBMISSION = rating_submission.c


def approved_submission_ids(db: Connection, day: date) -> list[int]:
    """Ids of approved submissions of days before this one, oldest first."""
    rows = select(_SUBMISSION.rating_submission_id).where(
        _SUBMISSION.status == "approved", _SUBMISSION.event_date < day.isoformat()
    )
    return list(db.execute(rows.order_by(_SUBMISSION.rating_submission_id).limit(SUBMISSIONS_MAX)).scalars())
