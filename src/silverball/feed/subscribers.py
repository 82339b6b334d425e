"""The followers of each tournament: channels, subscriptions, and the way out to each subscriber's socket.

Events go straight to the socket as long as it keeps up. When it does not, the subscriber lags. One that
resumes is disconnected and comes back for what is missing; for any other, the newest state of each
object is queued until the socket has room again. A replay is queued here too, so that a client on a
slow line is not disconnected for a replay that it requested.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable

from silverball.feed import protocol
from silverball.feed.messages import FrameEncoding, OutgoingEvent, channel_name, encode_text
from silverball.feed.metrics import FeedMetrics
from silverball.feed.protocol import Close, Subscribe, Unsubscribe
from silverball.feed.replays import Piece

# A socket with more unsent bytes than the first lags until it has fewer than the second.
LAGGING_BYTES = 262_144
CAUGHT_UP_BYTES = 65_536
LAGGING_BYTES_MAX = 1_048_576
LAGGING_SECONDS_MAX = 30.0
# A replay, and the events that are published while it is on its way.
REPLAY_BYTES_MAX = 2 * LAGGING_BYTES_MAX
TOO_SLOW = Close(protocol.OVER_CAPACITY, "You read more slowly than things happen. Connect again.")


class Channel:
    """The subscriptions to one tournament, grouped by the encoding that they want events in."""

    __slots__ = (
        "by_encoding",
        "delivered",
        "epoch",
        "is_gone",
        "last_event_at",
        "lookup",
        "name",
        "pending_count",
        "resumer_count",
        "seq",
        "tournament_id",
    )

    def __init__(self, tournament_id: int, now: float) -> None:
        self.tournament_id = tournament_id
        self.name = channel_name(tournament_id)
        self.by_encoding: dict[FrameEncoding, dict[Subscription, None]] = {}
        # Position of the newest event that was published here; the epoch is empty before it is known.
        self.epoch = ""
        self.seq = 0
        # Position of the newest event whose turn to go out has come: who joins now gets those after it.
        self.delivered = ("", 0)
        self.last_event_at = now
        self.is_gone = False
        # Subscriptions that are being looked up, and the task that they share.
        self.pending_count = 0
        self.lookup: asyncio.Task[bool] | None = None
        self.resumer_count = 0

    @property
    def is_ready(self) -> bool:
        """Whether the tournament is known to exist and its events arrive."""
        lookup = self.lookup
        if lookup is None or not lookup.done() or lookup.cancelled():
            return False
        return lookup.exception() is None and lookup.result()

    @property
    def is_idle(self) -> bool:
        """Whether the channel has no subscriber and none is on the way."""
        return not self.pending_count and not self.by_encoding

    def subscriptions(self) -> list["Subscription"]:
        """All subscriptions, as they are now."""
        return [subscription for group in self.by_encoding.values() for subscription in group]

    def add(self, subscription: "Subscription") -> None:
        """Send events to this subscription from now on."""
        self.by_encoding.setdefault(subscription.subscriber.encoding, {})[subscription] = None

    def remove(self, subscription: "Subscription") -> None:
        """Send events to this subscription no longer."""
        encoding = subscription.subscriber.encoding
        group = self.by_encoding[encoding]
        del group[subscription]
        if not group:
            del self.by_encoding[encoding]

    def set_position(self, epoch: str, seq: int) -> None:
        """Note the newest event that was published."""
        self.epoch, self.seq = epoch, seq

    def restart(self, epoch: str, seq: int) -> None:
        """Go on after this position: for those who joined, nothing before it counts any more."""
        self.delivered = (epoch, seq)
        for subscription in self.subscriptions():
            subscription.restart(epoch, seq)


class Subscription:
    """One connection in one channel."""

    __slots__ = (
        "can_write",
        "channel",
        "held_bytes",
        "held_events",
        "is_open",
        "is_resumed",
        "restarted_at",
        "skip_until",
        "subscriber",
        "whole_after",
        "write",
    )

    def __init__(self, subscriber: "Subscriber", channel: Channel) -> None:
        self.subscriber = subscriber
        self.channel = channel
        # The socket's own method: a thousand of these are called for one event.
        self.write = subscriber.write
        self.is_open = True
        self.is_resumed = False
        # Events published while the missed ones are loaded; None when nothing is being loaded.
        self.held_events: list[OutgoingEvent] | None = None
        self.held_bytes = 0
        # Epoch and number, when the channel restarted in the meantime.
        self.restarted_at: tuple[str, int] | None = None
        # The client resumed ahead of this node, and has the events up to this number.
        self.skip_until = 0
        # The position after which the connection was sent everything, once it has resumed.
        self.whole_after = ("", 0)
        # Whether events may be written straight to the socket.
        self.can_write = subscriber.can_write

    @property
    def is_live(self) -> bool:
        """Whether the client gets every event that is delivered now."""
        return self.held_events is None and not self.skip_until

    def has_had(self, epoch: str, seq: int) -> bool:
        """Whether the connection was or will be sent all that follows on this position."""
        since_epoch, since = self.whole_after
        return self.is_resumed and self.held_events is None and epoch == since_epoch and seq >= since

    def hold_back(self) -> None:
        """Keep events back until `release`."""
        self.held_events, self.held_bytes, self.restarted_at = [], 0, None
        self.skip_until = 0
        self.can_write = False

    def release(self, seq: int) -> list[OutgoingEvent]:
        """Pass on the events after this number from now on, and return those that were held back."""
        held, self.held_events = self.held_events or [], None
        # Without an epoch in between, the events that are still to come follow on the delivered ones.
        self.skip_until = seq if seq > self.channel.delivered[1] else 0
        self.can_write = self.subscriber.can_write and self.is_open and self.is_live
        return [event for event in held if event.seq > seq]

    def restart(self, epoch: str, seq: int) -> None:
        """Drop the events held back, which belong to an epoch that is over, and skip nothing."""
        if self.held_events is not None:
            self.held_events, self.held_bytes, self.restarted_at = [], 0, (epoch, seq)
        self.whole_after = (epoch, seq)
        self.skip_until = 0
        self.can_write = self.subscriber.can_write and self.is_open and self.is_live

    def deliver(self, event: OutgoingEvent) -> None:
        """Hold back, skip or queue an event that could not be written straight away."""
        if self.held_events is None:
            if event.seq <= self.skip_until:
                if event.seq == self.skip_until:
                    self.skip_until = 0
                    self.can_write = self.subscriber.can_write
            elif self.can_write:
                self.write(event.encode(self.subscriber.encoding))
            else:
                self.subscriber.queue_event(event)
            return
        self.held_events.append(event)
        self.held_bytes += len(event.announcement.data)
        if self.held_bytes > LAGGING_BYTES_MAX:
            self.subscriber.disconnect_slow()


class Subscriber:
    """One connection, as the hub sees it."""

    __slots__ = (
        "_buffered_bytes",
        "_is_full",
        "_is_replaying",
        "_metrics",
        "_queued",
        "_queued_bytes",
        "address",
        "can_write",
        "disconnect",
        "encoding",
        "has_resumed",
        "is_open",
        "lagging_since",
        "now",
        "pending_requests",
        "subscriptions",
        "task",
        "write",
    )

    def __init__(
        self,
        encoding: FrameEncoding,
        metrics: FeedMetrics,
        *,
        write: Callable[[bytes], None],
        buffered_bytes: Callable[[], int],
        disconnect: Callable[[Close], None],
        now: Callable[[], float],
        address: str = "",
    ) -> None:
        self.encoding = encoding
        self.address = address
        self.write = write
        # Ends the connection with a close code; the connection then removes itself from the hub.
        self.disconnect = disconnect
        self.now = now
        self.subscriptions: dict[int, Subscription] = {}
        # Requests that are not answered yet; None when nothing is being looked up.
        self.pending_requests: deque[Subscribe | Unsubscribe] | None = None
        self.task: asyncio.Task[None] | None = None
        self.has_resumed = False
        self.is_open = True
        self.can_write = True
        self.lagging_since: float | None = None
        self._metrics = metrics
        self._buffered_bytes = buffered_bytes
        self._is_full = False
        self._is_replaying = False
        self._queued: OrderedDict[tuple[object, ...], bytes] | None = None
        self._queued_bytes = 0

    @property
    def unsent_bytes(self) -> int:
        """Bytes that wait for the client, here and in its socket."""
        return self._queued_bytes + self._buffered_bytes()

    def send_text(self, text: bytes) -> None:
        """Send a text of the protocol, ahead of queued events."""
        if self.is_open:
            self.write(encode_text(text, self.encoding))

    def queue_event(self, event: OutgoingEvent) -> None:
        """Queue an event for a connection that lags or is being sent a replay."""
        if not self.is_open:
            return
        self._enqueue(event)
        limit = REPLAY_BYTES_MAX if self._is_replaying else LAGGING_BYTES_MAX
        if self.unsent_bytes > limit:
            self.disconnect_slow()

    def replay(self, pieces: Iterable[Piece], events: Iterable[OutgoingEvent]) -> None:
        """Send these in order, as quickly as the socket takes them; newer events come after them."""
        if not self.is_open:
            return
        for key, frames in pieces:
            self._is_replaying = True
            self._queue_frames(key, frames)
        for event in events:
            self._is_replaying = True
            self._enqueue(event)
        if self._is_replaying:
            self._start_lagging()
            self._flush()

    def drop_channel(self, tournament_id: int) -> None:
        """Drop the queued events of a channel that the client has left."""
        if self._queued:
            for key in [key for key in self._queued if key[0] == tournament_id]:
                self._queued_bytes -= len(self._queued.pop(key))

    def pause_writing(self) -> None:
        """Start queueing: the socket holds too much."""
        self._is_full = True
        if not self.is_open:
            return
        self._start_lagging()
        if self.has_resumed and not self._is_replaying:
            self.disconnect_slow()

    def resume_writing(self) -> None:
        """Send what is queued: the socket has room again."""
        self._is_full = False
        if self.is_open:
            self._flush()

    def check_lag(self, now: float) -> None:
        """Disconnect a client that has lagged for too long."""
        if self.lagging_since is not None and now - self.lagging_since > LAGGING_SECONDS_MAX:
            self.disconnect_slow()

    def disconnect_slow(self) -> None:
        """Disconnect: too much is queued, or for too long."""
        if self.is_open:
            self._metrics.slow_closes_total += 1
            self.disconnect(TOO_SLOW)

    def close(self) -> None:
        """Send nothing any more."""
        self.is_open = False
        self._stop_lagging()
        self._set_can_write(can_write=False)
        self._queued, self._queued_bytes = None, 0

    def _enqueue(self, event: OutgoingEvent) -> None:
        # A client that resumes counts the numbers, so it may miss none.
        key = (event.tournament_id, event.seq) if self.has_resumed else event.conflation_key
        self._queue_frames(key, event.encode(self.encoding))

    def _queue_frames(self, key: tuple[object, ...], frames: bytes) -> None:
        if self._queued is None:
            self._queued = OrderedDict()
        replaced = self._queued.pop(key, None)
        if replaced is not None:
            self._metrics.conflated_total += 1
            self._queued_bytes -= len(replaced)
        self._queued[key] = frames
        self._queued_bytes += len(frames)

    def _flush(self) -> None:
        # Writing may fill the socket, or end the connection.
        while self._queued and not self._is_full:
            _, frame = self._queued.popitem(last=False)
            self._queued_bytes -= len(frame)
            self.write(frame)
        if not self._queued and not self._is_full and self.is_open:
            self._stop_lagging()
            self._set_can_write(can_write=True)

    def _start_lagging(self) -> None:
        if self.lagging_since is None:
            self.lagging_since = self.now()
            self._metrics.lagging += 1
            self._set_can_write(can_write=False)

    def _stop_lagging(self) -> None:
        self._is_replaying = False
        self._queued = None
        if self.lagging_since is not None:
            self.lagging_since = None
            self._metrics.lagging -= 1

    def _set_can_write(self, *, can_write: bool) -> None:
        self.can_write = can_write
        for subscription in self.subscriptions.values():
            subscription.can_write = can_write and subscription.is_live
