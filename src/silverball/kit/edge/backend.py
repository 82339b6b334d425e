"""What the front door asks of a request, and of the house behind it."""

import re
from collections.abc import Awaitable, Callable, Collection, Coroutine, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from silverball.kit.http.endpoints import ID_MAX, READ_METHODS, WRITE_METHODS, Caller, HttpResponse, Request

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

BODY_BYTES_MAX = 1_000_000
OWN_PER_MINUTE = 600
# Whether a tournament is the caller's own is asked for so many in the seconds that a caller is known.
OWN_TOURNAMENTS_MAX = 50
# Clients ask so for every new name that the feed mentions.
UNCOUNTED_SUFFIX = "/resolve-unknown"
TOURNAMENT_PATH = re.compile(r"/(?:api/tournaments|t)/([0-9]{1,19})(?:/|\Z)", re.ASCII)
LOOPBACK = frozenset({"127.0.0.1", "::1"})


@dataclass(frozen=True, kw_only=True)
class FrontDoorLimits:
    """What the front door keeps to; 0 switches a limit off, and the memory too."""

    rate_per_minute: int = 60
    # For calls on a running tournament of the caller's own.
    own_per_minute: int = OWN_PER_MINUTE
    standings_interval_seconds: int = 15
    cache_bytes: int = 64_000_000


@dataclass(frozen=True, kw_only=True)
class Backend:
    """What is behind the door. A scope is a tournament's id, or 0 for everything else."""

    # Who an Authorization header speaks for. Runs in a worker thread, like `refresh` and `answer`.
    find_caller: Callable[[bytes], Caller | None]
    # The revision of a scope as far as it is known in memory; 0 when it is not.
    revision_of: Callable[[int], int]
    # The revision of a scope, read now; 0 when there is no such thing.
    refresh: Callable[[int], int]
    # Never raises.
    answer: Callable[[Request], HttpResponse]
    # What went wrong -> answer, for what happens outside of `answer`.
    answer_error: Callable[[Exception], HttpResponse]
    # Whether this tournament is one that the caller is running now. Runs in a worker thread.
    has_own_quota: Callable[[Caller, int], bool] = lambda _caller, _scope_id: False
    # What a path can be asked with; nothing when there is no such path.
    methods_for: Callable[[str], Sequence[str]] = lambda _path: ()
    # Paths whose answer is kept per user, as they are declared: with `{word}` for what varies.
    per_user_paths: Collection[str] = ()
    # Paths of the routes that wait, and what answers them, on the event loop.
    async_paths: Collection[str] = ()
    answer_async: Callable[[Request], Coroutine[Any, Any, Any]] | None = None
    # Everything that is not below /api; None when nothing is.
    pages: Asgi | None = None
    # Paths of pages that look the same to everybody, and what answers them: kept like the others, but
    # never counted. Runs in a worker thread and never raises.
    public_paths: Collection[str] = ()
    answer_public: Callable[[Request], HttpResponse] | None = None
    # What such a page looks at of a query: two that say the same to it share an answer.
    normalize_public_query: Callable[[bytes], bytes] = lambda query: query
    # How many answers are computed at once.
    workers: int = 8


def client_address(scope: Scope, headers: dict[bytes, bytes]) -> str:
    """Where a request without a caller came from; a proxy on this machine is believed."""
    client = scope.get("client")
    address = str(client[0]) if client else "unknown"
    forwarded = headers.get(b"x-forwarded-for")
    if forwarded and address in LOOPBACK:
        return forwarded.rpartition(b",")[2].strip().decode("latin-1")[:64]
    return address


def scope_id_for(path: str) -> int:
    """The tournament that an answer belongs to, or 0; what cannot be an id belongs to none."""
    found = TOURNAMENT_PATH.match(path)
    number = int(found[1]) if found else 0
    return number if number <= ID_MAX else 0


def parse_revision(text: bytes | None) -> int:
    return int(text) if text and text.isdigit() and len(text) < 20 else 0


def is_declared_too_large(headers: dict[bytes, bytes]) -> bool:
    """Whether the request says that its body is larger than any that is read here, or cannot say."""
    if b"transfer-encoding" in headers:
        return False
    length = headers.get(b"content-length", b"0")
    return not length.isdigit() or len(length) > 19 or int(length) > BODY_BYTES_MAX


async def read_body(method: str, receive: Receive, headers: dict[bytes, bytes]) -> bytes | None:
    """The whole body; None when it is larger than any that is read here, or its sender has gone."""
    if method not in WRITE_METHODS and method not in READ_METHODS:
        return b""
    if b"transfer-encoding" not in headers and headers.get(b"content-length", b"0") == b"0":
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
    """Matches the paths of these declarations."""
    fixed = (re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)) for path in paths)
    return re.compile("|".join(fixed) or r"(?!)")
