"""The whole program with its feed: sockets and HTTP on one port, and an orderly shutdown."""

import asyncio

from websockets.asyncio.client import connect

import build
from feed.feed_server import next_message, read_close, run_scenario
from feed.running_program import announce, running_program
from silverball.store.database.engine import Store


def test_sockets_and_http_share_a_port(store: Store) -> None:
    tournament_id = build.a_tournament(store).tournament_id

    async def scenario() -> None:
        async with (
            running_program(store, public_read=True) as program,
            program.follower(tournament_id) as client,
        ):
            assert (await next_message(client))["event"] == "pusher_internal:subscription_succeeded"
            assert (await program.http.get("/api/tournaments")).status_code == 200
            assert (await program.http.get("/app/silverball")).status_code == 404
            await asyncio.to_thread(announce, store, tournament_id)
            assert (await next_message(client))["seq"] == 1
            url = f"ws://127.0.0.1:{program.port}/api/tournaments"
            async with connect(url, ping_interval=None, proxy=None) as lost:
                assert (await next_message(lost))["data"]["code"] == 4005
                assert (await read_close(lost))[0] == 4005
            await program.broadcast.drain(asyncio.sleep)
            assert (await next_message(client))["data"]["code"] == 4200
            assert (await read_close(client))[0] == 4200

    run_scenario(scenario())
