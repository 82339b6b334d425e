"""The relay: from the announcements of the database to the hub of this process.

    commit -> nudge -> read the channels' heads -> read the events after the last number -> hub.publish

A nudge only says which channel to check. A commit of this process nudges, other nodes nudge over the
bus, and once a second the relay polls: a lost nudge costs a moment and never an event. Numbers decide
what is new, so nothing is published twice or out of order.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Collection
from typing import Protocol

from silverball.feed.hub import Hub
from silverball.feed.stored_events import EventsUnavailable, StoredEvents
from silverball.store.announcements import Announcement, ChannelHead
from silverball.store.engine import Commit

LOG = logging.getLogger("silverball.feed")
POLL_SECONDS = 1.0
EVENTS_PER_READ = 500
# The relay pauses while the hub has more jobs than this.
BACKLOG_MAX = 200
# An epoch and the newest number of it that a client has seen.
SeenPosition = tuple[str, int]


class NudgeBus(Protocol):
    """The way in which nodes nudge each other."""

    def start(self, on_nudge: Callable[[Collection[int] | None], None]) -> None:
        """Call back with the channels to check, or None for all of them."""

    def send_nudges(self, newest_seqs: dict[int, int]) -> None:
        """Nudge the other nodes: tournament id -> its newest number."""

    async def close(self) -> None:
        """Stop listening and sending."""


class Relay:
    """The relay of one process. All but `on_commit` runs on the event loop."""

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
        # The last published position of each channel that is followed.
        self._positions: dict[int, ChannelHead] = {}
        self._nudged_ids: set[int] = set()
        self._wake = asyncio.Event()
        # Long-pollers by channel, each with the position that it has seen.
        self._waiting: dict[int, dict[asyncio.Future[None], SeenPosition]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self.is_over = False

    # Called by the hub and the store

    async def on_watched(self, tournament_id: int) -> None:
        """Publish the events of this channel from now on. Raises EventsUnavailable."""
        head = await self._log.head(tournament_id)
        if head is not None:
            self._positions[tournament_id] = head

    def on_commit(self, commit: Commit) -> None:
        """Nudge all nodes about a commit of this process. Called in the thread of the writer."""
        if commit.newest_seqs and self._loop is not None:
            with contextlib.suppress(RuntimeError):
                # The loop may be closed already when the program ends; then there are no followers.
                self._loop.call_soon_threadsafe(self._on_announced, commit.newest_seqs)

    def _on_announced(self, newest_seqs: dict[int, int]) -> None:
        self._nudge(newest_seqs)
        if self._bus is not None:
            self._bus.send_nudges(newest_seqs)

    def _nudge(self, tournament_ids: Collection[int] | None) -> None:
        """Check these channels, or all of them."""
        followed = self._followed_ids()
        self._nudged_ids.update(followed if tournament_ids is None else followed.intersection(tournament_ids))
        if self._nudged_ids:
            self._wake.set()

    def _followed_ids(self) -> set[int]:
        return self._positions.keys() | self._waiting.keys()

    # Long-pollers

    async def wait(self, tournament_id: int, seen: SeenPosition, seconds: float) -> bool:
        """Wait until the channel's position differs from this one, and return whether it does."""
        if self.is_over:
            return False
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        group = self._waiting.setdefault(tournament_id, {})
        group[woken] = seen
        # The channel may have moved on since the caller read it.
        self._nudge([tournament_id])
        try:
            async with asyncio.timeout(seconds):
                await woken
        except TimeoutError:
            return False
        finally:
            del group[woken]
            if not group and self._waiting.get(tournament_id) is group:
                del self._waiting[tournament_id]
        return not self.is_over

    @property
    def waiting_count(self) -> int:
        """Long-pollers and streams that wait now."""
        return sum(map(len, self._waiting.values()))

    def _wake_waiting(self, tournament_id: int, head: ChannelHead | None) -> None:
        for woken, seen in self._waiting.get(tournament_id, {}).items():
            if not woken.done() and (head is None or seen != (head.epoch, head.seq)):
                woken.set_result(None)

    # The work

    def start(self) -> None:
        """Publish from now on. Called on the loop that the hub runs on."""
        self._loop = asyncio.get_running_loop()
        self._start_task()
        if self._bus is not None:
            self._bus.start(self._nudge)

    def _start_task(self) -> None:
        assert self._loop is not None
        self._task = self._loop.create_task(self._run())
        self._task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: "asyncio.Task[None]") -> None:
        """Report a relay that failed and start it again; otherwise followers would silently get nothing."""
        if not task.cancelled() and self._loop is not None:
            LOG.critical("the relay failed and starts again", exc_info=task.exception())
            self._loop.call_later(self._poll_seconds, self._start_task)

    def end_waiting(self) -> None:
        """Wake all long-pollers at shutdown."""
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
        """Publish the new events of these channels."""
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
            # A new epoch, or more was trimmed than was read here: clients that resume start again.
            start = head.low if head.epoch == position.epoch else 0
            position = self._positions[tournament_id] = ChannelHead(head.epoch, start, head.low)
            self._hub.reset_channel(tournament_id, head.epoch, start)
        while position.seq < head.seq:
            events = await self._log.events_after(
                tournament_id, position.epoch, position.seq, EVENTS_PER_READ
            )
            position = self._publish(tournament_id, events)
            if not events or position.epoch != head.epoch:
                return
            while self._hub.backlog > BACKLOG_MAX:
                await asyncio.sleep(0)

    def _publish(self, tournament_id: int, events: list[Announcement]) -> ChannelHead:
        """Publish the events that follow the last number, and return the channel's position then.

        The position may have moved while the events were read, when all followers left and others came.
        """
        position = self._positions.get(tournament_id)
        if position is None:
            return ChannelHead("", 0, 0)
        for event in events:
            if event.epoch == position.epoch and event.seq == position.seq + 1:
                position = ChannelHead(position.epoch, event.seq, position.low)
                self._positions[tournament_id] = position
                self._hub.publish(event)
                self._hub.metrics.relay_lag_seconds = max(0.0, self._wall_clock() - event.at.timestamp())
        return position
