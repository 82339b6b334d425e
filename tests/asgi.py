"""Sends requests to an ASGI app without a socket: `asgi.get(app, "/api/arenas", token=...)`."""

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

App = Callable[..., Awaitable[None]]


@dataclass(frozen=True)
class Reply:
    """An answer. Header names are lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def send(
    app: App,
    path: str,
    *,
    method: str = "GET",
    headers: dict[str, str] | None = None,
    token: str | None = None,
    body: bytes = b"",
    client: str = "203.0.113.7",
    leaves: asyncio.Event | None = None,
) -> Reply:
    """Send one request inside a running event loop. The client leaves at this event, if not answered yet.

    Raises ConnectionAbortedError when it left without an answer.
    """
    messages: list[MutableMapping[str, Any]] = []
    request_headers = dict(headers or {})
    if token is not None:
        request_headers["authorization"] = f"Bearer {token}"
    route, _, query = path.partition("?")
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": route,
        "raw_path": route.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [
            (name.lower().encode(), value.encode("latin-1")) for name, value in request_headers.items()
        ],
        "client": (client, 50000),
        "server": ("127.0.0.1", 8000),
    }
    chunks = [body[at : at + 65536] for at in range(0, len(body), 65536)] or [b""]

    async def receive() -> MutableMapping[str, Any]:
        if not chunks:
            # Without an event, the client stays connected until it has the answer.
            await (leaves or asyncio.Event()).wait()
            return {"type": "http.disconnect"}
        chunk = chunks.pop(0)
        return {"type": "http.request", "body": chunk, "more_body": bool(chunks)}

    async def collect(message: MutableMapping[str, Any]) -> None:
        messages.append(message)

    await app(scope, receive, collect)
    if not messages:
        raise ConnectionAbortedError
    reply_headers = {name.decode(): value.decode("latin-1") for name, value in messages[0]["headers"]}
    return Reply(
        messages[0]["status"],
        reply_headers,
        b"".join(message.get("body", b"") for message in messages[1:]),
    )


def get(app: App, path: str, **options: Any) -> Reply:
    """Send one request in an event loop of its own."""
    return asyncio.run(send(app, path, **options))
