"""The whole program with its feed: sockets and HTTP on one port, and an end in order."""

import asyncio

import pytest
from websockets.asyncio.client import connect

import build
from feed.serving import MemoryLog, closed, message, run
from feed.whole import say, whole
from silverball.cli.server import sockets_of
from silverball.feed.feed import Feed, limits_of, rules_of
from silverball.feed.hub import Hub
from silverball.settings import Settings
from silverball.store.engine import Store


@pytest.mark.parametrize("asgi", [False, True], ids=["uvicorn", "asgi"])
def test_sockets_and_http_share_a_port(store: Store, asgi: bool) -> None:
    one = build.a_tournament(store).tournament_id

    async def scenario() -> None:
        async with whole(store, public_read=True, feed_asgi=asgi) as house, house.follower(one) as client:
            assert (await message(client))["event"] == "pusher_internal:subscription_succeeded"
            assert (await house.http.get("/api/tournaments")).status_code == 200
            assert (await house.http.get("/app/silverball")).status_code == 404
            await asyncio.to_thread(say, store, one)
            assert (await message(client))["seq"] == 1
            url = f"ws://127.0.0.1:{house.port}/api/tournaments"
            async with connect(url, ping_interval=None, proxy=None) as lost:
                assert (await message(lost))["data"]["code"] == 4005
                assert (await closed(lost))[0] == 4005
            await house.broadcast.drain()
            assert (await message(client))["data"]["code"] == 4200
            assert (await closed(client))[0] == 4200

    run(scenario())


def test_a_settings_word_chooses_who_runs_the_sockets() -> None:
    feed = Feed(Hub(MemoryLog()), rules_of(Settings()), limits_of(Settings()))
    assert sockets_of(feed, Settings(feed_asgi=True)) == "websockets-sansio"
    chosen = sockets_of(feed, Settings())
    assert isinstance(chosen, type)
    assert issubclass(chosen, asyncio.Protocol)
