"""The way out of one connection: straight to its socket as long as that takes what it is given.

When it does not, the reader lags. Who resumes is sent away and comes back for what is missing; for
anybody else the newest model of each thing is kept until there is room again. A replay waits here
too, so that a client on a thin line is not sent away for what it asked for.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from silverball.feed import protocol
from silverball.feed.encoding import FrameEncoding, OutgoingEvent, encode_text
from silverball.feed.metrics import FeedMetrics
from silverball.feed.protocol import Close, Subscribe, Unsubscribe

if TYPE_CHECKING:
    from silverball.feed.channel import Channel

# A socket that holds more than this lags, until it holds less than the other.
LAGGING_BYTES = 262_144
CAUGHT_UP_BYTES = 65_536
LAGGING_BYTES_MAX = 1_048_576
LAGGING_SECONDS_MAX = 30.0
# A replay, and what happens while it is on its way.
REPLAY_BYTES_MAX = 2 * LAGGING_BYTES_MAX
TOO_SLOW = Close(protocol.OVER_CAPACITY, "You read more slowly than things happen. Connect again.")


class Subscription:
    """One connection in one channel."""

    __slots__ = (
        "anew",
        "channel",
        "held",
        "held_bytes",
        "is_clear",
        "is_open",
        "reader",
        "resumes",
        "write",
    )

    def __init__(self, reader: "Subscriber", channel: "Channel") -> None:
        self.reader = reader
        self.channel = channel
        # The socket's own method: a thousand of these are called for one event.
        self.write = reader.write
        self.is_open = True
        self.resumes = False
        # What happens while it is looked up what was missed; None when nothing is being looked up.
        self.held: list[OutgoingEvent] | None = None
        self.held_bytes = 0
        # Epoch and number, when the channel began anew in the meantime.
        self.anew: tuple[str, int] | None = None
        # Whether events may be written without asking anybody.
        self.is_clear = reader.is_clear

    def hold_back(self) -> None:
        """Keep events back until `release`."""
        self.held, self.held_bytes, self.anew = [], 0, None
        self.is_clear = False

    def release(self) -> list[OutgoingEvent]:
        """What was kept back; from now on events go on to the reader."""
        held, self.held = self.held or [], None
        self.is_clear = self.reader.is_clear and self.is_open
        return held

    def restart(self, epoch: str, seq: int) -> None:
        """What is held back belongs to an epoch that is over."""
        self.held, self.held_bytes, self.anew = [], 0, (epoch, seq)

    def deliver(self, event: OutgoingEvent) -> None:
        """An event that cannot just be written."""
        if self.held is None:
            self.reader.queue_event(event)
            return
        self.held.append(event)
        self.held_bytes += len(event.announced.data)
        if self.held_bytes > LAGGING_BYTES_MAX:
            self.reader.disconnect_slow()


class Subscriber:
    """One connection, as the hub sees it."""

    __slots__ = (
        "_buffered",
        "_is_full",
        "_is_replaying",
        "_metrics",
        "_waiting",
        "_waiting_bytes",
        "form",
        "has_resumed",
        "is_clear",
        "is_open",
        "lagging_since",
        "now",
        "send_away",
        "subscriptions",
        "task",
        "wishes",
        "write",
    )

    def __init__(
        self,
        form: FrameEncoding,
        metrics: FeedMetrics,
        *,
        write: Callable[[bytes], None],
        buffered: Callable[[], int],
        send_away: Callable[[Close], None],
        now: Callable[[], float],
    ) -> None:
        self.form = form
        self.write = write
        # Ends the connection with a code; the hub is told by `leave`.
        self.send_away = send_away
        self.now = now
        self.subscriptions: dict[int, Subscription] = {}
        # What it asked for and has not got yet; None when nothing is being looked up.
        self.wishes: deque[Subscribe | Unsubscribe] | None = None
        self.task: asyncio.Task[None] | None = None
        self.has_resumed = False
        self.is_open = True
        self.is_clear = True
        self.lagging_since: float | None = None
        self._metrics = metrics
        self._buffered = buffered
        self._is_full = False
        self._is_replaying = False
        self._waiting: OrderedDict[tuple[object, ...], bytes] | None = None
        self._waiting_bytes = 0

    @property
    def unsent_bytes(self) -> int:
        """How much waits for it, here and in its socket."""
        return self._waiting_bytes + self._buffered()

    def send_text(self, text: bytes) -> None:
        """Send a text of the protocol; it does not wait behind events."""
        if self.is_open:
            self.write(encode_text(text, self.form))

    def queue_event(self, event: OutgoingEvent) -> None:
        """An event for a reader that lags or is being sent a replay."""
        if not self.is_open:
            return
        self._enqueue(event)
        limit = REPLAY_BYTES_MAX if self._is_replaying else LAGGING_BYTES_MAX
        if self.unsent_bytes > limit:
            self.disconnect_slow()

    def replay(self, events: Iterable[OutgoingEvent]) -> None:
        """Send these in order, as quickly as the socket takes them; what happens now comes after them."""
        for event in events if self.is_open else ():
            self._is_replaying = True
            self._enqueue(event)
        if self._is_replaying:
            self._start_lagging()
            self._flush()

    def drop_channel(self, tournament_id: int) -> None:
        """Whoever unsubscribed wants nothing that still waits."""
        if self._waiting:
            for key in [key for key in self._waiting if key[0] == tournament_id]:
                self._waiting_bytes -= len(self._waiting.pop(key))

    def pause_writing(self) -> None:
        """The socket holds too much."""
        self._is_full = True
        if not self.is_open:
            return
        self._start_lagging()
        if self.has_resumed and not self._is_replaying:
            self.disconnect_slow()

    def resume_writing(self) -> None:
        """The socket has room again."""
        self._is_full = False
        if self.is_open:
            self._flush()

    def check_lag(self, now: float) -> None:
        """Time has passed."""
        if self.lagging_since is not None and now - self.lagging_since > LAGGING_SECONDS_MAX:
            self.disconnect_slow()

    def disconnect_slow(self) -> None:
        """Too much waits for it, or for too long."""
        if self.is_open:
            self._metrics.slow_closes_total += 1
            self.send_away(TOO_SLOW)

    def close(self) -> None:
        """Nothing is sent any more."""
        self.is_open = False
        self._stop_lagging()
        self._set_clear(is_clear=False)
        self._waiting, self._waiting_bytes = None, 0

    def _enqueue(self, event: OutgoingEvent) -> None:
        if self._waiting is None:
            self._waiting = OrderedDict()
        # Who resumes counts the numbers, so nothing may be left out.
        key = (event.tournament_id, event.seq) if self.has_resumed else event.conflation_key
        made = event.encode(self.form)
        old = self._waiting.pop(key, None)
        if old is not None:
            self._metrics.conflated_total += 1
            self._waiting_bytes -= len(old)
        self._waiting[key] = made
        self._waiting_bytes += len(made)

    def _flush(self) -> None:
        # Writing may fill the socket, or end the connection.
        while self._waiting and not self._is_full:
            _, made = self._waiting.popitem(last=False)
            self._waiting_bytes -= len(made)
            self.write(made)
        if not self._waiting and not self._is_full and self.is_open:
            self._stop_lagging()
            self._set_clear(is_clear=True)

    def _start_lagging(self) -> None:
        if self.lagging_since is None:
            self.lagging_since = self.now()
            self._metrics.lagging += 1
            self._set_clear(is_clear=False)

    def _stop_lagging(self) -> None:
        self._is_replaying = False
        self._waiting = None
        if self.lagging_since is not None:
            self.lagging_since = None
            self._metrics.lagging -= 1

    def _set_clear(self, *, is_clear: bool) -> None:
        self.is_clear = is_clear
        for subscription in self.subscriptions.values():
            subscription.is_clear = is_clear and subscription.held is None
