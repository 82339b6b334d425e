"""Routes that wait for something to happen: they run on the event loop and hold no thread meanwhile.

    @live("/api/tournaments/{tournament_id}/events", query=EventsQuery)
    async def list_events(call: Wait[EventsQuery]) -> EventsPage: ...

They only read. One that never ends answers with a `Stream`.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from silverball.kit.edge.backend import Receive, Send
from silverball.kit.edge.response_cache import CACHE_CONTROL, CORS, Headers
from silverball.kit.http.endpoints import Access, Call, Endpoint, Handler
from silverball.kit.http.query import Query, QueryParser

Q = TypeVar("Q", bound=Query)
T = TypeVar("T")


@dataclass(frozen=True)
class Stream:
    """An answer that comes in parts, for as long as the client listens."""

    chunks: AsyncIterator[bytes]
    content_type: str = "text/event-stream; charset=utf-8"


@dataclass(frozen=True)
class AsyncCall(Call[Q]):
    """One request to a route that waits."""

    # What the composition root hands to these routes.
    feed: Any = None
    # The id of the last event that the client has, when it comes back to a stream.
    last_event_id: str = ""


def get_async(path: str, *, query: type[Query] = Query, returns: Any) -> Callable[[Handler], Endpoint]:
    """Declare a GET route for everybody whose handler is a coroutine."""

    def declare(handler: Handler) -> Endpoint:
        return Endpoint(
            method="GET",
            path=path,
            handler=handler,
            access=Access.ANYONE,
            query=query,
            returns=returns,
            parser=QueryParser(query),
            is_async=True,
        )

    return declare


class ClientDisconnected(Exception):
    """The client went away while something was made for it."""


async def run_while_connected(work: Coroutine[Any, Any, T], receive: Receive) -> T:
    """What the work returns. Raises HungUp, and cancels the work, when the client goes first."""
    working = asyncio.ensure_future(work)
    listening = asyncio.ensure_future(_wait_for_disconnect(receive))
    try:
        await asyncio.wait({working, listening}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnected
        return working.result()
    finally:
        for task in (working, listening):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def stream_start(stream: Stream, more: Headers) -> dict[str, Any]:
    """The first ASGI message of a stream."""
    typed = (b"content-type", stream.content_type.encode())
    # Some proxies would keep the parts until there are enough of them.
    headers = [typed, CACHE_CONTROL, (b"x-accel-buffering", b"no"), *CORS, *more]
    return {"type": "http.response.start", "status": 200, "headers": headers}


async def send_chunks(stream: Stream, send: Send) -> None:
    """The body of a stream, part by part; who reads slowly is waited for."""
    try:
        async for part in stream.chunks:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        close: Callable[[], Awaitable[None]] | None = getattr(stream.chunks, "aclose", None)
        if close is not None:
            await close()
