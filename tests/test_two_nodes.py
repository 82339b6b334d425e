"""Whoever sent a form sees what it did, on a node that has not heard of it, too.

Nodes without their lifespan: nobody nudges them, and they look at the database for requests only.
"""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

import asgi
import build
from conftest import PostgreSQL
from silverball import app
from silverball.kit.edge.backend import SeenRevision
from silverball.service.users import writes as users_writes
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store
from web import page_forms
from web.director import FORM_TYPE, HERE
from web.visitor import EMAIL, PASSWORD, an_account

BASE_URL = "http://silverball.test"
BUSY = 503


class SilentNodes:
    """Two nodes of one database, and a signed-in browser that comes to each as the test says."""

    def __init__(self, url: str) -> None:
        self.stores = [Store(url) for _ in range(2)]
        settings = Settings(base_url=BASE_URL)
        self.doors = [app.build(store, settings) for store in self.stores]
        self.browsers = [TestClient(door, base_url=BASE_URL, follow_redirects=False) for door in self.doors]
        self.nights: list[int] = []
        self.player_id = 0
        self.user_id = 0
        self.session: dict[str, str] = {}

    def sign_in(self) -> None:
        """Make an organizer with two tournaments, signed in at the first node."""
        user_id = an_account(self.stores[0], name="Olga Ramp", role="organizer")
        self.user_id = user_id
        store = self.stores[0]
        # A page of this format awaits no simulated number, so it is remembered.
        nights = [build.a_tournament(store, organizer_id=user_id, type="frenzy") for _ in range(2)]
        self.nights = [night.tournament_id for night in nights]
        # Somebody plays both.
        self.player_id = nights[0].player_ids[0]
        build.row(store, tables.entrant, tournament_id=self.nights[1], player_id=self.player_id, place=4)
        browser = self.browsers[0]
        page = _answered(lambda: browser.get("/account/sign-in"))
        form = page_forms.forms_on(page.text)["/account/sign-in"]
        filled = dict(form.filled(email=EMAIL, password=PASSWORD))
        assert _answered(lambda: browser.post(form.action, data=filled)).status_code == 303
        self.session = dict(self.browsers[0].cookies)
        self.browsers[0].cookies.clear()
        # A tournament that was never written has no revision to be remembered by.
        self.rename(0, 0, "First")
        self.rename(0, 1, "Second")

    def make_token(self) -> str:
        """A token of the organizer that may manage."""
        with self.stores[0].write() as transaction:
            created = users_writes.create_token(
                transaction.connection,
                self.user_id,
                "test",
                abilities=["manage"],
                now=datetime.now(UTC),
                dice=Random(5),
            )
        return created.text

    def send(self, node: int, path: str, form_id: str, seen: str = "", **fields: Any) -> str:
        """Fill in a form at this node, and return the cookie that its answer sets."""
        cookies = {**self.session, "seen": seen}
        given = {"cookie": "; ".join(f"{name}={value}" for name, value in cookies.items() if value)}
        browser = self.browsers[node]
        page = _answered(lambda: browser.get(path, headers=given))
        form = page_forms.forms_on(page.text)[form_id]
        filled, headers = dict(form.filled(**fields)), {**FORM_TYPE, **HERE, **given}
        sent = _answered(lambda: browser.post(form.action, data=filled, headers=headers))
        assert sent.status_code == 303, (sent.status_code, page_forms.alerts_on(sent.text))
        (cookie,) = [line for line in sent.headers.get_list("set-cookie") if line.startswith("seen=")]
        browser.cookies.clear()
        assert "Max-Age=10" in cookie
        return cookie.partition(";")[0].removeprefix("seen=")

    def rename(self, node: int, night: int, name: str, seen: str = "") -> str:
        return self.send(node, f"/t/{self.nights[night]}/run/settings", "edit", seen, name=name)

    def live_page(self, node: int, night: int = 0, seen: str = "", etag: str = "") -> asgi.Reply:
        """A tournament's page, as somebody with this cookie sees it at this node."""
        headers = {"cookie": f"other=1; seen={seen}", "if-none-match": etag}
        given = {name: value for name, value in headers.items() if value and (seen or name != "cookie")}
        path = f"/t/{self.nights[night]}"
        while True:
            answer = asyncio.run(asgi.send(self.doors[node], path, headers=given))
            if answer.status != BUSY:
                return answer

    def shows(self, name: str, node: int, night: int = 0, seen: str = "") -> bool:
        answer = self.live_page(node, night, seen)
        assert answer.status == 200
        return f"<bdi>{name}</bdi>".encode() in answer.body

    def close(self) -> None:
        for door, store in zip(self.doors, self.stores, strict=True):
            door.close()
            store.close()


def _answered(ask: Callable[[], Response]) -> Response:
    """The answer to a request that is sent again while the machine is too busy for it."""
    while True:
        answer = ask()
        if answer.status_code != BUSY:
            return answer


@pytest.fixture
def nodes(postgresql: PostgreSQL) -> Iterator[SilentNodes]:
    """Two nodes on PostgreSQL, of which the first has the sign-in."""
    url = postgresql.new_database()
    opened = SilentNodes(url)
    try:
        opened.sign_in()
        yield opened
    finally:
        opened.close()
        postgresql.drop(url)


def test_in_turns_the_sender_of_a_form_sees_it_at_the_other_node_and_nobody_goes_back(
    nodes: SilentNodes,
) -> None:
    old, seen = "First", ""
    for number in range(4):
        writer, reader = number % 2, (number + 1) % 2
        assert nodes.shows(old, reader, seen=seen)
        name = f"Night {number}"
        seen = nodes.rename(writer, 0, name, seen)
        assert seen.startswith(f"{nodes.nights[0]}:")
        # Without the cookie the node sends what it remembers: it has not heard of the change.
        assert nodes.shows(old, reader)
        assert nodes.shows(name, reader, seen=seen)
        assert nodes.shows(name, reader)
        assert nodes.shows(name, writer, seen=seen)
        old = name


def test_a_page_of_the_computing_process_is_not_older_than_what_its_reader_has_seen(
    nodes: SilentNodes,
) -> None:
    night = nodes.nights[0]
    path = f"/t/{night}/print/names"

    async def ask(headers: dict[str, str]) -> bool:
        page = await asgi.send(nodes.doors[1], path, headers=headers)
        assert page.status == 200
        return b"Renamed" in page.body

    async def look_thrice() -> list[bool]:
        # From here on the node knows the site and the tournament.
        for scope_id in (0, night):
            await asyncio.to_thread(nodes.doors[1]._backend.refresh, scope_id)
        known = await ask({})
        seen = await asyncio.to_thread(nodes.rename, 0, 0, "Renamed")
        return [known, await ask({}), await ask({"cookie": f"seen={seen}"}), await ask({})]

    # Without the cookie the node sends what it remembers, until it has heard of the change.
    assert asyncio.run(look_thrice()) == [False, False, True, True]


def test_forms_of_two_tournaments_at_two_nodes_are_both_seen_at_either(nodes: SilentNodes) -> None:
    for node in range(2):
        for night, name in enumerate(("First", "Second")):
            assert nodes.shows(name, node, night)
    first = nodes.rename(0, 0, "Changed here")
    both = nodes.rename(1, 1, "Changed there", first)
    assert both == "site:0-0"
    for node in range(2):
        assert nodes.shows("Changed here", node, 0, both)
        assert nodes.shows("Changed there", node, 1, both)


def test_a_form_that_changed_several_tournaments_is_seen_on_the_pages_of_all(nodes: SilentNodes) -> None:
    for night in range(2):
        assert nodes.shows("Player 1", 1, night)
    path = f"/home/players/{nodes.player_id}"
    seen = nodes.send(0, path, "change", name="Ada Flipper")
    assert seen.startswith("site:")
    assert seen != "site:0-0"
    for night in range(2):
        assert not nodes.shows("Ada Flipper", 1, night)
        assert nodes.shows("Ada Flipper", 1, night, seen)
        assert nodes.shows("Ada Flipper", 0, night, seen)


def test_no_page_sets_the_cookie_and_it_changes_no_page_that_is_new_enough(nodes: SilentNodes) -> None:
    seen = nodes.rename(0, 0, "Changed")
    plain = nodes.live_page(1)
    brought = nodes.live_page(1, seen=seen)
    assert (plain.body, plain.headers["etag"]) == (brought.body, brought.headers["etag"])
    assert "set-cookie" not in plain.headers | brought.headers
    same = nodes.live_page(1, seen=seen, etag=plain.headers["etag"])
    assert same.status == 304


@pytest.mark.parametrize(
    "value",
    ["", "site", "site:1", "42:-1", "42:1-x", "0:1-1", "x:1-1", "42:1-1-1", f"42:{'9' * 30}-1", "42:1-1 "],
)
def test_a_cookie_that_no_form_has_set_is_ignored(value: str) -> None:
    assert SeenRevision.parse(f"a=b; seen={value}".encode()) is None
    assert SeenRevision.parse(f"a=b; unseen={value}; c=d".encode()) is None


@pytest.mark.parametrize("seen", [SeenRevision(42, 7, 2**63 - 1), SeenRevision(0, 10**17, 0)])
def test_a_cookie_says_what_it_was_made_of(seen: SeenRevision) -> None:
    assert SeenRevision.parse(f"a=b; seen={seen.cookie}; c=d".encode()) == seen


def test_a_cookie_of_another_tournament_asks_nobody(nodes: SilentNodes) -> None:
    assert nodes.shows("First", 1)
    nodes.rename(0, 0, "Changed")
    other = SeenRevision(nodes.nights[1], 10**6, 1).cookie
    assert nodes.shows("First", 1, seen=other)


def test_standings_that_were_given_before_show_a_write_of_their_reader_at_once(nodes: SilentNodes) -> None:
    standings = f"/api/tournaments/{nodes.nights[0]}/standings"
    token = nodes.make_token()

    def ask(node: int, path: str, **options: Any) -> asgi.Reply:
        answer = asyncio.run(asgi.send(nodes.doors[node], path, token=token, **options))
        assert answer.status == 200, answer.body
        return answer

    for node in range(2):
        assert ["age" in ask(node, standings).headers for _ in range(2)] == [False, True]
    changed = ask(
        0,
        f"/api/tournaments/{nodes.nights[0]}",
        method="PATCH",
        headers={"content-type": "application/json"},
        body=b'{"name": "Changed"}',
    )
    assert "age" not in ask(0, standings).headers
    revision = {"x-tournament-revision": changed.headers["x-tournament-revision"]}
    assert "age" not in ask(1, standings, headers=revision).headers
    # A form of the same account counts as much.
    assert "age" in ask(0, standings).headers
    nodes.rename(0, 0, "Changed again")
    assert "age" not in ask(0, standings).headers
