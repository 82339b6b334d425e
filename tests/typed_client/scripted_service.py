"""A small service on loopback: a test says what it answers, and reads what it was asked.

with ScriptedService({"/api/tournaments/1": [busy(), json_answer({"data": ...})]}) as service:
    ...
    assert [request.target for request in service.requests] == [...]
"""

import contextlib
import json
import socket
import socketserver
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

SECONDS_MAX = 60.0


@dataclass(frozen=True)
class ReceivedRequest:
    """A request as it came over the socket; header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


@dataclass(frozen=True)
class Answer:
    """The bytes of an answer, or none: the connection ends after the request."""

    content: bytes | None


# Takes over a connection whose request wants a websocket.
Talk = Callable[[socket.socket, ReceivedRequest], None]


def answer(status: int, body: bytes = b"", **headers: str) -> Answer:
    """An answer with this status; `retry_after` is the header Retry-After."""
    lines = [f"HTTP/1.1 {status} Scripted", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return Answer("\r\n".join([*lines, "", ""]).encode("latin-1") + body)


def json_answer(value: Any, status: int = 200, **headers: str) -> Answer:
    return answer(status, json.dumps(value).encode(), content_type="application/json", **headers)


# The request arrives whole, and nothing comes back.
CUT = Answer(None)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    service: "ScriptedService"


class _Connection(socketserver.StreamRequestHandler):
    server: _Server
    timeout = SECONDS_MAX

    def handle(self) -> None:
        while (request := self._read_request()) is not None:
            service = self.server.service
            if request.headers.get("upgrade") == "websocket":
                service.requests.append(request)
                # The client leaves when the test is done.
                with contextlib.suppress(OSError):
                    service.talk(self.connection, request)
                return
            given = service.next_answer(request)
            if given.content is None:
                return
            self.wfile.write(given.content)

    def _read_request(self) -> ReceivedRequest | None:
        try:
            first = self.rfile.readline().decode("latin-1").split()
        except OSError:
            return None
        if len(first) != 3:
            return None
        headers: dict[str, str] = {}
        while line := self.rfile.readline().decode("latin-1").strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        body = self.rfile.read(int(headers.get("content-length", "0")))
        return ReceivedRequest(first[0], first[1], headers, body)


@dataclass
class ScriptedService:
    """Path -> its answers in order; the last one is given again and again. Other paths are a bare 404."""

    answers: Mapping[str, Sequence[Answer]]
    talk: Talk = lambda _connection, _request: None
    requests: list[ReceivedRequest] = field(default_factory=list)
    _counts: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def next_answer(self, request: ReceivedRequest) -> Answer:
        with self._lock:
            self.requests.append(request)
            known = self.answers.get(request.path)
            if known is None:
                return answer(404, b"{}", content_type="application/json")
            position = self._counts.get(request.path, 0)
            self._counts[request.path] = position + 1
            return known[min(position, len(known) - 1)]

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), _Connection)
        self._server.service = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
