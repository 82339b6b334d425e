"""Routes that wait for something to happen: they run on the event loop and hold no thread meanwhile.

    @get_async("/api/tournaments/{tournament_id}/events", query=EventsQuery)
    async def list_feed_events(call: AsyncCall[EventsQuery]) -> EventsPage: ...

They only read. A handler that sends parts without an end returns a `Stream`.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from msgspec import Struct

from silverball.kit.http.asgi import CACHE_CONTROL, CORS, Headers, Receive, Send, start_message
from silverball.kit.http.endpoints import Access, Call, Endpoint, Handler
from silverball.kit.http.query import Query

Q = TypeVar("Q", bound=Query)
T = TypeVar("T")


class Stream(Struct, frozen=True):
    """An answer sent in parts for as long as the client listens."""

    chunks: AsyncIterator[bytes]
    content_type: str = "text/event-stream; charset=utf-8"
    headers: tuple[tuple[bytes, bytes], ...] = ()


class AsyncCall(Call[Q], frozen=True):
    """One parsed request to a route that waits."""

    # The feed, handed in by the composition root.
    feed: Any = None
    # The id of the last event that a returning client has.
    last_event_id: str = ""


def get_async(path: str, *, query: type[Query] = Query, returns: Any) -> Callable[[Handler], Endpoint]:
    """Declare a GET route open to anyone whose handler is a coroutine."""

    def declare(handler: Handler) -> Endpoint:
        return Endpoint(
            method="GET",
            path=path,
            handler=handler,
            access=Access.ANYONE,
            query=query,
            returns=returns,
            is_async=True,
        )

    return declare


class ClientDisconnected(Exception):
    """The client closed the connection while its answer was being made."""


class CallerRefused(Exception):
    """The caller's token is refused since: revoked, expired or of a suspended account."""


async def run_while_connected(
    work: Coroutine[Any, Any, T], receive: Receive, refusal: Coroutine[Any, Any, None] | None = None
) -> T:
    """Run the work and return its result. Cancel it and raise ClientDisconnected if the client leaves.

    Raise CallerRefused in the same way when `refusal` returns.
    """
    working = asyncio.ensure_future(work)
    listening = asyncio.ensure_future(_wait_for_disconnect(receive))
    watching = None if refusal is None else asyncio.ensure_future(refusal)
    tasks = [task for task in (working, listening, watching) if task is not None]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientDisconnected if listening.done() else CallerRefused
    finally:
        for task in tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def stream_start(stream: Stream, extra: Headers) -> dict[str, Any]:
    """The first ASGI message of a stream."""
    content_type = (b"content-type", stream.content_type.encode())
    # Without this header some proxies buffer the parts.
    unbuffered = (b"x-accel-buffering", b"no")
    headers = [content_type, CACHE_CONTROL, unbuffered, *CORS, *stream.headers, *extra]
    return start_message(200, headers)


async def send_chunks(stream: Stream, send: Send) -> None:
    """Send the body of a stream part by part, at the client's pace."""
    try:
        async for chunk in stream.chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        close: Callable[[], Awaitable[None]] | None = getattr(stream.chunks, "aclose", None)
        if close is not None:
            await close()
