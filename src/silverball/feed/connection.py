"""One connection: what arrives goes through the session, what it wants goes to the hub and the socket."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from silverball.feed import messages, protocol
from silverball.feed.encoding import FrameEncoding
from silverball.feed.frame_writer import Subscriber
from silverball.feed.protocol import Close, PusherSession, SessionOutput

if TYPE_CHECKING:
    from silverball.feed.feed import Feed

# Who does not answer a close is cut off after this.
CLOSE_SECONDS = 5.0
RECONNECT = Close(protocol.RECONNECT, "The server is going down. Connect again.")


class FrameWriter(Protocol):
    """A socket, whoever runs it."""

    @property
    def write(self) -> Callable[[bytes], None]:
        """Sends something, in the form that was agreed on."""

    def buffered_bytes(self) -> int:
        """How many bytes it still has to send."""

    def send_ping(self) -> None:
        """Send a ping as a control frame, if that can be done."""

    def start_close(self, close: Close) -> None:
        """Begin to close."""

    def abort(self) -> None:
        """Close without waiting for anybody."""


class FeedConnection:
    """The session, the reader and the line of one connection, from handshake to end."""

    __slots__ = ("_ended_at", "_feed", "_line", "_session", "address", "reader")

    def __init__(self, feed: "Feed", line: FrameWriter, form: FrameEncoding, address: str) -> None:
        self.address = address
        self._feed = feed
        self._line = line
        self._ended_at: float | None = None
        self._session = PusherSession(feed.new_socket_id(), feed.hub.now())
        self.reader = Subscriber(
            form,
            feed.hub.metrics,
            write=line.write,
            buffered=line.buffered_bytes,
            send_away=self.end_with,
            now=feed.hub.now,
        )
        feed.add_connection(self)

    @property
    def is_over(self) -> bool:
        """Whether its close was sent: nothing is heard any more."""
        return self._ended_at is not None

    def greet(self) -> None:
        """The client is let in."""
        self.reader.send_text(self._session.greeting())

    def receive(self, text: bytes) -> None:
        """A text message arrived."""
        if not self.is_over:
            self._apply(self._session.receive(text, self._feed.hub.now()))

    def receive_control(self) -> None:
        """A ping or a pong arrived as a control frame."""
        if not self.is_over:
            self._apply(self._session.receive_control(self._feed.hub.now()))

    def check_timeouts(self, now: float) -> None:
        """Time has passed."""
        if self._ended_at is not None:
            if now - self._ended_at >= CLOSE_SECONDS:
                self._line.abort()
            return
        self.reader.check_lag(now)
        if now >= self._session.due and not self.is_over:
            self._apply(self._session.check_timeouts(now, self._feed.hub.last_event_at(self.reader)))

    def end_with(self, close: Close) -> None:
        """Say why in a text, because some clients read nothing else, and close."""
        if not self.is_over:
            self.reader.send_text(messages.error(close.code if close.code >= 4000 else None, close.reason))
            self._start_close(close)

    def connection_lost(self) -> None:
        """The connection is gone."""
        self._ended_at = self._feed.hub.now()
        self._feed.hub.remove_reader(self.reader)
        self._feed.remove_connection(self)

    def peer_closed(self, code: int | None) -> None:
        """The client closed, or (with a code) the socket did, because no websocket speaks like that."""
        if not self.is_over:
            self._mark_over(code)

    def _apply(self, out: SessionOutput) -> None:
        for text in out.texts:
            self.reader.send_text(text)
        for wish in out.subscription_requests:
            self._feed.hub.handle_request(self.reader, wish)
        if out.sends_ping:
            self._feed.hub.metrics.pings_total += 1
            self._line.send_ping()
        if out.close is not None and not self.is_over:
            self._start_close(out.close)

    def _start_close(self, close: Close) -> None:
        self._mark_over(close.code)
        self._line.start_close(close)

    def _mark_over(self, code: int | None) -> None:
        self._ended_at = self._feed.hub.now()
        if code is not None:
            self._feed.hub.metrics.closes_total[code] += 1
        self._feed.hub.remove_reader(self.reader)
