"""Requests that write: one transaction, one effect for one key, and nothing when anything is wrong.

The endpoints are small ones of this file, over a real database.
"""

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Meta
from sqlalchemy import Connection, event, func, select, text, update

import build
from selection import examples
from silverball import app
from silverball.kit.errors import Conflict, NotFound
from silverball.kit.http.api import Api
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Endpoint, PreparationOutdated, delete, patch, post, put
from silverball.service.access import ABILITIES, AuthenticatedCaller
from silverball.service.calls import Write
from silverball.service.clubs import reads as clubs
from silverball.service.clubs import writes as club_writes
from silverball.settings import Settings
from silverball.store import engine, revisions, tables
from silverball.store.engine import Store
from silverball.wire.base import Wire
from silverball.wire.clubs import Club
from silverball.wire.pages import Data


class NewClub(Body, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=40)]
    description: str | None = None


class NewName(Body, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=40)]


class Renamed(Wire, frozen=True, kw_only=True):
    name: str
    seen: int | None = None


class Unshowable:
    """No answer can carry it."""


# What happens between looking ahead and taking the lock, or in the middle of a transaction.
MEANWHILE: list[Callable[[Connection], None]] = []


def _meanwhile(db: Connection) -> None:
    if MEANWHILE:
        MEANWHILE.pop(0)(db)


def _rename(call: Write[NewName]) -> None:
    tournament_id = call.ids["tournament_id"]
    row = tables.tournament.c.tournament_id == tournament_id
    done = call.db.execute(update(tables.tournament).where(row).values(name=call.body.name))
    if done.rowcount == 0:
        raise NotFound("Tournament", tournament_id)
    revisions.raise_tournaments(call.transaction, [tournament_id])


@post("/api/clubs", body=NewClub, ability="manage", status=201)
def add_club(call: Write[NewClub]) -> Data[Club]:
    """A new club."""
    body = call.body
    club_id = club_writes.create_club(
        call.transaction, call.user_id, name=body.name, description=body.description, location=call.source
    )
    _meanwhile(call.db)
    return Data(data=clubs.find_club(call.db, club_id))


@delete("/api/clubs/{club_id}", ability="admin")
def remove_club(call: Write[Body]) -> Data[Club]:
    """A club that is no more."""
    return Data(data=clubs.find_club(call.db, call.ids["club_id"]))


@patch("/api/tournaments/{tournament_id}/name", body=NewName, ability="score")
def rename(call: Write[NewName]) -> Data[Renamed]:
    """Another name."""
    _rename(call)
    _meanwhile(call.db)
    return Data(data=Renamed(name=call.body.name))


@put("/api/tournaments/{tournament_id}/regret", body=NewName, ability="read")
def regret(call: Write[NewName]) -> Data[Renamed]:
    """A change that is refused when it is made already."""
    _rename(call)
    raise Conflict("Not today. Come back tomorrow.")


@put("/api/tournaments/{tournament_id}/unshowable", body=NewName, ability="read")
def unshowable(call: Write[NewName]) -> Any:
    """A change whose answer cannot be written down."""
    _rename(call)
    return Unshowable()


def _look(call: Write[NewName]) -> int:
    seen = revisions.current_revision(call.db, call.ids["tournament_id"])
    if seen is None:
        raise NotFound("Tournament", call.ids["tournament_id"])
    _meanwhile(call.db)
    return seen


@post("/api/tournaments/{tournament_id}/draw", body=NewName, ability="manage", prepare=_look)
def draw(call: Write[NewName]) -> Data[Renamed]:
    """A name that takes long to find."""
    if revisions.current_revision(call.db, call.ids["tournament_id"]) != call.preparation:
        raise PreparationOutdated
    _rename(call)
    return Data(data=Renamed(name=call.body.name, seen=call.preparation))


def module_of(*endpoints: Endpoint) -> ModuleType:
    module = ModuleType("small")
    vars(module).update({one.handler.__name__: one for one in endpoints})
    return module


MODULES = [module_of(add_club, remove_club, rename, regret, unshowable, draw)]


def an_api(store: Store) -> Api:
    return app.build_api(store, Settings(base_url=build.BASE_URL), modules=MODULES, now=lambda: build.NOW)


def do(
    store: Store, method: str, path: str, body: Any = None, **options: Any
) -> tuple[int, Any, dict[str, str]]:
    return build.do(store, method, path, body, modules=MODULES, **options)


def count_of_clubs(store: Store) -> int:
    with store.read() as db:
        return db.execute(select(func.count()).select_from(tables.club)).scalar_one()


def name_of(store: Store, tournament_id: int) -> str:
    with store.read() as db:
        row = tables.tournament.c.tournament_id == tournament_id
        return str(db.execute(select(tables.tournament.c.name).where(row)).scalar_one())


def raised_by_another(store: Store, tournament_id: int) -> Callable[[Connection], None]:
    """Another request changes the tournament meanwhile."""

    def happen(_db: Connection) -> None:
        with store.write(tournament_id) as transaction:
            revisions.raise_tournaments(transaction, [tournament_id])

    return happen


@pytest.fixture
def user(store: Store) -> int:
    return build.a_user(store, role="organizer")


@pytest.fixture(autouse=True)
def _nothing_happens_meanwhile() -> Iterator[None]:
    yield
    MEANWHILE.clear()


# One transaction


def test_what_was_answered_is_there(store: Store, user: int) -> None:
    status, body, headers = do(store, "POST", "/api/clubs", {"name": " The Drains "}, by=user)
    assert (status, body["data"]["name"], body["data"]["location"]) == (201, "The Drains", "203.0.113.7")
    assert "x-tournament-revision" not in headers
    with store.read() as db:
        assert clubs.find_club(db, body["data"]["clubId"]).name == "The Drains"


@pytest.mark.parametrize(("word", "status"), [("regret", 409), ("unshowable", 500)])
def test_a_change_that_cannot_be_answered_did_not_happen(
    store: Store, user: int, word: str, status: int
) -> None:
    night = build.a_tournament(store, organizer_id=user)
    path = f"/api/tournaments/{night.tournament_id}/{word}"
    world = store.world_revision()
    assert do(store, "PUT", path, {"name": "New"}, by=user, key="k")[0] == status
    assert name_of(store, night.tournament_id) == "Thursday Strikes"
    assert store.tournament_revisions([night.tournament_id]) == {night.tournament_id: 1}
    assert store.world_revision() == world
    # A refusal is not kept: the same key may be sent again.
    assert do(store, "PUT", path, {"name": "New"}, by=user, key="k")[0] == status


def test_every_answer_below_a_tournament_names_its_revision(store: Store, user: int) -> None:
    night = build.a_tournament(store, organizer_id=user)
    path = f"/api/tournaments/{night.tournament_id}/name"
    for revision in (2, 3):
        headers = do(store, "PATCH", path, {"name": "New"}, by=user)[2]
        assert headers["x-tournament-revision"] == str(revision)


# Who may


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
def test_a_token_must_be_able_to_do_it(
    store: Store, method: str, path: str, needed: str, ability: str
) -> None:
    user_id = build.a_user(store, role="admin")
    night = build.a_tournament(store, organizer_id=user_id)
    who = AuthenticatedCaller(user_id=user_id, role="admin", ability=ability)
    body = None if method == "DELETE" else {"name": "New"}
    status, said, _ = do(store, method, path.format(night.tournament_id), body, by=who)
    is_refused = (status, said) == (403, {"message": "Invalid ability provided.", "code": "ability-missing"})
    assert is_refused is (ABILITIES.index(ability) < ABILITIES.index(needed))


def test_nobody_writes_without_a_token(store: Store) -> None:
    assert do(store, "POST", "/api/clubs", {"name": "x"})[:2] == (
        401,
        {"message": "Unauthenticated.", "code": "unauthenticated"},
    )


# What is sent


def test_a_faulty_body_changes_nothing(store: Store, user: int) -> None:
    for sent, status in [(b"", 422), (b"{", 400), (b"[]", 422), (b'{"name":"x","clubId":1}', 422)]:
        assert do(store, "POST", "/api/clubs", sent, by=user)[0] == status
    assert (
        do(
            store,
            "DELETE",
            "/api/clubs/1",
            {"why": "x"},
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
def test_whatever_json_is_sent_is_done_or_refused(store: Store, value: Any) -> None:
    user_id = build.a_user(store)
    status, body, _ = do(store, "POST", "/api/clubs", value, by=user_id)
    assert status == 201 or (400 <= status < 500 and body["message"])


# Sent again


def test_a_request_that_is_sent_again_acts_once_and_is_answered_the_same(store: Store, user: int) -> None:
    first = do(store, "POST", "/api/clubs", {"name": "Once"}, by=user, key="a")
    again = do(store, "POST", "/api/clubs", {"name": "Once"}, by=user, key="a")
    assert first[:2] == again[:2]
    assert "idempotency-replayed" not in first[2]
    assert again[2]["idempotency-replayed"] == "true"
    assert count_of_clubs(store) == 1
    # A key is its user's own.
    other = build.a_user(store)
    assert (
        "idempotency-replayed" not in do(store, "POST", "/api/clubs", {"name": "Once"}, by=other, key="a")[2]
    )
    assert count_of_clubs(store) == 2


def test_a_stored_answer_names_the_revision_of_then_and_no_if_match_stands_in_its_way(
    store: Store, user: int
) -> None:
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
def test_what_cannot_be_a_key_is_refused(store: Store, user: int, key: str) -> None:
    status, body, _ = do(store, "POST", "/api/clubs", {"name": "x"}, by=user, key=key)
    assert (status, list(body["errors"])) == (422, ["Idempotency-Key"])


def test_a_stored_answer_is_forgotten_after_a_day(store: Store, user: int) -> None:
    for hours, count in [(0, 1), (24, 1), (25, 2)]:
        now = build.NOW + timedelta(hours=hours)
        do(store, "POST", "/api/clubs", {"name": "Once"}, by=user, key="a", now=now)
        assert count_of_clubs(store) == count
    later = build.NOW + timedelta(hours=60)
    do(store, "POST", "/api/clubs", {"name": "Other"}, by=user, key="b", now=later)
    with store.read() as db:
        assert db.execute(select(tables.idempotency.c.key)).scalars().all() == ["b"]


@pytest.mark.parametrize("programs", [1, 3])
def test_32_equal_requests_at_once_act_once(store: Store, user: int, programs: int) -> None:
    apis = [an_api(store) for _ in range(programs)]
    who = build.caller(user, role="organizer", ability="manage")

    def send(number: int) -> tuple[int, dict[str, str]]:
        api = apis[number % programs]
        status, _, headers = build.send(api, "POST", "/api/clubs", {"name": "Once"}, by=who, key="a")
        return status, headers

    with ThreadPoolExecutor(16) as crowd:
        answers = list(crowd.map(send, range(32)))
    acted = [headers for status, headers in answers if status == 201 and not headers]
    assert len(acted) == 1
    assert {status for status, _ in answers} <= {201, 409}
    assert count_of_clubs(store) == 1
    assert send(0)[1]["idempotency-replayed"] == "true"


# Looking ahead


@pytest.mark.parametrize(("moves", "status"), [(0, 200), (1, 200), (2, 200), (3, 409)])
def test_what_moved_meanwhile_is_looked_at_again_three_times_at_most(
    store: Store, user: int, moves: int, status: int
) -> None:
    night = build.a_tournament(store, organizer_id=user)
    MEANWHILE.extend(raised_by_another(store, night.tournament_id) for _ in range(moves))
    path = f"/api/tournaments/{night.tournament_id}/draw"
    got, body, _ = do(store, "POST", path, {"name": "New"}, by=user, key="k")
    assert got == status
    assert (name_of(store, night.tournament_id) == "New") is (status == 200)
    if status == 200:
        assert body["data"]["seen"] == moves + 1


# If-Match


@pytest.mark.parametrize(
    ("named", "status"),
    [
        *[(one, 200) for one in ('"1"', 'W/"1"', "1", "*", '"7", "1"')],
        *[(one, 412) for one in ('"0"', '"2"', "x", "", 'W/"11"', '"1\\"')],
    ],
)
@pytest.mark.parametrize(("method", "word"), [("PATCH", "name"), ("POST", "draw")])
def test_a_change_of_what_has_changed_since_is_refused(
    store: Store, user: int, named: str, status: int, method: str, word: str
) -> None:
    night = build.a_tournament(store, organizer_id=user)
    path = f"/api/tournaments/{night.tournament_id}/{word}"
    got, body, headers = do(store, method, path, {"name": "New"}, by=user, if_match=named)
    assert got == status
    if status == 412:
        assert "revision 1" in body["message"]
        assert headers["x-tournament-revision"] == "1"
        assert name_of(store, night.tournament_id) == "Thursday Strikes"


def test_what_does_not_exist_is_not_found_whatever_is_expected_of_it(store: Store, user: int) -> None:
    got = do(store, "PATCH", "/api/tournaments/99/name", {"name": "New"}, by=user, if_match='"1"')
    assert got[0] == 404


# The database


def test_a_locked_database_is_worth_another_try(
    tmp_path: Path, empty_sqlite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "SQLITE_BUSY_SECONDS", 0.05)
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


def test_a_full_disk_refuses_the_change_and_reads_go_on(tmp_path: Path, empty_sqlite: Path) -> None:
    file = tmp_path / "full.db"
    file.write_bytes(empty_sqlite.read_bytes())
    store = Store(f"sqlite:///{file}")
    user_id = build.a_user(store)
    store.engine.dispose()
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


def test_a_connection_that_breaks_is_worth_another_try(store: Store, user: int) -> None:
    if store.is_sqlite:
        pytest.skip("SQLite has no connection that could break")

    def hang_up(db: Connection) -> None:
        db.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))

    MEANWHILE.append(hang_up)
    assert do(store, "POST", "/api/clubs", {"name": "x"}, by=user, key="k")[0] == 503
    assert count_of_clubs(store) == 0
    assert do(store, "POST", "/api/clubs", {"name": "x"}, by=user, key="k")[0] == 201
