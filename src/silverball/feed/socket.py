"""The sockets of uvicorn: a protocol class that is given to it as `ws=`.

uvicorn reads the handshake and hands the connection over. Frames that arrive are parsed by
`websockets`; outgoing bytes are written to the transport unchanged.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, cast

from websockets.exceptions import NegotiationError
from websockets.extensions import Extension
from websockets.extensions.permessage_deflate import PerMessageDeflate, ServerPerMessageDeflateFactory
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.typing import ExtensionParameter

from silverball.feed import protocol
from silverball.feed.feed import RECONNECT, App, Feed, FeedConnection, Handshake
from silverball.feed.messages import FrameEncoding
from silverball.feed.protocol import Close
from silverball.feed.subscribers import CAUGHT_UP_BYTES, LAGGING_BYTES
from silverball.kit.edge.proxies import peer_address

LOG = logging.getLogger("silverball.feed")
HANDSHAKE_BYTES_MAX = 8_192
# zlib makes no raw stream with a smaller window.
WINDOW_BITS_MIN = 9
# Without a payload, so that all are the same.
PING_FRAME = Frame(Opcode.PING, b"").serialize(mask=False)
FRAGMENTED = Close(protocol.POLICY, f"A message comes in {protocol.FRAGMENTS_MAX} frames at most.")


def protocol_class(feed: Feed) -> type[asyncio.Protocol]:
    """The class for uvicorn's `ws=`; its instances belong to this feed."""
    return type("FeedSocket", (FeedSocket,), {"__slots__": (), "feed": feed})


class FeedSocket(asyncio.Protocol):
    """One connection."""

    __slots__ = (
        "_connection",
        "_fragments",
        "_ignores_input",
        "_protocol",
        "_server_connections",
        "_transport",
        "_waiting_parts",
    )

    feed: ClassVar[Feed]

    def __init__(self, *, config: object, server_state: Any, app_state: object, _loop: object = None) -> None:
        del config, app_state, _loop
        # uvicorn waits for these when it stops.
        self._server_connections: set[object] = server_state.connections
        self._transport: asyncio.Transport
        self._connection: FeedConnection | None = None
        # The frames so far of a message that comes in several.
        self._fragments: list[bytes] | None = None
        # How many parts of the input wait for the turn of the handshake.
        self._waiting_parts = 0
        # After our close: the client may go on sending until it reads the close.
        self._ignores_input = False
        extensions = [_StatelessDeflate()] if self.feed.limits.allows_compression else None
        self._protocol = ServerProtocol(max_size=protocol.MESSAGE_BYTES_MAX, extensions=extensions)

    # Called by uvicorn and the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection over from HTTP."""
        # uvloop's transports are not derived from asyncio's.
        self._transport = cast("asyncio.Transport", transport)
        self._server_connections.add(self)
        self._transport.set_write_buffer_limits(high=LAGGING_BYTES, low=CAUGHT_UP_BYTES)

    def data_received(self, data: bytes) -> None:
        """Handle bytes; the first ones are the handshake as HTTP understood it.

        Handshakes take turns, because thousands may come at once; what follows early waits behind its own.
        """
        if self._connection is not None and not self._waiting_parts:
            self._handle_input(data)
        else:
            self._waiting_parts += 1
            self.feed.handshakes.call(partial(self._handle_waiting_part, data))

    def _handle_waiting_part(self, data: bytes) -> None:
        self._waiting_parts -= 1
        self._handle_input(data)

    def _handle_input(self, data: bytes) -> None:
        if self._ignores_input:
            return
        try:
            if self._connection is None:
                self._answer_handshake(data)
            else:
                self._receive_frames(self._connection, data)
        except Exception as error:  # the edge: one connection's fault must end only that one
            LOG.error("a connection failed", exc_info=error)
            self.abort()

    def eof_received(self) -> None:
        """Do nothing: the transport closes itself."""

    def connection_lost(self, exc: Exception | None) -> None:
        """Release everything: the connection is gone."""
        del exc
        self._ignores_input = True
        self._server_connections.discard(self)
        if self._connection is not None:
            self._connection.connection_lost()
            self._connection = None

    def pause_writing(self) -> None:
        """Start queueing: the transport holds too much."""
        if self._connection is not None:
            self._connection.subscriber.pause_writing()

    def resume_writing(self) -> None:
        """Send what is queued: the transport has room."""
        if self._connection is not None:
            self._connection.subscriber.resume_writing()

    def shutdown(self) -> None:
        """Close, because the server stops, whether it has drained the feed before or not."""
        if self._connection is None:
            self._transport.close()
        else:
            self._connection.end_with(RECONNECT)

    # The frame writer of the connection

    @property
    def write(self) -> Callable[[bytes], None]:
        """The transport's own method, which saves one call for each event."""
        return self._transport.write

    def buffered_bytes(self) -> int:
        """Bytes that the transport still has to send."""
        return self._transport.get_write_buffer_size()

    def send_ping(self) -> None:
        """Send a ping."""
        self._transport.write(PING_FRAME)

    def start_close(self, close: Close) -> None:
        """Send a close frame; the connection ends when it is answered, or after a while."""
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(close.code, close.reason)
            self._flush()

    def abort(self) -> None:
        """End the connection now."""
        self._ignores_input = True
        self._transport.abort()

    # The handshake

    def _answer_handshake(self, data: bytes) -> None:
        if len(data) > HANDSHAKE_BYTES_MAX:
            self._reject(self._protocol.reject(431, "The handshake is too large.\n"))
            return
        if self.feed.is_draining:
            self._reject(self._protocol.reject(503, "The server is going down.\n"))
            return
        self._protocol.receive_data(data)
        request = next(iter(self._protocol.events_received()), None)
        if not isinstance(request, Request):
            self._reject(self._protocol.reject(400, "The handshake cannot be understood.\n"))
            return
        response = self._protocol.accept(request)
        if response.status_code != 101:
            self._reject(response)
            return
        self._protocol.send_response(response)
        self._flush()
        self._open_connection(request)

    def _reject(self, response: Response) -> None:
        self._ignores_input = True
        self._transport.write(response.serialize())
        self._transport.close()

    def _open_connection(self, request: Request) -> None:
        headers = {name.lower(): value for name, value in request.headers.raw_items()}
        raw_headers = {name.encode(): value.encode("latin-1") for name, value in headers.items()}
        # The parser holds the request as long as the connection lasts.
        request.headers.clear()
        # A Unix socket's peer has no name.
        scope = {"client": self._transport.get_extra_info("peername") or None}
        proxies, peer = self.feed.limits.proxies, peer_address(scope)
        address = proxies.client_address(scope, raw_headers)
        is_encrypted = self._transport.get_extra_info("sslcontext") is not None
        is_secure = proxies.is_secure(peer, raw_headers, is_encrypted=is_encrypted)
        verdict = self.feed.admit(Handshake(request.path, headers, is_secure), address)
        bits = [
            extension.local_max_window_bits
            for extension in self._protocol.extensions
            if isinstance(extension, PerMessageDeflate)
        ]
        style = verdict.style if isinstance(verdict, App) else "plain"
        encoding = FrameEncoding(style, window_bits=bits[0] if bits else 0)
        self._connection = self.feed.open_connection(self, encoding, address)
        if isinstance(verdict, App):
            self._connection.greet()
        else:
            self._connection.end_with(verdict)

    # Frames

    def _receive_frames(self, connection: FeedConnection, data: bytes) -> None:
        self._protocol.receive_data(data)
        is_end = self._protocol.close_rcvd is not None or self._protocol.parser_exc is not None
        if not is_end:
            # Pings are answered before the messages that came after them.
            self._flush()
        for frame in self._protocol.events_received():
            if isinstance(frame, Frame) and not connection.is_over:
                self._handle_frame(connection, frame)
        if is_end:
            # The answer to a close, or the close after a protocol fault, waits to be sent.
            self._ignores_input = True
            fault_close = self._protocol.close_sent if self._protocol.parser_exc is not None else None
            connection.peer_closed(fault_close.code if fault_close is not None else None)
            self._flush()

    def _handle_frame(self, connection: FeedConnection, frame: Frame) -> None:
        if frame.opcode in {Opcode.PING, Opcode.PONG}:
            connection.receive_control()
        elif frame.opcode is Opcode.BINARY:
            connection.end_with(protocol.BINARY_REFUSED)
        elif frame.opcode is not Opcode.CLOSE:
            self._handle_text(connection, bytes(frame.data), is_last=frame.fin)

    def _handle_text(self, connection: FeedConnection, data: bytes, *, is_last: bool) -> None:
        if self._fragments is None and is_last:
            connection.receive(data)
            return
        self._fragments = [*(self._fragments or ()), data]
        if len(self._fragments) > protocol.FRAGMENTS_MAX:
            connection.end_with(FRAGMENTED)
        elif is_last:
            text, self._fragments = b"".join(self._fragments), None
            connection.receive(text)

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self._transport.write(data)
            else:
                self._finish_writing()

    def _finish_writing(self) -> None:
        """End our side after the close frame; input that still comes is read and dropped.

        Closing at once would let the system answer it with a reset, which destroys the close frame.
        """
        if not self._transport.can_write_eof():
            self._transport.close()
            return
        try:
            self._transport.write_eof()
        except OSError:
            # The connection is gone already, and the event loop has not noticed yet.
            self._transport.abort()


class _StatelessDeflate(ServerPerMessageDeflateFactory):
    """Compression without memory of earlier messages, so that one frame fits all connections."""

    def __init__(self) -> None:
        super().__init__(server_no_context_takeover=True, client_no_context_takeover=True)

    def process_request_params(
        self, params: Sequence[ExtensionParameter], accepted_extensions: Sequence[Extension]
    ) -> tuple[list[ExtensionParameter], PerMessageDeflate]:
        accepted, deflate = super().process_request_params(params, accepted_extensions)
        if deflate.local_max_window_bits < WINDOW_BITS_MIN:
            raise NegotiationError("the window is smaller than zlib can make it")
        return accepted, deflate
