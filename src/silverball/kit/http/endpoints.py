"""A thin typed endpoint table: declare a route, receive parsed input, return a value to be encoded.

    @get("/api/arenas", query=ArenaQuery, access=Access.OWN)
    def list_arenas(call: Call[ArenaQuery]) -> Page[Arena]: ...

    @post("/api/arenas", body=NewArena, ability="manage", status=201)
    def add_arena(call: Write[NewArena, Connection, Transaction]) -> Data[Arena]: ...

    @read_post("/api/arenas/compare", query=CompareQuery)
    def compare_arenas(call: Call[CompareQuery]) -> Comparison: ...

A handler is a plain function that runs in a worker thread. A writing handler gets `call.transaction`,
which is committed by `kit/edge/write_requests.py` once the handler's value is encoded. The types of a
connection and of a transaction are the service's (`Write[NewArena]` of `service/core/calls.py`).
`kit/http/api.py` calls the handlers; `kit/http/refusals.py` turns refusals into answers.
"""

import asyncio
import contextlib
import enum
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from functools import cached_property, partial
from typing import Any, Generic, Literal, Protocol, TypeVar, get_args, get_origin

from msgspec import Struct, field

from silverball.kit.errors import NotAllowed, Refusal
from silverball.kit.http.asgi import CACHE_CONTROL, INTERFACE_HEADERS, Headers, Receive, Send, start_message
from silverball.kit.http.body import Body, BodyParser
from silverball.kit.http.query import Query, QueryParser
from silverball.kit.values import replace

WORD_LETTERS_MAX = 100
JSON = "application/json"
SVG = "image/svg+xml"
# In the order in which the `allow` header lists them.
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
READ_METHODS = frozenset({"GET", "HEAD"})
WRITE_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# Everything below the path of one tournament shares a lock, a revision and a quota.
TOURNAMENT = "tournament_id"
Q = TypeVar("Q", bound=Query)
B_co = TypeVar("B_co", bound=Body, covariant=True)
T = TypeVar("T")
# The types of a connection and of a transaction, which this package does not know.
D = TypeVar("D")
X = TypeVar("X")
Handler = Callable[[Any], Any]


class Access(enum.Enum):
    """The callers that a route accepts."""

    OWN = "own"  # Any valid token; the answer depends on the user and is cached per user.
    TOKEN = "token"  # noqa: S105  # Any valid token.
    OPENABLE = "openable"  # Any valid token, or no token under SILVERBALL_PUBLIC_READ.
    ANYONE = "anyone"  # No token.


class Caller(Protocol):
    """The account or device behind a request, as far as this package needs it."""

    @property
    def user_id(self) -> int: ...

    @property
    def viewer(self) -> str:
        """The class of viewers that this caller belongs to: all of one class see the same answers."""
        ...

    @property
    def idempotency_owner_id(self) -> int:
        """The account that this caller's idempotency keys belong to."""
        ...

    def may(self, ability: str) -> bool:
        """Whether the caller's token has this ability."""
        ...


class Request(Struct, frozen=True, kw_only=True):
    """An HTTP request, as far as an endpoint is concerned."""

    method: str
    path: str
    query: bytes = b""
    # None for a request without a valid token.
    caller: Caller | None = None
    # Whether a bearer token came that is not valid.
    has_refused_token: bool = False
    body: bytes = b""
    content_type: bytes = b""
    # Where links in the answer begin; empty for the configured base URL.
    base_url: str = ""
    # The client's address.
    source: str = "unknown"
    idempotency_key: bytes | None = None
    if_match: bytes | None = None
    last_event_id: bytes | None = None


class Call(Struct, Generic[Q], frozen=True):
    """One parsed request. `caller` is None for a request without a valid token."""

    ids: dict[str, int]
    # The parts of the path that the route declares as words.
    words: dict[str, str]
    query: Q
    # The query as the client sent it, for links to other pages.
    pairs: list[tuple[str, str]]
    path: str
    base_url: str
    caller: Any
    read: Callable[[], AbstractContextManager[Any]]
    # The client's address.
    source: str
    # In UTC, to the second. For a write it is read while the lock is held.
    now: datetime
    # The program's settings, handed in by the composition root.
    settings: Any

    @property
    def url(self) -> str:
        """The URL of this request without its query."""
        return self.base_url + self.path

    @property
    def user_id(self) -> int:
        """The caller's user id; only for routes that need a token."""
        caller: Caller = self.caller
        return caller.user_id

    @property
    def actor_id(self) -> int | None:
        """The account that the journal names as the actor; None for a device."""
        return self.user_id or None


class Write(Call[Any], Generic[B_co, D, X], frozen=True):
    """One parsed request that may change something."""

    body: B_co
    # The transaction's connection. The `prepare` step gets a snapshot instead.
    db: D
    # Holds the lock of the tournament in the path. The `prepare` step has none.
    transaction: X
    # What was drawn for this call outside of any transaction; None so far.
    preparation: Any = None

    def with_body(self, body: Body) -> "Write[Any, D, X]":
        """The same call with another body, as a write of another slice expects it."""
        call: Write[Any, D, X] = replace(self, body=body)  # type: ignore[arg-type]  # the body has another type
        return call

    def within(self, db: Any, transaction: Any, now: datetime) -> "Write[B_co, D, X]":
        """The same call within this transaction."""
        return replace(self, db=db, transaction=transaction, now=now)

    @property
    def is_preparation(self) -> bool:
        """Whether this is the `prepare` step, which has neither lock nor transaction."""
        return self.transaction is None


AnyWrite = Write[Any, Any, Any]


class HttpResponse(Struct, frozen=True):
    """An encoded answer.

    `is_throttled` lets the front door give the answer again for the standings interval. `is_cacheable` is
    False for an answer that can change without a new revision, so that it is computed on each request.
    `hides` marks the answer to a write that hid something: it is sent when no node answers from before.
    """

    status: int
    body: bytes
    content_type: str = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()
    is_throttled: bool = False
    is_cacheable: bool = True
    hides: bool = False


class FileDownload(Struct, frozen=True):
    """A handler's result that is downloaded as a file."""

    body: bytes
    content_type: str
    name: str


class SvgImage(Struct, frozen=True):
    """A handler's result that is displayed as a picture."""

    svg: bytes


class ThrottledResult(Struct, Generic[T], frozen=True):
    """A handler's result that still changes, and may be shown for some seconds as it was."""

    value: T
    is_throttled: bool


class UncachedResult(Struct, Generic[T], frozen=True):
    """A handler's result that can change without a new revision, so that it is never cached."""

    value: T


class OneTimeResult(Struct, Generic[T], frozen=True):
    """A writing handler's result that holds a secret: sent once, never stored.

    `replay_value` is the answer to a repeated request with the same idempotency key.
    """

    value: T
    replay_value: T


class Endpoint(Struct, frozen=True, kw_only=True, dict=True):
    """One row of the endpoint table."""

    method: str
    path: str
    handler: Handler
    access: Access
    query: type[Query]
    returns: Any
    # The ability that the token needs; every token can read.
    ability: str = "read"
    # None for a route that takes no body.
    body: type[Body] | None = None
    status: int = 200
    # Called with a snapshot before the lock is taken, for slow work such as a draw.
    prepare: Handler | None = None
    # Whether the handler is a coroutine, which may wait (kit/http/endpoints.py).
    is_async: bool = False
    # Parts of the path that are words rather than ids: name -> pattern of the whole word.
    words: Mapping[str, str] = field(default_factory=dict)
    # Whether the members of a JSON object in the body are query parameters too; only for reads.
    accepts_body_parameters: bool = False
    # Whether a read can be refused for the state of what it reads, as writes can.
    can_conflict: bool = False
    # Whether its body may be a form with a file (`multipart/form-data`).
    takes_file: bool = False

    @cached_property
    def parser(self) -> QueryParser:
        """The parser of its parameters, built for the first request: a start would build two hundred."""
        return QueryParser(self.query)

    @cached_property
    def body_parser(self) -> BodyParser:
        """The parser of its body, built for the first request."""
        return BodyParser(self.body or Body)

    @property
    def is_write(self) -> bool:
        """Whether the route may change something; a POST that only reads does not."""
        return self.method in WRITE_METHODS and not self.accepts_body_parameters

    @property
    def title(self) -> str:
        """The first line of the handler's docstring."""
        return (self.handler.__doc__ or "").strip().splitlines()[0]

    @cached_property
    def parameters(self) -> list[str]:
        """The names of the ids and words in the path, in order."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]


def _declare_read(
    method: str,
    path: str,
    *,
    query: type[Query] = Query,
    access: Access = Access.TOKEN,
    words: Mapping[str, str] | None = None,
    accepts_body_parameters: bool = False,
    can_conflict: bool = False,
) -> Callable[[Handler], Endpoint]:
    """Declare a route that reads; `{tournament_id}` in the path is an id. GET also answers HEAD.

    `words={"date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}"}` makes `{date}` a word of this pattern.
    `accepts_body_parameters` allows the parameters in a JSON object in the body, as some clients send them.
    """

    def declare(handler: Handler) -> Endpoint:
        return Endpoint(
            method=method,
            path=path,
            handler=handler,
            access=access,
            query=query,
            returns=_return_type(handler),
            words=words or {},
            accepts_body_parameters=accepts_body_parameters,
            can_conflict=can_conflict,
        )

    return declare


get = partial(_declare_read, "GET")
# A POST that only reads: any token will do, and there is no transaction, lock or idempotency key.
read_post = partial(_declare_read, "POST", accepts_body_parameters=True)


def _declare_write(
    method: str,
    path: str,
    *,
    ability: str,
    body: type[Body] | None = None,
    query: type[Query] = Query,
    status: Literal[200, 201] = 200,
    prepare: Handler | None = None,
    takes_file: bool = False,
) -> Callable[[Handler], Endpoint]:
    """Declare a route that may change something; its handler takes a `Write`."""

    def declare(handler: Handler) -> Endpoint:
        returns = _return_type(handler)
        if returns is FileDownload:
            raise TypeError(f"{method} {path} cannot answer with a file: stored responses are JSON")
        return Endpoint(
            method=method,
            path=path,
            handler=handler,
            access=Access.TOKEN,
            query=query,
            returns=returns,
            ability=ability,
            body=body,
            status=status,
            prepare=prepare,
            takes_file=takes_file,
        )

    return declare


post = partial(_declare_write, "POST")
put = partial(_declare_write, "PUT")
patch = partial(_declare_write, "PATCH")
delete = partial(_declare_write, "DELETE")


def _return_type(handler: Handler) -> Any:
    """The shape of the answer's body, from the handler's annotations."""
    returns: Any = handler.__annotations__.get("return", Any)
    if get_origin(returns) in (ThrottledResult, UncachedResult, OneTimeResult):
        (returns,) = get_args(returns)
    return returns


def collect_endpoints(*modules: Any) -> list[Endpoint]:
    """The endpoints that these route modules declare, in order of declaration."""
    return [
        declared for module in modules for declared in vars(module).values() if isinstance(declared, Endpoint)
    ]


class Unauthenticated(Refusal):
    """The route needs a token, and the request has no valid one."""

    sentence = "Unauthenticated."


class AbilityMissing(NotAllowed):
    """The token is valid but lacks the ability that the route needs."""

    sentence = "Invalid ability provided."


class PreparationOutdated(Exception):
    """Raised by a handler whose preparation no longer fits: prepare and try again."""


class DrawNeeded(PreparationOutdated):
    """Raised by a handler that needs a long draw: run it after the transaction, and try again with it."""

    def __init__(self, draw: Callable[[], Any]) -> None:
        super().__init__()
        self.draw = draw


# Routes that wait for something to happen (`@get_async`) run on the event loop and hold no thread meanwhile.
# They only read. A handler that sends parts without an end returns a `Stream`.


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
    headers = [content_type, CACHE_CONTROL, unbuffered, *INTERFACE_HEADERS, *stream.headers, *extra]
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
