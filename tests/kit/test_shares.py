"""Limits go by account, device and code; an address limits strangers only."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import asgi
from kit.served_door import Client, ServedDoor
from kit.stub_backend import RESULT, STANDINGS, Clock, StubBackend
from patience import PATIENCE_SECONDS
from silverball.kit.edge.backend import Backend, FrontDoorLimits
from silverball.kit.edge.connections import HttpLimits
from silverball.kit.edge.front import FrontDoor
from silverball.kit.edge.proxies import NO_PROXIES, TrustedProxies
from silverball.kit.edge.shares import DUTY, DUTY_SECONDS, OpenCounts, Visitor, address_shares
from silverball.kit.edge.visitors import KNOWN_SECONDS, RECENT_SECONDS
from silverball.kit.http.endpoints import Request, Stream
from silverball.service.tournaments import paths

PAGES = 4
PHONE, DIRECTOR = "/nowhere", "/t/42/run"
IPV6 = "2001:db8:1:{:x}::7"


class Site(StubBackend):
    """A program with pages, whose visitors are known by their cookies."""

    def __init__(self) -> None:
        super().__init__()
        self.visitors = {b"ada": Visitor(7), b"ada's tablet": Visitor(7), b"bar": Visitor(("device", 3))}
        self.visitors[b"slip"] = Visitor(("code", 1, 5), is_code=True)
        self.looked_up: list[bytes] = []
        self.open_streams = 0
        # Set once a stream is open; cleared, streams stay open.
        self.end_streams = asyncio.Event()

    def find_visitor(self, secrets: bytes) -> Visitor | None:
        if self.outage_seconds:
            raise ConnectionError
        self.looked_up.append(secrets)
        return self.visitors.get(secrets)

    async def pages(self, scope: Any, _receive: Any, send: Any) -> None:
        if scope["method"] == "POST":
            scope[DUTY].append(True)
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def answer_async(self, _request: Request) -> Stream:
        self.open_streams += 1

        async def chunks() -> Any:
            yield b": here\n\n"
            await self.end_streams.wait()

        return Stream(chunks())

    def door(self, clock: Clock, **limits: Any) -> FrontDoor:
        program = Backend(
            find_caller=self.find_caller,
            version_of=lambda scope_id: self.revisions.get(scope_id, 0),
            refresh=self.refresh,
            answer=self.answer,
            answer_error=self.answer_error,
            scope_for=paths.tournament_in,
            has_own_quota=self.has_own_quota,
            async_paths=["/api/tournaments/{tournament_id}/stream"],
            answer_async=self.answer_async,
            pages=self.pages,
            secrets_in=lambda _path, _query, cookies: cookies,
            find_visitor=self.find_visitor,
        )
        chosen = {"pages_per_minute": PAGES, "code_per_minute": 2, "rate_per_minute": 3, **limits}
        return FrontDoor(program, FrontDoorLimits(**chosen), clock=clock, wall_clock=lambda: 1_770_000_000.0)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def site() -> Site:
    return Site()


def ask(door: FrontDoor, path: str = PHONE, cookie: str = "", **options: Any) -> int:
    headers = {"cookie": cookie} if cookie else {}
    return asgi.get(door, path, headers=headers, **options).status


def use_up(door: FrontDoor, **options: Any) -> None:
    """Ask as a stranger until nothing is left."""
    for _ in range(1_000):
        if ask(door, **options) == 429:
            return
    raise AssertionError("a stranger is not limited")


def test_strangers_who_use_up_their_address_leave_accounts_and_devices_theirs(
    site: Site, clock: Clock
) -> None:
    door = site.door(clock)
    use_up(door)
    assert [ask(door, DIRECTOR, "ada") for _ in range(PAGES)] == [404] * PAGES
    assert [ask(door, DIRECTOR, "bar") for _ in range(PAGES)] == [404] * PAGES
    # One account has one allowance, with whatever it signs in.
    assert [ask(door, DIRECTOR, cookie) for cookie in ("ada", "ada's tablet", "bar")] == [429] * 3
    assert ask(door, DIRECTOR, "ada", client="198.51.100.9") == 429


def test_a_code_on_paper_has_few_pages_of_its_own(site: Site, clock: Clock) -> None:
    door = site.door(clock)
    use_up(door)
    assert [ask(door, cookie="slip") for _ in range(3)] == [404, 404, 429]


def test_a_cookie_that_nobody_was_given_counts_as_its_address(site: Site, clock: Clock) -> None:
    door = site.door(clock)
    statuses = [ask(door, cookie=f"made up {number}") for number in range(3 * PAGES)]
    assert statuses == [404] * PAGES + [429] * 2 * PAGES
    # Made-up cookies do not keep the database busy either.
    assert len(site.looked_up) == PAGES


def test_a_visitor_is_remembered_for_a_minute_and_then_looked_up_whatever_strangers_do(
    site: Site, clock: Clock
) -> None:
    door = site.door(clock)
    assert [ask(door, DIRECTOR, "ada") for _ in range(2)] == [404, 404]
    assert site.looked_up == [b"ada"]
    clock.now += KNOWN_SECONDS
    use_up(door)
    for number in range(PAGES):
        ask(door, cookie=f"made up {number}")
    site.looked_up.clear()
    assert ask(door, DIRECTOR, "ada") == 404
    assert site.looked_up == [b"ada"]
    # Signed out, the cookie is a stranger's.
    del site.visitors[b"ada"]
    clock.now += KNOWN_SECONDS - 1
    use_up(door)
    assert ask(door, DIRECTOR, "ada") == 404
    clock.now += 1
    use_up(door)
    assert ask(door, DIRECTOR, "ada") == 429


def test_a_visitor_stays_known_while_the_database_cannot_be_asked(site: Site, clock: Clock) -> None:
    door = site.door(clock)
    assert ask(door, DIRECTOR, "ada") == 404
    site.outage_seconds = 1.0
    clock.now += KNOWN_SECONDS
    use_up(door)
    assert ask(door, DIRECTOR, "ada") == 404
    clock.now += RECENT_SECONDS
    use_up(door)
    assert ask(door, DIRECTOR, "ada") == 429


@pytest.mark.parametrize("path", [PHONE, STANDINGS])
@pytest.mark.parametrize("acts", ["a page", "a token"])
def test_strangers_around_people_on_duty_have_four_allowances_together(
    site: Site, clock: Clock, acts: str, path: str
) -> None:
    door = site.door(clock, rate_per_minute=PAGES)
    site.running_tournaments, site.is_public = {(7, 42)}, True

    def passes() -> int:
        clock.now += 60
        return sum(ask(door, path) in (200, 404) for _ in range(6 * PAGES))

    assert passes() == PAGES
    if acts == "a page":
        assert ask(door, DIRECTOR, "ada", method="POST") == 404
    else:
        assert asgi.get(door, RESULT, method="PUT", token="ada").status == 200
    assert passes() == 4 * PAGES
    assert ask(door, path, client="198.51.100.9") in (200, 404)
    clock.now += DUTY_SECONDS
    assert passes() == PAGES


def test_reading_or_writing_elsewhere_is_no_duty(site: Site, clock: Clock) -> None:
    door = site.door(clock, rate_per_minute=PAGES)
    site.running_tournaments = {(7, 42)}
    assert asgi.get(door, STANDINGS, token="ada").status == 200
    assert asgi.get(door, RESULT, method="PUT", token="bo").status == 200
    assert sum(ask(door) == 404 for _ in range(3 * PAGES)) == PAGES


@pytest.mark.parametrize("path", [PHONE, STANDINGS])
def test_a_network_of_ipv6_has_one_four_or_sixteen_allowances(site: Site, clock: Clock, path: str) -> None:
    door = site.door(clock, rate_per_minute=PAGES)
    site.is_public = True

    def passes(networks: range) -> int:
        """How many requests pass that come from these /64 networks of one /48."""
        clock.now += 60
        clients = [IPV6.format(network) for network in networks for _ in range(2 * PAGES)]
        return sum(ask(door, path, client=client) in (200, 404) for client in clients)

    assert passes(range(1)) == PAGES
    assert passes(range(6)) == 4 * PAGES
    assert passes(range(0, 0x1400, 0x100)) == 16 * PAGES


def test_an_address_counts_for_the_networks_around_it() -> None:
    assert [tuple(share) for share in address_shares("2001:db8:1:2ff:3:4:5:6")] == [
        ("2001:db8:1:2ff::/64", 1),
        ("2001:db8:1:200::/56", 4),
        ("2001:db8:1::/48", 16),
    ]
    for address in ("203.0.113.7", "::ffff:203.0.113.7"):
        assert [tuple(share) for share in address_shares(address)] == [("203.0.113.7", 1)]


def test_what_is_open_is_counted_for_each_network_and_forgotten() -> None:
    counts = OpenCounts(1)
    first = address_shares(IPV6.format(1))
    counts.enter(first)
    assert counts.is_full(first)
    assert not counts.is_full(address_shares(IPV6.format(2)))
    counts.leave(first)
    assert not counts.is_full(first)
    assert counts._counts == {}


def test_streams_count_by_the_client_behind_a_trusted_proxy(site: Site, clock: Clock) -> None:
    proxies = TrustedProxies.parse("127.0.0.1")
    door = site.door(clock, rate_per_minute=0, streams_max=10, proxies=proxies)
    path = "/api/tournaments/42/stream"

    async def scenario() -> None:
        site.end_streams = asyncio.Event()

        def stream(client: str, token: str | None = None) -> "asyncio.Task[asgi.Reply]":
            headers = {"x-forwarded-for": client}
            sent = asgi.send(door, path, headers=headers, token=token, client="127.0.0.1")
            return asyncio.ensure_future(sent)

        streams = [stream("203.0.113.7") for _ in range(40)]
        refused = [await next(asyncio.as_completed(streams))]
        assert refused[0].status == 429
        assert refused[0].headers["retry-after"] == "5"
        # Others, and accounts at the same address, have their own.
        streams += [stream("203.0.113.8"), stream("203.0.113.7", "ada")]
        while site.open_streams < 12:
            await asyncio.sleep(0.001)
        site.end_streams.set()
        statuses = [(await each).status for each in streams]
        assert (statuses.count(200), statuses.count(429)) == (12, 30)
        assert (await stream("203.0.113.7")).status == 200

    asyncio.run(scenario())


# Connections


LIMITS = HttpLimits(total=40, per_address=8, reserved=10, sweep_seconds=0.05)
GET = "GET /nowhere HTTP/1.1\r\nHost: silverball.test\r\n{}\r\n"
FROM_ADA = "Cookie: ada\r\n"


def with_connections(site: Site, clock: Clock, scenario: Callable[[ServedDoor], Awaitable[None]]) -> None:
    async def bounded() -> None:
        door = site.door(clock, pages_per_minute=0)
        async with (
            asyncio.timeout(PATIENCE_SECONDS),
            ServedDoor(door, NO_PROXIES, keeps=False, limits=LIMITS).serving() as served,
        ):
            await scenario(served)

    asyncio.run(bounded())


async def connect(served: ServedDoor, address: str = "127.0.0.1") -> Client:
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port, local_addr=(address, 0))
    return Client(reader, writer)


async def status(client: Client, extra: str = "") -> int:
    client.writer.write(GET.format(extra).encode())
    head = await client._reader.readuntil(b"\r\n\r\n")
    return int(head.split()[1])


async def close(clients: list[Client]) -> None:
    for client in clients:
        client.writer.close()
        with contextlib.suppress(OSError):
            await client.writer.wait_closed()


def test_a_full_address_still_lets_in_those_who_show_who_they_are(site: Site, clock: Clock) -> None:
    async def scenario(served: ServedDoor) -> None:
        crowd = [await connect(served) for _ in range(LIMITS.per_address)]
        for client in crowd:
            assert await status(client) == 404
        director = await connect(served)
        assert await status(director, FROM_ADA) == 404
        stranger = await connect(served)
        assert await status(stranger) == 503
        # The director's next one has the place again; theirs do not count for the address.
        others = [await connect(served) for _ in range(3)]
        for client in others:
            assert await status(client, FROM_ADA) == 404
        await close([*crowd, director, stranger, *others])

    with_connections(site, clock, scenario)


def test_a_tenth_of_all_connections_is_kept_for_those_who_have_an_account(site: Site, clock: Clock) -> None:
    async def scenario(served: ServedDoor) -> None:
        crowd = []
        for number in range(LIMITS.total - LIMITS.reserved):
            crowd.append(await connect(served, f"127.0.1.{number + 1}"))
            assert await status(crowd[-1]) == 404
        stranger = await connect(served, "127.0.2.1")
        assert await status(stranger) == 503
        director = await connect(served, "127.0.2.2")
        assert await status(director, FROM_ADA) == 404
        # One that says nothing keeps no more than its part of what is reserved.
        silent = [await connect(served, "127.0.2.3") for _ in range(LIMITS.reserved)]
        bo = await connect(served, "127.0.2.4")
        assert await status(bo, FROM_ADA) == 404
        await close([*crowd, stranger, director, *silent, bo])

    with_connections(site, clock, scenario)
