"""Submitted results count for the ratings of their day, together with those of this site."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest

import build
from rules.ratings import oracle
from service.submissions.sent_documents import URL, a_document, fetch_documents, get_submission, submit_url
from silverball.rules.ratings.formulas import DEFAULTS
from silverball.service.periods import rating_run
from silverball.service.submissions import writes as submissions_writes
from silverball.store.database.engine import Store
from silverball.store.people import rating_days

DAY = date(2026, 3, 4)
LATER = build.NOW + timedelta(days=10)


def _submit_known(store: Store, **changes: Any) -> int:
    """Create a submission with known players, and return its id."""
    user_id = build.a_user(store, name="Olga Ramp", role="organizer")
    _status, body = submit_url(store, user_id)
    fetch_documents(store, {URL: a_document(**changes)})
    return int(body["data"]["ratingSubmissionId"])


def _moved(store: Store, submission_id: int, *moves: Callable[..., Any]) -> None:
    for move in moves:
        with store.write() as transaction:
            move(transaction.connection, submission_id, build.NOW)


def _rate(store: Store) -> int:
    return rating_run.rate_days(store, DAY, DEFAULTS, LATER)


def _ask(store: Store, path: str) -> Any:
    status, body = build.ask(store, path, by=1)
    assert status == 200, body
    return body


@pytest.mark.both_databases
def test_an_approved_submission_is_rated_with_its_day_and_processed(store: Store) -> None:
    submission_id = _submit_known(store)
    _moved(
        store, submission_id, submissions_writes.approve_submission, submissions_writes.schedule_submission
    )
    assert _rate(store) == 1
    assert get_submission(store, submission_id)["status"] == "processed"
    found = {
        rating["ifpaId"]: rating for rating in _ask(store, "/api/ratings?ifpaIds=101,102,103,104")["data"]
    }
    games = [
        (4, {0: 0, 1: 1, 2: 2, 3: 3}),
        (4, {1: 0, 0: 1, 2: 1, 3: 2}),
        (2, {0: 0, 1: 0}),
        (2, {2: 0, 3: 1}),
    ]
    expected = oracle.rated(dict.fromkeys(range(4), (1500.0, 75.0)), games)
    for place, (rating, rd) in expected.items():
        published = found[101 + place]
        assert (published["rating"], published["rd"]) == (round(rating), round(rd))
    assert {rating["gameCount"] for rating in found.values()} == {3}


def test_the_period_names_the_events_of_other_software(store: Store) -> None:
    submission_id = _submit_known(store)
    _moved(
        store, submission_id, submissions_writes.approve_submission, submissions_writes.schedule_submission
    )
    _rate(store)
    period = _ask(store, "/api/rating-periods/2026-03-04")
    assert period["ratingPeriod"]["extEventCount"] == 1
    assert period["extEvents"] == [
        {
            "extEventId": submission_id,
            "name": "Thursday at the Drain",
            "type": "group_matchplay",
            "submitterName": "Olga Ramp",
            "submitterId": 1,
        }
    ]


def test_an_unapproved_submission_is_not_rated(store: Store) -> None:
    _submit_known(store)
    _rate(store)
    assert _ask(store, "/api/ratings")["data"] == []


def test_an_approval_for_a_rated_day_marks_the_day(store: Store) -> None:
    submission_id = _submit_known(store)
    with store.write() as transaction:
        rating_days.mark_days(transaction.connection, [DAY])
    assert _rate(store) == 1
    assert _ask(store, "/api/rating-periods/2026-03-04")["ratingPeriod"]["status"] == "processed"
    _moved(
        store, submission_id, submissions_writes.approve_submission, submissions_writes.schedule_submission
    )
    assert _ask(store, "/api/rating-periods/2026-03-04")["ratingPeriod"]["status"] == "dirty"
    assert _rate(store) == 1
    assert len(_ask(store, "/api/ratings")["data"]) == 4


def test_a_matched_player_is_shown_with_their_rating(store: Store) -> None:
    submission_id = _submit_known(store)
    assert [player["ratingId"] for player in get_submission(store, submission_id)["players"]] == [None] * 4
    _moved(
        store, submission_id, submissions_writes.approve_submission, submissions_writes.schedule_submission
    )
    _rate(store)
    ratings = {rating["ifpaId"]: rating["ratingId"] for rating in _ask(store, "/api/ratings")["data"]}
    players = get_submission(store, submission_id)["players"]
    assert [player["ratingId"] for player in players] == [ratings[100 + place] for place in range(1, 5)]


@pytest.mark.parametrize("status", ["approved", "scheduled"])
def test_a_withdrawn_submission_is_not_rated(store: Store, status: str) -> None:
    submission_id = _submit_known(store)
    moves = (
        [submissions_writes.approve_submission, submissions_writes.schedule_submission]
        if status == "scheduled"
        else [submissions_writes.approve_submission]
    )
    _moved(store, submission_id, *moves)
    with store.write() as transaction:
        submissions_writes.reject_submission(
            transaction.connection, submission_id, "Not an open event.", build.NOW
        )
    _rate(store)
    assert _ask(store, "/api/ratings")["data"] == []
