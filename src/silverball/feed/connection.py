"""One client's connection: what arrives goes through the session, its requests to the hub."""

import math
from collections.abc import Callable
from typing import Protocol

from silverball.feed import messages, protocol
from silverball.feed.hub import Hub
from silverball.feed.messages import FrameEncoding
from silverball.feed.protocol import Close, PusherSession, SessionOutput
from silverball.feed.subscribers import Subscriber

# A client that does not answer a close is cut off after this.
CLOSE_SECONDS = 5.0
RECONNECT = Close(protocol.RECONNECT, "The server is going down. Connect again.")


class FrameWriter(Protocol):
    """The sending side of a socket."""

    @property
    def write(self) -> Callable[[bytes], None]:
        """The method that sends bytes in the agreed encoding."""

    def buffered_bytes(self) -> int:
        """Bytes that are not sent yet."""

    def send_ping(self) -> None:
        """Send a ping as a control frame."""

    def start_close(self, close: Close) -> None:
        """Send a close frame."""

    def abort(self) -> None:
        """Close without waiting for the client."""


class FeedConnection:
    """The session, the subscriber and the writer of one connection, from handshake to end."""

    __slots__ = (
        "_closed_at",
        "_hub",
        "_on_lost",
        "_session",
        "_writer",
        "address",
        "next_check_at",
        "subscriber",
    )

    def __init__(
        self,
        hub: Hub,
        socket_id: str,
        writer: FrameWriter,
        encoding: FrameEncoding,
        *,
        address: str,
        on_lost: "Callable[[FeedConnection], None]",
    ) -> None:
        self.address = address
        self._hub = hub
        self._on_lost = on_lost
        self._writer = writer
        self._closed_at: float | None = None
        self._session = PusherSession(socket_id, hub.now())
        # Before this time `check_timeouts` has nothing to do, unless the client lags.
        self.next_check_at = self._session.next_check_at
        self.subscriber = Subscriber(
            encoding,
            hub.metrics,
            write=writer.write,
            buffered_bytes=writer.buffered_bytes,
            disconnect=self.end_with,
            now=hub.now,
            address=address,
        )

    @property
    def is_over(self) -> bool:
        """Whether its close was sent, after which input is ignored."""
        return self._closed_at is not None

    def greet(self) -> None:
        """Send the first text of the protocol."""
        self.subscriber.send_text(self._session.greeting())

    def receive(self, text: bytes) -> None:
        """Handle a text message."""
        if not self.is_over:
            self._apply(self._session.receive(text, self._hub.now()))

    def receive_control(self) -> None:
        """Handle a ping or a pong that arrived as a control frame."""
        if not self.is_over:
            self._apply(self._session.receive_control(self._hub.now()))

    def check_timeouts(self, now: float) -> None:
        """Send the ping or the close that is due by now."""
        if self._closed_at is not None:
            if now - self._closed_at >= CLOSE_SECONDS:
                self._writer.abort()
            return
        self.subscriber.check_lag(now)
        if now >= self._session.next_check_at and not self.is_over:
            self.next_check_at = math.inf
            self._apply(self._session.check_timeouts(now, self._hub.last_event_at(self.subscriber)))

    def end_with(self, close: Close) -> None:
        """Give the reason in a text, because some clients read nothing else, and close."""
        if not self.is_over:
            self.subscriber.send_text(
                messages.error(close.code if close.code >= 4000 else None, close.reason)
            )
            self._start_close(close)

    def connection_lost(self) -> None:
        """Release everything: the connection is gone."""
        self._closed_at = self._hub.now()
        self._hub.remove_subscriber(self.subscriber)
        self._on_lost(self)

    def peer_closed(self, code: int | None) -> None:
        """Note that the client closed, or (with a code) that the socket did after a protocol fault."""
        if not self.is_over:
            self._mark_over(code)

    def _apply(self, output: SessionOutput) -> None:
        for text in output.texts:
            self.subscriber.send_text(text)
        for request in output.subscription_requests:
            self._hub.handle_request(self.subscriber, request)
        if output.sends_ping:
            self._hub.metrics.pings_total += 1
            self._writer.send_ping()
        if output.close is not None and not self.is_over:
            self._start_close(output.close)
        # Messages that have to wait are due sooner than what was due before.
        self.next_check_at = min(self.next_check_at, self._session.next_check_at)

    def _start_close(self, close: Close) -> None:
        self._mark_over(close.code)
        self._writer.start_close(close)

    def _mark_over(self, code: int | None) -> None:
        self._closed_at = self._hub.now()
        self.next_check_at = self._closed_at + CLOSE_SECONDS
        if code is not None:
            self._hub.metrics.closes_total[code] += 1
        self._hub.remove_subscriber(self.subscriber)
