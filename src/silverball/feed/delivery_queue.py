"""The order in which published events go out to the subscribers."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from silverball.feed.encoding import OutgoingEvent
from silverball.feed.subscribers import Channel, Subscription

# After this many writes the event loop turns to its other work.
WRITES_PER_TURN = 500
# Events of a channel that are published in the same moment go out in one piece up to this size: half
# of what makes a subscriber lag.
DELIVERY_BYTES_MAX = 131_072
# Called with the events and the number of sockets that they were written to.
OnDelivered = Callable[[Sequence[OutgoingEvent], int], None]


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
