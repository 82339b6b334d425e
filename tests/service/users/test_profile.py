"""Users change the permitted fields of their own profile, in all tournaments."""

from typing import Any

import pytest
from sqlalchemy import select

import build
from silverball.store import tables
from silverball.store.database.engine import Store

PATH = "/api/users/profile"
OPT_OUTS = (
    "ratingsOptOut",
    "statsOptOut",
    "videoOptOut",
    "profileOptOut",
    "historyOptOut",
    "historyOnlyCompleted",
)


def change(store: Store, user_id: int, body: dict[str, Any]) -> tuple[int, Any]:
    status, got, _ = build.do(store, "PATCH", PATH, body, by=build.caller(user_id, ability="score"))
    return status, got


@pytest.mark.both_databases
def test_only_the_sent_fields_change(store: Store) -> None:
    user_id = build.a_user(store, name="Ada Quill", location="Oslo")
    other = build.a_user(store, name="Ada Quill")
    sent: dict[str, Any] = {
        "name": " Ada Q ",
        "initials": "ADA",
        "pronouns": "they",
        "flag": "us-ca",
        "ifpaId": 9,
    }
    sent |= dict.fromkeys(OPT_OUTS, True)
    status, got = change(store, user_id, sent)
    assert status == 200
    assert {key: got[key] for key in sent} == {**sent, "name": "Ada Q"}
    assert (got["location"], got["data"]["name"]) == ("Oslo", "Ada Q")
    assert build.ask(store, PATH, by=user_id)[1] == got
    status, got = change(store, user_id, {"location": None, "ifpaId": None, "profileOptOut": False})
    assert (status, got["location"], got["ifpaId"], got["profileOptOut"], got["initials"]) == (
        200,
        None,
        None,
        False,
        "ADA",
    )
    assert build.ask(store, PATH, by=other)[1]["initials"] is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"role": "admin"}, "role"),
        ({"userId": 1}, "userId"),
        ({"email": "new@example.test"}, "email"),
        ({"clubId": 1}, "clubId"),
        ({"passwordHash": "x"}, "passwordHash"),
        ({"placeholder": False}, "placeholder"),
        ({"createdAt": "2020-01-01T00:00:00Z"}, "createdAt"),
        ({"name": None}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "two\nlines"}, "name"),
        ({"initials": "ABCDE"}, "initials"),
        ({"flag": "Norway"}, "flag"),
        ({"ifpaId": 0}, "ifpaId"),
        ({"statsOptOut": None}, "statsOptOut"),
        ({"statsOptOut": 1}, "statsOptOut"),
    ],
)
def test_nothing_else_can_be_set(store: Store, body: dict[str, Any], field: str) -> None:
    user_id = build.a_user(store, email="ada@example.test")
    before = build.ask(store, PATH, by=user_id)
    status, got = change(store, user_id, {"pronouns": "they", **body})
    assert (status, list(got["errors"])) == (422, [field])
    assert build.ask(store, PATH, by=user_id) == before


def test_a_token_that_can_only_read_changes_nothing(store: Store) -> None:
    user_id = build.a_user(store)
    assert build.do(store, "PATCH", PATH, {"name": "Eve"}, by=build.caller(user_id))[0] == 403
    assert build.do(store, "PATCH", PATH, {"name": "Eve"})[0] == 401


@pytest.mark.both_databases
def test_every_tournament_that_shows_the_user_gets_a_new_revision(store: Store) -> None:
    night = build.a_tournament(store)
    build.a_tournament(store)

    def revisions() -> list[int]:
        with store.read() as db:
            rows = select(tables.tournament.c.revision).order_by(tables.tournament.c.tournament_id)
            return list(db.execute(rows).scalars())

    before = revisions()
    assert change(store, night.organizer_id, {"name": "Olga R"})[0] == 200
    assert revisions() == [before[0] + 1, before[1]]
    assert change(store, night.organizer_id, {})[0] == 200
    assert revisions() == [before[0] + 1, before[1]]


@pytest.mark.both_databases
def test_shared_answers_do_not_show_a_user_who_has_just_opted_out(store: Store) -> None:
    """The front door may have cached the caller as one whose answers are shared."""
    user_id = build.a_user(store, initials="ADA")
    as_before = build.caller(user_id, ability="score")
    status, got, _ = build.do(store, "PATCH", PATH, {"profileOptOut": True}, by=as_before)
    assert (status, got["initials"]) == (200, "ADA")
    assert as_before.viewer == build.caller(build.a_user(store)).viewer
    assert build.ask(store, f"/api/users/{user_id}", by=as_before)[1]["user"]["initials"] is None
    assert build.ask(store, PATH, by=as_before)[1]["initials"] == "ADA"
    known = build.caller(user_id, is_hidden=True)
    assert build.ask(store, f"/api/users/{user_id}", by=known)[1]["user"]["initials"] == "ADA"
