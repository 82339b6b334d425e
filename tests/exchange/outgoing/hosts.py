"""Hosts on loopback: one with prepared answers, one that only counts connections."""

import contextlib
import itertools
import os
import re
import selectors
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpcore2
import pytest

from silverball.exchange import outgoing

# The public address of the good host; every other address ends at the trap.
GOOD = "93.184.215.14"
NAME = "results.example.org"
Answer = Callable[[str, socket.socket], None]
# No system hands these ports out by itself. At another port, a client that looks for a stopped server
# of another test may connect and be counted.
PORTS = range(20_000, 30_000)
_NEXT = itertools.cycle((*PORTS[os.getpid() % len(PORTS) :], *PORTS[: os.getpid() % len(PORTS)]))


class Listener:
    """Accepts connections on a free port, each handled in a thread of its own, and counts them."""

    def __init__(self, handle: Callable[[socket.socket], None]) -> None:
        self.count = 0
        self._handle = handle
        self._socket = _listening()
        self.port: int = self._socket.getsockname()[1]
        self._threads: list[threading.Thread] = []
        self._open: list[socket.socket] = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def close(self) -> None:
        # Closing alone does not wake the accepting thread.
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._accepting.join()
        for connection in self._open:
            connection.close()
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._socket.accept()
            except OSError:
                return
            self.count += 1
            self._open.append(accepted)
            thread = threading.Thread(target=self._serve, args=(accepted,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, accepted: socket.socket) -> None:
        # The client may have disconnected.
        try:
            self._handle(accepted)
        except OSError:
            pass
        finally:
            accepted.close()


def _listening() -> socket.socket:
    for port in itertools.islice(_NEXT, len(PORTS)):
        with contextlib.suppress(OSError):
            return socket.create_server(("127.0.0.1", port))
    raise RuntimeError("all ports are taken")


def answering(answers: Mapping[str, Answer], tls: ssl.SSLContext | None = None) -> Listener:
    """A host with an answer for each path."""

    def handle(accepted: socket.socket) -> None:
        stream = accepted if tls is None else tls.wrap_socket(accepted, server_side=True)
        with stream:
            request = b""
            # A host that closes with unread input resets the connection, and its answer is lost.
            while not _is_whole(request):
                more = stream.recv(4096)
                if not more:
                    return
                request += more
            path = request.split(b" ")[1].decode()
            answers[path](request.decode("latin-1"), stream)

    return Listener(handle)


def _is_whole(request: bytes) -> bool:
    """Whether the request is complete, body included."""
    head, end, body = request.partition(b"\r\n\r\n")
    length = re.search(rb"\r\nContent-Length: (\d+)", head, re.IGNORECASE)
    return bool(end) and len(body) >= (int(length[1]) if length else 0)


def a_proxy(requests: list[bytes], good_port: int | None) -> Listener:
    """A proxy that connects to the good host for any address, or to nothing."""

    def forward(accepted: socket.socket) -> None:
        requests.append(accepted.recv(4096))
        if good_port is None:
            accepted.sendall(b"HTTP/1.1 403 Forbidden\r\n\r\n")
            return
        accepted.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        with socket.create_connection(("127.0.0.1", good_port)) as onward:
            _pump(accepted, onward)

    return Listener(forward)


def _pump(source: socket.socket, target: socket.socket) -> None:
    """Copy bytes until one side ends."""
    with selectors.DefaultSelector() as both:
        both.register(source, selectors.EVENT_READ, target)
        both.register(target, selectors.EVENT_READ, source)
        while True:
            for key, _ in both.select():
                some = key.fileobj.recv(65536)  # type: ignore[union-attr]  # both are sockets
                if not some:
                    return
                key.data.sendall(some)


def answer_with(
    body: bytes = b"{}", *, status: str = "200 OK", kind: str = "application/json", **headers: str
) -> Answer:
    """A plain answer; `content_encoding` is sent as Content-Encoding, and so on."""
    lines = {"Content-Type": kind, "Content-Length": str(len(body))}
    lines |= {name.replace("_", "-").title(): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return lambda _asked, stream: stream.sendall(f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body)


def redirect_to(url: str, status: int = 302) -> Answer:
    return answer_with(b"", status=f"{status} Found", location=url)


@dataclass
class World:
    """A good host, a trap for every other connection, and names that resolve as the test sets them."""

    trap: Listener
    good: Listener | None = None
    # Name -> its addresses at the first lookup, the second lookup, and so on.
    names: dict[str, list[Sequence[str]]] = field(default_factory=lambda: {NAME: [[GOOD]]})
    lookups: list[str] = field(default_factory=list)
    # Addresses that were connected to.
    reached: list[str] = field(default_factory=list)

    def resolve(self, host: str, port: int, seconds: float) -> Sequence[str]:
        """The address that the test sets; a number in any notation is itself, as for the system."""
        self.lookups.append(host)
        meanings = self.names.get(host.lower())
        if meanings is None:
            return outgoing.resolve(host, port, seconds)
        return meanings.pop(0) if len(meanings) > 1 else meanings[0]

    def connect(self, address: str, port: int, seconds: float) -> httpcore2.NetworkStream:
        """Connect to the good host or, for any other address, to the trap: nothing is just unreachable."""
        self.reached.append(address)
        listener = self.good if address == GOOD and self.good is not None else self.trap
        return outgoing.connect("127.0.0.1", listener.port, seconds)


@contextmanager
def a_world(
    answers: Mapping[str, Answer] | None = None, tls: ssl.SSLContext | None = None
) -> Iterator[World]:
    trap = Listener(lambda accepted: accepted.close())
    good = None if answers is None else answering(answers, tls)
    try:
        yield World(trap, good)
    finally:
        trap.close()
        if good is not None:
            good.close()


@dataclass(frozen=True)
class Authority:
    """A certificate authority that only the tests trust."""

    folder: Path

    def client_context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self.folder / "root.pem")

    def server_context(self, name: str) -> ssl.SSLContext:
        """The TLS context of a host with this name."""
        own = self.folder / name
        if not own.with_suffix(".key").exists():
            _openssl(
                "req", "-x509", "-CA", self.folder / "root.pem", "-CAkey", self.folder / "root.key",
                "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}",
                "-addext", "basicConstraints=critical,CA:FALSE",
                "-keyout", f"{own}.key", "-out", f"{own}.pem",
            )  # fmt: skip
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{own}.pem", f"{own}.key")
        return context


def an_authority(folder: Path) -> Authority:
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl here to make certificates with")
    _openssl(
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-days", "2", "-subj", "/CN=Silverball Test Root", "-keyout", folder / "root.key",
        "-out", folder / "root.pem",
    )  # fmt: skip
    return Authority(folder)


def _openssl(*words: Any) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)
