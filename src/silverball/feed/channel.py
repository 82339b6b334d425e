"""A tournament that somebody follows, and the order in which its events go out."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from silverball.feed.encoding import FrameEncoding, OutgoingEvent
from silverball.feed.frame_writer import Subscription
from silverball.feed.messages import channel_name

# After so many writes other work of the process has its turn.
WRITES_PER_TURN = 500
# Events of a channel that are published in one moment go out in one piece up to this size: half of
# what makes a reader lag.
DELIVERY_BYTES_MAX = 131_072


class Channel:
    """The subscriptions to one tournament, by the form that they want events in."""

    __slots__ = (
        "by_form",
        "epoch",
        "is_gone",
        "name",
        "opening",
        "pending",
        "resumers",
        "seq",
        "told_at",
        "tournament_id",
    )

    def __init__(self, tournament_id: int, now: float) -> None:
        self.tournament_id = tournament_id
        self.name = channel_name(tournament_id)
        self.by_form: dict[FrameEncoding, dict[Subscription, None]] = {}
        # Of the newest event that was published here; the epoch is empty before it is known.
        self.epoch = ""
        self.seq = 0
        self.told_at = now
        self.is_gone = False
        # Subscriptions that are being looked up, and the looking up that they share.
        self.pending = 0
        self.opening: asyncio.Task[bool] | None = None
        self.resumers = 0

    @property
    def is_ready(self) -> bool:
        """Whether it is known to exist and its events arrive."""
        done = self.opening is not None and self.opening.done() and not self.opening.cancelled()
        return bool(done and self.opening and self.opening.exception() is None and self.opening.result())

    @property
    def is_idle(self) -> bool:
        """Whether nobody follows it or is about to."""
        return not self.pending and not self.by_form

    def subscriptions(self) -> list[Subscription]:
        """All subscriptions, as they are now."""
        return [one for group in self.by_form.values() for one in group]

    def add(self, subscription: Subscription) -> None:
        """From now on events go to this one too."""
        self.by_form.setdefault(subscription.reader.form, {})[subscription] = None

    def remove(self, subscription: Subscription) -> None:
        """Events no longer go to this one."""
        form = subscription.reader.form
        group = self.by_form[form]
        del group[subscription]
        if not group:
            del self.by_form[form]

    def set_position(self, epoch: str, seq: int) -> None:
        """This is the newest number now."""
        self.epoch, self.seq = epoch, seq


class QueuedCall:
    """A job that is done at once: what must happen after the events that were published before it."""

    def __init__(self, act: Callable[[], None]) -> None:
        self._call = act
        self.is_done = False

    def run(self, _budget: int) -> int:
        """Do it."""
        self._call()
        self.is_done = True
        return 1


class EventDelivery:
    """Events on their way to everybody who was subscribed when their turn came.

    What is published together goes out together: writing to a socket costs more than anything else
    here, and hardly more for five events than for one.
    """

    def __init__(self, channel: Channel, delivered: Callable[[Sequence[OutgoingEvent], int], None]) -> None:
        self.channel = channel
        self._on_delivered = delivered
        self._events: list[OutgoingEvent] = []
        self._bytes = 0
        self._remaining: list[tuple[bytes, list[Subscription]]] | None = None
        self._written_count = 0
        self.is_done = False

    @property
    def has_room(self) -> bool:
        """Whether more events may come along."""
        return self._remaining is None and self._bytes < DELIVERY_BYTES_MAX

    def add(self, event: OutgoingEvent) -> None:
        """One more event."""
        self._events.append(event)
        self._bytes += len(event.announced.data)

    def run(self, budget: int) -> int:
        """Write them to at most so many."""
        if self._remaining is None:
            # Who comes after this moment gets what is published after it.
            self._remaining = [
                (b"".join([event.encode(form) for event in self._events]), list(group))
                for form, group in self.channel.by_form.items()
            ]
        spent = 0
        while self._remaining and spent < budget:
            made, group = self._remaining[-1]
            part = group[-(budget - spent) :]
            del group[-len(part) :]
            spent += len(part)
            self._written_count += self._write(made, part)
            if not group:
                self._remaining.pop()
        if not self._remaining:
            self.is_done = True
            self._on_delivered(self._events, self._written_count)
        return spent + 1

    def _write(self, made: bytes, part: list[Subscription]) -> int:
        written = 0
        for one in part:
            if one.is_clear:
                one.write(made)
                written += 1
            elif one.is_open:
                for event in self._events:
                    one.deliver(event)
        return written


class DeliveryQueue:
    """Jobs, one after the other, a few at a time: the loop has other things to do as well."""

    def __init__(self) -> None:
        self._jobs: deque[QueuedCall | EventDelivery] = deque()
        self._is_scheduled = False

    def __len__(self) -> int:
        return len(self._jobs)

    def add(self, step: QueuedCall) -> None:
        """Do it when its turn comes: now, if nothing else waits."""
        self._jobs.append(step)
        if not self._is_scheduled:
            self._run_jobs()

    def deliver(
        self,
        channel: Channel,
        event: OutgoingEvent,
        delivered: Callable[[Sequence[OutgoingEvent], int], None],
    ) -> None:
        """Send an event, with those of its channel that are published in the same moment."""
        last = self._jobs[-1] if self._jobs else None
        if not isinstance(last, EventDelivery) or last.channel is not channel or not last.has_room:
            last = EventDelivery(channel, delivered)
            self._jobs.append(last)
        last.add(event)
        self._schedule()

    def _schedule(self) -> None:
        if self._jobs and not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._run_jobs)

    def _run_jobs(self) -> None:
        budget = WRITES_PER_TURN
        # What a job brings about waits for its turn too.
        self._is_scheduled = True
        try:
            while self._jobs and budget > 0:
                budget -= self._jobs[0].run(budget)
                if self._jobs[0].is_done:
                    self._jobs.popleft()
        except BaseException:
            # One that fails must not stand in the way of the others for ever.
            self._jobs.popleft()
            raise
        finally:
            self._is_scheduled = False
            self._schedule()
