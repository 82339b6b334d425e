"""A thin typed endpoint table: declare a route, get what was sent parsed and the answer encoded.

    @get("/api/arenas", query=ArenaQuery, access=Access.OWN)
    def list_arenas(call: Call[ArenaQuery]) -> Page[Arena]: ...

    @post("/api/arenas", body=NewArena, ability="manage", status=201)
    def add_arena(call: Write[NewArena]) -> Data[Arena]: ...

A handler is a plain function that runs in a worker thread. One that writes is given a transaction as
`call.db`; it is committed when the handler's value is encoded, and by nobody else. `kit/api.py` calls
the handlers; what a refusal looks like is told to it by the composition root.
"""

import enum
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Generic, Literal, Protocol, TypeVar, get_args, get_origin, get_type_hints

from silverball.kit.body import Body, BodyParser
from silverball.kit.errors import NotFound
from silverball.kit.query import Query, QueryParser

ID_MAX = 2**63 - 1
JSON = "application/json"
# In the order in which a refusal lists them.
VERBS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
READS = frozenset({"GET", "HEAD"})
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# The id of a path below which everything is locked and counted together.
TOURNAMENT = "tournament_id"
Q = TypeVar("Q", bound=Query)
B = TypeVar("B", bound=Body)
T = TypeVar("T")
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


@dataclass(frozen=True)
class Call(Generic[Q]):
    """One request, parsed. `caller` is None when nobody signed it."""

    ids: dict[str, int]
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

    @property
    def url(self) -> str:
        """This route's address without its query."""
        return self.base_url + self.path

    @property
    def user_id(self) -> int:
        """The caller's id; only for routes that need a token."""
        caller: Caller = self.caller
        return caller.user_id


@dataclass(frozen=True)
class Write(Call[Any], Generic[B]):
    """One writing request. What the handler did through `db` is committed when its value is encoded."""

    body: B
    # The transaction, which holds the lock of the tournament in the path; a snapshot while looking ahead.
    db: Any = None
    # What the endpoint's `ahead` returned.
    ahead: Any = None


@dataclass(frozen=True)
class Answer:
    """A finished answer. `at_most_every` asks the front door to keep to the standings interval."""

    status: int
    body: bytes
    content_type: str = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()
    at_most_every: bool = False


@dataclass(frozen=True)
class File:
    """What a handler returns to answer with something that is not JSON."""

    body: bytes
    content_type: str
    name: str


@dataclass(frozen=True)
class Paced(Generic[T]):
    """What a handler returns when its answer may still change but should not be fetched too often."""

    value: T
    at_most_every: bool


@dataclass(frozen=True)
class Once(Generic[T]):
    """What a writing handler returns when its answer holds a secret: it is said once and never stored.

    `again` is what a request that is sent again with its key is answered with.
    """

    value: T
    again: T


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
    ahead: Handler | None = None

    @property
    def is_write(self) -> bool:
        return self.method in WRITES

    @property
    def title(self) -> str:
        return (self.handler.__doc__ or "").strip().splitlines()[0]

    @property
    def parameters(self) -> list[str]:
        """Names of the ids in the path, in order."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]


def get(
    path: str, *, query: type[Query] = Query, access: Access = Access.TOKEN
) -> Callable[[Handler], Endpoint]:
    """Declare a GET route; `{tournament_id}` in the path is an id. HEAD comes with it."""

    def declare(handler: Handler) -> Endpoint:
        return Endpoint(
            method="GET",
            path=path,
            handler=handler,
            access=access,
            query=query,
            returns=_shape_of(handler),
            parser=QueryParser(query),
        )

    return declare


def _writing(
    method: str,
    path: str,
    *,
    ability: str,
    body: type[Body] | None = None,
    query: type[Query] = Query,
    status: Literal[200, 201] = 200,
    ahead: Handler | None = None,
) -> Callable[[Handler], Endpoint]:
    """Declare a route that writes; its handler takes a `Write`."""

    def declare(handler: Handler) -> Endpoint:
        returns = _shape_of(handler)
        if returns is File:
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
            ahead=ahead,
        )

    return declare


post = partial(_writing, "POST")
put = partial(_writing, "PUT")
patch = partial(_writing, "PATCH")
delete = partial(_writing, "DELETE")


def _shape_of(handler: Handler) -> Any:
    returns = get_type_hints(handler).get("return", Any)
    if get_origin(returns) in (Paced, Once):
        (returns,) = get_args(returns)
    return returns


def endpoints_of(*modules: Any) -> list[Endpoint]:
    """The endpoints that these route modules declare, in their order."""
    return [one for module in modules for one in vars(module).values() if isinstance(one, Endpoint)]


class UnknownPath(Exception):
    """No route has this path."""


class WrongVerb(Exception):
    """The path exists, but not for this verb."""

    def __init__(self, method: str, path: str, allowed: list[str]) -> None:
        super().__init__(method, path)
        self.method, self.path, self.allowed = method, path, allowed


class Unauthenticated(Exception):
    """The route needs a token and there is no valid one."""


class Stale(Exception):
    """The tournament is no longer at the revision that If-Match names."""

    def __init__(self, revision: int) -> None:
        super().__init__(revision)
        self.revision = revision


class Moved(Exception):
    """A handler says: what was seen ahead is no longer so. It is looked at and tried again."""


@dataclass(frozen=True)
class Matched:
    """A route that was found, and the words of the path that stand where its ids are."""

    endpoint: Endpoint
    words: dict[str, str]


class _Node:
    """A place in the tree of paths."""

    def __init__(self) -> None:
        self.fixed: dict[str, _Node] = {}
        self.any: _Node | None = None
        self.here: dict[str, Endpoint] = {}


class Routes:
    """Finds an endpoint by verb and path. A fixed word wins over an id at the same place."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self.endpoints = list(endpoints)
        self._root = _Node()
        for one in self.endpoints:
            self._place(one)

    def _place(self, endpoint: Endpoint) -> None:
        node = self._root
        for part in endpoint.path.split("/")[1:]:
            if part.startswith("{"):
                node.any = node.any or _Node()
                node = node.any
            else:
                node = node.fixed.setdefault(part, _Node())
        if endpoint.method in node.here:
            raise ValueError(f"{endpoint.method} {endpoint.path} is declared twice")
        node.here[endpoint.method] = endpoint

    def match(self, method: str, path: str) -> Matched:
        """The endpoint of this request. Raises UnknownPath or WrongVerb."""
        parts = path.split("/")[1:]
        found = _descend(self._root, parts)
        if found is None:
            raise UnknownPath(path)
        node, words = found
        endpoint = node.here.get("GET" if method == "HEAD" else method)
        if endpoint is None:
            raise WrongVerb(method, path, _allowed(node))
        return Matched(endpoint, dict(zip(endpoint.parameters, words, strict=True)))

    def verbs(self, path: str) -> list[str]:
        """What this path can be asked with; nothing when there is no such path."""
        found = _descend(self._root, path.split("/")[1:])
        return [] if found is None else _allowed(found[0])


def _allowed(node: _Node) -> list[str]:
    return [verb for verb in VERBS if ("GET" if verb == "HEAD" else verb) in node.here]


def _descend(node: _Node, parts: list[str]) -> tuple[_Node, list[str]] | None:
    words = []
    for part in parts:
        fixed = node.fixed.get(part)
        if fixed is None and part and node.any is not None:
            words.append(part)
            fixed = node.any
        if fixed is None:
            return None
        node = fixed
    return (node, words) if node.here else None


def path_id(name: str, word: str) -> int:
    """The id in a path. Raises NotFound, worded after the id's name, when it cannot be one."""
    if word.isascii() and word.isdigit() and 1 <= len(word) <= 19 and 1 <= int(word) <= ID_MAX:
        return int(word)
    model = "".join(part.capitalize() for part in name.removesuffix("_id").split("_"))
    raise NotFound(model, word)
