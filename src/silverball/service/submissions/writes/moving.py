"""Move submissions from one state to the next."""

from collections.abc import Collection
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, Row, select, update

from silverball.kit.errors import Conflict, NotFound
from silverball.service.submissions import document, repeats, states
from silverball.service.submissions.reads import events
from silverball.service.submissions.reads.submissions import MODEL
from silverball.store import rating_days
from silverball.store.tables import rating_submission, submission_document
from silverball_wire.values import SubmissionStatus

_SUBMISSION = rating_submission.c


class SubmissionRepeatsGames(Conflict):
    sentence = "Rating submission {submission_id} cannot count: {fault}"


def lock_submission(db: Connection, submission_id: int) -> Row[Any]:
    """Lock the submission until the commit, and return its row. Raises NotFound."""
    rows = select(rating_submission).where(_SUBMISSION.rating_submission_id == submission_id)
    row = db.execute(rows.with_for_update()).one_or_none()
    if row is None:
        raise NotFound(MODEL, submission_id)
    return row


def move_submission(
    db: Connection, row: Row[Any], to: SubmissionStatus, now: datetime, **values: Any
) -> None:
    """Move the submission to this state. Raises Conflict when the state cannot follow."""
    submission_id = row.rating_submission_id
    states.require_transition(submission_id, row.status, to)
    if to not in states.HOLDING_STATES:
        # Another submission may use the document again.
        values["hash"] = None
    moved = update(rating_submission).where(_SUBMISSION.rating_submission_id == submission_id)
    db.execute(moved.values(status=to, updated_at=now, **values))
    if (row.status in states.COUNTING_STATES) != (to in states.COUNTING_STATES):
        # The results of the day have changed.
        rating_days.mark_days(db, [date.fromisoformat(row.event_date)])


def approve_submission(db: Connection, submission_id: int, now: datetime, note: str | None = None) -> None:
    """Approve the submission. Raises NotFound, or Conflict when it cannot be or its games count already."""
    row = lock_submission(db, submission_id)
    states.require_transition(submission_id, row.status, "approved")
    fault = repeated_games_fault(db, submission_id)
    if fault is not None:
        raise SubmissionRepeatsGames(submission_id=submission_id, fault=fault)
    move_submission(db, row, "approved", now, moderator_note=note)


def approve_if_trusted(db: Connection, submission_id: int, trusted: Collection[str], now: datetime) -> None:
    """Approve a ready submission from a trusted host, unless its games count already."""
    row = lock_submission(db, submission_id)
    is_ready = row.status == "ready" and row.source_domain in trusted
    if is_ready and repeated_games_fault(db, submission_id) is None:
        move_submission(db, row, "approved", now)


def repeated_games_fault(db: Connection, submission_id: int) -> str | None:
    """A sentence when half of the submission's games count already as those of another event of the day."""
    rows = select(_SUBMISSION.event_date, submission_document.c.body).join(
        submission_document, submission_document.c.rating_submission_id == _SUBMISSION.rating_submission_id
    )
    row = db.execute(rows.where(_SUBMISSION.rating_submission_id == submission_id)).one()
    players = events.players_by_submission(db, [submission_id])[submission_id]
    compared = [repeats.ComparedPlayer(each.name, each.user_id, each.ifpa_id) for each in players]
    games = [
        [compared[place] for group in groups for place in group]
        for groups in events.games_by_place(document.parse_document(row.body.encode()))
    ]
    day = date.fromisoformat(row.event_date)
    return repeats.repeat_fault(
        games, events.events_to_compare(db, day, excluded_submission_id=submission_id)
    )


def schedule_submission(db: Connection, submission_id: int, now: datetime) -> None:
    """Assign the submission to the rating period of its day, which is over. Raises NotFound and Conflict."""
    row = lock_submission(db, submission_id)
    move_submission(db, row, "scheduled", now, rating_period=row.event_date)


def process_day(db: Connection, day: date, now: datetime) -> int:
    """Mark the scheduled submissions of a rated day as processed, and return their number."""
    wanted = (_SUBMISSION.rating_period == day.isoformat(), _SUBMISSION.status == "scheduled")
    updated = db.execute(update(rating_submission).where(*wanted).values(status="processed", updated_at=now))
    return updated.rowcount


def reject_submission(db: Connection, submission_id: int, note: str, now: datetime) -> None:
    """Reject the submission as a moderator. Raises NotFound and Conflict."""
    move_submission(db, lock_submission(db, submission_id), "rejected", now, moderator_note=note)
