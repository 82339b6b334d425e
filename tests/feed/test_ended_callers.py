"""Streams and long polls end with the token that they were opened with. Source: issue 13, item 8."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random
from time import monotonic

import pytest

import build
from feed.feed_server import run_scenario
from feed.running_program import RunningProgram, running_program, wait_until
from silverball.service.accounts.writes import accounts
from silverball.service.users import writes as users_writes
from silverball.store.database.engine import Store
from silverball.store.database.transaction import Transaction

SECONDS_MAX = 60.0
Ending = Callable[[Transaction, int, int], object]
ENDINGS: dict[str, Ending] = {
    "suspended": lambda transaction, user_id, _: accounts.suspend(
        transaction, user_id, now=datetime.now(UTC)
    ),
    "revoked": lambda transaction, _, token_id: users_writes.revoke_token(
        transaction, token_id, now=datetime.now(UTC)
    ),
}


async def read_to_the_end(program: RunningProgram, path: str, headers: dict[str, str]) -> bytes:
    async with program.http.stream("GET", path, headers=headers) as answer:
        assert answer.status_code == 200
        return b"".join([part async for part in answer.aiter_bytes()])


@pytest.mark.parametrize(("ending", "place"), [("suspended", "here"), ("revoked", "another node")])
def test_what_waits_for_events_ends_within_five_seconds(store: Store, ending: str, place: str) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    user_id = build.a_user(store)
    with store.write() as transaction:
        made = users_writes.create_token(
            transaction.connection, user_id, "Board", now=datetime.now(UTC), dice=Random(8)
        )
    headers = {"authorization": f"Bearer {made.text}"}
    events = f"/api/tournaments/{tournament_id}/events?after=0&wait=25"
    stream = f"/api/tournaments/{tournament_id}/stream"
    # Another node's commit is not heard of in this process.
    node = store if place == "here" else Store(store.url.render_as_string(hide_password=False))

    async def scenario() -> None:
        async with running_program(store) as program:
            streaming = asyncio.ensure_future(read_to_the_end(program, stream, headers))
            polling = asyncio.ensure_future(program.http.get(events, headers=headers))
            others = [
                asyncio.ensure_future(read_to_the_end(program, stream, {})),
                asyncio.ensure_future(read_to_the_end(program, stream, {"authorization": ""})),
            ]
            await wait_until(lambda: program.broadcast.relay.waiting_count == 4)
            began = monotonic()
            with node.write() as transaction:
                ENDINGS[ending](transaction, user_id, made.token_id)
            async with asyncio.timeout(SECONDS_MAX - (monotonic() - began)):
                streamed, polled = await asyncio.gather(streaming, polling)
            assert streamed.startswith(b"id: ")
            assert polled.status_code == 401
            # Nobody else's stream has ended.
            await wait_until(lambda: program.broadcast.relay.waiting_count == 2)
            assert not any(other.done() for other in others)
            for other in others:
                other.cancel()

    run_scenario(scenario())
    if node is not store:
        node.close()
