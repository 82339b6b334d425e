"""The hub: who follows which tournament, and what happens there on its way to them.

Everything here runs on the event loop, so nothing is locked. What is looked up (does the tournament
exist, what was missed) is awaited; meanwhile events are held back, never lost and never doubled.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from silverball.feed import messages, protocol
from silverball.feed.channel import Channel, DeliveryQueue, QueuedCall
from silverball.feed.encoding import OutgoingEvent
from silverball.feed.frame_writer import Subscriber, Subscription
from silverball.feed.log import (
    REPLAYED_BYTES_MAX,
    REPLAYED_EVENTS_MAX,
    EventLog,
    EventsUnavailable,
    OnWatched,
)
from silverball.feed.metrics import FeedMetrics
from silverball.feed.protocol import Close, Resume, Subscribe, Unsubscribe
from silverball.store.announcements import Announcement, ChannelHead

LOG = logging.getLogger("silverball.feed")
CHANNELS_MAX = 256
# What one connection asked for and waits for the database.
REQUESTS_MAX = 1_024
TICK_SECONDS = 30.0
INTERNAL_ERROR = Close(protocol.INTERNAL, "Something went wrong here. Connect again.")
BUSY = Close(protocol.OVER_CAPACITY, "Too much is being looked up for you. Connect again.")


async def ignore_watched(_tournament_id: int) -> None:
    """Where every event is published anyway, nobody needs to be told what is watched."""


@dataclass(frozen=True)
class MissedEvents:
    """What somebody missed up to a number; None when nobody can tell any more."""

    head: ChannelHead
    until: int
    events: Sequence[Announcement] | None


class Hub:
    """One for each process."""

    def __init__(
        self,
        log: EventLog,
        on_watched: OnWatched = ignore_watched,
        *,
        now: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self.metrics = FeedMetrics()
        self.now = now
        # Channels that have subscribers, or are about to.
        self.watched_ids: set[int] = set()
        self._log = log
        # Whoever it is may be made after the hub.
        self.on_watched = on_watched
        self._wall_clock = wall_clock
        self._channels: dict[int, Channel] = {}
        self._delivery_queue = DeliveryQueue()
        # A task that nobody holds may be collected before it is done.
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def backlog(self) -> int:
        """How many pieces of work wait for their turn; a relay may wait until there are few."""
        return len(self._delivery_queue)

    # From the relay

    def publish(self, announced: Announcement) -> None:
        """Send it to everybody who follows its tournament: each number of a channel once, in order."""
        channel = self._channels.get(announced.tournament_id)
        if channel is None:
            return
        channel.set_position(announced.epoch, announced.seq)
        channel.told_at = self.now()
        self._delivery_queue.deliver(channel, OutgoingEvent(announced), self._count_delivery)

    def reset_channel(self, tournament_id: int, epoch: str, seq: int) -> None:
        """The channel begins anew: who resumes is told that what he has is worth nothing now."""
        channel = self._channels.get(tournament_id)
        if channel is not None:
            channel.set_position(epoch, seq)
            self._delivery_queue.add(QueuedCall(lambda: self._restart_channel(channel, epoch, seq)))

    def remove_tournament(self, tournament_id: int) -> None:
        """The tournament was deleted."""
        channel = self._channels.get(tournament_id)
        if channel is not None:
            channel.is_gone = True
            self._delivery_queue.add(QueuedCall(lambda: self._end_channel(channel)))

    def _count_delivery(self, events: Sequence[OutgoingEvent], written: int) -> None:
        now = self._wall_clock()
        self.metrics.events_total += len(events)
        self.metrics.deliveries_total += len(events) * written
        for event in events:
            self.metrics.delivery_seconds.observe(now - event.announced.at.timestamp())

    def _restart_channel(self, channel: Channel, epoch: str, seq: int) -> None:
        for one in channel.subscriptions():
            if one.held is not None:
                one.restart(epoch, seq)
            elif one.resumes:
                one.reader.send_text(messages.subscription_resumed(channel.name, epoch, seq, recovered=False))

    def _end_channel(self, channel: Channel) -> None:
        for one in channel.subscriptions():
            self._unsubscribe(one)
            one.reader.send_text(protocol.no_such_tournament(channel.name))

    # From the connections

    def handle_request(self, reader: Subscriber, wish: Subscribe | Unsubscribe) -> None:
        """Do what a client asks for, after everything that it asked for before."""
        if reader.wishes is not None:
            reader.wishes.append(wish)
            if len(reader.wishes) > REQUESTS_MAX:
                reader.send_away(BUSY)
        elif not self._try_at_once(reader, wish):
            reader.wishes = deque([wish])
            reader.task = self._start_task(self._handle_requests(reader))
            reader.task.add_done_callback(lambda done: self._on_requests_handled(reader, done))

    def remove_reader(self, reader: Subscriber) -> None:
        """The connection ends; its memberships vanish."""
        reader.close()
        if reader.task is not None:
            reader.task.cancel()
        for one in list(reader.subscriptions.values()):
            self._unsubscribe(one)

    def last_event_at(self, reader: Subscriber) -> float:
        """When something last happened in a channel of this reader."""
        return max((one.channel.told_at for one in reader.subscriptions.values()), default=0.0)

    def _try_at_once(self, reader: Subscriber, wish: Subscribe | Unsubscribe) -> bool:
        """Do it, if nothing has to be looked up for it."""
        own = reader.subscriptions.get(wish.tournament_id)
        if isinstance(wish, Unsubscribe):
            if own is not None:
                self._unsubscribe(own)
            return True
        if own is None and len(reader.subscriptions) >= CHANNELS_MAX:
            sentence = f"A connection can follow {CHANNELS_MAX} channels."
            name = messages.channel_name(wish.tournament_id)
            reader.send_text(messages.subscription_error(name, "LimitReached", sentence, 429))
            return True
        channel = self._channels.get(wish.tournament_id)
        if wish.resume is not None or channel is None or channel.is_gone or not channel.is_ready:
            return False
        self._subscribe(reader, channel)
        reader.send_text(messages.subscription_succeeded(channel.name))
        return True

    def _subscribe(self, reader: Subscriber, channel: Channel) -> Subscription:
        """The subscription of this reader; subscribing twice is one membership."""
        own = reader.subscriptions.get(channel.tournament_id)
        if own is None:
            own = reader.subscriptions[channel.tournament_id] = Subscription(reader, channel)
            channel.add(own)
            self.metrics.subscriptions += 1
        return own

    def _unsubscribe(self, one: Subscription) -> None:
        channel = one.channel
        one.is_open = one.is_clear = False
        channel.remove(one)
        channel.resumers -= one.resumes
        del one.reader.subscriptions[channel.tournament_id]
        one.reader.drop_channel(channel.tournament_id)
        self.metrics.subscriptions -= 1
        self._drop_if_idle(channel)

    # What has to be looked up

    def _start_task(self, work: "asyncio._CoroutineLike[None]") -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _handle_requests(self, reader: Subscriber) -> None:
        try:
            while reader.wishes:
                wish = reader.wishes.popleft()
                if not self._try_at_once(reader, wish) and isinstance(wish, Subscribe):
                    await self._follow(reader, wish)
        finally:
            # In the same moment: what is asked for after the last look must begin a task of its own.
            reader.wishes = None

    def _on_requests_handled(self, reader: Subscriber, done: "asyncio.Task[None]") -> None:
        if reader.task is done:
            reader.task = None
        if not done.cancelled() and done.exception() is not None:
            LOG.error("a subscription failed", exc_info=done.exception())
            reader.send_away(INTERNAL_ERROR)

    async def _follow(self, reader: Subscriber, wish: Subscribe) -> None:
        channel = self._channels.get(wish.tournament_id)
        if channel is None or channel.is_gone:
            channel = self._channels[wish.tournament_id] = Channel(wish.tournament_id, self.now())
            channel.opening = asyncio.get_running_loop().create_task(self._open_channel(channel))
            channel.opening.add_done_callback(lambda done: self._on_channel_opened(channel, done))
        channel.pending += 1
        try:
            assert channel.opening is not None
            # Others wait for the same, so it goes on when this one hangs up.
            exists = await asyncio.shield(channel.opening)
            if not exists or channel.is_gone:
                reader.send_text(protocol.no_such_tournament(channel.name))
            elif wish.resume is None:
                self._subscribe(reader, channel)
                reader.send_text(messages.subscription_succeeded(channel.name))
            else:
                await self._resume(reader, channel, wish.resume)
        except EventsUnavailable:
            sentence = "The tournament cannot be looked up now. Subscribe again."
            reader.send_text(messages.subscription_error(channel.name, "Unavailable", sentence, 503))
        finally:
            channel.pending -= 1
            self._drop_if_idle(channel)

    async def _open_channel(self, channel: Channel) -> bool:
        head = await self._log.head(channel.tournament_id)
        if head is None:
            return False
        self.watched_ids.add(channel.tournament_id)
        await self.on_watched(channel.tournament_id)
        if not channel.epoch:
            channel.set_position(head.epoch, head.seq)
        return True

    def _on_channel_opened(self, channel: Channel, done: "asyncio.Task[bool]") -> None:
        # Asked for, or Python would report it as lost when everybody has hung up meanwhile.
        done.cancelled() or done.exception()
        self._drop_if_idle(channel)

    def _drop_if_idle(self, channel: Channel) -> None:
        if not channel.is_idle or (channel.opening is not None and not channel.opening.done()):
            return
        if self._channels.get(channel.tournament_id) is channel:
            del self._channels[channel.tournament_id]
            self.watched_ids.discard(channel.tournament_id)

    async def _resume(self, reader: Subscriber, channel: Channel, resume: Resume) -> None:
        own = self._subscribe(reader, channel)
        channel.resumers += not own.resumes
        own.resumes = reader.has_resumed = True
        # First held, then looked up: what happens in between is in one of the two, or in both.
        own.hold_back()
        try:
            missed = await self._load_missed(channel, resume)
        except EventsUnavailable:
            if own.is_open:
                self._unsubscribe(own)
            raise
        # After everything that was published so far: what is looked up already must not come again.
        caught_up = asyncio.Event()
        self._delivery_queue.add(QueuedCall(lambda: self._catch_up(own, missed, caught_up)))
        # And before anything else that this client asks for.
        await caught_up.wait()

    async def _load_missed(self, channel: Channel, resume: Resume) -> MissedEvents | None:
        tournament_id = channel.tournament_id
        head = await self._log.head(tournament_id)
        if head is None:
            return None
        until = max(head.seq, channel.seq) if channel.epoch == head.epoch else head.seq
        can_be_told = resume.epoch == head.epoch and head.low <= resume.seq <= until
        if not can_be_told or resume.seq < 0 or until - resume.seq > REPLAYED_EVENTS_MAX:
            return MissedEvents(head, until, None)
        if resume.seq == until:
            return MissedEvents(head, until, ())
        events = await self._log.events_between(
            tournament_id, head.epoch, resume.seq, until, REPLAYED_EVENTS_MAX, REPLAYED_BYTES_MAX
        )
        return MissedEvents(head, until, events)

    def _catch_up(self, own: Subscription, missed: MissedEvents | None, caught_up: asyncio.Event) -> None:
        """Confirm the subscription, send what was missed and what was held back, and go live."""
        caught_up.set()
        reader, name = own.reader, own.channel.name
        if not own.is_open:
            return
        if missed is None:
            self._unsubscribe(own)
            reader.send_text(protocol.no_such_tournament(name))
            return
        epoch, seq = own.anew or (missed.head.epoch, missed.until)
        events = missed.events if own.anew is None else None
        self.metrics.resumes_recovered_total += events is not None
        self.metrics.resumes_lost_total += events is None
        reader.send_text(messages.subscription_resumed(name, epoch, seq, recovered=events is not None))
        live = [one for one in own.release() if one.announced.epoch == epoch and one.seq > seq]
        reader.replay([*map(OutgoingEvent, events or ()), *live])

    # From the clock

    def sweep(self, now: float) -> None:
        """Tell who counts the numbers where a quiet channel stands, so that a lost tail is noticed."""
        quiet = [
            channel
            for channel in self._channels.values()
            if channel.resumers and now - channel.told_at >= TICK_SECONDS
        ]
        for channel in quiet:
            channel.told_at = now
        if quiet:
            self._start_task(self._send_ticks(quiet))

    async def _send_ticks(self, channels: Sequence[Channel]) -> None:
        for channel in channels:
            try:
                head = await self._log.head(channel.tournament_id)
            except EventsUnavailable:
                continue
            if head is None:
                continue
            text = messages.tick(channel.name, head.epoch, head.seq)
            for one in channel.subscriptions():
                if one.resumes and one.held is None:
                    one.reader.send_text(text)

    def close(self) -> None:
        """Look nothing up any more."""
        for task in self._tasks:
            task.cancel()
        for channel in self._channels.values():
            if channel.opening is not None:
                channel.opening.cancel()
