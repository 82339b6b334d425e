"""The interface between the front door and the program behind it, and how a request's parts are read."""

import re
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from typing import Any, NamedTuple, Self

import msgspec
from msgspec import Struct

from silverball.kit.edge.computing_line import Computing
from silverball.kit.edge.proxies import NO_PROXIES, TrustedProxies
from silverball.kit.edge.redis_counts import RedisCounts
from silverball.kit.edge.shares import Visitor
from silverball.kit.http.asgi import AsgiApp, Receive
from silverball.kit.http.endpoints import READ_METHODS, WRITE_METHODS, Caller, HttpResponse, Request
from silverball.kit.measures import Measures

BODY_BYTES_MAX = 1_000_000
SEEN_COOKIE = "seen"
SEEN_SECONDS = 10
SEEN = re.compile(rb"(?:^|; ?)(?:__Host-)?seen=(site|[1-9][0-9]{0,17}):([0-9]{1,18})-([0-9]{1,19})(?:;|$)")
OWN_PER_MINUTE = 600


class SeenRevision(NamedTuple):
    """The state that a form led to: of a tournament, or of the whole site (scope 0).

    Its sender brings it as a cookie, so that no node shows them an older state.
    """

    scope_id: int
    number: int
    stamp: int

    @classmethod
    def parse(cls, cookies: bytes | None) -> Self | None:
        """The state in a Cookie header; None without one that can be read."""
        found = SEEN.search(cookies) if cookies else None
        if found is None:
            return None
        scope, number, stamp = found.groups()
        return cls(0 if scope == b"site" else int(scope), int(number), int(stamp))

    @property
    def cookie(self) -> str:
        """The value of the cookie."""
        return f"{self.scope_id or 'site'}:{self.number}-{self.stamp}"


class FrontDoorLimits(Struct, frozen=True, kw_only=True):
    """Limits of the front door; 0 switches one off, or the cache."""

    rate_per_minute: int = 60
    # For requests about a running tournament of the caller's own.
    own_per_minute: int = OWN_PER_MINUTE
    standings_interval_seconds: int = 15
    # Requests to resolve-unknown of one caller that are not counted; pages computed for one address.
    resolving_per_minute: int = OWN_PER_MINUTE
    pages_per_minute: int = 1_200
    # Pages of a player with a printed code.
    code_per_minute: int = 30
    # Long polls and event streams that one address or account may have open.
    streams_max: int = 0
    cache_bytes: int = 64_000_000
    # Whose word about a client's address is taken.
    proxies: TrustedProxies = NO_PROXIES
    # Where nodes tell each other what they have counted.
    shared_counts: RedisCounts | None = None
    # Where requests are counted.
    measures: Measures = msgspec.field(default_factory=Measures)

    @property
    def heads_bytes(self) -> int:
        """The part of the cache that remembers requests, for answers that leave from the connection."""
        return self.cache_bytes // 8


class Backend(Struct, frozen=True, kw_only=True):
    """The callables and paths that the front door needs from the program.

    A scope is a tournament's id, or 0 for everything outside of tournaments.
    """

    # The caller behind an Authorization header. Runs in a worker thread, like `refresh` and `answer`.
    find_caller: Callable[[bytes], Caller | None]
    # The scope's version as known in memory: another number after each change; 0 when unknown.
    version_of: Callable[[int], int]
    # The scope's version, read from the database; 0 when it does not exist.
    refresh: Callable[[int], int]
    # Never raises.
    answer: Callable[[Request], HttpResponse]
    # Turns exceptions raised outside of `answer` into answers.
    answer_error: Callable[[Exception], HttpResponse]
    # Whether a bearer token that is not valid here is taken for none, as another service issued it.
    reads_as_nobody: Callable[[bytes], bool] = lambda _authorization: False
    # The time since the database was last asked, while it cannot be asked; 0 while it can be.
    outage_seconds: Callable[[], float] = lambda: 0.0
    # The scope's version when the database was last asked; 0 when unknown.
    last_version_of: Callable[[int], int] = lambda _scope_id: 0
    # The revision in a version. Revisions only rise, as long as the database never goes back.
    revision_in: Callable[[int], int] = lambda version: version
    # A number that changes when somebody hides something, or the database turns out to have gone back.
    hidden_at: Callable[[], int] = lambda: 0
    # Whether this process knows a state at least as new as this one.
    has_reached: Callable[[SeenRevision], bool] = lambda _seen: True
    # The scope that a path belongs to.
    scope_for: Callable[[str], int] = lambda _path: 0
    # Whether requests for this path are not counted.
    is_uncounted: Callable[[str], bool] = lambda _path: False
    # Whether computing this answer (path and query) costs as much as a page, and is counted like one.
    costs_a_page: Callable[[str, bytes], bool] = lambda _path, _query: False
    # Whether the caller is running this scope's tournament now. Runs in a worker thread.
    has_own_quota: Callable[[Caller, int], bool] = lambda _caller, _scope_id: False
    # The methods that a path supports; empty for an unknown path.
    methods_for: Callable[[str], Sequence[str]] = lambda _path: ()
    # Paths cached per user, as declared: with `{word}` for variable parts.
    per_user_paths: Collection[str] = ()
    # Paths of the routes that wait, and their handler, which runs on the event loop.
    async_paths: Collection[str] = ()
    answer_async: Callable[[Request], Coroutine[Any, Any, Any]] | None = None
    # Serves every path outside of /api; None when there are no pages.
    pages: AsgiApp | None = None
    # Paths of pages that look the same to every visitor, and their handler: cached like the interface's
    # answers, but never counted. Runs in a worker thread and never raises.
    public_paths: Collection[str] = ()
    answer_public: Callable[[Request], HttpResponse] | None = None
    # The cookies and codes in a request for a page (path, query, Cookie header) that may say whose it is, and
    # the visitor behind them. The second runs in a worker thread.
    secrets_in: Callable[[str, bytes, bytes], bytes] = lambda _path, _query, _cookies: b""
    find_visitor: Callable[[bytes], Visitor | None] = lambda _secrets: None
    # The body of such a page with a note that it is as old as this, in seconds.
    date_public_page: Callable[[bytes, float], bytes] = lambda body, _seconds: body
    # The part of a query that such a page depends on: equal parts share a cached page.
    normalize_public_query: Callable[[bytes], bytes] = lambda query: query
    # Whether links follow the Host header of each request, as there is no configured base URL.
    follows_host: bool = False
    # Account id -> the number of its newest change, as far as this process made it; and the newest of all.
    account_changes: Mapping[int, int] = msgspec.field(default_factory=dict)
    newest_account_change: Callable[[], int] = lambda: 0
    # Whoever hides something gets the answer after this long, as other nodes answer from memory.
    hiding_seconds: float = 0.0
    # Where costly answers are computed; None where none is costly.
    computing: Computing | None = None
    # The number of threads that compute answers.
    workers: int = 8
    # The number of threads for writes of one scope; None where all writes wait for one lock anyway.
    writers_per_scope: int | None = None


def parse_revision(text: bytes | None) -> int:
    """The revision in a header; 0 when there is none."""
    return int(text) if text and text.isdigit() and len(text) < 20 else 0


def is_declared_too_large(headers: dict[bytes, bytes]) -> bool:
    """Whether Content-Length is above the limit or no number."""
    if b"transfer-encoding" in headers:
        return False
    length = headers.get(b"content-length", b"0")
    return not length.isdigit() or len(length) > 19 or int(length) > BODY_BYTES_MAX


def has_body(headers: dict[bytes, bytes]) -> bool:
    """Whether a request with these headers has a body."""
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"


async def read_body(method: str, receive: Receive, headers: dict[bytes, bytes]) -> bytes | None:
    """The whole body; None when it is too large or the client disconnects."""
    if method not in WRITE_METHODS and method not in READ_METHODS:
        return b""
    if not has_body(headers):
        return b""
    received = bytearray()
    has_more = True
    while has_more:
        message = await receive()
        received += message.get("body", b"")
        has_more = message.get("more_body", False)
        if len(received) > BODY_BYTES_MAX or message["type"] == "http.disconnect":
            return None
    return bytes(received)


def path_pattern(paths: Collection[str]) -> re.Pattern[str]:
    """A pattern that matches the paths of these declarations."""
    patterns = (re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)) for path in paths)
    return re.compile("|".join(patterns) or r"(?!)")
