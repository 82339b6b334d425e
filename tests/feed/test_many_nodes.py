"""Two nodes, one database: every follower gets an ascending sequence without gaps, or is told of one.

The real hub and the real relay over a simulated database and a simulated bus: reads take as long as chance
wants, nudges come or do not come, clients move between the nodes, nodes restart, the database goes back.
"""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from silverball.feed.hub import Hub
from silverball.feed.messages import FrameEncoding
from silverball.feed.protocol import Resume, Subscribe
from silverball.feed.relay import Relay
from silverball.feed.subscribers import Subscriber
from silverball.kit.edge.work_queue import Importance
from silverball.store.tournament.announcements import Announcement, ChannelHead

TOURNAMENT = 42
NODES = 2
CLIENTS = 4
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
# More turns of the event loop than any read takes.
LONG = 60

Step = tuple[str, int, int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["write"] * 4
            + ["nudge"] * 3
            + ["join"] * 4
            + ["again", "leave", "wait", "wait", "restart", "trim", "new epoch", "go back"]
        ),
        st.integers(0, 7),
        st.integers(0, 7),
    ),
    min_size=5,
    max_size=60,
)


def _frame_texts(frames: bytes) -> Iterator[bytes]:
    """The texts in these frames of a server, each shorter than 64 KB."""
    while frames:
        length, start = frames[1], 2
        if length == 126:
            length, start = int.from_bytes(frames[2:4], "big"), 4
        yield frames[start : start + length]
        frames = frames[start + length :]


class SimulatedDatabase:
    """One channel, and reads that see the moment that chance chooses."""

    def __init__(self, dice: Random) -> None:
        self._dice = dice
        self.epoch, self.generation = "e1", 1
        self.low = 0
        self.rows: list[Announcement] = []
        self._written = 0
        # All that any history had, by the public epoch.
        self.contents: dict[tuple[str, int], set[str]] = {}

    @property
    def head(self) -> ChannelHead:
        return ChannelHead(f"{self.epoch}.{self.generation}", self.low + len(self.rows), self.low)

    def write(self, count: int) -> None:
        for _ in range(count):
            self._written += 1
            head = self.head
            data = json.dumps({"n": self._written})
            self.rows.append(
                Announcement(TOURNAMENT, head.epoch, head.seq + 1, "GameCreatedOrUpdated", data, NOON)
            )

    def trim(self, count: int) -> None:
        self.low += min(count, len(self.rows))
        del self.rows[:count]

    def start_epoch(self, events: int) -> None:
        self.epoch, self.low, self.rows = f"e{int(self.epoch[1:]) + 1}", 0, []
        self.write(events)

    def go_back(self, lost: int, others: int) -> None:
        """Lose the newest rows, write others, and be of another generation, as the node notices."""
        del self.rows[len(self.rows) - min(lost, len(self.rows)) :]
        self.generation += 1
        epoch = self.head.epoch
        self.rows = [
            Announcement(row.tournament_id, epoch, row.seq, row.name, row.data, row.at) for row in self.rows
        ]
        self.write(others)

    async def heads(self, _tournament_ids: object) -> dict[int, ChannelHead]:
        return {TOURNAMENT: (await self.events_page(TOURNAMENT, 0, 0))[0]}

    async def events_page(
        self, _tournament_id: int, after: int, limit: int, _importance: Importance = Importance.READER, /
    ) -> tuple[ChannelHead, list[Announcement]]:
        await self._pass_time()
        seen = self.head, [row for row in self.rows if row.seq > after][:limit]
        await self._pass_time()
        return seen

    async def head_of(self, _tournament_id: int) -> ChannelHead:
        return (await self.events_page(TOURNAMENT, 0, 0))[0]

    async def begin_generation(self, _epoch: str) -> None:
        self.generation += 1

    async def _pass_time(self) -> None:
        for _ in range(self._dice.choice([0, 0, 1, 2, 5])):
            await asyncio.sleep(0)


class NodeLog:
    """The database as one node reads it."""

    def __init__(self, database: SimulatedDatabase) -> None:
        self.events_page = database.events_page
        self.heads = database.heads
        self.head = database.head_of
        self.begin_generation = database.begin_generation


class Node:
    """The hub and the relay of a node."""

    def __init__(self, database: SimulatedDatabase) -> None:
        self.hub = Hub(NodeLog(database))
        self._relay = Relay(NodeLog(database), self.hub)
        self.hub.on_behind = lambda _ids: self.nudge()
        self._is_nudged = False
        self._looking: asyncio.Task[None] | None = None

    def nudge(self) -> None:
        self._is_nudged = True
        if self._looking is None or self._looking.done():
            self._looking = asyncio.get_running_loop().create_task(self._look())

    async def _look(self) -> None:
        while self._is_nudged:
            self._is_nudged = False
            await self._relay.look(sorted(self.hub.watched_ids))

    def stop(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
        self.hub.close()


class Client:
    """A client that counts as docs/feed.md says, and complains when it cannot."""

    def __init__(self, *, counts: bool) -> None:
        self.counts = counts
        self.epoch, self.seq = "", -1
        self.node: Node | None = None
        self._subscriber: Subscriber | None = None
        self.confirmed = 0
        self.asked = 0

    def join(self, node: Node) -> None:
        self.leave()
        self.node = node
        self.asked = self.confirmed = 0

        def write(texts: bytes) -> None:
            for text in _frame_texts(texts):
                self._receive(json.loads(text))

        self._subscriber = Subscriber(
            FrameEncoding("plain"),
            node.hub.metrics,
            write=write,
            buffered_bytes=lambda: 0,
            disconnect=lambda _close: None,
            now=lambda: 0.0,
        )
        if not self.counts:
            self.epoch, self.seq = "", -1
        self.ask()

    def ask(self) -> None:
        if self.node is None or self._subscriber is None:
            return
        resume = Resume(self.epoch, self.seq) if self.counts else None
        self.asked += 1
        self.node.hub.handle_request(self._subscriber, Subscribe(TOURNAMENT, resume))

    def leave(self) -> None:
        if self.node is not None and self._subscriber is not None:
            subscriber, self._subscriber = self._subscriber, None
            self.node.hub.remove_subscriber(subscriber)
        self.node = None

    def _receive(self, text: dict[str, Any]) -> None:
        assert self._subscriber is not None
        if text["event"] == "pusher_internal:subscription_succeeded":
            self.confirmed += 1
            position = json.loads(text["data"])
            if position and position["recovered"]:
                assert position["epoch"] == self.epoch
            elif position:
                self.epoch, self.seq = position["epoch"], position["seq"]
            return
        if not self.counts and (self.seq < 0 or text["epoch"] != self.epoch):
            self.epoch, self.seq = text["epoch"], text["seq"]
            return
        if not self.counts:
            # Nobody can tell it what was trimmed before this node had read it.
            assert text["seq"] > self.seq
            self.seq = text["seq"]
            return
        assert (text["epoch"], text["seq"]) == (self.epoch, self.seq + 1), (self.epoch, self.seq, text)
        self.seq += 1


async def play(steps: list[Step], seed: int) -> None:
    dice = Random(seed)
    database = SimulatedDatabase(dice)
    nodes = [Node(database) for _ in range(NODES)]
    clients = [Client(counts=number > 0) for number in range(CLIENTS)]
    for kind, first, second in steps:
        client = clients[first % CLIENTS]
        if kind == "write":
            database.write(first % 3 + 1)
        elif kind == "nudge":
            nodes[first % NODES].nudge()
        elif kind == "join":
            client.join(nodes[second % NODES])
        elif kind == "again" and client.confirmed:
            client.ask()
        elif kind == "leave":
            client.leave()
        elif kind == "restart":
            at = first % NODES
            for each in clients:
                if each.node is nodes[at]:
                    each.leave()
            nodes[at].stop()
            nodes[at] = Node(database)
        elif kind == "trim":
            database.trim(first)
        elif kind == "new epoch":
            database.start_epoch(first % 3)
        elif kind == "go back":
            database.go_back(first, second)
        for _ in range(LONG if kind == "wait" else dice.choice([0, 0, 1, 3])):
            await asyncio.sleep(0)
    await _come_to_rest(nodes)
    head = database.head
    for client in clients:
        if client.node is not None:
            assert client.confirmed >= client.asked
            if client.counts:
                assert (client.epoch, client.seq) == (head.epoch, head.seq)
        client.leave()
    for node in nodes:
        node.stop()


async def _come_to_rest(nodes: list[Node]) -> None:
    for _ in range(3):
        for node in nodes:
            node.nudge()
        for _ in range(10 * LONG):
            await asyncio.sleep(0)


@given(STEPS, st.integers(0, 2**32 - 1))
@settings(max_examples=150, deadline=None)
def test_every_follower_gets_a_gapless_sequence_or_the_word_missed(steps: list[Step], seed: int) -> None:
    asyncio.run(play(steps, seed))


@pytest.mark.soak
@given(STEPS, st.integers(0, 2**32 - 1))
@settings(max_examples=5_000, deadline=None)
def test_it_holds_for_many_more(steps: list[Step], seed: int) -> None:
    asyncio.run(play(steps, seed))


def test_a_client_ahead_of_its_node_gets_nothing_twice() -> None:
    """The other node was quicker: the events up to the client's number are dropped here."""

    async def scenario() -> None:
        database = SimulatedDatabase(Random(1))
        node, client = Node(database), Client(counts=True)
        behind = Client(counts=True)
        behind.join(node)
        for _ in range(LONG):
            await asyncio.sleep(0)
        database.write(5)
        client.epoch, client.seq = database.head.epoch, 3
        node.hub.on_behind = lambda _ids: None
        client.join(node)
        for _ in range(LONG):
            await asyncio.sleep(0)
        assert (client.confirmed, client.seq, behind.seq) == (1, 3, 0)
        node.nudge()
        for _ in range(LONG):
            await asyncio.sleep(0)
        assert (client.seq, behind.seq) == (5, 5)

    asyncio.run(scenario())
