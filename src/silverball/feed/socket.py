"""The sockets of uvicorn: a protocol class that is given to it as `ws=`.

uvicorn reads the handshake and hands the connection over. Frames that arrive are parsed by
`websockets`; what goes out is written to the transport as it is.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from websockets.exceptions import NegotiationError
from websockets.extensions import Extension
from websockets.extensions.permessage_deflate import PerMessageDeflate, ServerPerMessageDeflateFactory
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.typing import ExtensionParameter

from silverball.feed import protocol
from silverball.feed.connection import RECONNECT, FeedConnection
from silverball.feed.encoding import FrameEncoding
from silverball.feed.frame_writer import CAUGHT_UP_BYTES, LAGGING_BYTES
from silverball.feed.handshake import App, Handshake
from silverball.feed.protocol import Close
from silverball.kit.edge.backend import client_address

if TYPE_CHECKING:
    from silverball.feed.feed import Feed

LOG = logging.getLogger("silverball.feed")
HANDSHAKE_BYTES_MAX = 8_192
# zlib makes no raw stream with a smaller window.
WINDOW_BITS_MIN = 9
FRAGMENTED = Close(protocol.POLICY, f"A message comes in {protocol.FRAGMENTS_MAX} frames at most.")


def protocol_class(feed: "Feed") -> type[asyncio.Protocol]:
    """The class for uvicorn's `ws=`; its instances belong to this feed."""
    return type("FeedSocket", (FeedSocket,), {"__slots__": (), "feed": feed})


class FeedSocket(asyncio.Protocol):
    """One connection."""

    __slots__ = ("_connections", "_conversation", "_is_deaf", "_parts", "_transport", "_wire")

    feed: ClassVar["Feed"]

    def __init__(self, *, config: object, server_state: Any, app_state: object, _loop: object = None) -> None:
        del config, app_state, _loop
        # uvicorn waits for those in here when it stops.
        self._connections: set[object] = server_state.connections
        self._transport: asyncio.Transport
        self._conversation: FeedConnection | None = None
        # A message that comes in several frames, as far as it is here.
        self._parts: list[bytes] | None = None
        # Whether what arrives is thrown away: the other side may not know yet that we are done.
        self._is_deaf = False
        extensions = [_StatelessDeflate()] if self.feed.limits.allows_compression else None
        self._wire = ServerProtocol(max_size=protocol.MESSAGE_BYTES_MAX, extensions=extensions)

    # What uvicorn and the loop call

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection over from HTTP."""
        # uvloop's transports are not derived from asyncio's.
        self._transport = cast("asyncio.Transport", transport)
        self._connections.add(self)
        self._transport.set_write_buffer_limits(high=LAGGING_BYTES, low=CAUGHT_UP_BYTES)

    def data_received(self, data: bytes) -> None:
        """Bytes arrived; the first ones are the handshake as HTTP understood it."""
        if self._is_deaf:
            return
        try:
            if self._conversation is None:
                self._answer_handshake(data)
            else:
                self._receive_frames(self._conversation, data)
        except Exception as error:  # the edge: one connection's fault must end only that one
            LOG.error("a connection failed", exc_info=error)
            self.abort()

    def eof_received(self) -> None:
        """The other side says nothing more; the transport closes itself."""

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        del exc
        self._connections.discard(self)
        if self._conversation is not None:
            self._conversation.connection_lost()
            self._conversation = None

    def pause_writing(self) -> None:
        """The transport holds too much."""
        if self._conversation is not None:
            self._conversation.reader.pause_writing()

    def resume_writing(self) -> None:
        """The transport has room."""
        if self._conversation is not None:
            self._conversation.reader.resume_writing()

    def shutdown(self) -> None:
        """The server stops, whether it has drained the feed before or not."""
        if self._conversation is None:
            self._transport.close()
        else:
            self._conversation.end_with(RECONNECT)

    # The line of the conversation

    @property
    def write(self) -> Callable[[bytes], None]:
        """The transport's own method, so that an event goes there without a detour."""
        return self._transport.write

    def buffered_bytes(self) -> int:
        """How many bytes the transport still has to send."""
        return self._transport.get_write_buffer_size()

    def send_ping(self) -> None:
        """Send a ping."""
        self._wire.send_ping(b"")
        self._flush()

    def start_close(self, close: Close) -> None:
        """Send a close frame; the connection ends when it is answered, or after a while."""
        if self._wire.state is State.OPEN:
            self._wire.send_close(close.code, close.reason)
            self._flush()

    def abort(self) -> None:
        """End the connection now."""
        self._is_deaf = True
        self._transport.abort()

    # The handshake

    def _answer_handshake(self, data: bytes) -> None:
        if len(data) > HANDSHAKE_BYTES_MAX:
            self._reject(self._wire.reject(431, "The handshake is too large.\n"))
            return
        if self.feed.is_draining:
            self._reject(self._wire.reject(503, "The server is going down.\n"))
            return
        self._wire.receive_data(data)
        request = next(iter(self._wire.events_received()), None)
        if not isinstance(request, Request):
            self._reject(self._wire.reject(400, "The handshake cannot be understood.\n"))
            return
        response = self._wire.accept(request)
        if response.status_code != 101:
            self._reject(response)
            return
        self._wire.send_response(response)
        self._flush()
        self._open_connection(request)

    def _reject(self, response: Response) -> None:
        self._is_deaf = True
        self._transport.write(response.serialize())
        self._transport.close()

    def _open_connection(self, request: Request) -> None:
        headers = {name.lower(): value for name, value in request.headers.raw_items()}
        is_secure = self._transport.get_extra_info("sslcontext") is not None
        scope = {"client": self._transport.get_extra_info("peername")}
        address = client_address(
            scope, {name.encode(): value.encode("latin-1") for name, value in headers.items()}
        )
        found = self.feed.admit(Handshake(request.path, headers, is_secure), address)
        bits = [
            one.local_max_window_bits for one in self._wire.extensions if isinstance(one, PerMessageDeflate)
        ]
        style = found.style if isinstance(found, App) else "plain"
        form = FrameEncoding(style, window_bits=bits[0] if bits else 0)
        self._conversation = FeedConnection(self.feed, self, form, address)
        if isinstance(found, App):
            self._conversation.greet()
        else:
            self._conversation.end_with(found)

    # Frames

    def _receive_frames(self, conversation: FeedConnection, data: bytes) -> None:
        self._wire.receive_data(data)
        is_end = self._wire.close_rcvd is not None or self._wire.parser_exc is not None
        if not is_end:
            # Pings are answered before what came after them.
            self._flush()
        for arrived in self._wire.events_received():
            if isinstance(arrived, Frame) and not conversation.is_over:
                self._handle_frame(conversation, arrived)
        if is_end:
            # The answer to a close, or the end of what cannot be understood, waits to be sent.
            self._is_deaf = True
            failed = self._wire.close_sent if self._wire.parser_exc is not None else None
            conversation.peer_closed(failed.code if failed is not None else None)
            self._flush()

    def _handle_frame(self, conversation: FeedConnection, arrived: Frame) -> None:
        if arrived.opcode in {Opcode.PING, Opcode.PONG}:
            conversation.receive_control()
        elif arrived.opcode is Opcode.BINARY:
            conversation.end_with(protocol.BINARY_REFUSED)
        elif arrived.opcode is not Opcode.CLOSE:
            self._handle_text(conversation, bytes(arrived.data), is_last=arrived.fin)

    def _handle_text(self, conversation: FeedConnection, data: bytes, *, is_last: bool) -> None:
        if self._parts is None and is_last:
            conversation.receive(data)
            return
        self._parts = [*(self._parts or ()), data]
        if len(self._parts) > protocol.FRAGMENTS_MAX:
            conversation.end_with(FRAGMENTED)
        elif is_last:
            text, self._parts = b"".join(self._parts), None
            conversation.receive(text)

    def _flush(self) -> None:
        for data in self._wire.data_to_send():
            if data:
                self._transport.write(data)
            else:
                self._finish_writing()

    def _finish_writing(self) -> None:
        """Nothing follows the close frame; what the other side still sends is read and thrown away.

        Closing at once would let the system answer that with a reset, which costs the close frame.
        """
        if not self._transport.can_write_eof():
            self._transport.close()
            return
        try:
            self._transport.write_eof()
        except OSError:
            # It is gone already; the loop has not told yet.
            self._transport.abort()


class _StatelessDeflate(ServerPerMessageDeflateFactory):
    """Compression without memory of earlier messages, so that a message is compressed once for all."""

    def __init__(self) -> None:
        super().__init__(server_no_context_takeover=True, client_no_context_takeover=True)

    def process_request_params(
        self, params: Sequence[ExtensionParameter], accepted_extensions: Sequence[Extension]
    ) -> tuple[list[ExtensionParameter], PerMessageDeflate]:
        answer, made = super().process_request_params(params, accepted_extensions)
        if made.local_max_window_bits < WINDOW_BITS_MIN:
            raise NegotiationError("the window is smaller than zlib can make it")
        return answer, made
