"""The server's half of a websocket, for services that a test scripts."""

import json
import socket
import struct
from typing import Any

from silverball_client.frames import CLOSE, FINAL, MASKED, PONG, TEXT, accept_for
from typed_client.scripted_service import ReceivedRequest


def frame_of_server(opcode: int, payload: bytes, *, head: int = FINAL) -> bytes:
    """A frame without a mask, as servers send it."""
    if len(payload) <= 125:
        length = bytes([len(payload)])
    elif len(payload) <= 65_535:
        length = struct.pack("!BH", 126, len(payload))
    else:
        length = struct.pack("!BQ", 127, len(payload))
    return bytes([head | opcode]) + length + payload


def unmasked(frame: bytes) -> tuple[int, bytes]:
    """The first byte and the payload of a client's frame, read as a server does."""
    length, start = frame[1] & 0x7F, 2
    assert frame[1] & MASKED
    if length == 126:
        length, start = struct.unpack_from("!H", frame, 2)[0], 4
    elif length == 127:
        length, start = struct.unpack_from("!Q", frame, 2)[0], 10
    mask, payload = frame[start : start + 4], frame[start + 4 :]
    assert len(payload) == length
    return frame[0], bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))


class ServerSocket:
    """An accepted websocket, which speaks the protocol of Pusher."""

    def __init__(self, connection: socket.socket, request: ReceivedRequest) -> None:
        self._connection = connection
        head = (
            "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n"
            f"sec-websocket-accept: {accept_for(request.headers['sec-websocket-key'])}\r\n\r\n"
        )
        # The first message comes in one packet with the head.
        established = {"event": "pusher:connection_established", "data": json.dumps({"socket_id": "1.1"})}
        self._connection.sendall(head.encode() + frame_of_server(TEXT, json.dumps(established).encode()))

    def send(self, event: str, data: Any, **members: Any) -> None:
        """Send a message whose data is JSON in a string."""
        self.send_text(json.dumps({"event": event, "data": json.dumps(data), **members}))

    def send_text(self, text: str) -> None:
        self._connection.sendall(frame_of_server(TEXT, text.encode()))

    def close(self, code: int) -> None:
        self._connection.sendall(frame_of_server(CLOSE, struct.pack("!H", code)))

    def receive(self) -> Any:
        """The next message of the client."""
        opcode = PONG
        while opcode != TEXT:
            first, payload = unmasked(self._read_frame())
            opcode = first & 0x0F
        return json.loads(payload)

    def accept_subscription(self) -> Any:
        """Confirm the subscription of a client, without numbers, and return what it wanted."""
        wanted = self.receive()
        assert wanted["event"] == "pusher:subscribe"
        self.send("pusher_internal:subscription_succeeded", {}, channel=wanted["data"]["channel"])
        return wanted["data"]

    def _read_frame(self) -> bytes:
        head = self._read(2)
        length = head[1] & 0x7F
        extended = self._read({126: 2, 127: 8}.get(length, 0))
        if extended:
            length = int.from_bytes(extended, "big")
        return head + extended + self._read(4 + length)

    def _read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = self._connection.recv(count - len(data))
            if not part:
                raise ConnectionError("the client is gone")
            data += part
        return data
