"""A WebSocket connection without a library, which can send any frame and stop reading."""

import asyncio
import contextlib
import json
import socket
import struct
from typing import Any, cast

from feed.feed_server import FeedServer
from patience import PATIENCE_SECONDS

TEXT, BINARY, CLOSE, PING, PONG = 0x81, 0x82, 0x88, 0x89, 0x8A
MASK = b"\x01\x02\x03\x04"


class RawConnection:
    """A connection that writes and reads raw frames."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        # Whether it answers a close frame.
        self.answers_close = True

    @classmethod
    async def open(cls, server: FeedServer, *, receive_bytes: int | None = None) -> "RawConnection":
        """A connection after its handshake and first text; a small receive buffer fills quickly."""
        plug = socket.socket()
        if receive_bytes is not None:
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        plug.setblocking(False)
        await asyncio.get_running_loop().sock_connect(plug, ("127.0.0.1", server.port))
        raw = cls(*await asyncio.open_connection(sock=plug, limit=2**24))
        raw.writer.write(cls.handshake(server))
        head = await raw.reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101 ")
        assert b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in head
        opcode, payload = await raw.read_frame()
        assert opcode == TEXT
        assert b"connection_established" in payload
        return raw

    @staticmethod
    def handshake(server: FeedServer) -> bytes:
        """The request that opens a connection."""
        return (
            f"GET {server.path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )

    def send(self, first: int, payload: bytes, *, mask: bytes | None = MASK) -> None:
        """Send a frame with this first byte; without a mask it breaks the protocol."""
        self.writer.write(self.frame(first, payload, mask=mask))

    @staticmethod
    def frame(first: int, payload: bytes, *, mask: bytes | None = MASK) -> bytes:
        """The bytes of a frame."""
        length = len(payload)
        if length < 126:
            head = struct.pack("!BB", first, length)
        elif length < 65_536:
            head = struct.pack("!BBH", first, 126, length)
        else:
            head = struct.pack("!BBQ", first, 127, length)
        if mask is not None:
            head = bytes([head[0], head[1] | 0x80]) + head[2:] + mask
            payload = bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))
        return head + payload

    async def subscribe(self, tournament_id: int, **more: Any) -> Any:
        """Follow a tournament; return the confirmation."""
        data = {"channel": f"tournaments.{tournament_id}", **more}
        self.send(TEXT, json.dumps({"event": "pusher:subscribe", "data": data}).encode())
        return await self.read_text()

    async def read_frame(self) -> tuple[int, bytes]:
        """The next frame: its first byte and its payload."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            first, second = await self.reader.readexactly(2)
            length = second & 0x7F
            if length == 126:
                (length,) = struct.unpack("!H", await self.reader.readexactly(2))
            elif length == 127:
                (length,) = struct.unpack("!Q", await self.reader.readexactly(8))
            return first, await self.reader.readexactly(length)

    async def read_text(self) -> Any:
        """The JSON of the next frame, which must be a text."""
        first, payload = await self.read_frame()
        assert first == TEXT, (first, payload)
        return json.loads(payload)

    async def read_close_code(self) -> int | None:
        """Read to the end; return the code of the close frame, which must be the last."""
        code = None
        try:
            while True:
                opcode, payload = await self.read_frame()
                assert code is None, "nothing comes after a close"
                if opcode == CLOSE:
                    if self.answers_close:
                        self.send(CLOSE, payload)
                    code = struct.unpack("!H", payload[:2])[0] if payload else 1005
        except asyncio.IncompleteReadError:
            return code

    def pause_reading(self) -> None:
        """Read nothing more."""
        cast("asyncio.ReadTransport", self.writer.transport).pause_reading()

    def resume_reading(self) -> None:
        """Read again."""
        cast("asyncio.ReadTransport", self.writer.transport).resume_reading()

    async def hang_up(self) -> None:
        """Drop the connection without a close frame."""
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()
