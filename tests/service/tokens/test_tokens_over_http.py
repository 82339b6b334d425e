"""API tokens over HTTP: shown once, stored nowhere, and never stronger than the creating token."""

from datetime import timedelta
from random import Random
from typing import Any

import pytest
from sqlalchemy import select

import build
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.users import reads as users_reads
from silverball.service.users import writes as users_writes
from silverball.store import tables
from silverball.store.database.engine import Store

PATH = "/api/tokens"


def test_a_token_is_shown_once_and_works(store: Store) -> None:
    user_id = build.a_user(store)
    me = build.caller(user_id, ability="score")
    body = {"name": "Score board", "ability": "score", "expiresDays": 30}
    status, got, _ = build.do(store, "POST", PATH, body, by=me)
    token = got["data"].pop("token")
    assert status == 201
    assert got["data"] == {
        "tokenId": 1,
        "name": "Score board",
        "ability": "score",
        "createdAt": "2026-03-05T19:30:00.000000Z",
        "lastUsedAt": None,
        "expiresAt": "2026-04-04T19:30:00.000000Z",
    }
    with store.read() as db:
        found = users_reads.find_caller(db, b"Bearer " + token.encode(), build.NOW)
    assert found is not None
    assert (found.user_id, found.ability) == (user_id, "score")
    assert build.ask(store, PATH, by=user_id) == (200, {"data": [got["data"]]})
    assert build.ask(store, PATH, by=build.a_user(store))[1] == {"data": []}


def test_a_repeated_request_creates_no_second_token_and_reveals_no_secret(store: Store) -> None:
    me = build.caller(build.a_user(store), ability="score")
    body = {"name": "Score board"}
    _, first, _ = build.do(store, "POST", PATH, body, by=me, key="k1")
    status, again, headers = build.do(store, "POST", PATH, body, by=me, key="k1")
    secret = first["data"]["token"].partition("|")[2]
    assert (status, headers["idempotency-replayed"]) == (201, "true")
    assert again["data"] == {**first["data"], "token": None}
    with store.read() as db:
        stored = str(
            [list(row) for table in tables.metadata.sorted_tables for row in db.execute(select(table))]
        )
    assert secret not in stored
    assert secret[4:44] not in stored


def test_a_token_cannot_create_a_stronger_one(store: Store) -> None:
    organizer = build.a_user(store, role="organizer")
    found: dict[str, list[Any]] = {}
    for ability in ("read", "score", "manage"):
        by = build.caller(organizer, role="organizer", ability=ability)
        found[ability] = [
            build.do(store, "POST", PATH, {"name": "t", "ability": wanted}, by=by)[0]
            for wanted in ("read", "score", "manage", "admin", "root")
        ]
    assert found == {
        "read": [403] * 5,
        "score": [201, 201, 422, 422, 422],
        "manage": [201, 201, 201, 422, 422],
    }
    assert build.do(store, "POST", PATH, {"name": "t"})[0] == 401


@pytest.mark.both_databases
def test_a_token_cannot_be_revoked_by_a_weaker_one(store: Store) -> None:
    organizer = build.a_user(store, role="organizer")
    strong = build.caller(organizer, role="organizer", ability="manage")
    weak = build.caller(organizer, role="organizer", ability="score")
    other = build.caller(build.a_user(store, role="admin"), role="admin", ability="admin")
    _, got, _ = build.do(store, "POST", PATH, {"name": "t", "ability": "manage"}, by=strong)
    path = f"{PATH}/{got['data']['tokenId']}"
    for by, expected in ((None, 401), (weak, 403), (other, 404)):
        assert build.do(store, "DELETE", path, by=by)[0] == expected
    status, gone, _ = build.do(store, "DELETE", path, by=strong)
    assert (status, "token" in gone["data"], gone["data"]["ability"]) == (200, False, "manage")
    assert build.do(store, "DELETE", path, by=strong)[0] == 404


def test_faults_of_a_token_are_listed_by_field(store: Store) -> None:
    me = build.caller(build.a_user(store), ability="score")
    for body, field in (
        ({}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "t", "expiresDays": 0}, "expiresDays"),
        ({"name": "t", "userId": 7}, "userId"),
        ({"name": "t", "token": "mine"}, "token"),
    ):
        status, got, _ = build.do(store, "POST", PATH, body, by=me)
        assert (status, list(got["errors"])) == (422, [field])
    assert build.ask(store, PATH, by=me)[1]["data"] == []


def made_token(store: Store, user_id: int, ability: str, **values: Any) -> tuple[str, AuthenticatedCaller]:
    """A token of an organizer, and the caller who sends it."""
    with store.write() as transaction:
        made = users_writes.create_token(
            transaction.connection,
            user_id,
            "Score board",
            abilities=[ability],
            now=build.NOW,
            dice=Random(f"{user_id} {ability}"),
            **values,
        )
    caller = caller_of(store, made.text)
    assert caller is not None
    return made.text, caller


def caller_of(store: Store, token: str) -> AuthenticatedCaller | None:
    with store.read() as db:
        return users_reads.find_caller(db, b"Bearer " + token.encode(), build.NOW)


@pytest.mark.parametrize("ability", ["read", "score", "manage"])
def test_a_token_rotates_itself_and_gains_nothing(store: Store, ability: str) -> None:
    user_id = build.a_user(store, role="organizer")
    old, me = made_token(store, user_id, ability, expires_days=30)
    later = build.NOW + timedelta(days=10)
    path = f"{PATH}/{me.token_id}/rotate"
    status, got, _ = build.do(store, "POST", path, by=me, key="k1", now=later)
    assert (status, got["data"]["tokenId"], got["data"]["ability"]) == (200, me.token_id, ability)
    # No password was given, so it does not live longer than it would have.
    assert got["data"]["expiresAt"] == "2026-04-04T19:30:00.000000Z"
    assert caller_of(store, old) is None
    rotated = caller_of(store, got["data"]["token"])
    assert rotated is not None
    assert (rotated.user_id, rotated.ability, rotated.token_id) == (user_id, ability, me.token_id)
    again = build.do(store, "POST", path, by=me, key="k1", now=later)[1]
    assert again["data"] == {**got["data"], "token": None}


@pytest.mark.both_databases
def test_a_token_rotates_no_stronger_one_and_nobody_elses(store: Store) -> None:
    owner, other = build.a_user(store, role="organizer"), build.a_user(store, role="admin")
    callers = {ability: made_token(store, owner, ability)[1] for ability in ("read", "score", "manage")}
    _, stranger = made_token(store, other, "admin")
    statuses = {
        (name, of): build.do(store, "POST", f"{PATH}/{callers[of].token_id}/rotate", by=by)[0]
        for name, by in {**callers, "stranger": stranger, "nobody": None}.items()
        for of in callers
    }
    assert {key for key, status in statuses.items() if status == 200} == {
        ("read", "read"),
        ("score", "read"),
        ("score", "score"),
        ("manage", "read"),
        ("manage", "score"),
        ("manage", "manage"),
    }
    assert {status for (name, _), status in statuses.items() if name == "stranger"} == {404}
    assert {status for (name, _), status in statuses.items() if name == "nobody"} == {401}
