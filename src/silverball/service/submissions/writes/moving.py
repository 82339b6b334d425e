"""From one state to the next, for whoever moves a submission."""

from collections.abc import Collection
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, select, update

from silverball.kit.errors import Conflict, NotFound
from silverball.service.submissions import document, repeats, states
from silverball.service.submissions.reads import events
from silverball.service.submissions.reads.submissions import MODEL
from silverball.store import rating_days
from silverball.store.tables import rating_submission, submission_document
from silverball.wire.values import SubmissionStatus

_SUBMISSION = rating_submission.c


def lock_submission(db: Connection, submission_id: int) -> RowMapping:
    """The submission's row; nobody else changes it meanwhile. Raises NotFound."""
    rows = select(rating_submission).where(_SUBMISSION.rating_submission_id == submission_id)
    row = db.execute(rows.with_for_update()).mappings().one_or_none()
    if row is None:
        raise NotFound(MODEL, submission_id)
    return row


def move_submission(
    db: Connection, row: RowMapping, to: SubmissionStatus, now: datetime, **values: Any
) -> None:
    """The submission is in this state now. Raises Conflict when it cannot be."""
    submission_id = row["rating_submission_id"]
    states.require_transition(submission_id, row["status"], to)
    if to not in states.HOLDING_STATES:
        # The document is free for another submission.
        values["hash"] = None
    moved = update(rating_submission).where(_SUBMISSION.rating_submission_id == submission_id)
    db.execute(moved.values(status=to, updated_at=now, **values))
    if (row["status"] in states.COUNTING_STATES) != (to in states.COUNTING_STATES):
        # Its day has other results now.
        rating_days.mark_days(db, [date.fromisoformat(row["event_date"])])


def approve_submission(db: Connection, submission_id: int, now: datetime, note: str | None = None) -> None:
    """It shall count. Raises NotFound, and Conflict also when its games count already."""
    row = lock_submission(db, submission_id)
    states.require_transition(submission_id, row["status"], "approved")
    repeated = repeated_games_fault(db, submission_id)
    if repeated is not None:
        raise Conflict(f"Rating submission {submission_id} cannot count: {repeated}")
    move_submission(db, row, "approved", now, moderator_note=note)


def approve_if_trusted(db: Connection, submission_id: int, trusted: Collection[str], now: datetime) -> None:
    """It counts without a moderator when it comes from a trusted host and its games do not count already."""
    row = lock_submission(db, submission_id)
    is_ready = row["status"] == "ready" and row["source_domain"] in trusted
    if is_ready and repeated_games_fault(db, submission_id) is None:
        move_submission(db, row, "approved", now)


def repeated_games_fault(db: Connection, submission_id: int) -> str | None:
    """What is wrong when half of its games count already as those of another event of the day."""
    rows = select(_SUBMISSION.event_date, submission_document.c.body).join(
        submission_document, submission_document.c.rating_submission_id == _SUBMISSION.rating_submission_id
    )
    row = db.execute(rows.where(_SUBMISSION.rating_submission_id == submission_id)).one()
    players = events.players_by_submission(db, [submission_id])[submission_id]
    named = [repeats.ComparedPlayer(one.name, one.user_id, one.ifpa_id) for one in players]
    games = [
        [named[place] for group in one for place in group]
        for one in events.games_by_place(document.parse_document(row.body.encode()))
    ]
    day = date.fromisoformat(row.event_date)
    return repeats.repeat_fault(
        games, events.events_to_compare(db, day, excluded_submission_id=submission_id)
    )


def schedule_submission(db: Connection, submission_id: int, now: datetime) -> None:
    """Its day is over: it belongs to the rating period of that day. Raises NotFound and Conflict."""
    row = lock_submission(db, submission_id)
    move_submission(db, row, "scheduled", now, rating_period=row["event_date"])


def process_day(db: Connection, day: date, now: datetime) -> int:
    """The rating period of this day was run: its submissions count for good. Returns how many did."""
    wanted = (_SUBMISSION.rating_period == day.isoformat(), _SUBMISSION.status == "scheduled")
    done = db.execute(update(rating_submission).where(*wanted).values(status="processed", updated_at=now))
    return done.rowcount


def reject_submission(db: Connection, submission_id: int, note: str, now: datetime) -> None:
    """A moderator says no. Raises NotFound and Conflict."""
    move_submission(db, lock_submission(db, submission_id), "rejected", now, moderator_note=note)
