"""The client's half of the websocket protocol (RFC 6455), without I/O: bytes in, texts and bytes out.

Only what the feed needs: text messages, pings, closing. No extension is offered, so none is used.
"""

import base64
import hashlib
import secrets
import struct
from collections import deque

ACCEPT_SUFFIX = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
FINAL, MASKED, OPCODE, LENGTH = 0x80, 0x80, 0x0F, 0x7F
LENGTH_16, LENGTH_64 = 126, 127
SMALL_MAX, MEDIUM_MAX = 125, 0xFFFF
MESSAGE_BYTES_MAX = 16_000_000
CONTROL = 0x8
NO_CODE = 1005


class BrokenFrame(Exception):
    """The other side does not speak the protocol."""


def new_key() -> str:
    """Return a value for `Sec-WebSocket-Key`."""
    return base64.b64encode(secrets.token_bytes(16)).decode()


def accept_for(key: str) -> str:
    """Return the value of `Sec-WebSocket-Accept` that answers this key."""
    # The protocol prescribes SHA-1; nothing is kept secret by it.
    digest = hashlib.sha1(key.encode() + ACCEPT_SUFFIX, usedforsecurity=False).digest()
    return base64.b64encode(digest).decode()


def upgrade_headers(key: str) -> dict[str, str]:
    """Return the headers of the request that opens a socket."""
    return {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": key,
    }


def encode_frame(opcode: int, payload: bytes, mask: bytes) -> bytes:
    """Return one whole frame; `mask` is four random bytes, as the protocol wants of clients."""
    if len(payload) <= SMALL_MAX:
        head = bytes([FINAL | opcode, MASKED | len(payload)])
    elif len(payload) <= MEDIUM_MAX:
        head = struct.pack("!BBH", FINAL | opcode, MASKED | LENGTH_16, len(payload))
    else:
        head = struct.pack("!BBQ", FINAL | opcode, MASKED | LENGTH_64, len(payload))
    return head + mask + _masked(payload, mask)


def _masked(payload: bytes, mask: bytes) -> bytes:
    repeated = (mask * (len(payload) // 4 + 1))[: len(payload)]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(len(payload), "big")


class Frames:
    """One connection: takes what was read, keeps texts for the reader and bytes that must be sent."""

    def __init__(self) -> None:
        self.texts: deque[str] = deque()
        # The close code and reason, once the other side has closed.
        self.closed: tuple[int, str] | None = None
        self._unread = b""
        self._parts: list[bytes] = []
        self._outgoing: list[bytes] = []

    def take_outgoing(self) -> bytes:
        """Return the bytes to send, and forget them."""
        data = b"".join(self._outgoing)
        self._outgoing.clear()
        return data

    def say(self, text: str) -> None:
        """Send a text."""
        self._send(TEXT, text.encode())

    def feed(self, data: bytes) -> None:
        """Take bytes that were read. Raises BrokenFrame."""
        self._unread += data
        while (frame := self._next_frame()) is not None:
            self._take(*frame)

    def _send(self, opcode: int, payload: bytes) -> None:
        self._outgoing.append(encode_frame(opcode, payload, secrets.token_bytes(4)))

    def _next_frame(self) -> tuple[bool, int, bytes] | None:
        """Take the first whole frame: whether it ends its message, its opcode, its payload."""
        unread = self._unread
        if len(unread) < 2:
            return None
        length, start = unread[1] & LENGTH, 2
        if unread[1] & MASKED or unread[0] & 0x70:
            raise BrokenFrame("a server's frame must not be masked or extended")
        if unread[0] & CONTROL and (length > SMALL_MAX or not unread[0] & FINAL):
            raise BrokenFrame("a control frame must be short and whole")
        if length in (LENGTH_16, LENGTH_64):
            form, size = ("!H", 2) if length == LENGTH_16 else ("!Q", 8)
            if len(unread) < start + size:
                return None
            (length,) = struct.unpack_from(form, unread, start)
            start += size
        if length > MESSAGE_BYTES_MAX:
            raise BrokenFrame("the message is too long")
        if len(unread) < start + length:
            return None
        self._unread = unread[start + length :]
        return bool(unread[0] & FINAL), unread[0] & OPCODE, unread[start : start + length]

    def _take(self, is_final: bool, opcode: int, payload: bytes) -> None:
        if opcode == PING:
            self._send(PONG, payload)
        elif opcode == CLOSE:
            if len(payload) == 1:
                raise BrokenFrame("half a close code")
            code = struct.unpack_from("!H", payload)[0] if payload else NO_CODE
            self.closed = (code, payload[2:].decode("utf-8", "replace"))
            self._send(CLOSE, payload[:2])
        elif opcode in (TEXT, CONTINUATION):
            self._take_part(payload, is_first=opcode == TEXT, is_final=is_final)
        elif opcode != PONG:
            raise BrokenFrame(f"a frame of the kind {opcode}")

    def _take_part(self, payload: bytes, *, is_first: bool, is_final: bool) -> None:
        """Take a part of a text, which the last part completes."""
        if is_first != (not self._parts):
            raise BrokenFrame("parts of two messages are mixed")
        self._parts.append(payload)
        if sum(map(len, self._parts)) > MESSAGE_BYTES_MAX:
            raise BrokenFrame("the message is too long")
        if is_final:
            try:
                self.texts.append(b"".join(self._parts).decode())
            except UnicodeDecodeError as error:
                raise BrokenFrame("a text that is not UTF-8") from error
            self._parts.clear()
