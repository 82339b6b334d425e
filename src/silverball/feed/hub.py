"""The hub: the followers of each tournament, and the way of each event to them.

Everything here runs on the event loop, so nothing is locked. Lookups (does the tournament exist, which
events were missed) are awaited; meanwhile events are held back, never lost and never doubled.

Each channel has the number of the newest event published here, and takes only the next one of its epoch.
A client that resumes may be behind it, and gets what is between from the database; or ahead of it, because
another node was quicker, and gets nothing until this node has caught up.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from functools import partial

from msgspec import Struct

from silverball.feed import messages, protocol
from silverball.feed.messages import OutgoingEvent
from silverball.feed.metrics import FeedMetrics
from silverball.feed.protocol import Close, Resume, Subscribe, Unsubscribe
from silverball.feed.replays import (
    CLIENTS_PER_TURN,
    COMPACTED_EVENTS_MAX,
    Pacer,
    Replay,
    ReplayKey,
    ReplayLookups,
)
from silverball.feed.stored_events import (
    REPLAYED_BYTES_MAX,
    REPLAYED_EVENTS_MAX,
    EventLog,
    EventsUnavailable,
)
from silverball.feed.subscribers import Channel, Subscriber, Subscription
from silverball.store.tournament.announcements import Announcement

# After this many writes the event loop turns to its other work.
WRITES_PER_TURN = 500
# Events of a channel that are published in the same moment go out in one piece up to this size: half
# of what makes a subscriber lag.
DELIVERY_BYTES_MAX = 131_072
# Called with the events and the number of sockets that they were written to.
OnDelivered = Callable[[Sequence[OutgoingEvent], int], None]
LOG = logging.getLogger("silverball.feed")
CHANNELS_MAX = 256
# Requests of one connection that wait for the database.
REQUESTS_MAX = 1_024
TICK_SECONDS = 30.0
# In writes to sockets: so many clients are caught up in one turn of the event loop.
CATCH_UP_COST = WRITES_PER_TURN // CLIENTS_PER_TURN
NOTHING_MISSED = Replay(None, ())
INTERNAL_ERROR = Close(protocol.INTERNAL, "Something went wrong here. Connect again.")
BUSY = Close(protocol.OVER_CAPACITY, "Too much is being looked up for you. Connect again.")


def count_nothing(_address: str) -> bool:
    """Let every resume pass: without a front door there is no allowance."""
    return True


def ignore_behind(_tournament_ids: Collection[int]) -> None:
    """Do nothing: without a relay, every event is published anyway."""


class CatchingUp(Struct, frozen=True):
    """The missed events that a client that resumes gets before the live ones."""

    # The position after which it goes on.
    epoch: str
    seq: int
    # None: something is missing.
    replay: Replay | None
    # The number after which the replay begins.
    after: int = 0
    # Whether the replay has only the newest event of each thing.
    is_compacted: bool = False


class QueuedCall:
    """A call that must come after the events that were published before it."""

    def __init__(self, call: Callable[[], None], *, cost: int = 1) -> None:
        self._call = call
        # In writes of the budget.
        self._cost = cost
        self.is_done = False

    def run(self, _budget: int) -> int:
        """Make the call, and return the writes spent."""
        self._call()
        self.is_done = True
        return self._cost


class EventDelivery:
    """Events on their way to all who were subscribed when their turn came.

    Events that are published together go out together: writing to a socket costs more than anything
    else here, and hardly more for five events than for one.
    """

    def __init__(self, channel: Channel, on_delivered: OnDelivered) -> None:
        self.channel = channel
        self._on_delivered = on_delivered
        self._events: list[OutgoingEvent] = []
        self._bytes = 0
        self._remaining: list[tuple[bytes, list[Subscription]]] | None = None
        self._written_count = 0
        self.is_done = False

    @property
    def has_room(self) -> bool:
        """Whether more events can still be added."""
        return self._remaining is None and self._bytes < DELIVERY_BYTES_MAX

    def add(self, event: OutgoingEvent) -> None:
        """Add an event."""
        self._events.append(event)
        self._bytes += len(event.announcement.data)

    def run(self, budget: int) -> int:
        """Write the events to at most `budget` sockets, and return the writes spent."""
        if self._remaining is None:
            # A later subscriber gets only the events that are published from then on.
            newest = self._events[-1].announcement
            self.channel.delivered = (newest.epoch, newest.seq)
            self._remaining = [
                (b"".join([event.encode(encoding) for event in self._events]), list(group))
                for encoding, group in self.channel.by_encoding.items()
            ]
        spent = 0
        while self._remaining and spent < budget:
            frames, group = self._remaining[-1]
            part = group[-(budget - spent) :]
            del group[-len(part) :]
            spent += len(part)
            self._written_count += self._write(frames, part)
            if not group:
                self._remaining.pop()
        if not self._remaining:
            self.is_done = True
            self._on_delivered(self._events, self._written_count)
        return spent + 1

    def _write(self, frames: bytes, subscriptions: list[Subscription]) -> int:
        written = 0
        for subscription in subscriptions:
            if subscription.can_write:
                subscription.write(frames)
                written += 1
            elif subscription.is_open:
                for event in self._events:
                    subscription.deliver(event)
        return written


class DeliveryQueue:
    """Jobs in order, a few at a time, because the event loop has other work as well."""

    def __init__(self) -> None:
        self._jobs: deque[QueuedCall | EventDelivery] = deque()
        # Writes that are left before the event loop turns to its other work.
        self._budget = WRITES_PER_TURN
        self._is_scheduled = False
        self._is_running = False

    def __len__(self) -> int:
        return len(self._jobs)

    def add(self, call: QueuedCall) -> None:
        """Make a call when its turn comes: now, if the queue is empty and not much was done just before."""
        self._jobs.append(call)
        if not self._is_scheduled and not self._is_running:
            self._run_jobs()

    def deliver(self, channel: Channel, event: OutgoingEvent, on_delivered: OnDelivered) -> None:
        """Send an event together with those of its channel that are published in the same moment."""
        last = self._jobs[-1] if self._jobs else None
        if not isinstance(last, EventDelivery) or last.channel is not channel or not last.has_room:
            last = EventDelivery(channel, on_delivered)
            self._jobs.append(last)
        last.add(event)
        self._schedule()

    def _schedule(self) -> None:
        if self._jobs and not self._is_scheduled and not self._is_running:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._begin_turn)

    def _begin_turn(self) -> None:
        self._is_scheduled = False
        self._budget = WRITES_PER_TURN
        self._run_jobs()

    def _run_jobs(self) -> None:
        # A job may add jobs, which wait for their turn too.
        self._is_running = True
        try:
            while self._jobs and self._budget > 0:
                self._budget -= self._jobs[0].run(self._budget)
                if self._jobs[0].is_done:
                    self._jobs.popleft()
        except BaseException:
            # A job that fails must not block the others for ever.
            self._jobs.popleft()
            raise
        finally:
            self._is_running = False
            self._schedule()


class Hub:
    """All channels and subscriptions of one process."""

    def __init__(
        self,
        log: EventLog,
        *,
        now: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self.metrics = FeedMetrics()
        self.now = now
        # Channels that have subscribers, or are about to.
        self.watched_ids: set[int] = set()
        self._log = log
        # Called with channels whose newest events may not have been published here yet.
        self.on_behind: Callable[[Collection[int]], None] = ignore_behind
        # Counts a resume against the allowance of an address, and returns whether it had any left.
        self.count_resume: Callable[[str], bool] = count_nothing
        self._wall_clock = wall_clock
        self._channels: dict[int, Channel] = {}
        self._delivery_queue = DeliveryQueue()
        self._pacer = Pacer()
        self.replays = ReplayLookups(log, self._pacer, now)
        # A task that nothing refers to may be collected before it is done.
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def backlog(self) -> int:
        """Jobs that wait for their turn; a relay may wait until there are few."""
        return len(self._delivery_queue)

    # From the relay

    def position(self, tournament_id: int) -> tuple[str, int] | None:
        """Epoch and number of the newest event published in a channel; None when nobody follows it."""
        channel = self._channels.get(tournament_id)
        return (channel.epoch, channel.seq) if channel is not None and channel.epoch else None

    def publish(self, announcement: Announcement) -> None:
        """Send an event to all followers of its tournament, if it is the next one; else ignore it."""
        channel = self._channels.get(announcement.tournament_id)
        if channel is None or (announcement.epoch, announcement.seq) != (channel.epoch, channel.seq + 1):
            return
        channel.set_position(announcement.epoch, announcement.seq)
        channel.last_event_at = self.now()
        self._delivery_queue.deliver(channel, OutgoingEvent(announcement), self._count_delivery)

    def reset_channel(self, tournament_id: int, epoch: str, seq: int) -> None:
        """Go on after another position, and tell the clients that resume to read the tournament again."""
        channel = self._channels.get(tournament_id)
        if channel is not None:
            channel.set_position(epoch, seq)
            self._delivery_queue.add(QueuedCall(lambda: self._restart_channel(channel, epoch, seq)))

    def remove_tournament(self, tournament_id: int) -> None:
        """End the channel of a tournament that was deleted."""
        channel = self._channels.get(tournament_id)
        if channel is not None:
            channel.is_gone = True
            self._delivery_queue.add(QueuedCall(lambda: self._end_channel(channel)))

    def _count_delivery(self, events: Sequence[OutgoingEvent], written: int) -> None:
        now = self._wall_clock()
        self.metrics.events_total += len(events)
        self.metrics.deliveries_total += len(events) * written
        for event in events:
            self.metrics.delivery_seconds.observe(now - event.announcement.at.timestamp())

    def _restart_channel(self, channel: Channel, epoch: str, seq: int) -> None:
        text = messages.subscription_resumed(channel.name, epoch, seq, recovered=False)
        channel.restart(epoch, seq)
        for subscription in channel.subscriptions():
            # Who is being caught up gets the same with the confirmation.
            if subscription.is_resumed and subscription.held_events is None:
                subscription.subscriber.send_text(text)

    def _end_channel(self, channel: Channel) -> None:
        for subscription in channel.subscriptions():
            self._unsubscribe(subscription)
            subscription.subscriber.send_text(protocol.no_such_tournament(channel.name))

    # From the connections

    def handle_request(self, subscriber: Subscriber, request: Subscribe | Unsubscribe) -> None:
        """Answer a client's request after all that it sent before."""
        if subscriber.pending_requests is not None:
            subscriber.pending_requests.append(request)
            if len(subscriber.pending_requests) > REQUESTS_MAX:
                subscriber.disconnect(BUSY)
        elif not self._try_at_once(subscriber, request):
            subscriber.pending_requests = deque([request])
            self._pacer.call(lambda: self._start_handling(subscriber))

    def remove_subscriber(self, subscriber: Subscriber) -> None:
        """End all subscriptions of a connection that ends."""
        subscriber.close()
        if subscriber.task is not None:
            subscriber.task.cancel()
        for subscription in list(subscriber.subscriptions.values()):
            self._unsubscribe(subscription)

    def last_event_at(self, subscriber: Subscriber) -> float:
        """The time of the last event in any channel of this connection."""
        times = (subscription.channel.last_event_at for subscription in subscriber.subscriptions.values())
        return max(times, default=0.0)

    def _try_at_once(self, subscriber: Subscriber, request: Subscribe | Unsubscribe) -> bool:
        """Answer a request that needs no lookup, and return whether it was one."""
        existing = subscriber.subscriptions.get(request.tournament_id)
        if isinstance(request, Unsubscribe):
            if existing is not None:
                self._unsubscribe(existing)
            return True
        if existing is None and len(subscriber.subscriptions) >= CHANNELS_MAX:
            sentence = f"A connection can follow {CHANNELS_MAX} channels."
            name = messages.channel_name(request.tournament_id)
            subscriber.send_text(messages.subscription_error(name, "LimitReached", sentence, 429))
            return True
        channel = self._channels.get(request.tournament_id)
        if request.resume is not None or channel is None or channel.is_gone or not channel.is_ready:
            return False
        self._subscribe(subscriber, channel)
        subscriber.send_text(messages.subscription_succeeded(channel.name))
        return True

    def _subscribe(self, subscriber: Subscriber, channel: Channel) -> Subscription:
        """The connection's subscription to a channel; subscribing twice makes one subscription."""
        subscription = subscriber.subscriptions.get(channel.tournament_id)
        if subscription is None:
            subscription = Subscription(subscriber, channel)
            subscriber.subscriptions[channel.tournament_id] = subscription
            channel.add(subscription)
            self.metrics.subscriptions += 1
        return subscription

    def _unsubscribe(self, subscription: Subscription) -> None:
        channel, subscriber = subscription.channel, subscription.subscriber
        subscription.is_open = subscription.can_write = False
        channel.remove(subscription)
        channel.resumer_count -= subscription.is_resumed
        del subscriber.subscriptions[channel.tournament_id]
        subscriber.drop_channel(channel.tournament_id)
        self.metrics.subscriptions -= 1
        self._drop_if_idle(channel)

    # Lookups

    def _start_task(self, work: "asyncio._CoroutineLike[None]") -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _start_handling(self, subscriber: Subscriber) -> None:
        if subscriber.is_open:
            subscriber.task = self._start_task(self._handle_requests(subscriber))
            subscriber.task.add_done_callback(lambda task: self._on_requests_handled(subscriber, task))

    async def _handle_requests(self, subscriber: Subscriber) -> None:
        try:
            while subscriber.pending_requests:
                request = subscriber.pending_requests.popleft()
                if not self._try_at_once(subscriber, request) and isinstance(request, Subscribe):
                    await self._follow(subscriber, request)
        finally:
            # At once: a request that comes after the last one was read must start a task of its own.
            subscriber.pending_requests = None

    def _on_requests_handled(self, subscriber: Subscriber, task: "asyncio.Task[None]") -> None:
        if subscriber.task is task:
            subscriber.task = None
        if not task.cancelled() and task.exception() is not None:
            LOG.error("a subscription failed", exc_info=task.exception())
            subscriber.disconnect(INTERNAL_ERROR)

    async def _follow(self, subscriber: Subscriber, request: Subscribe) -> None:
        channel = self._channels.get(request.tournament_id)
        if channel is None or channel.is_gone:
            channel = self._channels[request.tournament_id] = Channel(request.tournament_id, self.now())
            channel.lookup = asyncio.get_running_loop().create_task(self._open_channel(channel))
            channel.lookup.add_done_callback(lambda task: self._on_channel_opened(channel, task))
        channel.pending_count += 1
        try:
            assert channel.lookup is not None
            exists = await self._pacer.outcome(channel.lookup)
            if not exists or channel.is_gone:
                subscriber.send_text(protocol.no_such_tournament(channel.name))
            elif request.resume is None:
                self._subscribe(subscriber, channel)
                subscriber.send_text(messages.subscription_succeeded(channel.name))
            else:
                await self._resume(subscriber, channel, request.resume)
        except EventsUnavailable:
            sentence = "The tournament cannot be looked up now. Subscribe again."
            subscriber.send_text(messages.subscription_error(channel.name, "Unavailable", sentence, 503))
        finally:
            channel.pending_count -= 1
            self._drop_if_idle(channel)

    async def _open_channel(self, channel: Channel) -> bool:
        """Start to watch a channel, and return whether its tournament exists."""
        head = await self._log.head(channel.tournament_id)
        if head is None:
            return False
        channel.set_position(head.epoch, head.seq)
        channel.delivered = (head.epoch, head.seq)
        self.watched_ids.add(channel.tournament_id)
        # What was announced since then may have been nudged about already.
        self.on_behind([channel.tournament_id])
        return True

    def _on_channel_opened(self, channel: Channel, task: "asyncio.Task[bool]") -> None:
        # Retrieved, or Python would report the exception as lost when all clients have gone meanwhile.
        task.cancelled() or task.exception()
        self._drop_if_idle(channel)

    def _drop_if_idle(self, channel: Channel) -> None:
        if not channel.is_idle or (channel.lookup is not None and not channel.lookup.done()):
            return
        if self._channels.get(channel.tournament_id) is channel:
            del self._channels[channel.tournament_id]
            self.watched_ids.discard(channel.tournament_id)

    async def _resume(self, subscriber: Subscriber, channel: Channel, resume: Resume) -> None:
        subscription = self._subscribe(subscriber, channel)
        answered = asyncio.Event()
        if subscription.has_had(resume.epoch, resume.seq) and resume.seq <= channel.seq:
            # What follows is on its way already, and must not come twice.
            confirm = QueuedCall(lambda: self._confirm(subscription, resume, answered))
            self._delivery_queue.add(confirm)
            await answered.wait()
            return
        channel.resumer_count += not subscription.is_resumed
        subscription.is_resumed = subscriber.has_resumed = True
        # Hold back first, then look up: the events after this position are delivered to the subscription.
        subscription.hold_back()
        epoch, joined_at = channel.delivered
        try:
            missed = await self._load_missed(channel, resume, epoch, joined_at, subscriber.address)
        except EventsUnavailable:
            if subscription.is_open:
                self._unsubscribe(subscription)
            raise
        # After everything published so far, because the events loaded must not come twice.
        catch_up = QueuedCall(lambda: self._catch_up(subscription, missed, answered), cost=CATCH_UP_COST)
        self._delivery_queue.add(catch_up)
        # And before the client's next request.
        await answered.wait()

    def _confirm(self, subscription: Subscription, resume: Resume, answered: asyncio.Event) -> None:
        """Confirm a subscription that goes on as it was."""
        answered.set()
        if not subscription.is_open:
            return
        epoch, seq = subscription.channel.delivered
        is_recovered = subscription.has_had(resume.epoch, resume.seq)
        self.metrics.resumes_recovered_total += is_recovered
        self.metrics.resumes_lost_total += not is_recovered
        name = subscription.channel.name
        subscription.subscriber.send_text(
            messages.subscription_resumed(name, epoch, seq, recovered=is_recovered)
        )

    async def _load_missed(
        self, channel: Channel, resume: Resume, epoch: str, joined_at: int, address: str
    ) -> CatchingUp:
        """Events that bring a client from its number to where it joined. Raises EventsUnavailable."""
        lost = CatchingUp(epoch, joined_at, None, joined_at)
        missed_count = joined_at - resume.seq
        missed_max = COMPACTED_EVENTS_MAX if resume.is_compact else REPLAYED_EVENTS_MAX
        if resume.epoch != epoch or resume.seq < 0 or missed_count > missed_max:
            return lost
        if missed_count == 0:
            return CatchingUp(epoch, joined_at, NOTHING_MISSED, joined_at)
        if missed_count > 0 and not self.count_resume(address):
            # The client follows from here on, and is told that it missed something.
            return lost
        missed: CatchingUp | None = None
        if missed_count <= REPLAYED_EVENTS_MAX:
            missed = await self._load_each(channel, resume, epoch, joined_at)
        if missed is None and resume.is_compact:
            newest = await self.replays.find_newest(channel.tournament_id, epoch, resume.seq, joined_at)
            if newest is not None:
                missed = CatchingUp(epoch, joined_at, newest, resume.seq, is_compacted=True)
        return missed or lost

    async def _load_each(
        self, channel: Channel, resume: Resume, epoch: str, joined_at: int
    ) -> CatchingUp | None:
        """Every missed event; None where they are too large together, or gone. Raises EventsUnavailable."""
        missed_count = joined_at - resume.seq
        replay = await self.replays.find(ReplayKey(channel.tournament_id, resume.seq, max(missed_count, 0)))
        head = replay.head
        if head is None:
            # The channel ends as soon as the relay looks.
            self.on_behind([channel.tournament_id])
            return None
        if head.epoch != epoch or resume.seq > head.seq:
            return None
        if missed_count < 0:
            # Another node was quicker than this one.
            self.on_behind([channel.tournament_id])
            return CatchingUp(epoch, resume.seq, NOTHING_MISSED, resume.seq)
        is_whole = replay.seqs == list(range(resume.seq + 1, joined_at + 1))
        is_small = replay.data_bytes <= REPLAYED_BYTES_MAX
        return CatchingUp(epoch, joined_at, replay, resume.seq) if is_whole and is_small else None

    def _catch_up(self, subscription: Subscription, missed: CatchingUp, caught_up: asyncio.Event) -> None:
        """Confirm the subscription, send the missed events and those held back, and go live."""
        caught_up.set()
        subscriber, name = subscription.subscriber, subscription.channel.name
        if not subscription.is_open:
            return
        if subscription.restarted_at is not None:
            missed = CatchingUp(*subscription.restarted_at, None, subscription.restarted_at[1])
        is_recovered = missed.replay is not None
        self.metrics.resumes_recovered_total += is_recovered
        self.metrics.resumes_lost_total += not is_recovered
        # What was queued for a slow client before comes again, or is reported as missed.
        subscriber.drop_channel(subscription.channel.tournament_id)
        text = messages.subscription_resumed(
            name, missed.epoch, missed.seq, recovered=is_recovered, compacted=missed.is_compacted
        )
        subscriber.send_text(text)
        pieces = missed.replay.pieces(subscriber.encoding) if missed.replay is not None else ()
        subscription.whole_after = (missed.epoch, missed.after)
        subscriber.replay(pieces, subscription.release(missed.seq))

    # From the clock

    def sweep(self, now: float) -> None:
        """Send quiet channels' positions to the clients that resume, so that they notice a lost event."""
        for channel in self._channels.values():
            if channel.resumer_count and now - channel.last_event_at >= TICK_SECONDS:
                channel.last_event_at = now
                # After everything published so far: a tick names no event that is still on its way.
                tick = QueuedCall(partial(self._send_tick, channel), cost=channel.resumer_count)
                self._delivery_queue.add(tick)

    def _send_tick(self, channel: Channel) -> None:
        text = messages.tick(channel.name, *channel.delivered)
        for subscription in channel.subscriptions():
            # Who is being caught up, or is ahead of this node, has not been sent all of this here.
            if subscription.is_resumed and subscription.can_write:
                subscription.subscriber.send_text(text)

    def close(self) -> None:
        """Cancel all lookups."""
        self.replays.close()
        for task in self._tasks:
            task.cancel()
        for channel in self._channels.values():
            if channel.lookup is not None:
                channel.lookup.cancel()
