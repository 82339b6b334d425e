"""uvicorn's HTTP connections, with limits on the size and time of every part of every request.

uvicorn keeps what a client sends without a limit: heads, trailers after a chunked body, addresses.
Here all bytes of a request are counted while they are read, in pieces, so that one read of the
socket cannot pass a limit by much. Only commands that serve import this module: it loads uvicorn.
"""

import asyncio
from functools import partial
from typing import Any, ClassVar

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from silverball.kit.edge.backend import BODY_BYTES_MAX
from silverball.kit.edge.connections import ConnectionPlace, ConnectionTable
from silverball.kit.edge.kept_answers import KeptAnswers
from silverball.kit.edge.shares import CONNECTION
from silverball.kit.errors import ServiceUnavailable
from silverball.kit.http.asgi import NO_PAGE, NO_SNIFFING
from silverball.kit.http.endpoints import HttpResponse
from silverball.kit.http.refusals import (
    AddressTooLong,
    BodyTooSlow,
    HeadTooLarge,
    MalformedRequest,
    ServerStops,
    UnclearHost,
    refusal_response,
)

# Head and body of an answer in one call of the system, and in one packet where they fit.


class JoinedHead:
    """The way of an answer to its connection, on which the head leaves with the first part of the body.

    uvicorn writes them one after the other, and each write is a call of the system and a packet. Not for
    answers to HEAD, which have no body that a head could wait for, nor where `100 Continue` comes first.
    """

    __slots__ = ("_head", "_transport")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        # Empty when it has left.
        self._head: bytes | None = None

    def write(self, data: bytes) -> None:
        """Keep the head; send it with what comes next, and the rest as it comes."""
        if self._head is None:
            self._head = data
            return
        if self._head:
            self._transport.writelines((self._head, data))
            self._head = b""
        else:
            self._transport.write(data)

    def close(self) -> None:
        """Send what was kept, and close the connection."""
        if self._head:
            self._transport.write(self._head)
            self._head = b""
        self._transport.close()


HEAD_BYTES_MAX = 65_536
HEAD_LINES_MAX = 100
# Large reads are parsed in pieces, so that the counts are never far behind.
PIECE_BYTES = 16_384
# The framing of chunks may cost as much again as the body.
FRAMED_BODY_BYTES_MAX = 2 * BODY_BYTES_MAX
# After a refusal the client's bytes are read and dropped for a while: a reset would destroy the answer.
LINGER_SECONDS = 1.0
PHRASES = {400: "Bad Request", 408: "Request Timeout", 414: "URI Too Long"} | {
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}


def connection_class(table: ConnectionTable, kept: KeptAnswers | None = None) -> "type[BoundedConnection]":
    """The class for uvicorn's `http=`; its instances are counted in this table.

    `kept`: answers that leave from the connection itself.
    """
    return type("BoundedConnection", (BoundedConnection,), {"table": table, "kept": kept})


def _closing_answer(response: HttpResponse) -> bytes:
    """The bytes of an answer after which the connection is closed."""
    fields = [
        (b"content-type", response.content_type.encode()),
        (b"content-length", b"%d" % len(response.body)),
        (b"access-control-allow-origin", b"*"),
        NO_SNIFFING,
        NO_PAGE,
        (b"connection", b"close"),
        *response.headers,
    ]
    head = f"HTTP/1.1 {response.status} {PHRASES[response.status]}\r\n".encode()
    return head + b"".join(b"%b: %b\r\n" % field for field in fields) + b"\r\n" + response.body


BAD_REQUEST = _closing_answer(refusal_response(MalformedRequest()))
UNCLEAR_HOST = _closing_answer(refusal_response(UnclearHost()))
HEAD_TOO_LARGE = _closing_answer(refusal_response(HeadTooLarge()))
ADDRESS_TOO_LONG = _closing_answer(refusal_response(AddressTooLong()))
BODY_TOO_SLOW = _closing_answer(refusal_response(BodyTooSlow()))
BUSY = _closing_answer(refusal_response(ServiceUnavailable()))
STOPS = _closing_answer(refusal_response(ServerStops()))


class TooManyLines(ValueError):
    """A head or a trailer has too many lines."""


class NotNamedOnce(ValueError):
    """A head has no Host, or several."""


class Trailers(list[tuple[bytes, bytes]]):
    """Counts the lines after a chunked body; nobody reads them, so they are not kept."""

    lines = 0

    def append(self, _line: tuple[bytes, bytes]) -> None:
        """Count a line. Raises TooManyLines."""
        self.lines += 1
        if self.lines > HEAD_LINES_MAX:
            raise TooManyLines


class BoundedConnection(HttpToolsProtocol):
    """An HTTP connection whose requests are bounded in size and time."""

    table: ClassVar[ConnectionTable]
    kept: ClassVar[KeptAnswers | None]

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **options)
        self._is_refused = False
        self._fault = BAD_REQUEST
        self._head_bytes = 0
        self._trailers = Trailers()
        # The body that is being received: the request it belongs to, when it began, and its bytes as
        # sent, as understood, since the last understood one, and in memory.
        self._body_cycle: RequestResponseCycle | None = None
        self._body_began_at = 0.0
        self._sent_bytes = 0
        self._body_bytes = 0
        self._framing_bytes = 0
        self._held_bytes = 0
        # The request that is being answered: an earlier one than the latest, when a client sends ahead.
        self._answered_cycle: RequestResponseCycle | None = None
        # The request whose head is awaited, or none, and since when; and the unread answer.
        self._awaited: object = self
        self._awaited_since = 0.0
        self._unread_bytes = 0
        self._unread_since = 0.0
        # The address of the other end; and when a kept answer was sent, if nothing came since.
        self._peer = ""
        self._answered_at = 0.0
        # Where the table counts the connection; None for a refused one.
        self._place: ConnectionPlace | None = None

    # Called by the event loop

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's own type
        """Count the connection, and refuse it when there are too many."""
        super().connection_made(transport)
        self._peer = self.client[0] if self.client else ""
        self._place = self.table.admit(self, self._peer)
        if self._place is None:
            self._refuse(BUSY)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give back what the connection held."""
        self.table.remove(self)
        self._release_body()
        super().connection_lost(exc)
        if self._answered_cycle is not None and not self._answered_cycle.response_complete:
            # uvicorn does so with the latest request only.
            self._answered_cycle.disconnected = True
            self._answered_cycle.message_event.set()
        # Connection and request refer to each other: left so, their memory would wait for the collector,
        # and a client that connects again and again would fill it faster.
        self.cycle = None  # type: ignore[assignment]  # as uvicorn itself begins
        self._body_cycle = self._answered_cycle = None
        self.pipeline.clear()
        self._awaited = None

    def data_received(self, data: bytes) -> None:
        """Answer a request that is known, or parse what has come."""
        # Answers to other methods are never kept.
        kept = self.kept if data.startswith(b"GET ") and self._is_between_requests() else None
        if kept is not None and self._send_kept_answer(kept, data):
            return
        self._answered_at = 0.0
        self._parse_pieces(data)
        is_http = not self._is_refused and self.transport.get_protocol() is self and self._has_head()
        if kept is not None and is_http:
            kept.remember(self._peer, data, dict(self.scope))

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answered_cycle = cycle
        if cycle.scope["method"] != "HEAD" and not cycle.waiting_for_100_continue:
            cycle.transport = JoinedHead(cycle.transport)  # type: ignore[assignment]  # all that is used of it
        super()._start_asgi_task(cycle, app)

    # Called by the parser

    def on_headers_complete(self) -> None:
        """Start the request, unless its head is too large or names no host, or several."""
        if len(self.headers) > HEAD_LINES_MAX:
            self._fault = HEAD_TOO_LARGE
            raise TooManyLines
        hosts = sum(name == b"host" for name, _value in self.headers)
        if hosts > 1 or (not hosts and self.parser.get_http_version() != "1.0"):
            self._fault = UNCLEAR_HOST
            raise NotNamedOnce
        if self._place is not None:
            self.scope[CONNECTION] = self._place  # type: ignore[literal-required]  # a key of our own
        super().on_headers_complete()
        # uvicorn sets no path when the request becomes a websocket, and then needs its headers.
        if "path" in self.scope:
            self._trailers.lines = 0
            self.headers = self._trailers

    def on_body(self, body: bytes) -> None:
        """Keep a part of a body, if there is memory for it."""
        cycle = self.cycle
        self._expect_body_of(cycle)
        self._framing_bytes = 0
        self._body_bytes += len(body)
        if cycle.response_complete or self._is_refused:
            return
        if self._body_bytes > self._held_bytes and not self._reserve_memory(cycle):
            self._refuse(BUSY)
            return
        super().on_body(body)

    # Called by the table

    def enforce_deadlines(self, now: float) -> None:
        """End the connection when its client is too slow."""
        limits = self.table.limits
        if self._is_refused:
            return
        if self._is_stalled(now, limits.stalled_seconds):
            self.transport.abort()
        elif self._answered_at:
            # uvicorn sets its timer only after answers that it sends itself.
            if not self._unread_bytes and now - self._answered_at >= self.timeout_keep_alive:
                self.transport.close()
        elif self._awaits_head():
            if self._unread_bytes:
                # The last answer is still on its way.
                return
            if self._awaited is not self.scope:
                self._awaited, self._awaited_since = self.scope, now
            elif now - self._awaited_since >= self._head_seconds():
                self.transport.abort()
        else:
            self._awaited = self
            if self._is_body_too_slow(now):
                self._refuse(BODY_TOO_SLOW)

    def end_now(self) -> None:
        """Close the connection because the server stops; a request without an answer gets that for one."""
        if not self._is_refused:
            self._refuse(STOPS)

    def _head_seconds(self) -> float:
        limits, is_reserved = self.table.limits, self._place is not None and self._place.is_reserved
        return limits.reserved_head_seconds if is_reserved else limits.head_seconds

    def _awaits_head(self) -> bool:
        if not self._has_head():
            return True
        # None when it was refused, although uvicorn's annotation does not say so.
        cycle: object = self.cycle
        # Bytes came after an answered request, but no request began: uvicorn's timer is off.
        return cycle is None or (self.cycle.response_complete and self.timeout_keep_alive_task is None)

    def _is_body_too_slow(self, now: float) -> bool:
        cycle: RequestResponseCycle = self.cycle
        if not cycle.more_body or cycle.response_complete:
            return False
        self._expect_body_of(cycle)
        if self.flow.read_paused:
            # The client waits for us.
            return False
        limits, seconds = self.table.limits, now - self._body_began_at
        if seconds >= limits.body_seconds:
            return True
        return (
            seconds >= limits.body_grace_seconds and self._body_bytes < seconds * limits.body_bytes_per_second
        )

    def _is_stalled(self, now: float, stalled_seconds: float) -> bool:
        unread = self.transport.get_write_buffer_size()
        if unread != self._unread_bytes:
            self._unread_bytes, self._unread_since = unread, now
        return unread > 0 and now - self._unread_since >= stalled_seconds

    # Parts

    def _has_head(self) -> bool:
        # The parser sets the method when a head is complete. The scope is None before the first request,
        # although uvicorn's annotation does not say so.
        scope: object = self.scope
        return scope is not None and "method" in self.scope

    def _is_between_requests(self) -> bool:
        """Whether the next byte begins a request, and all before it were answered."""
        if self._is_refused:
            return False
        if self._answered_at:
            # A kept answer was the last thing that happened here.
            return True
        if not self._has_head():
            # Whoever has sent nothing yet is between requests too.
            scope: object = self.scope
            return scope is None and not self._head_bytes
        cycle = self._latest_cycle()
        return cycle is not None and cycle.response_complete and not cycle.more_body

    def _send_kept_answer(self, kept: KeptAnswers, data: bytes) -> bool:
        """Answer a request whose bytes are known; False when it has to go the long way."""
        if self.flow.write_paused:
            return False
        answer = kept.answer(self._peer, data, self.server_state.default_headers)
        if answer is None:
            return False
        if self.timeout_keep_alive_task is not None:
            self._unset_keepalive_if_required()
        self._awaited, self._answered_at = self, self.loop.time()
        self.server_state.total_requests += 1
        self.transport.write(answer)
        return True

    def _parse_pieces(self, data: bytes) -> None:
        if len(data) <= PIECE_BYTES:
            self._parse(data)
            return
        for start in range(0, len(data), PIECE_BYTES):
            self._parse(data[start : start + PIECE_BYTES])
            if self.transport.get_protocol() is not self:
                # A websocket now; nothing may follow the handshake before its answer.
                return

    def _parse(self, data: bytes) -> None:
        if self._is_refused:
            return
        self._unset_keepalive_if_required()
        scope_before = self.scope
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._upgrade()
            return
        except httptools.HttpParserError:
            too_many_trailers = self._trailers.lines > HEAD_LINES_MAX
            self._refuse(HEAD_TOO_LARGE if too_many_trailers else self._fault)
            return
        scope: object = self.scope
        if scope is not scope_before:
            self._head_bytes = 0
        if scope is None or "method" not in self.scope:
            self._count_head(len(data))
            return
        if self.cycle.more_body:
            self._count_body(len(data))

    def _upgrade(self) -> None:
        if not self._should_upgrade():
            self._unsupported_upgrade_warning()
            return
        if self._place is not None and self._place.is_reserved:
            # Sockets are open to strangers, so they have none of what is kept for others.
            self._refuse(BUSY)
            return
        self.handle_websocket_upgrade()
        self.table.move_to_upgraded(self, self.transport)

    def _count_head(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > HEAD_BYTES_MAX:
            scope: object = self.scope
            is_in_address = scope is not None and not self.headers and len(self.url) > HEAD_BYTES_MAX // 2
            self._refuse(ADDRESS_TOO_LONG if is_in_address else HEAD_TOO_LARGE)

    def _expect_body_of(self, cycle: RequestResponseCycle) -> None:
        if self._body_cycle is not cycle:
            self._body_cycle, self._body_began_at = cycle, self.loop.time()
            self._sent_bytes = self._body_bytes = self._framing_bytes = 0

    def _reserve_memory(self, cycle: RequestResponseCycle) -> bool:
        """Reserve memory for what has come, and at first for all that is declared to come."""
        needed = self._body_bytes
        if not self._held_bytes:
            declared = dict(cycle.scope["headers"]).get(b"content-length", b"0")
            needed = max(needed, min(int(declared), BODY_BYTES_MAX)) if declared.isdigit() else needed
            cycle.on_response = partial(self._body_answered, cycle.on_response)
        if not self.table.reserve_body(self._held_bytes, needed - self._held_bytes):
            return False
        self._held_bytes = needed
        return True

    def _count_body(self, size: int) -> None:
        """Count the bytes of a request whose body is not complete; trailers and the sizes of chunks too."""
        self._expect_body_of(self.cycle)
        self._sent_bytes += size
        self._framing_bytes += size
        if self._framing_bytes > HEAD_BYTES_MAX or self._sent_bytes > FRAMED_BODY_BYTES_MAX:
            self._refuse(HEAD_TOO_LARGE)

    def _body_answered(self, proceed: Any) -> None:
        self._release_body()
        proceed()

    def _release_body(self) -> None:
        self.table.release_body(self._held_bytes)
        self._held_bytes = 0

    def _refuse(self, answer: bytes) -> None:
        """Answer when it is this request's turn, and close. What the client sends from now on is dropped."""
        self._is_refused = True
        self._unset_keepalive_if_required()
        cycle = self._latest_cycle()
        is_head = "method" not in self.scope if cycle is not None else True
        if cycle is None or cycle.response_complete:
            # Bytes of a body that was answered before it was complete get no second answer.
            self._answer_and_close(answer if is_head else b"")
        elif is_head:
            # Requests before this one still wait for their answers.
            cycle.on_response = partial(self._answer_and_close, answer)
        else:
            is_first = not self.pipeline and not cycle.response_started
            cycle.disconnected = True
            cycle.message_event.set()
            self._answer_and_close(answer if is_first else b"")

    def _answer_and_close(self, answer: bytes) -> None:
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        self.transport.write(answer)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def _latest_cycle(self) -> RequestResponseCycle | None:
        # None before the first request, although uvicorn's annotation does not say so.
        return self.cycle
