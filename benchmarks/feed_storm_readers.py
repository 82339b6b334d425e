"""Thousands of readers that come back to one tournament at the same moment, as raw sockets.

Run as `feed_storm_readers.py PORT READERS PATH CHANNEL EPOCH SEQ LAST [compact]`: each reader connects,
resumes after number SEQ and reads until number LAST has arrived; `compact` asks for the newest event of each
thing only. Prints the seconds of all together, and the bytes that each got.
"""

import json
import select
import socket
import sys
import time

from feed_receivers import masked_frame

# As many handshakes are under way at a time: a queue that overflows would wait for the kernel's repeats.
CONNECTING_AT_ONCE = 1_000
SECONDS_MAX = 120.0
HANDSHAKE = (
    "GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


class ReturningReader:
    """One reader: its socket, and what it has got since it resumed."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.socket.connect_ex(address)
        self.has_sent_handshake = False
        self.has_resumed = False
        self.received = bytearray()


class Storm:
    """All readers, in one epoll."""

    def __init__(self, port: int, readers: int, path: str, resume: bytes, last: int) -> None:
        self._address = ("127.0.0.1", port)
        self._left_to_start = self._left = readers
        self._handshake = HANDSHAKE.format(path=path).encode()
        self._resume = masked_frame(resume)
        self._last = b'"seq":%d,' % last
        self._epoll = select.epoll()
        self._readers: dict[int, ReturningReader] = {}
        self._connecting = 0
        self.sizes: set[int] = set()

    def run(self) -> float:
        """Let all come back; the seconds until the last of them has the last event."""
        began = time.monotonic()
        while self._left:
            while self._left_to_start and self._connecting < CONNECTING_AT_ONCE:
                self._start_reader()
            ready = self._epoll.poll(SECONDS_MAX)
            if not ready:
                raise RuntimeError(f"{self._left} readers wait in vain")
            for number, _ in ready:
                self._advance(self._readers[number])
        return time.monotonic() - began

    def _start_reader(self) -> None:
        reader = ReturningReader(self._address)
        self._readers[reader.socket.fileno()] = reader
        self._epoll.register(reader.socket, select.EPOLLOUT)
        self._left_to_start -= 1
        self._connecting += 1

    def _advance(self, reader: ReturningReader) -> None:
        """Take the next step of this reader, whose socket is ready for it."""
        if not reader.has_sent_handshake:
            reader.socket.sendall(self._handshake)
            reader.has_sent_handshake = True
            self._epoll.modify(reader.socket, select.EPOLLIN)
            return
        part = reader.socket.recv(1 << 18)
        if not part:
            raise RuntimeError(f"closed after {bytes(reader.received[-300:])!r}")
        reader.received += part
        if not reader.has_resumed:
            if b"connection_established" in reader.received:
                reader.socket.sendall(self._resume)
                reader.has_resumed = True
                reader.received.clear()
                self._connecting -= 1
        elif self._has_all(reader.received):
            assert b'recovered\\":true' in reader.received, bytes(reader.received[:300])
            self.sizes.add(len(reader.received))
            reader.received.clear()
            self._epoll.unregister(reader.socket)
            self._left -= 1

    def _has_all(self, received: bytearray) -> bool:
        # The number of an event stands at its end.
        return received.find(self._last, max(0, len(received) - 400)) >= 0


def main() -> None:
    """Let all come back once, and print how long it took."""
    port, readers = map(int, sys.argv[1:3])
    path, channel, epoch = sys.argv[3:6]
    seq, last = map(int, sys.argv[6:8])
    data: dict[str, object] = {"channel": channel, "auth": "", "resume": {"epoch": epoch, "seq": seq}}
    if sys.argv[8:] == ["compact"]:
        data["compact"] = True
    resume = json.dumps({"event": "pusher:subscribe", "data": data}, separators=(",", ":")).encode()
    storm = Storm(port, readers, path, resume, last)
    seconds = storm.run()
    assert len(storm.sizes) == 1, storm.sizes
    print(json.dumps({"seconds": seconds, "bytes": storm.sizes.pop()}), flush=True)


if __name__ == "__main__":
    main()
