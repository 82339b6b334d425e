"""`client.follow`: events as typed objects, across cuts, restarts and gaps."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import build
from feed.running_program import admin_token, announce
from servers import Servers
from silverball.store.database.engine import Store
from silverball.store.tables import tournament
from silverball_client import AsyncClient, Client, Connected, Disconnected, Event, Missed, NotFound, Quiet
from silverball_wire.players import Player
from silverball_wire.tournaments import Tournament

SECONDS_MAX = 60


@pytest.fixture
def server(database_url: str) -> Iterator[Servers]:
    own = Servers(database_url)
    own.start()
    yield own
    own.close()


def address(server: Servers) -> str:
    return f"http://127.0.0.1:{server.port}"


class Followed:
    """A follower in a thread, which collects its items."""

    def __init__(self, client: Client, tournament_id: int, **place: Any) -> None:
        self.items: list[Any] = []
        self._items = client.follow_states(tournament_id, **place)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        for item in self._items:
            if not isinstance(item, Quiet):
                self.items.append(item)

    def wait_until(self, is_reached: Callable[[list[Any]], bool]) -> None:
        until = time.monotonic() + SECONDS_MAX
        while not is_reached(self.items):
            assert time.monotonic() < until, self.items
            time.sleep(0.02)

    def join(self) -> None:
        """The client is closed, so following ends."""
        self._thread.join(SECONDS_MAX)
        assert not self._thread.is_alive()

    @property
    def numbers(self) -> list[int]:
        return [item.seq for item in self.items if isinstance(item, Event)]


def test_changes_come_as_typed_objects(store: Store, server: Servers) -> None:
    with Client(address(server), admin_token(store)) as client:
        night = client.tournaments.create(name="Thursday", type="knockout")
        followed = Followed(client, night.tournament_id)
        followed.wait_until(lambda items: items == [Connected()])
        client.tournaments.update(night.tournament_id, name="Friday")
        (added,) = [client.tournaments.add_players(night.tournament_id, name="Ann")]
        followed.wait_until(lambda items: len(items) >= 3)
        renamed, joined = followed.items[1:3]
    followed.join()
    assert isinstance(renamed.data, Tournament)
    assert (renamed.name, renamed.data.name) == ("TournamentUpdated", "Friday")
    assert isinstance(added, Player)
    assert joined.data.player_ids == (added.player_id,)
    assert joined.seq == renamed.seq + 1


def test_a_killed_server_costs_no_event(store: Store, server: Servers) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    announce(store, tournament_id)
    with Client(address(server)) as client:
        epoch = client.tournaments.events(tournament_id).epoch
    server.kill()
    # More than the socket resends.
    announce(store, tournament_id, 700)
    server.start()
    with Client(address(server)) as client:
        followed = Followed(client, tournament_id, epoch=epoch, seq=1)
        followed.wait_until(lambda items: len(items) > 0 and items[-1] == Connected())
        announce(store, tournament_id)
        followed.wait_until(lambda items: isinstance(items[-1], Event))
    followed.join()
    assert followed.numbers == list(range(2, 703))
    assert Missed not in map(type, followed.items)


def test_who_asks_for_it_gets_the_newest_of_each_thing_after_a_long_absence(
    store: Store, server: Servers
) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    announce(store, tournament_id)
    with Client(address(server)) as client:
        epoch = client.tournaments.events(tournament_id).epoch
        announce(store, tournament_id, 700)
        followed = Followed(client, tournament_id, epoch=epoch, seq=1, compact=True)
        followed.wait_until(lambda items: len(items) == 2)
        announce(store, tournament_id)
        followed.wait_until(lambda items: len(items) == 3)
    followed.join()
    assert followed.items[0] == Connected()
    assert followed.numbers == [701, 702]


def test_a_cut_is_told_and_mended(store: Store, server: Servers) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    with Client(address(server)) as client:
        followed = Followed(client, tournament_id)
        followed.wait_until(lambda items: items == [Connected()])
        server.kill()
        announce(store, tournament_id, 3)
        followed.wait_until(lambda items: isinstance(items[-1], Disconnected))
        assert followed.numbers == []
    followed.join()


def test_events_that_are_gone_are_told_as_missed(store: Store, server: Servers) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    announce(store, tournament_id, 600)
    with store.write() as transaction:
        transaction.connection.execute(tournament.update().values(seq_low=550))
    with Client(address(server)) as client:
        epoch = client.tournaments.events(tournament_id).epoch
        followed = Followed(client, tournament_id, epoch=epoch, seq=5)
        followed.wait_until(lambda items: items == [Missed(epoch=epoch, seq=600), Connected()])
    followed.join()


def test_an_unknown_tournament_cannot_be_followed(store: Store, server: Servers) -> None:
    with Client(address(server), admin_token(store)) as client, pytest.raises(NotFound, match="404"):
        next(client.follow(404))


def test_the_awaited_client_follows_too(store: Store, server: Servers) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    announce(store, tournament_id, 3)

    async def follow() -> list[int]:
        async with AsyncClient(address(server)) as client:
            epoch = (await client.tournaments.events(tournament_id)).epoch
            numbers = []
            async for event in client.follow(tournament_id, epoch=epoch, seq=1):
                numbers.append(event.seq)
                if event.seq == 3:
                    announce(store, tournament_id)
                if event.seq == 4:
                    break
        return numbers

    assert asyncio.run(asyncio.wait_for(follow(), SECONDS_MAX)) == [2, 3, 4]
