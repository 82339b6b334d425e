"""The relay: from the announcements of the database to the hub of this process.

    commit -> nudge -> read the channels' heads -> read the events after the last number -> hub.publish

A nudge only says which channel to check first. A commit of this process nudges, other nodes nudge over the
bus, and once a second every followed channel is checked, whatever was nudged: a lost nudge costs a moment
and never an event. The hub knows what it published last and takes only what comes next, so nothing is
published twice or out of order.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Collection
from typing import Protocol

from silverball.feed.hub import Hub
from silverball.feed.stored_events import EventsUnavailable
from silverball.kit.edge.work_queue import Importance
from silverball.kit.tasks import end_tasks
from silverball.store.database.engine import Commit
from silverball.store.revisions.stamps import own_epoch
from silverball.store.tournament.announcements import Announcement, ChannelHead

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


class RelayedEvents(Protocol):
    """The announcements, as the relay reads them. All methods can raise EventsUnavailable."""

    async def heads(self, tournament_ids: Collection[int]) -> dict[int, ChannelHead]:
        """The newest positions of the channels that exist."""

    async def events_page(
        self, tournament_id: int, after: int, limit: int, importance: Importance, /
    ) -> tuple[ChannelHead | None, list[Announcement]]:
        """The channel's newest position and the events after number `after`, from one moment."""

    async def begin_generation(self, epoch: str) -> None:
        """Draw a new generation in place of the one in this epoch."""


class Relay:
    """The relay of one process. All but `on_commit` runs on the event loop."""

    def __init__(
        self,
        log: RelayedEvents,
        hub: Hub,
        bus: NudgeBus | None = None,
        *,
        poll_seconds: float = POLL_SECONDS,
        now: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._log = log
        self._hub = hub
        self._bus = bus
        self._poll_seconds = poll_seconds
        self._now = now
        # When every channel that is followed is checked.
        self._all_due_at = 0.0
        self._wall_clock = wall_clock
        self._nudged_ids: set[int] = set()
        self._wake = asyncio.Event()
        # Long-pollers by channel, each with the position that it has seen.
        self._waiting: dict[int, dict[asyncio.Future[None], SeenPosition]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self.is_over = False

    # Called by the hub and the store

    def on_commit(self, commit: Commit) -> None:
        """Nudge all nodes about a commit of this process. Called in the thread of the writer."""
        if self._loop is not None and self._is_anybody_nudged(commit.newest_seqs):
            with contextlib.suppress(RuntimeError):
                # The loop may be closed already when the program ends; then there are no followers.
                self._loop.call_soon_threadsafe(self._on_announced, commit.newest_seqs)

    def _is_anybody_nudged(self, newest_seqs: dict[int, int]) -> bool:
        # Whoever follows a channel from now on looks at it once they do, so no loop is woken for them.
        if self._bus is not None:
            return bool(newest_seqs)
        watched, waiting = self._hub.watched_ids, self._waiting.keys()
        return not (watched.isdisjoint(newest_seqs) and waiting.isdisjoint(newest_seqs))

    def _on_announced(self, newest_seqs: dict[int, int]) -> None:
        self.nudge(newest_seqs)
        if self._bus is not None:
            self._bus.send_nudges(newest_seqs)

    def nudge(self, tournament_ids: Collection[int] | None) -> None:
        """Check these channels, or all of them."""
        followed = self._followed_ids()
        self._nudged_ids.update(followed if tournament_ids is None else followed.intersection(tournament_ids))
        if self._nudged_ids:
            self._wake.set()

    def _followed_ids(self) -> set[int]:
        return self._hub.watched_ids | self._waiting.keys()

    # Long-pollers

    async def wait(self, tournament_id: int, seen: SeenPosition, seconds: float) -> bool:
        """Wait until the channel's position differs from this one, and return whether it does."""
        if self.is_over:
            return False
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        group = self._waiting.setdefault(tournament_id, {})
        group[woken] = seen
        # The channel may have moved on since the caller read it.
        self.nudge([tournament_id])
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
            self._bus.start(self.nudge)

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
            await end_tasks([self._task])

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, self._all_due_at - self._now())):
                    await self._wake.wait()
            self._wake.clear()
            nudged, self._nudged_ids = self._nudged_ids, set()
            followed = self._followed_ids()
            wanted = sorted(nudged & followed)
            if self._now() >= self._all_due_at:
                self._all_due_at = self._now() + self._poll_seconds
                wanted += sorted(followed - nudged)
            try:
                await self.look(wanted)
            except EventsUnavailable:
                LOG.warning("the announcements could not be read", exc_info=True)
                self._all_due_at = 0.0
                await asyncio.sleep(self._poll_seconds)

    async def look(self, tournament_ids: Collection[int]) -> None:
        """Publish the new events of these channels. Raises EventsUnavailable."""
        if not tournament_ids:
            return
        # Read before the heads, which are therefore never older.
        before = {tournament_id: self._hub.position(tournament_id) for tournament_id in tournament_ids}
        heads = await self._log.heads(tournament_ids)
        for tournament_id, position in before.items():
            head = heads.get(tournament_id)
            self._wake_waiting(tournament_id, head)
            if position is None or self._hub.position(tournament_id) != position:
                continue
            if head is None:
                self._hub.remove_tournament(tournament_id)
            elif head.epoch == position[0] and head.seq < position[1]:
                # Numbers of this epoch were given out that the database does not know.
                await self._log.begin_generation(head.epoch)
                self.nudge(None)
            else:
                await self._publish_until(tournament_id, position, head)

    async def _publish_until(self, tournament_id: int, position: tuple[str, int], head: ChannelHead) -> None:
        """Publish the events of a channel, which is at this position, up to its head, in order."""
        until, events = head.seq, list[Announcement]()
        # Another position than ours is that of a channel that was left and followed again meanwhile.
        while self._hub.position(tournament_id) == position:
            before = position
            if head.epoch != position[0] or position[1] < head.low:
                position = _restart_position(head, position)
                self._hub.reset_channel(tournament_id, *position)
                until = head.seq
            for event in events:
                if (event.epoch, event.seq) == (position[0], position[1] + 1):
                    self._hub.publish(event)
                    position = (event.epoch, event.seq)
                    self._hub.metrics.relay_lag_seconds = max(0.0, self._wall_clock() - event.at.timestamp())
            if position[1] >= until or (events and position == before):
                return
            while self._hub.backlog > BACKLOG_MAX:
                await asyncio.sleep(0)
            newest, events = await self._log.events_page(
                tournament_id, position[1], EVENTS_PER_READ, Importance.SCOREKEEPER
            )
            if newest is None:
                return
            head = newest


def _restart_position(head: ChannelHead, position: tuple[str, int]) -> tuple[str, int]:
    """The position after which a channel goes on that has a new epoch, or lost more than was read here."""
    epoch, seq = position
    if own_epoch(head.epoch) != own_epoch(epoch):
        # Its numbers begin anew, and nothing of it was published yet.
        return head.epoch, head.low
    # Only the generation differs, or nothing.
    return head.epoch, max(head.low, min(seq, head.seq))
