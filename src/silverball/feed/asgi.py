"""The sockets of any other ASGI server. They cannot see control frames, and copy every message."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from silverball.feed import protocol
from silverball.feed.connection import FeedConnection
from silverball.feed.encoding import FrameEncoding
from silverball.feed.feed import Feed
from silverball.feed.handshake import App, Handshake
from silverball.feed.protocol import Close
from silverball.feed.subscribers import CAUGHT_UP_BYTES, LAGGING_BYTES
from silverball.kit.edge.proxies import peer_address

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
TOO_BIG = Close(protocol.TOO_BIG, "The message is too large.")


class AsgiSocket:
    """One connection: texts wait here until the server has sent them."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._texts: deque[bytes] = deque()
        self._bytes = 0
        self._is_paused = False
        self._close: Close | None = None
        self._has_output = asyncio.Event()
        self._is_aborted = asyncio.Event()
        self.connection: FeedConnection | None = None

    # The frame writer of the connection

    @property
    def write(self) -> Callable[[bytes], None]:
        """The method that queues texts behind those that are not sent yet."""
        return self._enqueue

    def buffered_bytes(self) -> int:
        """Bytes that the server has not taken yet."""
        return self._bytes

    def send_ping(self) -> None:
        """Do nothing: ASGI sends no control frames, and a ping in text follows by itself."""

    def start_close(self, close: Close) -> None:
        """Close when everything before it is sent."""
        self._close = close
        self._has_output.set()

    def abort(self) -> None:
        """Stop waiting for the client."""
        self._is_aborted.set()

    def _enqueue(self, texts: bytes) -> None:
        self._texts.extend(texts.splitlines())
        self._bytes += len(texts)
        self._has_output.set()
        if self._bytes > LAGGING_BYTES and not self._is_paused and self.connection is not None:
            self._is_paused = True
            self.connection.subscriber.pause_writing()

    async def _write_loop(self) -> None:
        while True:
            await self._has_output.wait()
            self._has_output.clear()
            while self._texts:
                text = self._texts.popleft()
                await self._send({"type": "websocket.send", "text": text.decode()})
                self._bytes -= len(text) + 1
                self._resume_when_drained()
            if self._close is not None:
                code, reason = self._close.code, self._close.reason
                await self._send({"type": "websocket.close", "code": code, "reason": reason})
                return

    def _resume_when_drained(self) -> None:
        if self._is_paused and self._bytes < CAUGHT_UP_BYTES and self.connection is not None:
            self._is_paused = False
            self.connection.subscriber.resume_writing()

    async def _read_loop(self, receive: Receive, connection: FeedConnection) -> None:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive":
                return
            text = message.get("text")
            if text is None:
                connection.end_with(protocol.BINARY_REFUSED)
            elif len(data := text.encode("utf-8", "surrogatepass")) > protocol.MESSAGE_BYTES_MAX:
                connection.end_with(TOO_BIG)
            else:
                connection.receive(data)

    async def serve(self, receive: Receive, connection: FeedConnection) -> None:
        """Read and write until either side ends or the connection is aborted."""
        self.connection = connection
        tasks = {
            asyncio.ensure_future(self._read_loop(receive, connection)),
            asyncio.ensure_future(self._write_loop()),
            asyncio.ensure_future(self._is_aborted.wait()),
        }
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            # A server that is gone raises errors of its own on a write; they end here.
            await asyncio.gather(*tasks, return_exceptions=True)


class AsgiFeed:
    """An ASGI application for the scope `websocket`."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection, from beginning to end."""
        await receive()
        if self._feed.is_draining:
            # Closing before accepting is a refusal in HTTP.
            await send({"type": "websocket.close"})
            return
        await send({"type": "websocket.accept"})
        socket = AsgiSocket(send)
        connection = _open_connection(self._feed, socket, scope)
        try:
            await socket.serve(receive, connection)
        finally:
            connection.connection_lost()


def _open_connection(feed: Feed, socket: AsgiSocket, scope: Scope) -> FeedConnection:
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    raw_headers = dict(scope["headers"])
    proxies, peer = feed.limits.proxies, peer_address(scope)
    address = proxies.client_address(scope, raw_headers)
    is_secure = proxies.is_secure(peer, raw_headers, is_encrypted=scope.get("scheme") == "wss")
    target = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
    target += "?" + scope["query_string"].decode("latin-1")
    verdict = feed.admit(Handshake(target, headers, is_secure), address)
    encoding = FrameEncoding(verdict.style if isinstance(verdict, App) else "plain", is_framed=False)
    connection = feed.open_connection(socket, encoding, address)
    if isinstance(verdict, App):
        connection.greet()
    else:
        connection.end_with(verdict)
    return connection
