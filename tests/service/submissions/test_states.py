"""The states of a submission. Source: ratings, A.8."""

from collections.abc import Callable
from typing import Any, get_args

import pytest
from sqlalchemy import Connection

import build
from service.submissions.sent_documents import LIST, send_request
from silverball.kit.errors import Conflict
from silverball.service.submissions import reads as submissions_reads
from silverball.service.submissions import states
from silverball.service.submissions import writes as submissions_writes
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball_wire.values import SubmissionStatus

# State -> action -> next state, by hand from the design; all other actions are refused.
TABLE: dict[str, dict[str, str]] = {
    "fetching": {"withdraw": "withdrawn"},
    "invalid": {},
    "needs_players": {"withdraw": "withdrawn", "reject": "rejected"},
    "ready": {"withdraw": "withdrawn", "reject": "rejected", "approve": "approved"},
    "approved": {"withdraw": "withdrawn", "reject": "rejected", "schedule": "scheduled"},
    "scheduled": {"withdraw": "withdrawn", "reject": "rejected"},
    "processed": {},
    "rejected": {},
    "withdrawn": {},
    "superseded": {},
}
ACTIONS: dict[str, Callable[[Connection, int], object]] = {
    "approve": lambda db, own: submissions_writes.approve_submission(db, own, build.NOW),
    "reject": lambda db, own: submissions_writes.reject_submission(db, own, "No event of ours.", build.NOW),
    "schedule": lambda db, own: submissions_writes.schedule_submission(db, own, build.NOW),
}
DOCUMENT = (
    '{"version": 1, "name": "N", "url": "https://x.org/", "startedAt": "2026-03-04T18:00:00Z",'
    ' "completedAt": "2026-03-04T19:00:00Z", "format": "matchplay", "software": "S",'
    ' "players": [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}], "games": [{"results": [[1], [2]]}]}'
)


def a_submission(store: Store, submitter_id: int, status: str, **values: Any) -> int:
    """Create a submission in this state, with a document of one game."""
    facts = {"event_date": "2026-03-04", "name": "N", "hash": f"hash of {status}", **values}
    own = build.row(store, tables.rating_submission, submitter_id=submitter_id, status=status, **facts)
    build.row(store, tables.submission_document, rating_submission_id=own, body=DOCUMENT)
    for place, name in enumerate(("Ada", "Bo")):
        facts = {"place": place, "name": name, "settled": True, "candidates": []}
        build.row(store, tables.submission_player, rating_submission_id=own, **facts)
    return own


def status_of(store: Store, submission_id: int) -> str:
    with store.read() as db:
        return submissions_reads.find_submission(db, submission_id, None).status


def test_the_table_covers_exactly_the_states() -> None:
    every = set(get_args(SubmissionStatus))
    assert set(states.NEXT_STATES) == set(TABLE) == every
    assert set().union(*states.NEXT_STATES.values()) < every


@pytest.mark.parametrize("status", TABLE)
@pytest.mark.parametrize("deed", ["withdraw", *ACTIONS])
def test_an_action_leads_to_the_state_in_the_table_or_is_refused(
    store: Store, status: str, deed: str
) -> None:
    user_id = build.a_user(store, role="organizer")
    own = a_submission(store, user_id, status)
    wanted = TABLE[status].get(deed)
    if deed == "withdraw":
        code, body = send_request(store, "DELETE", f"{LIST}/{own}", by=user_id)
        assert code == (409 if wanted is None else 200)
        if wanted is None:
            named = status.replace("_", " ")
            assert body["message"] == f"Rating submission {own} is {named} and cannot become withdrawn."
    elif wanted is None:
        with pytest.raises(Conflict), store.write() as transaction:
            ACTIONS[deed](transaction.connection, own)
    else:
        with store.write() as transaction:
            ACTIONS[deed](transaction.connection, own)
    assert status_of(store, own) == (wanted or status)


@pytest.mark.both_databases
def test_rating_a_day_processes_its_scheduled_submissions(store: Store) -> None:
    user_id = build.a_user(store, role="organizer")
    own = [
        a_submission(store, user_id, "scheduled", rating_period="2026-03-04", hash="a"),
        a_submission(store, user_id, "scheduled", rating_period="2026-03-05", hash="b"),
        a_submission(store, user_id, "rejected", rating_period="2026-03-04", hash="c"),
    ]
    with store.write() as transaction:
        assert (
            submissions_writes.process_day(transaction.connection, build.NOW.date().replace(day=4), build.NOW)
            == 1
        )
    assert [status_of(store, submission_id) for submission_id in own] == [
        "processed",
        "scheduled",
        "rejected",
    ]


@pytest.mark.both_databases
def test_a_rejected_document_stays_taken_and_others_become_free(store: Store) -> None:
    user_id = build.a_user(store, role="organizer")
    for status in ("ready", "scheduled"):
        own = a_submission(store, user_id, status)
        send_request(store, "DELETE", f"{LIST}/{own}", by=user_id)
        with store.write() as transaction:
            row = submissions_writes.lock_submission(transaction.connection, own)
        assert row.hash is None
    own = a_submission(store, user_id, "ready", hash="kept")
    with store.write() as transaction:
        submissions_writes.reject_submission(transaction.connection, own, "No.", build.NOW)
        assert submissions_writes.lock_submission(transaction.connection, own).hash == "kept"
