"""Answers that leave from the connection are the same as those of the long way, and counted alike."""

import asyncio
import contextlib
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.served_door import (
    Client,
    ServedDoor,
    comparable,
    connected,
    etag_of,
    request_head,
    run,
    status,
)
from kit.stub_backend import PER_USER, STANDINGS, Clock, StubBackend, front_door
from silverball.kit.edge.kept_answers import HEADS_PER_ADDRESS
from silverball.kit.edge.proxies import TrustedProxies

PLAYERS = "/api/tournaments/7/players"


class Site(ServedDoor):
    """A stub backend behind a front door and real connections."""

    def __init__(self, *, keeps: bool = True, proxies: TrustedProxies | None = None, **limits: Any) -> None:
        self.backend = StubBackend()
        self.clock = Clock()
        proxies = proxies or TrustedProxies()
        super().__init__(
            front_door(self.backend, self.clock, proxies=proxies, **limits), proxies, keeps=keeps
        )


def request(path: str = STANDINGS, *lines: str, token: str | None = "ada", method: str = "GET") -> bytes:
    return request_head(path, *lines, token=token, method=method)


# What is kept


def test_a_request_that_came_twice_is_answered_by_the_connection() -> None:
    async def scenario() -> None:
        async with Site().serving() as site, connected(site) as client:
            answers = [await client.ask(request()) for _ in range(5)]
            assert len({re.sub(rb"x-ratelimit-remaining: \d+", b"", comparable(a)) for a in answers}) == 1
            # The first is computed, the second is remembered.
            assert site.kept.answered == 3
            assert site.backend.computed[STANDINGS] == 1
            remaining = [re.search(rb"x-ratelimit-remaining: (\d+)", answer) for answer in answers]
            assert [found[1] for found in remaining if found] == [b"59", b"58", b"57", b"56", b"55"]
            ids = [re.search(rb"x-request-id: (\S+)", answer) for answer in answers]
            assert len({found[1] for found in ids if found}) == 5

    run(scenario)


def test_another_connection_of_the_same_address_profits_too() -> None:
    async def scenario() -> None:
        async with Site().serving() as site:
            for _ in range(4):
                async with connected(site) as client:
                    assert status(await client.ask(request())) == 200
            assert site.kept.answered == 2

    run(scenario)


@pytest.mark.parametrize(
    ("reason", "data"),
    [
        ("a body may follow", request(STANDINGS, "Content-Length: 0")),
        ("a certain revision", request(STANDINGS, "X-Tournament-Revision: 1")),
        ("it asks before it sends", request(STANDINGS, "Expect: 100-continue")),
        ("an upgrade", request(STANDINGS, "Connection: Upgrade", "Upgrade: h2c")),
        ("not a read", request(STANDINGS, method="HEAD")),
        ("a folded or empty value", request(STANDINGS, "X-Empty:")),
        ("a tab in a value", request(STANDINGS, "X-Tab: a\tb")),
        ("letters beyond ASCII", request(STANDINGS, "X-Name: Jörg")),
        ("a whole URI", request(f"http://x{STANDINGS}")),
        ("a fragment", request(f"{STANDINGS}#here")),
        ("a page", request("/tournaments/42")),
        ("a very long head", request(STANDINGS, "X-Long: " + "x" * 3_000)),
        ("lines that end with a line feed only", request().replace(b"\r\n", b"\n")),
    ],
)
def test_unusual_requests_go_the_long_way(reason: str, data: bytes) -> None:
    async def scenario() -> None:
        async with Site().serving() as site:
            for _ in range(4):
                async with connected(site) as client:
                    client.writer.write(data)
                    # Some have no answer that this client could read to its end.
                    with contextlib.suppress(TimeoutError, asyncio.IncompleteReadError):
                        async with asyncio.timeout(0.2):
                            await client.answer()
            assert site.kept.answered == 0, reason

    run(scenario)


def test_http_1_0_and_connection_close_end_the_connection_as_ever() -> None:
    async def scenario() -> None:
        async with Site().serving() as site:
            for data in (
                request().replace(b"HTTP/1.1", b"HTTP/1.0"),
                request(STANDINGS, "Connection: close"),
            ):
                for _ in range(3):
                    async with connected(site) as client:
                        assert status(await client.ask(data)) == 200
                        assert await client.ends_within(1)
            assert site.kept.answered == 0

    run(scenario)


def test_split_and_joined_segments_are_answered_in_order() -> None:
    async def scenario() -> None:
        async with Site(rate_per_minute=0).serving() as site, connected(site) as client:
            data = request()
            for _ in range(3):
                await client.ask(data)
            assert site.kept.answered == 1
            assert status(await client.ask(data[:20], data[20:])) == 200
            # Two in one segment, and the known bytes while a head is half sent.
            client.writer.write(data + data)
            assert [status(await client.answer()) for _ in range(2)] == [200, 200]
            assert status(await client.ask(b"GET / HTTP/1.1\r\nX-Half: ", data)) == 404
            # A known request behind the one that is being computed.
            site.backend.released.clear()
            client.writer.write(request(PLAYERS))
            await asyncio.sleep(0.02)
            client.writer.write(data)
            await asyncio.sleep(0.02)
            site.backend.released.set()
            assert [status(await client.answer()) for _ in range(2)] == [200, 200]
            assert site.kept.answered == 1
            assert status(await client.ask(data)) == 200
            assert site.kept.answered == 2

    run(scenario)


# What is asked anew


def test_a_new_revision_a_revoked_token_and_a_blocked_network_are_seen_at_once() -> None:
    async def scenario() -> None:
        async with Site().serving() as site, connected(site) as client:
            for _ in range(3):
                first = await client.ask(request())
            assert site.kept.answered == 1
            site.backend.body = b'{"data":"newer"}'
            site.backend.revisions[42] += 1
            assert b"newer" in await client.ask(request())
            assert b"newer" in await client.ask(request())
            assert site.kept.answered == 2
            assert etag_of(first) not in (await client.ask(request())).decode()
            site.backend.account_changes[7] = 1
            del site.backend.accounts[b"Bearer ada"]
            assert status(await client.ask(request())) == 401
            site.blocked_networks.append("127.0.0.0/8")
            site.blocked.reload()
            assert status(await client.ask(request())) == 403

    run(scenario)


def test_the_allowance_ends_at_the_same_request() -> None:
    async def scenario() -> None:
        async with Site(rate_per_minute=10).serving() as site, connected(site) as client:
            answers = [await client.ask(request()) for _ in range(13)]
            assert [status(answer) for answer in answers] == [200] * 10 + [429] * 3
            assert b"retry-after: " in answers[10]
            assert site.kept.answered == 11

    run(scenario)


def test_the_remembered_heads_of_an_address_and_of_all_are_bounded() -> None:
    async def scenario() -> None:
        async with Site(rate_per_minute=0, cache_bytes=1_000_000).serving() as site:
            async with connected(site) as client:
                for number in range(2 * HEADS_PER_ADDRESS):
                    for _ in range(2):
                        await client.ask(request(f"{STANDINGS}?n={number}"))
            assert 0 < site.kept.bytes_used <= 1_000_000 / 8
            assert site.kept.bytes_used < 2 * HEADS_PER_ADDRESS * 2_200

    run(scenario)


def test_an_address_that_sends_other_heads_loses_its_oldest() -> None:
    async def scenario() -> None:
        async with Site(rate_per_minute=0).serving() as site, connected(site) as client:
            heads = [request(f"{STANDINGS}?n={number}") for number in range(HEADS_PER_ADDRESS + 1)]
            for head in heads:
                await client.ask(head)
                await client.ask(head)
            remembered = []
            for head in reversed(heads):
                before = site.kept.answered
                await client.ask(head)
                remembered.append(site.kept.answered > before)
            assert remembered == [True] * HEADS_PER_ADDRESS + [False]

    run(scenario)


def test_heads_that_do_not_fit_the_budget_are_forgotten_oldest_first() -> None:
    async def scenario() -> None:
        # An eighth is for heads, which is room for four.
        async with Site(rate_per_minute=0, cache_bytes=80_000).serving() as site, connected(site) as client:
            heads = [request(f"{STANDINGS}?n={number}") for number in range(10)]
            for head in heads:
                await client.ask(head)
                await client.ask(head)
            assert site.kept.bytes_used <= 10_000
            for head in heads:
                await client.ask(head)
            assert site.kept.answered == 0
            assert status(await client.ask(heads[-1])) == 200
            assert site.kept.answered == 1

    run(scenario)


def test_without_a_cache_nothing_is_remembered() -> None:
    async def scenario() -> None:
        async with Site(cache_bytes=0).serving() as site, connected(site) as client:
            for _ in range(4):
                assert status(await client.ask(request())) == 200
            assert (site.kept.answered, site.kept.bytes_used) == (0, 0)

    run(scenario)


# The connection


def test_an_idle_connection_is_closed_after_kept_answers_too() -> None:
    async def scenario() -> None:
        async with Site(rate_per_minute=0).serving(timeout_keep_alive=3) as site, connected(site) as client:
            for _ in range(8):
                await client.ask(request())
                await asyncio.sleep(0.2)
            assert site.kept.answered == 6
            assert await client.ends_within(60)

    run(scenario)


def test_a_reader_who_takes_nothing_is_not_written_to_without_end() -> None:
    async def scenario() -> None:
        site = Site(rate_per_minute=0)
        site.backend.body = b"x" * 500_000
        async with site.serving(), connected(site) as client:
            for _ in range(3):
                await client.ask(request())
            assert site.kept.answered == 1
            for _ in range(200):
                client.writer.write(request())
                await asyncio.sleep(0.001)
            # What the socket's buffers hold, and no more; the others wait in the long way.
            assert site.kept.answered < 50

    run(scenario)


# Both ways are equal

QUERIES = ["", "?a=1", "?b=%20x"]
PATHS = [STANDINGS, PLAYERS, PER_USER]
HEADERS = [
    [],
    ["Accept-Encoding: gzip"],
    ["accept-encoding:   gzip, br"],
    ["If-None-Match: *"],
    ["IF-NONE-MATCH: CURRENT"],
    ['If-None-Match: "old"'],
    ["X-Request-Id: mine-1"],
    ["User-Agent: wall/2", "Connection: keep-alive"],
    ["X-Forwarded-For: 198.51.100.7"],
    ["X-Forwarded-For: 198.51.100.7, nonsense"],
]
STEPS = st.one_of(
    st.tuples(
        st.just("ask"),
        st.sampled_from(PATHS),
        st.sampled_from(QUERIES),
        st.sampled_from(["ada", "bo", "shy", "wrong", None]),
        st.sampled_from(HEADERS),
        st.integers(1, 4),
    ),
    st.tuples(st.sampled_from(["revision", "revoke", "later", "throttle", "block", "own", "fail"])),
)


async def take_step(site: Site, client: Client, step: tuple[Any, ...], etags: dict[str, str]) -> list[bytes]:
    backend = site.backend
    match step:
        case ("ask", path, query, token, lines, times):
            current = etags.get(path, '"none"')
            lines = [line.replace("CURRENT", current) for line in lines]
            answers = [await client.ask(request(path + query, *lines, token=token)) for _ in range(times)]
            if b"\r\netag: " in answers[-1]:
                etags[path] = etag_of(answers[-1])
            return [comparable(answer) for answer in answers]
        case ("revision",):
            backend.revisions[42] += 1
            backend.body = b'{"at":%d}' % backend.revisions[42] * 200
        case ("revoke",):
            backend.accounts.pop(b"Bearer bo", None)
            backend.account_changes[8] = max(backend.account_changes.values(), default=0) + 1
        case ("later",):
            site.clock.now += 7
        case ("throttle",):
            backend.is_throttled = not backend.is_throttled
        case ("block",):
            site.blocked_networks[:] = [] if site.blocked_networks else ["198.51.100.0/24"]
            site.blocked.reload()
        case ("own",):
            backend.running_tournaments.add((7, 42))
        case ("fail",):
            backend.status = 404 if backend.status == 200 else 200
    return []


async def compare(steps: list[tuple[Any, ...]], rate: int, *, trusts: bool) -> int:
    """Take the steps on two equal sites, one without kept answers; return how many of those there were."""
    proxies = TrustedProxies.parse("127.0.0.1") if trusts else None
    quick, slow = (Site(keeps=keeps, proxies=proxies, rate_per_minute=rate) for keeps in (True, False))
    async with quick.serving(), slow.serving(), connected(quick) as first, connected(slow) as second:
        quick_etags: dict[str, str] = {}
        slow_etags: dict[str, str] = {}
        for step in steps:
            answers = await take_step(quick, first, step, quick_etags)
            assert answers == await take_step(slow, second, step, slow_etags), step
    assert slow.kept.answered == 0
    return quick.kept.answered


@settings(max_examples=15, deadline=None)
@given(
    steps=st.lists(STEPS, min_size=5, max_size=40),
    rate=st.sampled_from([0, 12, 60]),
    trusts=st.booleans(),
)
def test_both_ways_give_the_same_answers(steps: list[tuple[Any, ...]], rate: int, trusts: bool) -> None:
    async def scenario() -> None:
        await compare(steps, rate, trusts=trusts)

    run(scenario)


def test_both_ways_give_the_same_answer_to_each_kind_of_request() -> None:
    asking = [
        ("ask", path, query, token, lines, 4)
        for path in PATHS
        for query in QUERIES[:2]
        for token in ("ada", None)
        for lines in HEADERS
    ]

    async def scenario() -> None:
        # Without a token the stub refuses, which is never kept. Of the others' four answers two are, and
        # fewer where the tag has just become known.
        assert await compare(asking, 0, trusts=True) > len(asking) * 0.8

    run(scenario)
