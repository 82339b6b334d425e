"""What one node takes away from a token, the others refuse within five seconds."""

import http.client
import json
import time
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

import build
from conftest import PostgreSQL
from feed.redis_server import RedisServer
from servers import Servers
from silverball.service.users import writes as users_writes
from silverball.store.database.engine import Store

SECONDS_MAX = 5.0


def _token(store: Store, user_id: int, ability: str) -> str:
    with store.write() as transaction:
        made = users_writes.create_token(
            transaction.connection,
            user_id,
            ability,
            abilities=[ability],
            now=datetime.now(UTC),
            dice=Random(f"{user_id} {ability}"),
        )
    return made.text


def _ask(port: int, token: str, method: str = "GET", path: str = "/api/users/profile") -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with closing(connection):
        connection.request(method, path, headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        body = answer.read()
        assert answer.status < 500, json.loads(body)
        return answer.status


def _seconds_until_refused(port: int, token: str) -> float:
    """Seconds until this node refuses the token, which it is asked about all the time."""
    began = time.monotonic()
    while _ask(port, token) == 200:
        assert time.monotonic() < began + SECONDS_MAX + 2
        time.sleep(0.05)
    return time.monotonic() - began


@pytest.mark.parametrize("bus", ["postgresql alone", "redis"])
def test_a_token_revoked_or_suspended_at_one_node_is_refused_by_the_other(
    bus: str, postgresql: PostgreSQL, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url, settings = postgresql.new_database(), {}
    if bus == "redis":
        redis: RedisServer = request.getfixturevalue("redis")
        settings["SILVERBALL_REDIS_URL"] = f"redis://127.0.0.1:{redis.port}/0"
    store = Store(url, tmp_path / "secret")
    admin_id = build.a_user(store, name="Ada Min", role="admin")
    olga_id = build.a_user(store, name="Olga Ramp", role="organizer")
    admin, olga, other = (
        _token(store, admin_id, "admin"),
        _token(store, olga_id, "score"),
        _token(store, olga_id, "read"),
    )
    store.close()
    with ExitStack() as stack:
        here, there = Servers.without_limits(url, **settings), Servers.without_limits(url, **settings)
        for node in (here, there):
            stack.callback(node.close)
            node.start()
        assert {_ask(there.port, token) for token in (olga, other)} == {200}
        assert _ask(here.port, olga, "DELETE", "/api/tokens/2") == 200
        assert _seconds_until_refused(there.port, olga) <= SECONDS_MAX
        assert _ask(there.port, other) == 200
        assert _ask(here.port, admin, "PUT", f"/api/users/{olga_id}/suspension") == 200
        assert _seconds_until_refused(there.port, other) <= SECONDS_MAX
