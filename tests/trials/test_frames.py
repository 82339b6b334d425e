"""T12: frames of every kind, valid and not. The codes are right, nothing is left behind, others go on."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

import pytest

from feed.client_programs import PLAIN, needs_node, run_program
from feed.feed_server import FeedServer, next_message, run_scenario, running_feed, wait_until
from feed.raw_connection import RawConnection
from selection import LARGE_IN_SOAK, repetitions
from trials.figures import Figures, count_attempts
from trials.frames import connection_frames

pytestmark = LARGE_IN_SOAK

FRAMES = repetitions(5_000, in_soak=2_000_000)
AT_ONCE = 8
GROWTH_MB_MAX = 32


def memory_mb() -> float:
    """The resident memory of this process, in which the server runs."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1_000_000


async def send_connection(server: FeedServer, dice: Random) -> tuple[int, Counter[str]]:
    """Send the frames of one connection; returns their number, and what was wrong with the close."""
    frames = connection_frames(dice)
    raw = await RawConnection.open(server)
    # What is pipelined into a closed connection would be reset with it.
    for frame in frames[:-1]:
        raw.send(frame.first, frame.payload, mask=frame.mask)
    raw.send(frames[-1].first, frames[-1].payload, mask=frames[-1].mask)
    code = await raw.read_close_code()
    await raw.hang_up()
    expected = frames[-1].closes
    wrong = [] if code in expected else [f"{code} instead of {sorted(expected)} after {frames[-1]}"]
    return len(frames), Counter(wrong)


async def send_frames(server: FeedServer, dice: Random, count: int) -> tuple[int, Counter[str]]:
    """Send this many frames over connections of which a few are open at once."""
    sent, wrong = 0, Counter[str]()
    while sent < count:
        dices = [Random(dice.random()) for _ in range(AT_ONCE)]
        for frames, faults in await asyncio.gather(*(send_connection(server, each) for each in dices)):
            sent += frames
            wrong += faults
    return sent, wrong


def test_whatever_frames_come_the_codes_are_right_and_others_hear_their_events(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.follower(42) as other:
            # The first connections load and grow what stays.
            _, wrong = await send_frames(server, Random(1), FRAMES // 5)
            before = memory_mb()
            sent, more = await send_frames(server, Random(2), FRAMES)
            await wait_until(lambda: server.hub.metrics.connections == 1)
            grown = memory_mb() - before
            server.events.publish(42)
            assert (await next_message(other))["seq"] == 1
            assert server.hub.metrics.subscriptions == 1
            assert not server.hub._tasks
            assert wrong + more == Counter()
            assert grown < GROWTH_MB_MAX, grown
            Figures("T12 frames", "the feed", sent, acknowledged=0).publish()
            count_attempts("websocket frames, valid and not", sent)

    run_scenario(scenario())
    assert "a connection failed" not in caplog.text
    assert "parser failed" not in caplog.text


@needs_node
def test_published_clients_hear_their_events_while_frames_come() -> None:
    pytest.importorskip("pysher", reason="Pysher is not installed", exc_type=ImportError)
    names = ("pusher.cjs", "pysher_client.py")

    async def scenario() -> None:
        async with running_feed(42) as server, AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(run_program(server, name, PLAIN, "tournaments.42"))
                for name in names
            ]
            for client in clients:
                await client.read_words("subscribed")
            for number in range(3):
                _, wrong = await send_frames(server, Random(number), 200)
                assert wrong == Counter()
                server.events.publish(42, "GameCreatedOrUpdated", '{"gameId":1}')
                for client in clients:
                    assert (await client.read_words("event"))[1] == "GameCreatedOrUpdated"

    run_scenario(scenario())
