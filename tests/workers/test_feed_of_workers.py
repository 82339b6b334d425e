"""The feed with several workers on one port: each follower gets every event once and in order."""

import asyncio
import os
import signal
import threading
from contextlib import ExitStack
from random import Random

import uvloop

import build
from feed.followers import Follower, Writer, newest_seq, wait_for_all
from feed.running_program import admin_token
from feed.worker_bus_pipes import nudged_over_pipes
from selection import IS_SOAK, LARGE_IN_SOAK
from silverball.store.engine import Store
from workers.worker_server import WorkerServer

pytestmark = LARGE_IN_SOAK

FOLLOWERS = 12
WRITERS = 2
WRITES_EACH = 3_000 if IS_SOAK else 60
KILLED_AT_ONCE = 2
# On a busy machine a new worker needs its time for the first write.
WRITES_BETWEEN_KILLS = 20


def test_followers_of_four_workers_of_which_two_are_killed_each_second_miss_nothing(
    store: Store, database_url: str
) -> None:
    with ExitStack() as stack:
        tournament_id = build.a_tournament(store, players=2, arenas=0).tournament_id
        token, epoch = admin_token(store), build.public_epoch(store)
        server = stack.enter_context(WorkerServer(database_url))
        writers = [Writer([server], tournament_id, token, f"writer-{n}") for n in range(WRITERS)]
        followers = [Follower([server], tournament_id, n, epoch) for n in range(FOLLOWERS)]
        dice = Random(11)
        kills = uvloop.run(_kill_while_followed(server, writers, followers, store, tournament_id, dice))
        assert kills >= KILLED_AT_ONCE
        assert newest_seq(store, tournament_id) == WRITERS * WRITES_EACH
        expected = list(range(1, WRITERS * WRITES_EACH + 1))
        assert all(follower.seen == expected for follower in followers)
        assert server.stop() == 0


async def _kill_while_followed(
    server: WorkerServer,
    writers: list[Writer],
    followers: list[Follower],
    store: Store,
    tournament_id: int,
    dice: Random,
) -> int:
    until, kills, done = asyncio.Event(), 0, 0
    tasks = [asyncio.ensure_future(follower.follow(until)) for follower in followers]
    writing = [threading.Thread(target=writer.run, args=(WRITES_EACH,)) for writer in writers]
    for thread in writing:
        thread.start()
    while any(thread.is_alive() for thread in writing) or not kills:
        await asyncio.sleep(1.0)
        acknowledged = sum(writer.done for writer in writers)
        if kills and acknowledged < done + WRITES_BETWEEN_KILLS:
            continue
        done = acknowledged
        running = server.process_ids
        for process in dice.sample(running, min(KILLED_AT_ONCE, len(running))):
            os.kill(process, signal.SIGKILL)
            kills += 1
    await wait_for_all(followers, newest_seq(store, tournament_id))
    until.set()
    await asyncio.gather(*tasks)
    return kills


def test_a_nudge_reaches_every_other_worker_and_not_its_sender() -> None:
    received = asyncio.run(nudged_over_pipes(workers=3, nudges={7: 1, 2**40: 5}))
    assert received == [set(), {7, 2**40}, {7, 2**40}]


def test_nudges_that_fit_into_no_pipe_are_dropped_and_hold_nobody_up() -> None:
    received = asyncio.run(nudged_over_pipes(workers=2, nudges=dict.fromkeys(range(200_000), 1)))
    assert received[0] == set()
    assert 0 < len(received[1]) < 200_000
