"""A commit wakes the event loop where somebody follows one of its channels, or other nodes have to know."""

import asyncio
import threading
from collections.abc import Callable, Collection, Coroutine
from typing import Any

import build
from feed.running_program import announce
from silverball.feed.hub import Hub
from silverball.feed.relay import Relay
from silverball.feed.stored_events import StoredEvents
from silverball.store.database.engine import Commit, Store
from silverball.store.tournament import announcements

SECONDS = 60.0


class CountingLoop(asyncio.SelectorEventLoop):
    """An event loop that counts how often threads wake it."""

    wakes = 0

    def call_soon_threadsafe(self, *words: Any, **options: Any) -> asyncio.Handle:  # type: ignore[override]  # passed on
        self.wakes += 1
        return super().call_soon_threadsafe(*words, **options)


class NodesBeside:
    """Other nodes, which hear of every commit."""

    nudges = 0

    def start(self, on_nudge: Callable[[Collection[int] | None], None]) -> None:
        """Do nothing: none of them commits."""

    def send_nudges(self, newest_seqs: dict[int, int]) -> None:
        self.nudges += len(newest_seqs)

    async def close(self) -> None:
        """Do nothing."""


def wakes_of_commit(relay: Relay, *tournament_ids: int) -> int:
    """Let a thread report a commit that announced something in these channels; the times it woke the loop."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, CountingLoop)
    before, news = loop.wakes, Commit({}, 0, 1, 1, dict.fromkeys(tournament_ids, 1))
    writer = threading.Thread(target=relay.on_commit, args=(news,))
    writer.start()
    writer.join()
    return loop.wakes - before


def test_a_commit_that_nobody_follows_wakes_nobody(store: Store) -> None:
    tournament_id = build.a_tournament(store).tournament_id

    async def scenario(relay: Relay) -> None:
        assert wakes_of_commit(relay, tournament_id) == 0
        waiting = asyncio.create_task(relay.wait(tournament_id, position(store, tournament_id), SECONDS))
        await asyncio.sleep(0)
        announce(store, tournament_id)
        assert wakes_of_commit(relay, tournament_id + 1) == 0
        assert wakes_of_commit(relay, tournament_id) == 1
        assert await waiting

    run(store, scenario)


def test_whoever_follows_just_after_a_commit_hears_of_it(store: Store) -> None:
    tournament_id = build.a_tournament(store).tournament_id

    async def scenario(relay: Relay) -> None:
        seen = position(store, tournament_id)
        announce(store, tournament_id)
        assert wakes_of_commit(relay, tournament_id) == 0
        assert await relay.wait(tournament_id, seen, SECONDS)

    run(store, scenario)


def test_other_nodes_hear_of_every_commit(store: Store) -> None:
    nodes = NodesBeside()

    async def scenario(relay: Relay) -> None:
        assert wakes_of_commit(relay, 7) == 1
        await asyncio.sleep(0.01)
        assert nodes.nudges == 1

    run(store, scenario, nodes)


def position(store: Store, tournament_id: int) -> tuple[str, int]:
    """The position of a channel."""
    with store.read() as db:
        head = announcements.channel_head(db, tournament_id)
    assert head is not None
    return head.epoch, head.seq


def run(
    store: Store, scenario: Callable[[Relay], Coroutine[Any, Any, None]], nodes: NodesBeside | None = None
) -> None:
    """Run it with a relay, on an event loop that counts."""
    events = StoredEvents(store)
    relay = Relay(events, Hub(events), nodes)

    async def with_relay() -> None:
        relay.start()
        await scenario(relay)
        await relay.close()

    with asyncio.Runner(loop_factory=CountingLoop) as runner:
        runner.run(with_relay())
    events.close()
