"""A thin typed endpoint table: declare a route, get its query parsed and its answer encoded.

    @get("/api/arenas", query=ArenaQuery, access=Access.OWN)
    def list_arenas(call: Call[ArenaQuery]) -> Page[Arena]: ...

A handler is a plain function that runs in a worker thread. `Api.answer` finds the endpoint,
parses, calls and encodes; what a refusal looks like is told to it by the composition root.
"""

import enum
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from silverball.kit.errors import NotFound
from silverball.kit.query import Query, QueryParser, pairs_of

ID_MAX = 2**63 - 1
JSON = "application/json"
Q = TypeVar("Q", bound=Query)
T = TypeVar("T")


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
    write: Callable[..., AbstractContextManager[Any]]

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
class Endpoint:
    """One row of the endpoint table."""

    method: str
    path: str
    handler: Callable[[Any], Any]
    access: Access
    query: type[Query]
    returns: Any
    parser: QueryParser = field(repr=False)

    @property
    def title(self) -> str:
        return (self.handler.__doc__ or "").strip().splitlines()[0]

    @property
    def parameters(self) -> list[str]:
        """Names of the ids in the path, in order."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]


def get(
    path: str, *, query: type[Query] = Query, access: Access = Access.TOKEN
) -> Callable[[Callable[[Any], Any]], Endpoint]:
    """Declare a GET route; `{tournament_id}` in the path is an id. HEAD comes with it."""

    def declare(handler: Callable[[Any], Any]) -> Endpoint:
        returns = get_type_hints(handler).get("return", Any)
        if get_origin(returns) is Paced:
            (returns,) = get_args(returns)
        return Endpoint("GET", path, handler, access, query, returns, QueryParser(query))

    return declare


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
            allowed = [*node.here, *(["HEAD"] if "GET" in node.here else [])]
            raise WrongVerb(method, path, allowed)
        return Matched(endpoint, dict(zip(endpoint.parameters, words, strict=True)))


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


class Api:
    """The endpoints behind one base URL. `answer` raises what the composition root turns into a status."""

    def __init__(
        self,
        routes: Routes,
        *,
        base_url: str,
        public_read: bool,
        read: Callable[[], AbstractContextManager[Any]],
        write: Callable[..., AbstractContextManager[Any]],
    ) -> None:
        self.routes = routes
        self._base_url = base_url
        self._public_read = public_read
        self._read = read
        self._write = write
        self._encode = msgspec.json.Encoder().encode

    def answer(self, method: str, path: str, query_string: bytes, caller: Any) -> Answer:
        """Find the endpoint, parse, call, encode. Raises refusals and the three exceptions above."""
        matched = self.routes.match(method, path)
        endpoint = matched.endpoint
        if caller is None and not self._is_open(endpoint.access):
            raise Unauthenticated(path)
        pairs = pairs_of(query_string)
        call: Call[Any] = Call(
            ids={name: path_id(name, word) for name, word in matched.words.items()},
            query=endpoint.parser.parse(pairs),
            pairs=pairs,
            path=path,
            base_url=self._base_url,
            caller=caller,
            read=self._read,
            write=self._write,
        )
        return self._encoded(endpoint.handler(call))

    def _is_open(self, access: Access) -> bool:
        return access is Access.ANYONE or (access is Access.OPENABLE and self._public_read)

    def _encoded(self, value: Any) -> Answer:
        if isinstance(value, Paced):
            return Answer(200, self._encode(value.value), at_most_every=value.at_most_every)
        if isinstance(value, File):
            disposition = f'attachment; filename="{value.name}"'.encode("latin-1")
            return Answer(200, value.body, value.content_type, ((b"content-disposition", disposition),))
        return Answer(200, self._encode(value))


def path_id(name: str, word: str) -> int:
    """The id in a path. Raises NotFound, worded after the id's name, when it cannot be one."""
    if word.isascii() and word.isdigit() and 1 <= len(word) <= 19 and 1 <= int(word) <= ID_MAX:
        return int(word)
    model = "".join(part.capitalize() for part in name.removesuffix("_id").split("_"))
    raise NotFound(model, word)
