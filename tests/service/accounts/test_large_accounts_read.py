"""While a job does the rest of a large account's change, nobody reads what was there before."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import select, update

import asgi
import build
from service.accounts.test_large_accounts import (
    a_regular,
    change_profile,
    do_slices,
    is_unfinished,
    switch_off,
)
from service.ratings.test_hidden_everywhere import QUERIES
from silverball.kit.edge.front import FrontDoor
from silverball.kit.http.endpoints import collect_endpoints
from silverball.service.accounts import erasing
from silverball.service.accounts.writes import tournaments
from silverball.service.core import feed_events
from silverball.slices import ROUTE_MODULES
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import announcements
from silverball.web.live import views as live_views
from test_app import a_token, running_app
from web.test_access_to_pages import PAGES

OLD, FLAG = "Oldname", "canary-flag"


@pytest.fixture(autouse=True)
def _small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three tournaments are many here, and a slice has two."""
    monkeypatch.setattr(feed_events, "TOURNAMENTS_AT_ONCE", 3)
    monkeypatch.setattr(tournaments, "TOURNAMENTS_PER_SLICE", 2)


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

    def events_with(self, word: str) -> int:
        """The number of events with this word that a follower is sent who has missed them."""
        with self.store.read() as db:
            pages = [announcements.load_page(db, each, 0, 100)[1] for each in self.tournament_ids]
        return sum(word in event.data for events in pages for event in events)


@pytest.mark.parametrize("slices_done", [0, 2, 5])
def test_no_route_and_no_event_shows_an_erased_name_before_the_job_comes_to_it(
    store: Store, slices_done: int
) -> None:
    world = NamedWorld(store)
    managed = tables.tournament.c.tournament_id == world.tournament_ids[4]
    with store.write() as transaction:
        managers = [{"name": "Quentin Oldname"}]
        transaction.connection.execute(update(tables.tournament).where(managed).values(managers=managers))
    assert len(world.paths_with(OLD)) > 20
    assert world.events_with(OLD) == len(world.tournament_ids)
    switch_off(store, world.user_id)
    do_slices(store, slices_done)
    assert world.paths_with(OLD, FLAG) == set()
    assert world.events_with(OLD) == 0
    erasing.finish_changes(store)
    assert world.paths_with(OLD, FLAG) == set()


@pytest.mark.parametrize("slices_done", [0, 2])
def test_no_route_and_no_event_shows_what_is_hidden_before_the_job_comes_to_it(
    store: Store, slices_done: int
) -> None:
    world = NamedWorld(store)
    assert len(world.paths_with(FLAG)) >= 10
    assert world.events_with(FLAG) == len(world.tournament_ids)
    change_profile(store, world.user_id, profileOptOut=True)
    do_slices(store, slices_done)
    assert world.paths_with(FLAG) == set()
    assert world.events_with(FLAG) == 0
    erasing.finish_changes(store)
    assert world.paths_with(FLAG) == set()
    assert world.events_with(FLAG) == 0


def send_profile(front_door: FrontDoor, token: str, body: bytes) -> None:
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
        send_profile(front_door, own, body)
        for path, reply in kept.items():
            for headers in ({}, {"if-none-match": reply.headers["etag"]}):
                later = asgi.get(front_door, path, token=stranger, headers=headers)
                assert later.status == 200 or word not in reply.body
                assert word not in later.body
        # The server's own job does the rest while it answers.
        while is_unfinished(store):
            erasing.follow_accounts(store)


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
