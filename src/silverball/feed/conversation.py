"""One connection: what arrives goes through the session, what it wants goes to the hub and the socket."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from silverball.feed import messages, protocol
from silverball.feed.outgoing import Form
from silverball.feed.protocol import Close, Output, PusherSession
from silverball.feed.reader import Reader

if TYPE_CHECKING:
    from silverball.feed.feed import Feed

# Who does not answer a close is cut off after this.
CLOSE_SECONDS = 5.0
RECONNECT = Close(protocol.RECONNECT, "The server is going down. Connect again.")


class Line(Protocol):
    """A socket, whoever runs it."""

    @property
    def write(self) -> Callable[[bytes], None]:
        """Sends something, in the form that was agreed on."""

    def buffered(self) -> int:
        """How many bytes it still has to send."""

    def probe(self) -> None:
        """Send a ping as a control frame, if that can be done."""

    def hang_up(self, close: Close) -> None:
        """Begin to close."""

    def cut(self) -> None:
        """Close without waiting for anybody."""


class Conversation:
    """The session, the reader and the line of one connection, from handshake to end."""

    __slots__ = ("_ended_at", "_feed", "_line", "_session", "address", "reader")

    def __init__(self, feed: "Feed", line: Line, form: Form, address: str) -> None:
        self.address = address
        self._feed = feed
        self._line = line
        self._ended_at: float | None = None
        self._session = PusherSession(feed.new_socket_id(), feed.hub.now())
        self.reader = Reader(
            form,
            feed.hub.metrics,
            write=line.write,
            buffered=line.buffered,
            send_away=self.end,
            now=feed.hub.now,
        )
        feed.enter(self)

    @property
    def is_over(self) -> bool:
        """Whether its close was sent: nothing is heard any more."""
        return self._ended_at is not None

    def begin(self) -> None:
        """The client is let in."""
        self.reader.say(self._session.opening())

    def receive(self, text: bytes) -> None:
        """A text message arrived."""
        if not self.is_over:
            self._act(self._session.receive(text, self._feed.hub.now()))

    def receive_control(self) -> None:
        """A ping or a pong arrived as a control frame."""
        if not self.is_over:
            self._act(self._session.receive_control(self._feed.hub.now()))

    def check(self, now: float) -> None:
        """Time has passed."""
        if self._ended_at is not None:
            if now - self._ended_at >= CLOSE_SECONDS:
                self._line.cut()
            return
        self.reader.check(now)
        if now >= self._session.due and not self.is_over:
            self._act(self._session.check(now, self._feed.hub.told_at(self.reader)))

    def end(self, close: Close) -> None:
        """Say why in a text, because some clients read nothing else, and close."""
        if not self.is_over:
            self.reader.say(messages.error(close.code if close.code >= 4000 else None, close.reason))
            self._close(close)

    def lost(self) -> None:
        """The connection is gone."""
        self._ended_at = self._feed.hub.now()
        self._feed.hub.leave(self.reader)
        self._feed.exit(self)

    def closed(self, code: int | None) -> None:
        """The client closed, or (with a code) the socket did, because no websocket speaks like that."""
        if not self.is_over:
            self._over(code)

    def _act(self, out: Output) -> None:
        for text in out.texts:
            self.reader.say(text)
        for wish in out.wishes:
            self._feed.hub.want(self.reader, wish)
        if out.is_probe:
            self._feed.hub.metrics.pings_total += 1
            self._line.probe()
        if out.close is not None and not self.is_over:
            self._close(out.close)

    def _close(self, close: Close) -> None:
        self._over(close.code)
        self._line.hang_up(close)

    def _over(self, code: int | None) -> None:
        self._ended_at = self._feed.hub.now()
        if code is not None:
            self._feed.hub.metrics.closes_total[code] += 1
        self._feed.hub.leave(self.reader)
