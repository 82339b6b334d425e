"""A node that is cut off from its database sends what it keeps, marked, and then 503."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import make_url

import asgi
import build
from conftest import PostgreSQL
from silverball.kit.edge.caller_cache import CALLER_SECONDS
from silverball.kit.edge.front import FrontDoor
from silverball.store.database.engine import Store
from silverball.store.revisions import revisions
from tcp_proxy import TcpProxy
from test_app import a_token, running_app

NOTICED_WITHIN_SECONDS = 60.0


@pytest.fixture
def direct(postgresql: PostgreSQL) -> Iterator[Store]:
    """The database, as another node has it."""
    url = postgresql.new_database()
    store = Store(url)
    yield store
    store.close()
    postgresql.drop(url)


@pytest.fixture
def proxy(postgresql: PostgreSQL) -> Iterator[TcpProxy]:
    with TcpProxy(Path(postgresql.folder) / ".s.PGSQL.5432") as proxy:
        yield proxy


@pytest.fixture
def cut_off(direct: Store, proxy: TcpProxy) -> Iterator[FrontDoor]:
    """A node whose database is behind the proxy."""
    store = Store(f"postgresql+psycopg://silverball@127.0.0.1:{proxy.port}/{make_url(direct.url).database}")
    with running_app(store, public_read=True, rate_limit_per_minute=0) as front_door:
        yield front_door
        # Connections that wait for an answer would keep the threads.
        proxy.stop()
        proxy.start()
    store.close()


def await_reply(ask: Callable[[], asgi.Reply], is_it: Callable[[asgi.Reply], bool]) -> asgi.Reply:
    until = time.monotonic() + NOTICED_WITHIN_SECONDS
    while not is_it(reply := ask()):
        assert time.monotonic() < until, (reply.status, reply.headers)
        time.sleep(0.05)
    return reply


def test_a_cut_off_node_sends_what_it_keeps_until_it_must_not(
    direct: Store, proxy: TcpProxy, cut_off: FrontDoor
) -> None:
    # What it is worth is known at once; a page whose number is still being computed is not kept.
    night = build.a_tournament(direct, type="matchplay")
    path, page = f"/api/tournaments/{night.tournament_id}", f"/t/{night.tournament_id}"
    token = a_token(direct, night.organizer_id)
    kept, kept_page = asgi.get(cut_off, path), asgi.get(cut_off, page)
    caller_read_from = time.monotonic()
    assert asgi.get(cut_off, "/api/users/profile", token=token).status == 200
    proxy.stop()
    asked_at = time.monotonic()
    reply = await_reply(lambda: asgi.get(cut_off, path), lambda reply: "age" in reply.headers)
    assert (reply.status, reply.body) == (200, kept.body)
    assert int(reply.headers["age"]) >= 2
    dated = asgi.get(cut_off, page)
    assert dated.status == 200
    assert b"This is as of " in dated.body
    assert b"This is as of " not in kept_page.body
    for headers in ({"x-tournament-revision": "1"}, {"x-tournament-revision": "0"}):
        assert asgi.get(cut_off, path, headers=headers).status == 503
    assert asgi.get(cut_off, f"{path}/standings").status == 503
    profile = asgi.get(cut_off, "/api/users/profile", token=token)
    # On a busy machine the requests above can take longer than a caller is kept.
    if time.monotonic() < caller_read_from + CALLER_SECONDS:
        assert profile.headers.get("age")
    time.sleep(max(0.0, asked_at + CALLER_SECONDS - time.monotonic()))
    assert asgi.get(cut_off, "/api/users/profile", token=token).status == 503
    with direct.write(night.tournament_id) as transaction:
        revisions.raise_tournaments(transaction, [night.tournament_id])
    proxy.start()
    fresh = await_reply(
        lambda: asgi.get(cut_off, path), lambda reply: reply.status == 200 and "age" not in reply.headers
    )
    assert fresh.json["data"]["tournamentId"] == night.tournament_id
    assert b"This is as of " not in asgi.get(cut_off, page).body


def test_a_node_whose_database_falls_silent_sends_what_it_keeps(
    direct: Store, proxy: TcpProxy, cut_off: FrontDoor
) -> None:
    night = build.a_tournament(direct)
    path = f"/api/tournaments/{night.tournament_id}"
    kept = asgi.get(cut_off, path)
    proxy.blackhole()
    # Until the silence is noticed, what is kept holds.
    time.sleep(3)
    reply = asgi.get(cut_off, path)
    assert (reply.status, reply.body) == (200, kept.body)
    assert int(reply.headers["age"]) >= 2
    proxy.forward()
    await_reply(lambda: asgi.get(cut_off, path), lambda reply: "age" not in reply.headers)
