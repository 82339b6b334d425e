"""Nodes add up what they have counted in Redis; each counts for itself when there is none."""

import http.client
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from redis.exceptions import RedisError

import build
from conftest import PostgreSQL
from feed.redis_server import RedisServer
from servers import Servers
from silverball.kit.edge.rate_limit import WINDOW_SECONDS, RateLimiter
from silverball.kit.edge.redis_counts import RedisCounts
from silverball.store.database.engine import Store

LIMIT = 60


@contextmanager
def _nodes(redis: RedisServer, number: int = 2) -> Iterator[list[tuple[RedisCounts, RateLimiter]]]:
    """So many nodes that exchange counts when a test says so."""
    nodes = []
    for _ in range(number):
        counts, limiter = RedisCounts(f"redis://127.0.0.1:{redis.port}/0", "mine"), RateLimiter(LIMIT)
        counts.share("requests", limiter)
        nodes.append((counts, limiter))
    yield nodes
    for counts, _ in nodes:
        counts.disconnect()


def _take(limiter: RateLimiter, number: int, key: str = "ada") -> int:
    """How many of so many requests pass now."""
    return sum(limiter.take(key, time.monotonic()) >= 0 for _ in range(number))


def test_a_node_refuses_by_the_sum_it_read_last(redis: RedisServer) -> None:
    with _nodes(redis) as ((here, first), (there, second)):
        assert (_take(first, 40), _take(second, 30)) == (40, 30)
        here.exchange()
        # Nobody has told this node of the other's 40.
        assert second.remaining("ada", time.monotonic()) == 30
        there.exchange()
        assert _take(second, 1) == 0
        # The other reads the sum with what it counts next.
        assert _take(first, 1) == 1
        here.exchange()
        assert _take(first, 1) == 0
        assert _take(first, LIMIT, key="bo") == LIMIT


def test_what_was_counted_once_is_added_once(redis: RedisServer) -> None:
    with _nodes(redis) as ((here, first), (there, second)):
        for _ in range(3):
            _take(first, 5)
            here.exchange()
            here.exchange()
        _take(second, 1)
        there.exchange()
        assert second.remaining("ada", time.monotonic()) == LIMIT - 16


def test_a_window_ends_for_all_nodes_at_the_same_time(redis: RedisServer) -> None:
    with _nodes(redis) as ((here, first), (there, second)):
        now = time.monotonic()
        first.take("ada", now - WINDOW_SECONDS / 2)
        second.take("ada", now)
        here.exchange()
        there.exchange()
        ends = [limiter.seconds_to_wait("ada", now) for limiter in (first, second)]
        assert ends[0] == ends[1] > WINDOW_SECONDS / 2
        later = now + WINDOW_SECONDS * 2
        assert [limiter.remaining("ada", later) for limiter in (first, second)] == [LIMIT, LIMIT]


def test_without_redis_a_node_counts_for_itself_and_tells_what_it_counted_later(redis: RedisServer) -> None:
    with _nodes(redis) as ((here, first), (there, second)):
        redis.kill()
        assert _take(first, LIMIT + 5) == LIMIT
        with pytest.raises((RedisError, OSError)):
            here.exchange()
        redis.start()
        here.exchange()
        _take(second, 1)
        there.exchange()
        assert _take(second, 1) == 0


def test_redis_holds_no_address_and_forgets_after_the_window(redis: RedisServer) -> None:
    with _nodes(redis) as ((here, first), _):
        _take(first, 1, key="192.0.2.1")
        here.exchange()
        client = here.connect()
        (name,) = client.keys()
        assert b"192.0.2.1" not in name
        assert 0 < client.pttl(name) <= WINDOW_SECONDS * 1000


def test_a_stop_ends_though_redis_is_silent() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        counts = RedisCounts(f"redis://127.0.0.1:{silent.getsockname()[1]}/0", "mine")
        counts.start()
        # The thread has sent something, and waits for an answer that does not come.
        connection, _ = silent.accept()
        with closing(connection):
            assert connection.recv(1)
            counts.close()
    assert not counts.is_reachable


def test_two_servers_refuse_a_caller_who_has_used_the_allowance_on_both(
    postgresql: PostgreSQL, redis: RedisServer, tmp_path: Path
) -> None:
    url = postgresql.new_database()
    store = Store(url, tmp_path / "silverball.db.secret")
    store.key_file.may_make = True
    tournament_id = build.a_tournament(store).tournament_id
    store.close()
    settings = {
        "SILVERBALL_PUBLIC_READ": "true",
        "SILVERBALL_REDIS_URL": f"redis://127.0.0.1:{redis.port}/0",
        "SILVERBALL_SECRET_FILE": str(tmp_path / "silverball.db.secret"),
    }
    with ExitStack() as stack:
        ports = []
        for _ in range(2):
            # Each user has LIMIT requests a minute.
            node = Servers(url, **settings)
            stack.callback(node.close)
            node.start()
            ports.append(node.port)
        here, there = (stack.enter_context(closing(_connection(port))) for port in ports)
        assert [_status(here, tournament_id) for _ in range(LIMIT)] == [200] * LIMIT
        assert _status(here, tournament_id) == 429
        # This node hears of it with the next exchange, long before it has given all of its own.
        passed = 0
        while _status(there, tournament_id) == 200:
            passed += 1
            assert passed < LIMIT
            time.sleep(0.2)


def _connection(port: int) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", port, timeout=20)


def _status(connection: http.client.HTTPConnection, tournament_id: int) -> int:
    # This machine counts as a proxy, so it may name the client.
    connection.request("GET", f"/api/tournaments/{tournament_id}", headers={"X-Forwarded-For": "192.0.2.1"})
    answer = connection.getresponse()
    answer.read()
    return answer.status
