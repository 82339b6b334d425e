"""Requests that write: one transaction, one effect for each key, and no effect of a refused request.

The endpoints are those of `writing_endpoints.py`, over a real database.
"""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, event, select, text, update

import build
from selection import examples
from service.writing_endpoints import (
    INTERRUPTIONS,
    an_api,
    change_by_another_request,
    count_of_clubs,
    do,
    name_of,
)
from silverball.jobs.pruning import prune_replies
from silverball.service.core.access import ABILITIES, AuthenticatedCaller
from silverball.service.players import reads as players_reads
from silverball.store import tables
from silverball.store.counts.running_minutes import NAME, RunningMinutes, current_minute
from silverball.store.database import engine
from silverball.store.database.engine import Store


@pytest.fixture
def user(store: Store) -> int:
    return build.a_user(store, role="organizer")


@pytest.fixture(autouse=True)
def _no_interruptions_left() -> Iterator[None]:
    yield
    INTERRUPTIONS.clear()


# One transaction


def test_an_answered_change_is_stored(store: Store, user: int) -> None:
    status, body, headers = do(store, "POST", "/api/clubs", {"name": " The Drains "}, by=user)
    assert (status, body["data"]["name"], body["data"]["location"]) == (201, "The Drains", "203.0.113.7")
    assert "x-tournament-revision" not in headers
    with store.read() as db:
        assert players_reads.find_club(db, body["data"]["clubId"]).name == "The Drains"


@pytest.mark.parametrize(("word", "status"), [("regret", 409), ("not-encodable", 500)])
def test_a_change_that_cannot_be_answered_is_not_stored(
    store: Store, user: int, word: str, status: int
) -> None:
    night = build.a_tournament(store, organizer_id=user)
    path = f"/api/tournaments/{night.tournament_id}/{word}"
    world = store.world_revision()
    assert do(store, "PUT", path, {"name": "New"}, by=user, key="k")[0] == status
    assert name_of(store, night.tournament_id) == "Thursday Strikes"
    assert store.tournament_revisions([night.tournament_id])[night.tournament_id].number == 1
    assert store.world_revision() == world
    # Refusals are not stored: the same key may be sent again.
    assert do(store, "PUT", path, {"name": "New"}, by=user, key="k")[0] == status


def test_every_answer_below_a_tournament_names_its_revision(store: Store, user: int) -> None:
    night = build.a_tournament(store, organizer_id=user)
    path = f"/api/tournaments/{night.tournament_id}/name"
    for revision in (2, 3):
        headers = do(store, "PATCH", path, {"name": "New"}, by=user)[2]
        assert headers["x-tournament-revision"] == str(revision)


# Permissions


@pytest.mark.parametrize("ability", ABILITIES)
@pytest.mark.parametrize(
    ("method", "path", "needed"),
    [
        ("PUT", "/api/tournaments/{0}/regret", "read"),
        ("PATCH", "/api/tournaments/{0}/name", "score"),
        ("POST", "/api/clubs", "manage"),
        ("DELETE", "/api/clubs/1", "admin"),
    ],
)
def test_a_token_needs_the_ability_of_the_route(
    store: Store, method: str, path: str, needed: str, ability: str
) -> None:
    user_id = build.a_user(store, role="admin")
    night = build.a_tournament(store, organizer_id=user_id)
    caller = AuthenticatedCaller(user_id=user_id, role="admin", ability=ability)
    body = None if method == "DELETE" else {"name": "New"}
    status, answer, _ = do(store, method, path.format(night.tournament_id), body, by=caller)
    is_refused = (status, answer) == (
        403,
        {"message": "Invalid ability provided.", "code": "ability-missing"},
    )
    assert is_refused is (ABILITIES.index(ability) < ABILITIES.index(needed))


def test_writing_needs_a_token(store: Store) -> None:
    assert do(store, "POST", "/api/clubs", {"name": "x"})[:2] == (
        401,
        {"message": "Unauthenticated.", "code": "unauthenticated"},
    )


# Bodies


def test_a_faulty_body_changes_nothing(store: Store, user: int) -> None:
    for sent, status in [(b"", 422), (b"{", 400), (b"[]", 422), (b'{"name":"x","clubId":1}', 422)]:
        assert do(store, "POST", "/api/clubs", sent, by=user)[0] == status
    assert (
        do(
            store,
            "DELETE",
            "/api/clubs/1",
            {"reason": "x"},
            by=AuthenticatedCaller(user_id=user, role="admin", ability="admin"),
        )[0]
        == 422
    )
    assert count_of_clubs(store) == 0


JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(
    max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(JSON_VALUES | st.dictionaries(st.sampled_from(["name", "description"]), JSON_VALUES))
def test_any_json_is_accepted_or_refused(store: Store, value: Any) -> None:
    user_id = build.a_user(store)
    status, body, _ = do(store, "POST", "/api/clubs", value, by=user_id)
    assert status == 201 or (400 <= status < 500 and body["message"])


# Idempotency keys


def test_a_repeated_request_acts_once_and_gets_the_same_answer(store: Store, user: int) -> None:
    first = do(store, "POST", "/api/clubs", {"name": "Once"}, by=user, key="a")
    again = do(store, "POST", "/api/clubs", {"name": "Once"}, by=user, key="a")
    assert first[:2] == again[:2]
    assert "idempotency-replayed" not in first[2]
    assert again[2]["idempotency-replayed"] == "true"
    assert count_of_clubs(store) == 1
    # Another user may use the same key.
    other = build.a_user(store)
    assert (
        "idempotency-replayed" not in do(store, "POST", "/api/clubs", {"name": "Once"}, by=other, key="a")[2]
    )
    assert count_of_clubs(store) == 2


def test_a_stored_answer_has_its_old_revision_and_ignores_if_match(store: Store, user: int) -> None:
    night = build.a_tournament(store, organizer_id=user)
    path = f"/api/tournaments/{night.tournament_id}/name"
    for _ in range(2):
        status, _, headers = do(store, "PATCH", path, {"name": "New"}, by=user, key="b", if_match='"1"')
        assert (status, headers["x-tournament-revision"]) == (200, "2")


def test_a_key_belongs_to_one_request(store: Store, user: int) -> None:
    night = build.a_tournament(store, organizer_id=user)
    assert do(store, "POST", "/api/clubs", {"name": "Once"}, by=user, key="a")[0] == 201
    for method, path, name in [
        ("POST", "/api/clubs", "Other"),
        ("POST", "/api/clubs?x=1", "Once"),
        ("PATCH", f"/api/tournaments/{night.tournament_id}/name", "Once"),
    ]:
        status, body, _ = do(store, method, path, {"name": name}, by=user, key="a")
        assert (status, list(body["errors"])) == (422, ["Idempotency-Key"])
    assert count_of_clubs(store) == 1


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 201, "\x7f", "ä"])
def test_a_malformed_key_is_refused(store: Store, user: int, key: str) -> None:
    status, body, _ = do(store, "POST", "/api/clubs", {"name": "x"}, by=user, key=key)
    assert (status, list(body["errors"])) == (422, ["Idempotency-Key"])


@pytest.mark.both_databases
@pytest.mark.parametrize("days", [3, 400, -2])
def test_a_key_acts_once_though_the_clock_jumps(store: Store, user: int, days: int) -> None:
    jumped = build.NOW + timedelta(days=days)
    do(store, "POST", "/api/clubs", {"name": "Once"}, by=user, key="a", now=build.NOW)
    prune_replies(store, jumped)
    again = do(store, "POST", "/api/clubs", {"name": "Once"}, by=user, key="a", now=jumped)
    assert again[2]["idempotency-replayed"] == "true"
    assert count_of_clubs(store) == 1


@pytest.mark.both_databases
def test_a_stored_answer_goes_after_a_day_by_the_wall_and_a_day_of_running(store: Store, user: int) -> None:
    do(store, "POST", "/api/clubs", {"name": "Before"}, by=user, key="early", now=build.NOW)
    seconds = 0.0
    # Two processes, which look at different moments: together they count a minute a minute.
    processes = [RunningMinutes(store, lambda: seconds) for _ in range(2)]
    for step in range(24 * 60 + 1):
        processes[step % 2].advance()
        seconds += 30
    with store.read() as db:
        minute = current_minute(db)
    assert 12 * 60 - 2 <= minute <= 12 * 60
    do(store, "POST", "/api/clubs", {"name": "Later"}, by=user, key="late", now=build.NOW)
    with store.write() as transaction:
        transaction.connection.execute(
            update(tables.site_value).values(value=str(24 * 60)).where(tables.site_value.c.name == NAME)
        )
    for hours, left in [(24 - 1, ["early", "late"]), (24, ["late"]), (24 * 400, ["late"])]:
        prune_replies(store, build.NOW + timedelta(hours=hours))
        with store.read() as db:
            kept = db.execute(select(tables.idempotency.c.key).order_by(tables.idempotency.c.key))
            assert kept.scalars().all() == left


@pytest.mark.both_databases
def test_a_stored_answer_goes_a_week_after_its_tournament_was_completed(store: Store, user: int) -> None:
    nights = [build.a_tournament(store, organizer_id=user).tournament_id for _ in range(2)]
    for night in nights:
        path = f"/api/tournaments/{night}/name"
        assert do(store, "PATCH", path, {"name": "New"}, by=user, key=str(night), now=build.NOW)[0] == 200
    over = tables.tournament.c.tournament_id == nights[0]
    with store.write() as transaction:
        transaction.connection.execute(
            update(tables.tournament).where(over).values(status="completed", updated_at=build.NOW)
        )
    for days, count in [(6, 2), (7, 1)]:
        prune_replies(store, build.NOW + timedelta(days=days))
        with store.read() as db:
            kept = db.execute(select(tables.idempotency.c.tournament_id)).scalars().all()
        assert len(kept) == count
    assert kept == [nights[1]]


def test_a_minute_that_a_process_slept_through_counts_once(store: Store, user: int) -> None:
    seconds = 0.0
    minutes = RunningMinutes(store, lambda: seconds)

    def look(after: float) -> int:
        nonlocal seconds
        seconds += after
        minutes.advance()
        with store.read() as db:
            return current_minute(db)

    # Nothing is written as long as there is nothing that grows old.
    assert [look(60) for _ in range(3)] == [0, 0, 0]
    do(store, "POST", "/api/clubs", {"name": "Once"}, by=user, key="a")
    assert [look(60), look(30), look(30), look(86_400), look(1)] == [1, 1, 2, 3, 3]


@pytest.mark.parametrize("programs", [1, 3])
def test_32_equal_requests_at_once_act_once(store: Store, user: int, programs: int) -> None:
    apis = [an_api(store) for _ in range(programs)]
    caller = build.caller(user, role="organizer", ability="manage")

    def send(number: int) -> tuple[int, dict[str, str]]:
        api = apis[number % programs]
        status, _, headers = build.send(api, "POST", "/api/clubs", {"name": "Once"}, by=caller, key="a")
        return status, headers

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(send, range(32)))
    acted = [headers for status, headers in answers if status == 201 and not headers]
    assert len(acted) == 1
    assert {status for status, _ in answers} <= {201, 409}
    assert count_of_clubs(store) == 1
    assert send(0)[1]["idempotency-replayed"] == "true"


# Preparation


@pytest.mark.parametrize(("changes", "status"), [(0, 200), (1, 200), (2, 200), (3, 409)])
def test_an_outdated_preparation_is_repeated_three_times_at_most(
    store: Store, user: int, changes: int, status: int
) -> None:
    night = build.a_tournament(store, organizer_id=user)
    INTERRUPTIONS.extend(change_by_another_request(store, night.tournament_id) for _ in range(changes))
    path = f"/api/tournaments/{night.tournament_id}/draw"
    got, body, _ = do(store, "POST", path, {"name": "New"}, by=user, key="k")
    assert got == status
    assert (name_of(store, night.tournament_id) == "New") is (status == 200)
    if status == 200:
        assert body["data"]["seen"] == changes + 1


# If-Match


@pytest.mark.parametrize(
    ("if_match", "status"),
    [
        *[(header, 200) for header in ('"1"', 'W/"1"', "1", "*", '"7", "1"')],
        *[(header, 412) for header in ('"0"', '"2"', "x", "", 'W/"11"', '"1\\"')],
    ],
)
@pytest.mark.parametrize(("method", "word"), [("PATCH", "name"), ("POST", "draw")])
def test_a_change_of_an_older_revision_is_refused(
    store: Store, user: int, if_match: str, status: int, method: str, word: str
) -> None:
    night = build.a_tournament(store, organizer_id=user)
    path = f"/api/tournaments/{night.tournament_id}/{word}"
    got, body, headers = do(store, method, path, {"name": "New"}, by=user, if_match=if_match)
    assert got == status
    if status == 412:
        assert "revision 1" in body["message"]
        assert headers["x-tournament-revision"] == "1"
        assert name_of(store, night.tournament_id) == "Thursday Strikes"


def test_a_missing_tournament_is_not_found_despite_if_match(store: Store, user: int) -> None:
    got = do(store, "PATCH", "/api/tournaments/99/name", {"name": "New"}, by=user, if_match='"1"')
    assert got[0] == 404


# The database


def test_a_request_to_a_locked_database_can_be_repeated(
    tmp_path: Path, empty_sqlite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "SQLITE_QUEUE_SECONDS", 0.05)
    file = tmp_path / "locked.db"
    file.write_bytes(empty_sqlite.read_bytes())
    store = Store(f"sqlite:///{file}")
    user_id = build.a_user(store)
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    status, body, headers = do(store, "POST", "/api/clubs", {"name": "x"}, by=user_id, key="k")
    assert (status, body) == (503, {"message": "Service Unavailable", "code": "service-unavailable"})
    assert headers["retry-after"] == "1"
    holder.execute("ROLLBACK")
    holder.close()
    assert do(store, "POST", "/api/clubs", {"name": "x"}, by=user_id, key="k")[0] == 201
    store.close()


def test_a_full_disk_refuses_changes_but_no_reads(tmp_path: Path, empty_sqlite: Path) -> None:
    file = tmp_path / "full.db"
    file.write_bytes(empty_sqlite.read_bytes())
    store = Store(f"sqlite:///{file}")
    user_id = build.a_user(store)
    store.disconnect()
    limits = {"pages": 1}

    @event.listens_for(store.engine, "checkout")
    def _limit(connection: Any, *_rest: Any) -> None:
        connection.execute(f"PRAGMA max_page_count={limits['pages']}")

    big = {"name": "x", "description": "x" * 50_000}
    assert do(store, "POST", "/api/clubs", big, by=user_id, key="k")[0] == 503
    assert count_of_clubs(store) == 0
    limits["pages"] = 1_000_000
    assert do(store, "POST", "/api/clubs", big, by=user_id, key="k")[0] == 201
    store.close()


def test_a_request_on_a_broken_connection_can_be_repeated(store: Store, user: int) -> None:
    if store.is_sqlite:
        pytest.skip("SQLite has no connection that could break")

    def hang_up(db: Connection) -> None:
        db.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))

    INTERRUPTIONS.append(hang_up)
    assert do(store, "POST", "/api/clubs", {"name": "x"}, by=user, key="k")[0] == 503
    assert count_of_clubs(store) == 0
    assert do(store, "POST", "/api/clubs", {"name": "x"}, by=user, key="k")[0] == 201
