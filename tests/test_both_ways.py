"""Every route that reads gives the same answer from the connection as by the long way.

Two front doors over one database are asked the same; the connections of one of them answer requests that
they know. `kit/test_kept_answers.py` does this with a stub that can fail and be slow.
"""

import contextlib
import re
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import update

import build
from kit.served_door import ServedDoor, comparable, connected, request_head, run, status
from kit.stub_backend import Clock
from selection import examples
from service.access_world import STATES, USUAL_FORMAT, AccessWorld, operations
from silverball import app
from silverball.kit.edge.backend import FrontDoorLimits
from silverball.kit.edge.front import FrontDoor
from silverball.kit.edge.proxies import TrustedProxies
from silverball.kit.errors import NotFound
from silverball.kit.http.endpoints import Access, Endpoint, UncachedResult
from silverball.service.users import writes as users_writes
from silverball.service.users.callers import CallerLookup
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.revisions.known_revisions import KnownRevisions
from silverball.web.costly_routes import cost_of

SETTINGS = Settings(base_url=build.BASE_URL, public_read=True)
READS = [operation for operation in operations() if operation.endpoint.method == "GET"]
# But for one that the client gave.
REQUEST_ID = re.compile(rb"x-request-id: (?!mine)(\S+)")
CALLERS = ("owner", "admin", "hidden", "stranger", "wrong", None)
TIMES = 4
# A request is a head, or its parts as they are sent, from the address, the token and the newest ETag.
Form = Callable[[str, str | None, str], Sequence[bytes]]


def with_lines(*lines: str) -> Form:
    """A request with these header lines, in which TAG stands for the newest ETag."""
    return lambda path, token, tag: [
        request_head(path, *(line.replace("TAG", tag) for line in lines), token=token)
    ]


def with_body(*lines: str, body: bytes) -> Form:
    return lambda path, token, _tag: [request_head(path, *lines, token=token) + body]


def changed(old: bytes, new: bytes) -> Form:
    """A plain request with these bytes in the place of others."""
    return lambda path, token, _tag: [request_head(path, token=token).replace(old, new)]


def split(path: str, token: str | None, _tag: str) -> list[bytes]:
    data = request_head(path, token=token)
    return [data[:30], data[30:]]


def joined(path: str, token: str | None, _tag: str) -> list[bytes]:
    return [request_head(path, token=token) * 2]


def elsewhere(path: str, token: str | None, _tag: str) -> list[bytes]:
    """The address written in another way."""
    return [request_head(re.sub(r"/(\d+)", r"/0\1", path, count=1), token=token)]


FORMS: dict[str, Form] = {
    "plain": with_lines(),
    "HEAD": lambda path, token, _tag: [request_head(path, token=token, method="HEAD")],
    "gzip": with_lines("Accept-Encoding: gzip"),
    "gzip among others": with_lines("accept-encoding:   br;q=1, GZIP ;q=0.5"),
    "anything but gzip": with_lines("Accept-Encoding: *, gzip;q=0"),
    "known": with_lines("If-None-Match: TAG"),
    "known, in a list": with_lines('IF-NONE-MATCH: "x",TAG'),
    "known, and gzip": with_lines("If-None-Match: TAG", "Accept-Encoding: gzip"),
    "whatever there is": with_lines("If-None-Match: *"),
    "an older one": with_lines('If-None-Match: W/"old"'),
    "said twice": with_lines("If-None-Match: TAG", 'If-None-Match: "x"', "Accept-Encoding: gzip"),
    "a body": with_body("Content-Length: 2", body=b"{}"),
    "an empty body": with_body("Content-Length: 0", body=b""),
    "chunks": with_body("Transfer-Encoding: chunked", body=b"2\r\n{}\r\n0\r\n\r\n"),
    "a revision": with_lines("X-Tournament-Revision: 1"),
    "a malformed revision": with_lines("X-Tournament-Revision: new"),
    "a whole URI": changed(b"GET /", b"GET http://x/"),
    "HTTP/1.0": changed(b"HTTP/1.1", b"HTTP/1.0"),
    "the last one": with_lines("Connection: close"),
    "not the last one": with_lines("Connection: Keep-Alive", "Keep-Alive: timeout=5"),
    "an upgrade": with_lines("Connection: Upgrade", "Upgrade: h2c"),
    "a pause": with_lines("Expect: 100-continue"),
    "two segments": split,
    "two in one segment": joined,
    "from behind a proxy": with_lines("X-Forwarded-For: 198.51.100.7", "X-Forwarded-Proto: https"),
    "from behind two": with_lines("X-Forwarded-For: 203.0.113.9, 198.51.100.8"),
    "from nowhere": with_lines("X-Forwarded-For: 198.51.100.7, nonsense"),
    "no Host": changed(b"Host: x\r\n", b""),
    "another Host": changed(b"Host: x\r\n", b"HOST:pinball.example:8080\r\n"),
    "an id of its own": with_lines("X-Request-Id: mine-1"),
    "a malformed id": with_lines("X-Request-Id: ;;"),
    "small letters": changed(b"Authorization: Bearer", b"authorization:bearer"),
    "a wide token": changed(b"Bearer ", b"Bearer  "),
    "another scheme": changed(b"Bearer ", b"Basic "),
    "two tokens": with_lines("Authorization: Bearer wrong"),
    "a tab": with_lines("X-Tab: a\tb"),
    "an empty header": with_lines("X-Empty:"),
    "another page": with_lines("Origin: https://example.org", "User-Agent: wall/2"),
    "another address": elsewhere,
    "an ignored parameter": lambda path, token, _tag: [
        request_head(path + ("&" if "?" in path else "?") + "colour=red", token=token)
    ],
    "an empty query": lambda path, token, _tag: [
        request_head(path + ("" if "?" in path else "?"), token=token)
    ],
    "a fault in the query": lambda path, token, _tag: [
        request_head(path + ("&" if "?" in path else "?") + "page=-1&page=%ff", token=token)
    ],
}


@dataclass
class Site:
    """Two front doors over one database, of which `quick` answers known requests from the connection."""

    store: Store
    quick: ServedDoor
    slow: ServedDoor
    clock: Clock
    tokens: dict[str, str]

    async def ask(
        self, form: str, path: str, caller: str | None, tag: str, times: int = TIMES
    ) -> list[bytes]:
        """Ask both doors; returns their answers, which must be equal."""
        token = None if caller is None else self.tokens.get(caller, "1|wrong")
        parts = FORMS[form](path, token, tag)
        answers = await ask_door(self.quick, parts, times)
        expected = await ask_door(self.slow, parts, times)
        assert [comparable(answer) for answer in answers] == [comparable(answer) for answer in expected], (
            form,
            path,
            caller,
        )
        ids = [number for answer in answers for number in REQUEST_ID.findall(answer)]
        assert len(ids) == len(set(ids)), "each request has a number of its own"
        return answers


async def ask_door(door: ServedDoor, parts: Sequence[bytes], times: int) -> list[bytes]:
    """The answers to a request that is sent as often, on a new connection when one ended."""
    answers: list[bytes] = []
    is_head = parts[0].startswith(b"HEAD")
    is_last = b"HTTP/1.0" in parts[0] or b"Connection: close" in parts[0]
    remaining = times
    while remaining:
        async with connected(door) as client:
            while remaining:
                remaining -= 1
                answers.append(await client.ask(*parts, pause=0.003, is_head=is_head))
                if parts[0].count(b"GET ") == 2:
                    answers.append(await client.answer())
                if answers[-1].startswith(b"HTTP/1.1 100"):
                    answers.append(await client.answer())
                if is_last or b"\r\nconnection: close" in answers[-1].lower():
                    break
    return answers


def backend_of(store: Store) -> Any:
    """The program's own backend, whose clock stands still."""
    api = app.build_api(store, SETTINGS, now=lambda: build.NOW)
    return app.build_backend(store, SETTINGS, api, KnownRevisions(store), CallerLookup(store))


@asynccontextmanager
async def serving(store: Store, texts: dict[str, str], *, trusts: bool, rate: int) -> AsyncIterator[Site]:
    proxies = TrustedProxies.parse("127.0.0.1" if trusts else "192.0.2.1")
    limits = FrontDoorLimits(rate_per_minute=rate, own_per_minute=rate + 1 if rate else 0, proxies=proxies)
    program, clock = backend_of(store), Clock()
    quick, slow = (
        ServedDoor(
            FrontDoor(program, limits, clock=clock, wall_clock=lambda: 1_770_000_000.0), proxies, keeps=keeps
        )
        for keeps in (True, False)
    )
    async with quick.serving(), slow.serving():
        yield Site(store, quick, slow, clock, texts)
    assert slow.kept.answered == 0


def token_of(store: Store, user_id: int, ability: str) -> str:
    with store.write() as transaction:
        made = users_writes.create_token(
            transaction.connection,
            user_id,
            ability,
            abilities=[ability],
            now=datetime.now(UTC),
            dice=Random(user_id),
        )
    return made.text


@pytest.fixture(scope="module")
def world(empty_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AccessWorld]:
    file = tmp_path_factory.mktemp("ways") / "silverball.db"
    shutil.copy(empty_sqlite, file)
    made = AccessWorld(file)
    yield made
    made.close()


@pytest.fixture(scope="module")
def filled(world: AccessWorld) -> tuple[Store, dict[str, str]]:
    """The database, and tokens of those who ask; one of them has opted out of everything."""
    abilities = {"owner": "manage", "admin": "admin", "hidden": "read", "stranger": "manage"}
    store = world.store
    with store.write() as transaction:
        row = tables.user.c.user_id == world.users["hidden"]
        hidden = {"profile_opt_out": True, "history_opt_out": True, "stats_opt_out": True}
        transaction.connection.execute(update(tables.user).where(row).values(hidden))
    return store, {name: token_of(store, world.users[name], ability) for name, ability in abilities.items()}


def is_kept(endpoint: Endpoint) -> bool:
    """Whether the connection can know the answers of this route at all."""
    returns = endpoint.handler.__annotations__.get("return")
    is_uncached = getattr(returns, "__origin__", None) is UncachedResult
    if cost_of(endpoint.method, endpoint.path, b"") is not None:
        # Kept by the line of the computing process.
        return False
    return not is_uncached and not (endpoint.access is Access.OWN and "{" in endpoint.path)


def tag_in(answers: Sequence[bytes], before: str) -> str:
    found = re.search(rb"\r\netag: ([^\r]+)", answers[-1])
    return found[1].decode() if found else before


async def ask_every_route(site: Site, world: AccessWorld, dice: Random, share: int) -> set[str]:
    """Ask each route in one of so many forms, by callers drawn; returns the paths that were never kept."""
    unkept = set()
    for number, operation in enumerate(READS):
        endpoint, path = operation.endpoint, operation.endpoint.path
        address = world.address(path, operation.format, dice.choice(STATES))
        before = site.quick.kept.answered
        answers = await site.ask("plain", address, "owner", "")
        # The first is computed, the second is remembered.
        can_be_kept = is_kept(endpoint) and status(answers[-1]) == 200
        if can_be_kept and site.quick.kept.answered != before + TIMES - 2:
            unkept.add(path)
        tag = tag_in(answers, '"none"')
        for form in list(FORMS)[number % share :: share]:
            for caller in CALLERS if share == 1 else [dice.choice(CALLERS)]:
                tag = tag_in(await site.ask(form, address, caller, tag), tag)
    return unkept


@pytest.mark.parametrize("trusts", [True, False])
def test_every_route_answers_the_same_both_ways(
    world: AccessWorld, filled: tuple[Store, dict[str, str]], trusts: bool
) -> None:
    async def scenario() -> None:
        async with serving(*filled, trusts=trusts, rate=0) as site:
            unkept = await ask_every_route(site, world, Random(int(trusts)), share=8)
            assert unkept == set()

    run(scenario)


@pytest.mark.soak
@pytest.mark.parametrize("trusts", [True, False])
@pytest.mark.parametrize("rate", [0, 300])
def test_every_route_answers_everybody_the_same_both_ways_in_every_form(
    world: AccessWorld, filled: tuple[Store, dict[str, str]], trusts: bool, rate: int
) -> None:
    async def scenario() -> None:
        async with serving(*filled, trusts=trusts, rate=rate) as site:
            await ask_every_route(site, world, Random(rate), share=1)

    run(scenario, seconds=1_800)


# A walk

STEPS = st.one_of(
    st.tuples(
        st.just("ask"),
        st.integers(0, len(READS) - 1),
        st.sampled_from(sorted(FORMS)),
        st.sampled_from(CALLERS),
        st.integers(1, 4),
    ),
    st.tuples(
        st.sampled_from(["rename", "opt out", "opt in", "revoke", "later", "block", "again"]),
    ),
)


class Walk:
    """Requests to both doors, and what happens on the site in between."""

    def __init__(self, site: Site, world: AccessWorld) -> None:
        self._site = site
        self._world = world
        self._tags: dict[str, str] = {}
        self._asked: tuple[Any, ...] = ("ask", 0, "plain", "owner", 2)
        self._changes = 0

    async def take(self, step: tuple[Any, ...]) -> None:
        match step:
            case ("ask", route, form, caller, times):
                self._asked = step
                path = READS[route].endpoint.path
                address = self._world.address(path, READS[route].format, "started")
                answers = await self._site.ask(form, address, caller, self._tags.get(path, '"none"'), times)
                self._tags[path] = tag_in(answers, self._tags.get(path, '"none"'))
            case ("again",):
                await self.take(self._asked)
            case ("rename",):
                self._changes += 1
                tournament = self._world.address("/api/tournaments/{tournament_id}", USUAL_FORMAT, "started")
                await self._write(tournament, b'{"name":"Night %d"}' % self._changes)
            case ("opt out",):
                await self._write("/api/users/profile", b'{"profileOptOut":true,"historyOptOut":true}')
            case ("opt in",):
                await self._write("/api/users/profile", b'{"profileOptOut":false,"historyOptOut":false}')
            case ("revoke",):
                with self._site.store.write() as transaction:
                    number = int(self._site.tokens["stranger"].partition("|")[0])
                    with contextlib.suppress(NotFound):
                        users_writes.revoke_token(transaction, number, now=build.NOW)
            case ("later",):
                self._site.clock.now += 7
            case ("block",):
                for door in (self._site.quick, self._site.slow):
                    door.blocked_networks[:] = [] if door.blocked_networks else ["198.51.100.0/24"]
                    door.blocked.reload()

    async def _write(self, path: str, body: bytes) -> None:
        length, kind = f"Content-Length: {len(body)}", "Content-Type: application/json"
        head = request_head(path, length, kind, token=self._site.tokens["owner"], method="PATCH")
        # The other door counts it too, so that as much remains of both allowances.
        for door in (self._site.quick, self._site.slow):
            async with connected(door) as client:
                assert status(await client.ask(head + body)) in (200, 429)


@settings(max_examples=examples(12), deadline=None)
@given(
    steps=st.lists(STEPS, min_size=8, max_size=40),
    rate=st.sampled_from([0, 15, 60]),
    trusts=st.booleans(),
)
def test_both_ways_stay_equal_while_the_site_changes(
    world: AccessWorld,
    filled: tuple[Store, dict[str, str]],
    steps: list[tuple[Any, ...]],
    rate: int,
    trusts: bool,
) -> None:
    with TemporaryDirectory() as folder:
        store = copy_of(filled[0], Path(folder) / "silverball.db")

        async def scenario() -> None:
            async with serving(store, filled[1], trusts=trusts, rate=rate) as site:
                walk = Walk(site, world)
                for step in steps:
                    await walk.take(step)

        run(scenario)
        store.close()


def copy_of(store: Store, file: Path) -> Store:
    """A database with the same rows."""
    with closing(sqlite3.connect(str(store.url.database))) as rows, closing(sqlite3.connect(file)) as copied:
        rows.backup(copied)
    return Store(f"sqlite:///{file}")
