"""The relay: from the announcements of the database to the hub of this process.

    commit -> nudge -> look at the heads -> read what follows the last number -> hub.publish

A nudge only says where to look. Whoever commits here nudges, other nodes nudge over the bus, and once a
second the relay looks by itself: a nudge that is lost costs a moment and never an event. Numbers
decide what is new, so nothing is published twice or out of order.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Collection
from typing import Protocol

from silverball.feed.hub import Hub
from silverball.feed.log import EventsUnavailable
from silverball.feed.stored_events import StoredEvents
from silverball.store.announcements import Announcement, ChannelHead
from silverball.store.engine import Commit

LOG = logging.getLogger("silverball.feed")
POLL_SECONDS = 1.0
EVENTS_PER_READ = 500
# Events that wait in the hub for their turn before the relay waits for it.
BACKLOG_MAX = 200
# An epoch, and the newest number of it that somebody has seen.
SeenPosition = tuple[str, int]


class NudgeBus(Protocol):
    """How nodes nudge each other."""

    def start(self, nudged: Callable[[Collection[int] | None], None]) -> None:
        """Call back with the channels to look at, or None for all of them."""

    def send_nudges(self, announced: dict[int, int]) -> None:
        """Nudge the other nodes: tournament id -> its newest number."""

    async def close(self) -> None:
        """Nudge nobody any more."""


class Relay:
    """One for each process; everything but `committed` runs on the event loop."""

    def __init__(
        self,
        log: StoredEvents,
        hub: Hub,
        bus: NudgeBus | None = None,
        *,
        poll_seconds: float = POLL_SECONDS,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._log = log
        self._hub = hub
        self._bus = bus
        self._poll_seconds = poll_seconds
        self._wall_clock = wall_clock
        # What was published last in each channel that somebody follows.
        self._positions: dict[int, ChannelHead] = {}
        self._nudged_ids: set[int] = set()
        self._wake = asyncio.Event()
        # Who waits for anything new in a channel, with the epoch and number that he has seen.
        self._waiting: dict[int, dict[asyncio.Future[None], SeenPosition]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self.is_over = False

    # What the hub and the store tell

    async def on_watched(self, tournament_id: int) -> None:
        """Somebody follows this channel from now on. Raises Unavailable."""
        head = await self._log.head(tournament_id)
        if head is not None:
            self._positions[tournament_id] = head

    def on_commit(self, commit: Commit) -> None:
        """Something was committed here. Called in the thread of the writer."""
        if commit.newest_seqs and self._loop is not None:
            with contextlib.suppress(RuntimeError):
                # The loop may be gone already when the program ends; then nobody follows.
                self._loop.call_soon_threadsafe(self._on_announced, commit.newest_seqs)

    def _on_announced(self, announced: dict[int, int]) -> None:
        self._nudge(announced)
        if self._bus is not None:
            self._bus.send_nudges(announced)

    def _nudge(self, tournament_ids: Collection[int] | None) -> None:
        """Look at these channels, or at all of them."""
        followed = self._followed_ids()
        self._nudged_ids.update(followed if tournament_ids is None else followed.intersection(tournament_ids))
        if self._nudged_ids:
            self._wake.set()

    def _followed_ids(self) -> set[int]:
        return self._positions.keys() | self._waiting.keys()

    # Who waits without a socket

    async def wait(self, tournament_id: int, seen: SeenPosition, seconds: float) -> bool:
        """Until the channel stands elsewhere than at this epoch and number, at most so long.

        Returns whether it does.
        """
        if self.is_over:
            return False
        told: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        group = self._waiting.setdefault(tournament_id, {})
        group[told] = seen
        # It may have moved on between the reading and now.
        self._nudge([tournament_id])
        try:
            async with asyncio.timeout(seconds):
                await told
        except TimeoutError:
            return False
        finally:
            del group[told]
            if not group and self._waiting.get(tournament_id) is group:
                del self._waiting[tournament_id]
        return not self.is_over

    @property
    def waiting_count(self) -> int:
        """How many wait for something new."""
        return sum(map(len, self._waiting.values()))

    def _wake_waiting(self, tournament_id: int, head: ChannelHead | None) -> None:
        for told, seen in self._waiting.get(tournament_id, {}).items():
            if not told.done() and (head is None or seen != (head.epoch, head.seq)):
                told.set_result(None)

    # The work

    def start(self) -> None:
        """Begin. Called on the loop that the hub runs on."""
        self._loop = asyncio.get_running_loop()
        self._start_task()
        if self._bus is not None:
            self._bus.start(self._nudge)

    def _start_task(self) -> None:
        assert self._loop is not None
        self._task = self._loop.create_task(self._run())
        self._task.add_done_callback(self._on_task_done)

    def _on_task_done(self, done: "asyncio.Task[None]") -> None:
        """A relay that stands still would be a gap that nobody sees: it is reported and goes on."""
        if not done.cancelled() and self._loop is not None:
            LOG.critical("the relay failed and begins again", exc_info=done.exception())
            self._loop.call_later(self._poll_seconds, self._start_task)

    def end_waiting(self) -> None:
        """Whoever waits is told to go: the program ends."""
        self.is_over = True
        for tournament_id in list(self._waiting):
            self._wake_waiting(tournament_id, None)

    async def close(self) -> None:
        """Publish nothing any more."""
        self.end_waiting()
        if self._bus is not None:
            await self._bus.close()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._poll_seconds):
                    await self._wake.wait()
            self._wake.clear()
            nudged, self._nudged_ids = self._nudged_ids, set()
            self._drop_unwatched()
            try:
                await self._publish_new(nudged or self._followed_ids())
            except EventsUnavailable:
                LOG.warning("the announcements could not be read", exc_info=True)
                await asyncio.sleep(self._poll_seconds)
                self._nudged_ids |= nudged

    def _drop_unwatched(self) -> None:
        for tournament_id in self._positions.keys() - self._hub.watched_ids:
            del self._positions[tournament_id]

    async def _publish_new(self, tournament_ids: Collection[int]) -> None:
        """Publish what is new in these channels."""
        if not tournament_ids:
            return
        heads = await self._log.heads(tournament_ids)
        for tournament_id in tournament_ids:
            self._wake_waiting(tournament_id, heads.get(tournament_id))
            if tournament_id in self._positions:
                await self._catch_up(tournament_id, heads.get(tournament_id))

    async def _catch_up(self, tournament_id: int, head: ChannelHead | None) -> None:
        position = self._positions[tournament_id]
        if head is None:
            del self._positions[tournament_id]
            self._hub.remove_tournament(tournament_id)
            return
        if head.epoch != position.epoch or position.seq < head.low:
            # A new incarnation, or more was trimmed than was read here: who counts begins again.
            begins = head.low if head.epoch == position.epoch else 0
            position = self._positions[tournament_id] = ChannelHead(head.epoch, begins, head.low)
            self._hub.reset_channel(tournament_id, head.epoch, begins)
        while position.seq < head.seq:
            rows = await self._log.events_after(tournament_id, position.epoch, position.seq, EVENTS_PER_READ)
            position = self._publish(tournament_id, rows)
            if not rows or position.epoch != head.epoch:
                return
            while self._hub.backlog > BACKLOG_MAX:
                await asyncio.sleep(0)

    def _publish(self, tournament_id: int, rows: list[Announcement]) -> ChannelHead:
        """Hand on what follows the last number that was; returns where the channel stands then.

        The position may have moved while the rows were read, when everybody left and somebody came.
        """
        position = self._positions.get(tournament_id)
        if position is None:
            return ChannelHead("", 0, 0)
        for one in rows:
            if one.epoch == position.epoch and one.seq == position.seq + 1:
                position = self._positions[tournament_id] = ChannelHead(position.epoch, one.seq, position.low)
                self._hub.publish(one)
                self._hub.metrics.relay_lag_seconds = max(0.0, self._wall_clock() - one.at.timestamp())
        return position
