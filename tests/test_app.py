"""The whole program over a real database, without a socket."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from random import Random
from types import ModuleType
from typing import Any
from urllib.parse import unquote

import pytest
from sqlalchemy import delete, select, update
from starlette.testclient import TestClient

import asgi
import build
import silverball
from patience import PATIENCE_SECONDS
from silverball import app, settings
from silverball.kit.edge.front import FrontDoor
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import put
from silverball.service.core.calls import Write
from silverball.service.tournaments import routes as tournaments
from silverball.service.tournaments.reads import listing
from silverball.service.users import writes as users_writes
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.people import site_details
from silverball.store.people.site_details import SiteDetails
from silverball.store.revisions import revisions
from silverball.web import site
from silverball_wire.pages import Data


def a_token(store: Store, user_id: int, seed: int = 7, ability: str = "read") -> str:
    with store.write() as transaction:
        now, dice = datetime.now(UTC), Random(seed)
        return users_writes.create_token(
            transaction.connection, user_id, "test", abilities=[ability], now=now, dice=dice
        ).text


@contextmanager
def running_app(store: Store, **settings: Any) -> Iterator[FrontDoor]:
    """The running program, with its background work."""
    front_door = app.build(store, Settings(base_url=build.BASE_URL, **settings))
    with TestClient(front_door):
        yield front_door


@pytest.fixture
def front_door(store: Store) -> Iterator[FrontDoor]:
    with running_app(store) as front_door:
        yield front_door


@pytest.fixture
def token(store: Store) -> str:
    return a_token(store, build.a_user(store))


def test_tournaments_need_a_valid_token(front_door: FrontDoor, token: str) -> None:
    assert asgi.get(front_door, "/api/tournaments").status == 401
    assert asgi.get(front_door, "/api/tournaments", token="1|slv_wrong").status == 401
    assert asgi.get(front_door, "/api/tournaments", token=token).status == 200


def test_links_begin_with_the_base_url_whatever_headers_claim(front_door: FrontDoor, token: str) -> None:
    headers = {"host": "evil.example", "x-forwarded-host": "evil.example", "forwarded": "host=evil.example"}
    for path in ("/api/tournaments", "/api/arenas", "/docs", "/openapi.json"):
        reply = asgi.get(front_door, path, token=token, headers=headers)
        assert reply.status == 200
        assert b"evil.example" not in reply.body
    reply = asgi.get(front_door, "/api/arenas?status=active", token=token, headers=headers)
    assert reply.json["links"]["first"] == f"{build.BASE_URL}/api/arenas?status=active&page=1"
    for path in ("/", "/docs/", "/account/"):
        assert "evil.example" not in asgi.get(front_door, path, headers=headers).headers.get("location", "")


def test_every_get_names_what_it_ignored_also_from_memory_and_with_a_304(
    store: Store, front_door: FrontDoor, token: str
) -> None:
    night = build.a_tournament(store)
    item = f"/api/tournaments/{night.tournament_id}"
    paths = ("/api/tournaments", item, f"{item}/rounds", f"{item}/players/csv", f"{item}/events")
    for path in (*paths, "/api/users/profile"):
        for _ in range(2):
            reply = asgi.get(front_door, f"{path}?foo=1&after=&b%20c=2", token=token)
            assert (reply.status, reply.headers.get("x-ignored-parameters")) == (200, "foo, b%20c"), path
        headers = {"if-none-match": reply.headers["etag"]}
        same = asgi.get(front_door, f"{path}?foo=1&b%20c=2", token=token, headers=headers)
        assert (same.status, same.headers["x-ignored-parameters"]) == (304, "foo, b%20c"), path
        assert "x-ignored-parameters" not in asgi.get(front_door, path, token=token).headers
    lenient = asgi.get(front_door, "/api/tournaments?status=active&limit=500&page=1", token=token)
    assert lenient.headers["x-ignored-parameters"] == "status, limit"
    assert "X-Ignored-Parameters" in lenient.headers["access-control-expose-headers"]


def test_the_next_request_sees_a_committed_change(store: Store, front_door: FrontDoor, token: str) -> None:
    night = build.a_tournament(store)
    path = f"/api/tournaments/{night.tournament_id}"
    first = asgi.get(front_door, path, token=token)
    with store.write(night.tournament_id) as transaction:
        row = tables.tournament.c.tournament_id == night.tournament_id
        transaction.connection.execute(update(tables.tournament).where(row).values(name="Renamed"))
        revisions.raise_tournaments(transaction, [night.tournament_id])
    repeated = asgi.get(front_door, path, token=token, headers={"if-none-match": first.headers["etag"]})
    assert (repeated.status, repeated.json["data"]["name"]) == (200, "Renamed")


@pytest.mark.both_databases
def test_webhook_deliveries_are_never_cached(store: Store) -> None:
    night = build.a_tournament(store)
    token = a_token(store, night.organizer_id, ability="manage")
    # Inactive, so that the running program does not deliver to it.
    hook = build.row(store, tables.webhook, tournament_id=night.tournament_id, is_active=False)
    build.row(store, tables.webhook_delivery, webhook_id=hook)
    path = f"/api/tournaments/{night.tournament_id}/webhooks/{hook}/deliveries"
    with running_app(store) as front_door:
        first = asgi.get(front_door, path, token=token)
        same = asgi.get(front_door, path, token=token, headers={"if-none-match": first.headers["etag"]})
        with store.write(quiet=True) as transaction:
            transaction.connection.execute(update(tables.webhook_delivery).values(status="delivered"))
        repeated = asgi.get(front_door, path, token=token, headers={"if-none-match": first.headers["etag"]})
    assert [first.json["data"][0]["status"], same.status] == ["failed", 304]
    assert (repeated.status, repeated.json["data"][0]["status"]) == (200, "delivered")


def test_a_change_by_another_process_is_seen(front_door: FrontDoor, store: Store, token: str) -> None:
    night = build.a_tournament(store)
    path = f"/api/tournaments/{night.tournament_id}"
    assert asgi.get(front_door, path, token=token).status == 200
    other = Store(store.url.render_as_string(hide_password=False))
    with other.write(night.tournament_id) as transaction:
        row = tables.tournament.c.tournament_id == night.tournament_id
        transaction.connection.execute(update(tables.tournament).where(row).values(name="Renamed"))
        revisions.raise_tournaments(transaction, [night.tournament_id])
    other.close()
    until = time.monotonic() + PATIENCE_SECONDS
    names: list[str] = []
    while "Renamed" not in names and time.monotonic() < until:
        names.append(asgi.get(front_door, path, token=token).json["data"]["name"])
        time.sleep(0.1)
    assert names[-1] == "Renamed"


@pytest.mark.both_databases
def test_the_use_of_a_token_is_recorded_without_invalidating_responses(
    front_door: FrontDoor, store: Store, token: str
) -> None:
    revision = store.world_revision()
    assert asgi.get(front_door, "/api/tournaments", token=token).status == 200
    until = time.monotonic() + PATIENCE_SECONDS
    used: Any = None
    while used is None and time.monotonic() < until:
        with store.read() as db:
            used = db.execute(select(tables.token.c.last_used_at)).scalar_one()
    assert used is not None
    assert store.world_revision() == revision


@pytest.mark.both_databases
def test_details_that_only_one_account_may_see_do_not_reach_others(
    store: Store, front_door: FrontDoor
) -> None:
    shy = build.a_user(store, name="Shy", pronouns="they/them", profile_opt_out=True)
    path = f"/api/users/{shy}"
    own = asgi.get(front_door, path, token=a_token(store, shy))
    other = asgi.get(front_door, path, token=a_token(store, build.a_user(store), seed=8))
    assert own.json["user"]["pronouns"] == "they/them"
    assert other.json["user"]["pronouns"] is None


def test_private_lists_are_cached_per_user(store: Store, front_door: FrontDoor) -> None:
    owner, other = build.a_user(store), build.a_user(store)
    build.an_arena(store, owner, name="Mine")
    mine = asgi.get(front_door, "/api/arenas", token=a_token(store, owner))
    theirs = asgi.get(front_door, "/api/arenas", token=a_token(store, other, seed=8))
    assert [arena["name"] for arena in mine.json["data"]] == ["Mine"]
    assert theirs.json["data"] == []


def test_running_standings_are_given_again_with_their_age_and_completed_ones_are_those_of_now(
    store: Store, front_door: FrontDoor, token: str
) -> None:
    running = build.a_tournament(store, status="started")
    completed = build.a_tournament(store, status="completed")
    for night, are_given in ((running, [False, True]), (completed, [False, False])):
        path = f"/api/tournaments/{night.tournament_id}/standings"
        answers = [asgi.get(front_door, path, token=token) for _ in range(2)]
        assert [answer.status for answer in answers] == [200, 200]
        assert ["age" in answer.headers for answer in answers] == are_given


@pytest.mark.parametrize("number", ["0", str(2**63), "9" * 19, "9" * 40, "-1", "1.0", "%D9%A1", "x", "1%00"])
def test_an_invalid_id_is_not_found(front_door: FrontDoor, token: str, number: str) -> None:
    for path in (f"/api/tournaments/{unquote(number)}", f"/api/tournaments/{unquote(number)}/standings"):
        assert asgi.get(front_door, path, token=token).status == 404


def test_public_read_opens_tournaments_and_nothing_private(store: Store) -> None:
    with running_app(store, public_read=True) as front_door:
        assert asgi.get(front_door, "/api/tournaments").status == 200
        assert asgi.get(front_door, "/api/arenas").status == 401


def test_public_read_takes_no_wrong_token_for_none(store: Store, token: str) -> None:
    with running_app(store, public_read=True) as front_door:
        assert asgi.get(front_door, "/api/tournaments").status == 200
        assert asgi.get(front_door, "/api/tournaments", token=token).status == 200
        for wrong in ("1|slv_wrong", token[:-1], "x" * 5_000, ""):
            assert asgi.get(front_door, "/api/tournaments", token=wrong).status == 401, wrong
        # What a refused token got is nobody's answer.
        assert asgi.get(front_door, "/api/tournaments").status == 200
        # Another scheme is no token: a proxy may have asked for a password.
        headers = {"Authorization": "Basic eDp5"}
        assert asgi.get(front_door, "/api/tournaments", headers=headers).status == 200
        with store.write() as transaction:
            transaction.connection.execute(delete(tables.token))
    with running_app(store, public_read=True) as front_door:
        assert asgi.get(front_door, "/api/tournaments", token=token).status == 401


def test_in_the_place_of_another_service_its_tokens_read_what_is_open_to_everybody(
    store: Store, token: str
) -> None:
    night = build.a_tournament(store)
    item = f"/api/tournaments/{night.tournament_id}"
    foreign = ("17|hR4kq" * 5, "eyJhbGciOi" * 400, "")
    with running_app(store, stand_in=True) as front_door:
        for sent in (None, *foreign):
            for path in ("/api/tournaments", item, f"{item}/standings", f"/api/users/{night.organizer_id}"):
                assert asgi.get(front_door, path, token=sent).status == 200, (sent, path)
            for path in (
                "/api/arenas",
                "/api/users/profile",
                "/api/ratings",
                f"{item}/journal",
                "/api/tokens",
            ):
                assert asgi.get(front_door, path, token=sent).status == 401, (sent, path)
            written = asgi.get(front_door, item, method="PATCH", token=sent, body=b"{}")
            assert written.status == 401, sent
        # Ours is looked at as strictly as ever.
        assert asgi.get(front_door, "/api/arenas", token=token).status == 200
        for wrong in ("1|slv_wrong", token[:-1], "slv_" + "x" * 5_000):
            assert asgi.get(front_door, item, token=wrong).status == 401, wrong
        with store.write() as transaction:
            transaction.connection.execute(delete(tables.token))
    with running_app(store, stand_in=True) as front_door:
        assert asgi.get(front_door, item, token=token).status == 401


def test_in_the_place_of_another_service_a_minute_has_120_requests_unless_a_limit_is_set() -> None:
    stand_in = {"SILVERBALL_STAND_IN": "true"}
    assert settings.load(stand_in).rate_limit_per_minute == 120
    assert settings.load({**stand_in, "SILVERBALL_QUOTAS": "open"}).rate_limit_per_minute == 0
    assert settings.load({"SILVERBALL_STAND_IN": "false"}).rate_limit_per_minute == 60


def test_health_and_readiness_are_reported(front_door: FrontDoor) -> None:
    up, ready = asgi.get(front_door, "/up"), asgi.get(front_door, "/ready")
    assert (up.status, up.json) == (200, {"status": "up", "version": silverball.__version__})
    assert (ready.status, ready.json["status"]) == (200, "ready")
    # The number of sockets that the open file limit still allows.
    assert ready.json["connectionsLeft"] > 0


def test_metrics_are_not_on_the_public_port(front_door: FrontDoor) -> None:
    assert asgi.get(front_door, "/metrics").status == 404


@pytest.mark.both_databases
def test_a_security_contact_is_published_when_there_is_one(store: Store, front_door: FrontDoor) -> None:
    path = "/.well-known/security.txt"
    assert asgi.get(front_door, path).status == 404
    contacts = ("safe@example.org", "https://example.org/report")
    lines = []
    for contact in contacts:
        with store.write() as transaction:
            site_details.note_site_details(transaction.connection, SiteDetails(contact=contact))
        reply = asgi.get(front_door, path)
        lines.append(reply.body.decode().splitlines()[0])
    assert (reply.status, reply.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    _, expires, *_ = reply.body.decode().splitlines()
    assert lines == ["Contact: mailto:safe@example.org", "Contact: https://example.org/report"]
    assert datetime.fromisoformat(expires.removeprefix("Expires: ")) > datetime.now(UTC)


def test_a_database_without_tables_is_up_but_not_ready(tmp_path: Any) -> None:
    store = Store(f"sqlite:///{tmp_path / 'new.db'}")
    front_door = app.build(store, Settings(base_url=build.BASE_URL))
    assert asgi.get(front_door, "/up").status == 200
    reply = asgi.get(front_door, "/ready")
    assert (reply.status, reply.json) == (
        503,
        {"message": "Service Unavailable", "code": "service-unavailable"},
    )
    store.close()


def test_the_interface_can_be_browsed_without_loading_other_sites(front_door: FrontDoor) -> None:
    page = asgi.get(front_door, "/docs")
    assert page.status == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "unsafe-eval" not in page.headers["content-security-policy"]
    assert b"://" not in page.body
    for name, kind in (
        ("swagger-ui-bundle.js", "text/javascript"),
        ("swagger-ui.css", "text/css"),
        ("start.js", "text/javascript"),
        ("readable.css", "text/css"),
    ):
        file = asgi.get(front_door, f"/docs/{name}")
        assert file.status == 200
        assert file.headers["content-type"].startswith(kind)
    for path in ("/docs", "/docs/start.js", "/docs/swagger-ui.css", "/docs/index.html"):
        headers = asgi.get(front_door, path).headers
        assert {name: headers.get(name) for name in site.HEADERS} == site.HEADERS
        assert headers["cache-control"] == "no-cache"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert asgi.get(front_door, "/docs/index.html").status == 404
    assert asgi.get(front_door, "/docs/..%2fcore.py").status == 404


def test_an_error_in_a_handler_is_answered_without_details_and_logged(
    store: Store, front_door: FrontDoor, token: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert asgi.get(front_door, "/api/tournaments", token=token).status == 200
    with store.migration() as db:
        db.exec_driver_sql("ALTER TABLE location RENAME TO gone")
    reply = asgi.get(front_door, "/api/locations", token=token, headers={"x-request-id": "order-17"})
    assert (reply.status, reply.json) == (500, {"message": "Server Error", "code": "server-error"})
    assert any(record.exc_info for record in caplog.records)
    assert token not in caplog.text


class NewName(Body, frozen=True, kw_only=True):
    name: str


@put("/api/tournaments/{tournament_id}", body=NewName, ability="score")
def rename(call: Write[NewName]) -> Data[int]:
    """Another name."""
    tournament_id = call.ids["tournament_id"]
    row = tables.tournament.c.tournament_id == tournament_id
    call.db.execute(update(tables.tournament).where(row).values(name=call.body.name))
    revisions.raise_tournaments(call.transaction, [tournament_id])
    return Data(data=tournament_id)


@pytest.fixture
def writable_app(store: Store) -> Iterator[FrontDoor]:
    """The program with one more writing route."""
    module = ModuleType("more")
    vars(module)["rename"] = rename
    limits = Settings(base_url=build.BASE_URL, rate_limit_per_minute=3)
    front_door = app.build(store, limits, modules=[tournaments, module])
    with TestClient(front_door):
        yield front_door


def test_an_organizer_writes_and_reads_often_and_sees_each_change(
    store: Store, writable_app: FrontDoor
) -> None:
    night = build.a_tournament(store)
    path = f"/api/tournaments/{night.tournament_id}"
    with store.write() as transaction:
        owner = users_writes.create_token(
            transaction.connection,
            night.organizer_id,
            "desk",
            abilities=["score"],
            now=datetime.now(UTC),
            dice=Random(7),
        ).text
    for number in range(4):
        body = b'{"name":"Night %d"}' % number
        headers = {
            "content-length": str(len(body)),
            "if-match": f'"{number + 1}"',
            "idempotency-key": str(number),
        }
        written = asgi.get(writable_app, path, method="PUT", token=owner, headers=headers, body=body)
        assert (written.status, written.headers["x-tournament-revision"]) == (200, str(number + 2))
        assert written.headers["x-ratelimit-limit"] == "600"
        repeated = asgi.get(writable_app, path, method="PUT", token=owner, headers=headers, body=body)
        assert (repeated.body, repeated.headers["idempotency-replayed"]) == (written.body, "true")
        assert asgi.get(writable_app, path, token=owner).json["data"]["name"] == f"Night {number}"
    stranger = a_token(store, build.a_user(store), seed=8)
    assert asgi.get(writable_app, path, token=stranger).headers["x-ratelimit-limit"] == "3"
    refusal = asgi.get(writable_app, path, method="PUT", token=stranger, headers={"content-length": "0"})
    assert (refusal.status, refusal.json) == (
        403,
        {"message": "Invalid ability provided.", "code": "ability-missing"},
    )


def test_scorekeepers_run_a_tournament_too_until_it_is_completed(store: Store) -> None:
    scorekeeper = build.a_user(store)
    running = build.a_tournament(store)
    completed = build.a_tournament(store, status="completed")
    for night in (running, completed):
        build.row(store, tables.scorekeeper, tournament_id=night.tournament_id, user_id=scorekeeper)
    with store.read() as db:
        assert listing.is_on_duty(db, scorekeeper, running.tournament_id)
        assert listing.is_on_duty(db, running.organizer_id, running.tournament_id)
        assert not listing.is_on_duty(db, completed.organizer_id, running.tournament_id)
        assert not listing.is_on_duty(db, scorekeeper, completed.tournament_id)


def test_an_unsupported_method_gets_the_supported_ones(writable_app: FrontDoor, store: Store) -> None:
    path = f"/api/tournaments/{build.a_tournament(store).tournament_id}"
    reply = asgi.get(writable_app, path, method="POST")
    assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD, PUT, PATCH, DELETE")
    assert asgi.get(writable_app, path, method="OPTIONS").headers["allow"] == "GET,HEAD,PUT,PATCH,DELETE"


def test_many_callers_at_once_get_their_own_responses(store: Store, front_door: FrontDoor) -> None:
    owners = [build.a_user(store) for _ in range(6)]
    for owner in owners:
        build.an_arena(store, owner, name=f"Arena of {owner}")
    owner_tokens = [a_token(store, owner, seed=owner) for owner in owners]

    async def send_all() -> list[asgi.Reply]:
        return await asyncio.gather(
            *(asgi.send(front_door, "/api/arenas", token=token) for token in owner_tokens * 3)
        )

    for index, reply in enumerate(asyncio.run(send_all())):
        assert [arena["name"] for arena in reply.json["data"]] == [f"Arena of {owners[index % 6]}"]
