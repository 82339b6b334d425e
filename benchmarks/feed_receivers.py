"""A thousand clients as raw sockets, which count bytes; some of them record times.

Run as `feed_receivers.py PORT CONNECTIONS STALLED PATH CHANNEL`. Prints a line when all are
subscribed, then reads commands, one a line: `expect N BYTES` answers when every connection has N more
frames of that many bytes, with the arrival times of the sampled ones; `last N` answers when every
connection has N more frames of any length, with the time of the last. Stalled connections never read.
"""

import contextlib
import json
import select
import socket
import sys
import time
from dataclasses import dataclass, field

SAMPLED = 20
CONNECTING_AT_ONCE = 200
BUFFER = bytearray(1 << 20)
VIEW = memoryview(BUFFER)
SECONDS_MAX = 120.0
SILENCE_SECONDS = 12.0
# As a control frame, with a mask of zeros.
PONG = b"\x8a\x80\x00\x00\x00\x00"


@dataclass(slots=True)
class Receiver:
    """One connection."""

    socket: socket.socket
    received: int = 0
    # Of an incomplete frame: the bytes of its head, or how much of its payload is to come.
    head: bytearray = field(default_factory=bytearray)
    payload_left: int = 0
    frames: int = 0
    times: list[int] | None = None

    def read(self) -> int:
        with contextlib.suppress(BlockingIOError):
            count = self.socket.recv_into(BUFFER)
            if not count:
                raise RuntimeError("the server closed a connection")
            return count
        return 0


def masked_frame(text: bytes) -> bytes:
    # A mask of zeros is valid and leaves the payload readable.
    length = bytes([0x80 | len(text)]) if len(text) < 126 else bytes([0xFE]) + len(text).to_bytes(2, "big")
    return b"\x81" + length + bytes(4) + text


def connect(port: int, path: str) -> socket.socket:
    """A connection after its handshake was sent."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(
        f"GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    return connection


def await_text(connection: socket.socket, text: bytes) -> None:
    """Read until this text has arrived; the server sends nothing after it."""
    got = b""
    while text not in got:
        part = connection.recv(65_536)
        if not part:
            raise RuntimeError(f"closed instead of {text!r} after {got[-500:]!r}")
        got += part


def connect_all(port: int, count: int, path: str, channel: str) -> list[socket.socket]:
    """Open connections that follow the channel."""
    subscribe = {"event": "pusher:subscribe", "data": {"auth": "", "channel": channel}}
    frame = masked_frame(json.dumps(subscribe).encode())
    connections: list[socket.socket] = []
    while len(connections) < count:
        part = [connect(port, path) for _ in range(min(CONNECTING_AT_ONCE, count - len(connections)))]
        for connection in part:
            await_text(connection, b"connection_established")
            connection.sendall(frame)
        for connection in part:
            await_text(connection, b"subscription_succeeded")
        connections += part
    return connections


class Audience:
    """All clients, in one epoll."""

    def __init__(self, sockets: list[socket.socket]) -> None:
        every = max(1, len(sockets) // SAMPLED)
        self.epoll = select.epoll()
        self.silent_until = 0.0
        self.receivers: dict[int, Receiver] = {}
        for number, connection in enumerate(sockets):
            connection.setblocking(False)
            times: list[int] | None = [] if number % every == every // 2 else None
            self.receivers[connection.fileno()] = Receiver(connection, times=times)
            self.epoll.register(connection, select.EPOLLIN)

    def send_keepalive(self) -> None:
        """Send pongs: the server would ping a silent client, and its ping would be counted."""
        if time.monotonic() < self.silent_until:
            return
        self.silent_until = time.monotonic() + SILENCE_SECONDS
        for receiver in self.receivers.values():
            receiver.socket.send(PONG)

    def expect(self, frames: int, frame_bytes: int) -> list[list[int]]:
        """Wait until all clients have the frames; return the times of arrival at the sampled clients."""
        missing = len(self.receivers)
        bytes_expected = frames * frame_bytes
        for receiver in self.receivers.values():
            receiver.received = 0
            if receiver.times is not None:
                receiver.times = []
        while missing:
            for fd, _ in self.epoll.poll(SECONDS_MAX):
                receiver = self.receivers[fd]
                receiver.received += receiver.read()
                if receiver.times is not None:
                    arrived = receiver.received // frame_bytes - len(receiver.times)
                    receiver.times += [time.monotonic_ns()] * arrived
                missing -= receiver.received == bytes_expected
        return [receiver.times for receiver in self.receivers.values() if receiver.times is not None]

    def wait_for_last(self, frames: int) -> int:
        """Wait until all clients have that many frames of any length; return the time of the last."""
        missing = len(self.receivers)
        for receiver in self.receivers.values():
            receiver.frames = 0
        while missing:
            for fd, _ in self.epoll.poll(SECONDS_MAX):
                receiver = self.receivers[fd]
                before = receiver.frames
                _count_frames(receiver, receiver.read())
                missing -= before < frames <= receiver.frames
        return time.monotonic_ns()


def _count_frames(receiver: Receiver, count: int) -> None:
    at = 0
    while at < count:
        if receiver.payload_left:
            part = min(receiver.payload_left, count - at)
            receiver.payload_left -= part
            at += part
        else:
            receiver.head.append(BUFFER[at])
            at += 1
            size = _frame_bytes(receiver.head)
            if size is None:
                continue
            receiver.payload_left = size
            receiver.head.clear()
        receiver.frames += not receiver.payload_left and not receiver.head


def _frame_bytes(head: bytearray) -> int | None:
    """The length of the payload, when the head is complete."""
    length = head[1] & 0x7F if len(head) > 1 else 127
    size = {126: 4, 127: 10}.get(length, 2)
    if len(head) < size:
        return None
    return int.from_bytes(head[2:size]) if size > 2 else length


def main() -> None:
    """Connect, then run the commands on standard input."""
    port, count, stalled = map(int, sys.argv[1:4])
    path, channel = sys.argv[4:6]
    sockets = connect_all(port, count + stalled, path, channel)
    # Kept open and never read.
    idle, active = sockets[:stalled], sockets[stalled:]
    crowd = Audience(active)
    print(json.dumps(len(active) + len(idle)), flush=True)
    for line in sys.stdin:
        words = line.split()
        crowd.send_keepalive()
        if words[0] == "expect":
            print(json.dumps(crowd.expect(int(words[1]), int(words[2]))), flush=True)
        elif words[0] == "last":
            print(json.dumps(crowd.wait_for_last(int(words[1]))), flush=True)


if __name__ == "__main__":
    main()
