"""What the front door asks of a request, and of the house behind it."""

import re
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from dataclasses import dataclass
from typing import Any

from silverball.kit.http import ID_MAX, Answer, Caller

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

BODY_BYTES_MAX = 1_000_000
TOURNAMENT_PATH = re.compile(r"/api/tournaments/([0-9]{1,19})(?:/|\Z)", re.ASCII)
LOOPBACK = frozenset({"127.0.0.1", "::1"})


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What the front door keeps to; 0 switches a limit off, and the memory too."""

    rate_per_minute: int = 60
    standings_interval_seconds: int = 15
    cache_bytes: int = 64_000_000


@dataclass(frozen=True, kw_only=True)
class House:
    """What is behind the door. A scope is a tournament's id, or 0 for everything else."""

    # Who an Authorization header speaks for. Runs in a worker thread, like `refresh` and `answer`.
    find_caller: Callable[[bytes], Caller | None]
    # The revision of a scope as far as it is known in memory; 0 when it is not.
    revision_of: Callable[[int], int]
    # The revision of a scope, read now; 0 when there is no such thing.
    refresh: Callable[[int], int]
    # Method, path, query string, caller -> answer. Never raises.
    answer: Callable[[str, str, bytes, Caller | None], Answer]
    # What went wrong -> answer, for what happens outside of `answer`.
    failed: Callable[[Exception], Answer]
    # Paths whose answer is kept per user.
    own_paths: Collection[str] = ()
    # Everything that is not below /api; None when nothing is.
    pages: Asgi | None = None


def address_of(scope: Scope, headers: dict[bytes, bytes]) -> str:
    """Where a request without a caller came from; a proxy on this machine is believed."""
    client = scope.get("client")
    address = str(client[0]) if client else "unknown"
    forwarded = headers.get(b"x-forwarded-for")
    if forwarded and address in LOOPBACK:
        return forwarded.rpartition(b",")[2].strip().decode("latin-1")[:64]
    return address


def scope_id_of(path: str) -> int:
    """The tournament that an answer belongs to, or 0; what cannot be an id belongs to none."""
    found = TOURNAMENT_PATH.match(path)
    number = int(found[1]) if found else 0
    return number if number <= ID_MAX else 0


def number_of(text: bytes | None) -> int:
    return int(text) if text and text.isdigit() and len(text) < 20 else 0


async def is_too_large(receive: Receive, headers: dict[bytes, bytes]) -> bool:
    """Whether the body is larger than any that is read here; one of unknown length is counted."""
    if b"transfer-encoding" not in headers:
        length = headers.get(b"content-length", b"0")
        return not length.isdigit() or len(length) > 19 or int(length) > BODY_BYTES_MAX
    received = 0
    has_more = True
    while has_more and received <= BODY_BYTES_MAX:
        message = await receive()
        received += len(message.get("body", b""))
        has_more = message.get("more_body", False)
    return received > BODY_BYTES_MAX
