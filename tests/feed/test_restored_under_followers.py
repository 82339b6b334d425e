"""A database that is restored under a running server: whoever follows or resumes is told, and goes on."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection

import build
import going_back
from feed.feed_server import next_message, run_scenario
from feed.running_program import announce, running_program
from silverball.store.database.engine import Store

RESUMERS = 5
LOST = 3
SECONDS_MAX = 60


async def position(client: ClientConnection) -> dict[str, Any]:
    """The next confirmation of a subscription, past whatever comes before it."""
    async with asyncio.timeout(SECONDS_MAX):
        while True:
            message = await next_message(client)
            if message["event"] == "pusher_internal:subscription_succeeded":
                return dict(json.loads(message["data"]))


@pytest.fixture
def other(store: Store) -> Iterator[Store]:
    """Another node, which writes."""
    opened = Store(store.url.render_as_string(hide_password=False))
    yield opened
    opened.close()


@pytest.mark.parametrize("kept", [0, LOST, 2 * LOST], ids=["none", "as many", "more"])
def test_resumers_hear_that_events_are_missing_after_a_restore(store: Store, other: Store, kept: int) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    announce(store, tournament_id, 2)
    epoch = build.public_epoch(store)
    copy = going_back.take_copy(store)
    announce(store, tournament_id, LOST)

    async def scenario() -> None:
        async with (
            running_program(store) as program,
            program.follower(tournament_id, epoch=epoch, seq=2) as there,
        ):
            assert await position(there) == {"epoch": epoch, "seq": 2 + LOST, "recovered": True}
            await asyncio.to_thread(copy.bring_back)
            await asyncio.to_thread(announce, other, tournament_id, kept)
            # In band, for who stayed connected.
            told = await position(there)
            assert (told["recovered"], told["epoch"] != epoch) == (False, True)
            # Over HTTP, for who asks without an epoch: the answer names the one that it continues.
            path = f"/api/tournaments/{tournament_id}/events"
            page = (await program.http.get(path, params={"after": 2})).json()
            assert (page["epoch"], page["seq"]) == (told["epoch"], 2 + kept)
            assert {event["epoch"] for event in page["data"]} <= {told["epoch"]}
            beyond = await program.http.get(path, params={"after": 3 + kept})
            assert (beyond.status_code, beyond.json()["code"]) == (410, "events-trimmed")
            for _ in range(RESUMERS):
                async with program.follower(tournament_id, epoch=epoch, seq=2 + LOST) as back:
                    assert not (await position(back))["recovered"]
            # Both go on from where they were told.
            await asyncio.to_thread(announce, other, tournament_id)
            async with program.follower(tournament_id, epoch=told["epoch"], seq=2 + kept) as newest:
                assert (await position(newest))["recovered"]

    run_scenario(scenario())
