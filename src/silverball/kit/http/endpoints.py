"""A thin typed endpoint table: declare a route, get what was sent parsed and the answer encoded.

    @get("/api/arenas", query=ArenaQuery, access=Access.OWN)
    def list_arenas(call: Call[ArenaQuery]) -> Page[Arena]: ...

    @post("/api/arenas", body=NewArena, ability="manage", status=201)
    def add_arena(call: Write[NewArena, Connection, Transaction]) -> Data[Arena]: ...

    @ask("/api/arenas/compare", query=CompareQuery)
    def compare_arenas(call: Call[CompareQuery]) -> Comparison: ...

A handler is a plain function that runs in a worker thread. One that writes is given `call.transaction`,
which is committed when the handler's value is encoded, and by nobody else. The types of a connection and
of a transaction are the service's (`Write[NewArena]` of `service/calls.py`). `kit/http/api.py` calls the
handlers; what a refusal looks like is told to it by the composition root.
"""

import enum
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Generic, Literal, Protocol, TypeVar, get_args, get_origin, get_type_hints

from silverball.kit.http.body import Body, BodyParser
from silverball.kit.http.query import Query, QueryParser

ID_MAX = 2**63 - 1
WORD_LETTERS_MAX = 100
JSON = "application/json"
SVG = "image/svg+xml"
# In the order in which a refusal lists them.
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
READ_METHODS = frozenset({"GET", "HEAD"})
WRITE_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# The id of a path below which everything is locked and counted together.
TOURNAMENT = "tournament_id"
Q = TypeVar("Q", bound=Query)
B = TypeVar("B", bound=Body)
T = TypeVar("T")
# The types of a connection and of a transaction, which this package does not know.
D = TypeVar("D")
X = TypeVar("X")
Handler = Callable[[Any], Any]


class Access(enum.Enum):
    """Who may call a route."""

    OWN = "own"  # The caller's own things: a token always, and the answer is kept per user.
    TOKEN = "token"  # noqa: S105  # Any valid token.
    OPENABLE = "openable"  # Any valid token; nobody needs one under SILVERBALL_PUBLIC_READ.
    ANYONE = "anyone"  # No token.


class Caller(Protocol):
    """What this room needs to know of who is calling."""

    @property
    def user_id(self) -> int: ...

    @property
    def viewer(self) -> str:
        """Callers with the same viewer class see the same answers."""
        ...

    @property
    def idempotency_owner_id(self) -> int:
        """The account among whose idempotency keys this caller's are kept."""
        ...

    def may(self, ability: str) -> bool:
        """Whether the token's abilities include this one."""
        ...


@dataclass(frozen=True, kw_only=True)
class Request:
    """What somebody sent, as far as an endpoint can care."""

    method: str
    path: str
    query: bytes = b""
    # None when nobody signed it.
    caller: Caller | None = None
    body: bytes = b""
    # The address it came from.
    source: str = "unknown"
    idempotency_key: bytes | None = None
    if_match: bytes | None = None
    last_event_id: bytes | None = None


@dataclass(frozen=True)
class Call(Generic[Q]):
    """One request, parsed. `caller` is None when nobody signed it."""

    ids: dict[str, int]
    # What stands in the path where the route declares words.
    words: dict[str, str]
    query: Q
    # The query as it was sent, for links to other pages.
    pairs: list[tuple[str, str]]
    path: str
    base_url: str
    caller: Any
    read: Callable[[], AbstractContextManager[Any]]
    # The address that it came from.
    source: str
    # In UTC, to the second; of a write, once it holds its lock.
    now: datetime
    # What the site is set to, as the composition root knows it.
    settings: Any

    @property
    def url(self) -> str:
        """This route's address without its query."""
        return self.base_url + self.path

    @property
    def user_id(self) -> int:
        """The caller's id; only for routes that need a token."""
        caller: Caller = self.caller
        return caller.user_id

    @property
    def actor_id(self) -> int | None:
        """The account that is written down as having done it; None when a device did."""
        return self.user_id or None


@dataclass(frozen=True)
class Write(Call[Any], Generic[B, D, X]):
    """One writing request. Its transaction is committed when the handler's value is encoded."""

    body: B
    # The connection of the transaction; while the request is prepared, a snapshot to read from.
    db: D
    # Holds the lock of the tournament in the path. Only while the request is prepared there is none.
    transaction: X
    # The value that the endpoint's `prepare` returned.
    preparation: Any = None

    @property
    def is_preparation(self) -> bool:
        """Whether the request is only prepared: without a lock, and without a transaction."""
        return self.transaction is None


AnyWrite = Write[Any, Any, Any]


class OpenTransaction(Protocol):
    """The part of a transaction that the edge reads before it commits."""

    @property
    def connection(self) -> Any: ...

    @property
    def raised_revisions(self) -> Mapping[int, int]:
        """Tournament id -> its revision after the commit."""
        ...


@dataclass(frozen=True)
class HttpResponse:
    """A finished answer.

    `at_most_every` asks the front door to keep to the standings interval; `is_kept` is False for one
    that no revision tells the age of, so that it is computed each time.
    """

    status: int
    body: bytes
    content_type: str = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()
    is_throttled: bool = False
    is_cacheable: bool = True


@dataclass(frozen=True)
class FileDownload:
    """What a handler returns to answer with something that is not JSON."""

    body: bytes
    content_type: str
    name: str


@dataclass(frozen=True)
class SvgImage:
    """What a handler returns to answer with a picture that is shown where it is asked for."""

    svg: bytes


@dataclass(frozen=True)
class ThrottledResult(Generic[T]):
    """What a handler returns when its answer may still change but should not be fetched too often."""

    value: T
    is_throttled: bool


@dataclass(frozen=True)
class UncachedResult(Generic[T]):
    """What a handler returns when its answer changes without a revision: it is kept nowhere."""

    value: T


@dataclass(frozen=True)
class OneTimeResult(Generic[T]):
    """What a writing handler returns when its answer holds a secret: it is said once and never stored.

    `again` is what a request that is sent again with its key is answered with.
    """

    value: T
    replay_value: T


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One row of the endpoint table."""

    method: str
    path: str
    handler: Handler
    access: Access
    query: type[Query]
    returns: Any
    parser: QueryParser = field(repr=False)
    # What a token must be able to; every token can read.
    ability: str = "read"
    # None when nothing is to be sent.
    body: type[Body] | None = None
    body_parser: BodyParser = field(repr=False, default_factory=lambda: BodyParser(Body))
    status: int = 200
    # Called with a snapshot before the lock is taken, for what takes long.
    prepare: Handler | None = None
    # Whether its handler is a coroutine that may wait (kit/http/async_routes.py).
    is_async: bool = False
    # Parts of the path that are words and no ids: name -> the pattern of the whole word.
    words: Mapping[str, str] = field(default_factory=dict)
    # Of a route that only reads: the members of a JSON object in its body are parameters too.
    accepts_body_parameters: bool = False

    @property
    def is_write(self) -> bool:
        """Whether it may change something; a POST that only asks does not."""
        return self.method in WRITE_METHODS and not self.accepts_body_parameters

    @property
    def title(self) -> str:
        return (self.handler.__doc__ or "").strip().splitlines()[0]

    @property
    def parameters(self) -> list[str]:
        """Names of the ids and words in the path, in order."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]


def _declare_read(
    method: str,
    path: str,
    *,
    query: type[Query] = Query,
    access: Access = Access.TOKEN,
    words: Mapping[str, str] | None = None,
    accepts_body_parameters: bool = False,
) -> Callable[[Handler], Endpoint]:
    """Declare a route that reads; `{tournament_id}` in the path is an id. HEAD comes with GET.

    `words={"date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}"}` makes `{date}` a word that looks like this.
    `is_asked_in_body` lets its parameters stand in a JSON object in the body too, as some clients send them.
    """

    def declare(handler: Handler) -> Endpoint:
        return Endpoint(
            method=method,
            path=path,
            handler=handler,
            access=access,
            query=query,
            returns=_return_type(handler),
            parser=QueryParser(query),
            words=words or {},
            accepts_body_parameters=accepts_body_parameters,
        )

    return declare


get = partial(_declare_read, "GET")
# A POST that only reads: every token may, and there is no transaction, no lock and no idempotency key.
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
) -> Callable[[Handler], Endpoint]:
    """Declare a route that writes; its handler takes a `Write`."""

    def declare(handler: Handler) -> Endpoint:
        returns = _return_type(handler)
        if returns is FileDownload:
            raise TypeError(f"{method} {path} cannot answer with a file: it is stored as JSON")
        return Endpoint(
            method=method,
            path=path,
            handler=handler,
            access=Access.TOKEN,
            query=query,
            returns=returns,
            parser=QueryParser(query),
            ability=ability,
            body=body,
            body_parser=BodyParser(body or Body),
            status=status,
            prepare=prepare,
        )

    return declare


post = partial(_declare_write, "POST")
put = partial(_declare_write, "PUT")
patch = partial(_declare_write, "PATCH")
delete = partial(_declare_write, "DELETE")


def _return_type(handler: Handler) -> Any:
    returns = get_type_hints(handler).get("return", Any)
    if get_origin(returns) in (ThrottledResult, UncachedResult, OneTimeResult):
        (returns,) = get_args(returns)
    return returns


def collect_endpoints(*modules: Any) -> list[Endpoint]:
    """The endpoints that these route modules declare, in their order."""
    return [one for module in modules for one in vars(module).values() if isinstance(one, Endpoint)]


class Unauthenticated(Exception):
    """The route needs a token and there is no valid one."""


class RevisionMismatch(Exception):
    """The tournament is no longer at the revision that If-Match names."""

    def __init__(self, revision: int) -> None:
        super().__init__(revision)
        self.revision = revision


class PreparationOutdated(Exception):
    """A handler says: what was seen ahead is no longer so. It is looked at and tried again."""
