"""While the tournaments of a large account follow its change, nobody reads what was there before."""

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from sqlalchemy import select

import asgi
import build
from service.accounts.test_large_accounts import a_regular, let_some_follow, switch_off
from service.ratings.test_hidden_everywhere import QUERIES
from silverball.jobs import follow_accounts
from silverball.kit.edge.front import FrontDoor
from silverball.kit.http.endpoints import collect_endpoints
from silverball.service.accounts import announcing
from silverball.service.accounts.writes import announcing as slices_of_tournaments
from silverball.service.events import feed_events
from silverball.slices import ROUTE_MODULES
from silverball.store import pending_announcements, tables
from silverball.store.engine import Store
from silverball.web.live import views as live_views
from test_app import a_token, running_app
from web.test_access_to_pages import PAGES

OLD, FLAG = "Oldname", "canary-flag"
SLICES = 4


@pytest.fixture(autouse=True)
def _small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three tournaments are many here, and a slice has two."""
    monkeypatch.setattr(pending_announcements, "TOURNAMENTS_AT_ONCE", 3)
    monkeypatch.setattr(slices_of_tournaments, "TOURNAMENTS_PER_STATEMENT", 2)
    monkeypatch.setattr(slices_of_tournaments, "SLICE_SECONDS", 0.0)


class NamedWorld:
    """An account in seven tournaments, and the paths of everything that can be read of them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.user_id, self.tournament_ids = a_regular(store, flag=FLAG)
        build.a_rating(store, user_id=self.user_id, name="Quentin Oldname", name_folded="quentin oldname")
        self.stranger = build.a_user(store)
        with store.write() as transaction:
            # The events show the name as it was.
            feed_events.announce_tournaments(transaction, self.tournament_ids)
        player = tables.player.c
        mine = select(player.player_id).where(player.claimed_by == self.user_id).order_by(player.player_id)
        with store.read() as db:
            self.player_ids = list(db.execute(mine).scalars())
        words = {"user_id": self.user_id, "type": "users", "opdb_id": "G4ODR", "section": "players"}
        self.ids: list[dict[str, Any]] = [
            defaultdict(lambda: 1, **words, tournament_id=tournament_id, player_id=player_id)
            for tournament_id, player_id in zip(self.tournament_ids, self.player_ids, strict=True)
        ]

    def paths(self) -> Iterator[str]:
        reading = [
            endpoint.path
            for endpoint in collect_endpoints(*ROUTE_MODULES)
            if endpoint.method == "GET" and not endpoint.is_async
        ]
        for ids in self.ids:
            for path in reading:
                if ids is self.ids[0] or "{tournament_id}" in path:
                    yield (path + QUERIES.get(path, "").replace("canary", "quentin")).format_map(ids)

    def pages(self) -> Iterator[str]:
        """The pages that anybody may open."""
        paths = [page.path for page in PAGES if page.method == "GET" and page.for_guests]
        for ids in self.ids[::3]:
            for path in (*paths, *live_views.PATHS):
                yield path.format_map(ids)

    def paths_with(self, *words: str) -> set[str]:
        """Paths of answers to a stranger that hold one of the words."""
        found = set()
        for path in self.paths():
            status, body = build.ask(self.store, path, by=self.stranger)
            assert status < 500, path
            if any(word in str(body) for word in words):
                found.add(path)
        return found


@pytest.mark.parametrize("slices_done", range(SLICES + 1))
def test_no_route_shows_the_old_name_while_tournaments_follow(store: Store, slices_done: int) -> None:
    world = NamedWorld(store)
    assert len(world.paths_with(OLD)) > 20
    store.finish_deferred = lambda: None
    switch_off(store, world.user_id)
    let_some_follow(store, slices_done)
    assert world.paths_with(OLD, FLAG) == set()


def test_no_route_shows_it_afterwards(store: Store) -> None:
    world = NamedWorld(store)
    store.finish_deferred = partial(announcing.finish_announcing, store)
    switch_off(store, world.user_id)
    assert world.paths_with(OLD, FLAG) == set()


@pytest.mark.parametrize("slices_done", [0, 2, SLICES])
def test_no_route_shows_what_is_hidden_while_tournaments_follow(store: Store, slices_done: int) -> None:
    world = NamedWorld(store)
    assert len(world.paths_with(FLAG)) >= 10
    store.finish_deferred = lambda: None
    status, _, _ = build.do(store, "PATCH", "/api/users/profile", {"profileOptOut": True}, by=world.user_id)
    assert status == 200
    let_some_follow(store, slices_done)
    assert world.paths_with(FLAG) == set()
    follow_accounts.run(store, build.NOW)
    assert world.paths_with(FLAG) == set()


def change_profile(front_door: FrontDoor, token: str, body: bytes) -> None:
    path, length = "/api/users/profile", {"content-length": str(len(body))}
    assert asgi.get(front_door, path, method="PATCH", token=token, body=body, headers=length).status == 200


@pytest.mark.parametrize(
    ("body", "word"),
    [(b'{"name":"Quentin Newname"}', b"Quentin Oldname"), (b'{"profileOptOut":true}', FLAG.encode())],
)
def test_no_kept_answer_and_no_condition_outlives_the_change(store: Store, body: bytes, word: bytes) -> None:
    world = NamedWorld(store)
    stranger, own = a_token(store, world.stranger), a_token(store, world.user_id, 8, "score")
    paths = [f"/api/users/{world.user_id}", "/api/search?type=users&query=quentin"]
    for tournament_id in world.tournament_ids:
        paths += [f"/api/tournaments/{tournament_id}?includeScorekeepers=1&includePlayers=1"]
    with running_app(store, rate_limit_per_minute=0) as front_door:
        kept = {path: asgi.get(front_door, path, token=stranger) for path in paths}
        assert all(word in reply.body for path, reply in kept.items() if "search" not in path)
        change_profile(front_door, own, body)
        for path, reply in kept.items():
            for headers in ({}, {"if-none-match": reply.headers["etag"]}):
                later = asgi.get(front_door, path, token=stranger, headers=headers)
                assert later.status == 200 or word not in reply.body
                assert word not in later.body
    with store.read() as db:
        assert pending_announcements.first_pending(db) is None


@pytest.mark.both_databases
def test_no_page_shows_the_old_name_after_an_erasing(store: Store) -> None:
    world = NamedWorld(store)
    with running_app(store, rate_limit_per_minute=0) as front_door:
        kept = {path: asgi.get(front_door, path) for path in world.pages()}
        naming = {path for path, reply in kept.items() if OLD.encode() in reply.body}
        assert len(naming) > 5
        switch_off(store, world.user_id)
        for path, reply in kept.items():
            conditions = {"if-none-match": reply.headers["etag"]} if "etag" in reply.headers else {}
            for headers in ({}, conditions):
                later = asgi.get(front_door, path, headers=headers)
                assert later.status != 304 or path not in naming
                assert OLD.encode() not in later.body, path
