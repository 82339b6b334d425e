"""Answers that leave from the connection, before a task or an ASGI scope exists.

Clients send the same bytes again and again. Only what those bytes mean is remembered: who asks, how
often, and whether the cached response is still valid is asked anew each time, by the same code that
answers all other requests (`replies.py`).
"""

import re
from collections import OrderedDict
from collections.abc import Callable

from silverball.kit.edge.blocked_networks import BlockedNetworks
from silverball.kit.edge.proxies import TrustedProxies
from silverball.kit.edge.replies import KnownRead, MemoryReplies, may_be_in_memory
from silverball.kit.edge.response_cache import SharedHeaders
from silverball.kit.edge.shares import CONNECTION
from silverball.kit.http.asgi import Headers, Scope, encode_headers

# What can be remembered: a whole head in the plainest form, for HTTP/1.1 and a path on this server.
# Anything unusual is left to the parser each time.
PLAIN_HEAD = re.compile(rb"GET /[!-\"$-~]* HTTP/1\.1\r\n(?:[A-Za-z0-9-]+: ?[!-~](?:[ -~]*[!-~])?\r\n)+\r\n")
# Requests with these headers are answered in another way, or end the connection.
LONG_WAY_HEADERS = frozenset({b"expect", b"upgrade"})
KEEP_ALIVE = b"keep-alive"
# Longer heads are rare and would fill the memory.
HEAD_BYTES_MAX = 2_048
HEADS_PER_ADDRESS = 64
# A proxy speaks for many clients.
HEADS_PER_PROXY = 4_096
# The estimated size of a remembered head beside its bytes, with what they mean for its caller.
OVERHEAD_BYTES = 2_600
SIGHTINGS_MAX = 8_192
STATUS_LINES = {200: b"HTTP/1.1 200 OK\r\n", 304: b"HTTP/1.1 304 Not Modified\r\n"} | {
    429: b"HTTP/1.1 429 Too Many Requests\r\n"
}


class RememberedHead:
    """The meaning of the bytes of a request that came before."""

    __slots__ = ("address", "headers", "known", "scope")

    def __init__(self, scope: Scope, headers: dict[bytes, bytes], address: str) -> None:
        self.scope = scope
        self.known = KnownRead()
        self.headers = headers
        # The client's, which networks are blocked by.
        self.address = address


class KeptAnswers:
    """Answers to requests whose bytes are known. Used by the event loop only."""

    def __init__(
        self,
        in_memory: MemoryReplies,
        blocked: BlockedNetworks,
        proxies: TrustedProxies,
        *,
        bytes_max: int,
        clock: Callable[[], float],
    ) -> None:
        self.answered = 0
        self.bytes_used = 0
        self._in_memory = in_memory
        self._blocked = blocked
        self._proxies = proxies
        self._bytes_max = bytes_max
        self._clock = clock
        # By the address of the connection's other end; whoever remembered something last comes last.
        self._heads: OrderedDict[str, dict[bytes, RememberedHead]] = OrderedDict()
        # Hashes of heads that were seen once: only what comes again is worth its memory.
        self._sightings: set[int] = set()
        # The server makes a new list of its own headers each second.
        self._server_headers: Headers = []
        self._server_bytes = b""

    def remember(self, peer: str, data: bytes, scope: Scope) -> None:
        """Remember a request that came for the second time, if it may be answered from memory."""
        if len(data) > HEAD_BYTES_MAX or not scope.get("path", "").startswith("/api/"):
            return
        sighting = hash((peer, data))
        if sighting not in self._sightings:
            if len(self._sightings) >= SIGHTINGS_MAX:
                self._sightings.clear()
            self._sightings.add(sighting)
            return
        headers = dict(scope["headers"])
        scope.pop(CONNECTION, None)
        if _is_plain(data, headers) and may_be_in_memory(scope, headers):
            address = self._proxies.client_address(scope, headers)
            self._keep(peer, data, RememberedHead(scope, headers, address))

    def answer(self, peer: str, data: bytes, server_headers: Headers) -> bytes | None:
        """Return the whole answer to these bytes; None when they have to go the long way."""
        heads = self._heads.get(peer)
        head = None if heads is None else heads.get(data)
        if head is None or (self._blocked.is_any() and self._blocked.is_blocked(head.address)):
            return None
        # A copy of the headers, as the id that the request gets is noted in them.
        reply = self._in_memory.find(head.scope, head.headers.copy(), self._clock(), head.known)
        if reply is None:
            return None
        self.answered += 1
        if server_headers is not self._server_headers:
            self._server_headers, self._server_bytes = server_headers, encode_headers(server_headers)
        shared = reply.headers
        encoded = shared.encoded() if isinstance(shared, SharedHeaders) else encode_headers(shared)
        extra = encode_headers(reply.extra)
        start = STATUS_LINES[reply.status]
        return b"".join((start, self._server_bytes, encoded, extra, b"\r\n", reply.body["body"]))

    def _keep(self, peer: str, data: bytes, head: RememberedHead) -> None:
        heads = self._heads.setdefault(peer, {})
        self._heads.move_to_end(peer)
        if data in heads:
            return
        if len(heads) >= (HEADS_PER_PROXY if self._proxies.trusts(peer) else HEADS_PER_ADDRESS):
            self._drop(heads, next(iter(heads)))
        heads[data] = head
        self.bytes_used += len(data) + OVERHEAD_BYTES
        while self.bytes_used > self._bytes_max:
            oldest, others = next(iter(self._heads.items()))
            if others:
                self._drop(others, next(iter(others)))
            else:
                del self._heads[oldest]

    def _drop(self, heads: dict[bytes, RememberedHead], data: bytes) -> None:
        del heads[data]
        self.bytes_used -= len(data) + OVERHEAD_BYTES


def _is_plain(data: bytes, headers: dict[bytes, bytes]) -> bool:
    connection = headers.get(b"connection", KEEP_ALIVE)
    return (
        connection.lower() == KEEP_ALIVE
        and LONG_WAY_HEADERS.isdisjoint(headers)
        and PLAIN_HEAD.fullmatch(data) is not None
    )
