"""Requests that are sent again: one key, one effect, one answer.

The key of a request is claimed and its answer kept in the transaction of its change; how, the store
knows. Here is what such a key must look like and what a second request with it is told.
"""

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from silverball.kit.errors import Conflict, Invalid
from silverball.kit.http.endpoints import HttpResponse, Request

HEADER = "Idempotency-Key"
KEY_PATTERN = re.compile(rb"[\x21-\x7e]{1,200}")
BAD_KEY = "The idempotency key must be 1 to 200 visible ASCII characters without spaces."
KEY_REUSED = "This idempotency key was used for another request. Use a new key for every new request."
REPLAYED_HEADER = (b"idempotency-replayed", b"true")


class RequestInProgress(Conflict):
    def __init__(self) -> None:
        super().__init__("A request with this idempotency key is being answered. Send it again in a moment.")


@dataclass(frozen=True)
class IdempotencyKey:
    """A request that acts once: whose it is, its key, and what it must be equal in."""

    user_id: int
    key: str
    fingerprint: str


@dataclass(frozen=True)
class StoredResponse:
    """A stored answer."""

    fingerprint: str
    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...]


class IdempotencyStore(Protocol):
    """Where answers are stored."""

    def load_response(self, db: Any, ticket: IdempotencyKey, now: datetime) -> StoredResponse | None:
        """The stored answer to this key."""
        ...

    def claim_key(self, db: Any, ticket: IdempotencyKey, now: datetime) -> bool:
        """Take the key for this transaction, unless another one had it."""
        ...

    def store_response(self, db: Any, ticket: IdempotencyKey, kept: StoredResponse, now: datetime) -> None:
        """Store the answer to a claimed key."""
        ...


class AlreadyAnswered(Exception):
    """Another transaction had the key and has left this answer."""

    def __init__(self, kept: StoredResponse) -> None:
        super().__init__()
        self.stored = kept


class KeysInProgress:
    """The keys that are being worked on in this process."""

    def __init__(self) -> None:
        self._released = threading.Condition()
        self._keys: set[tuple[int, str]] = set()

    @contextmanager
    def hold(self, ticket: IdempotencyKey, *, wait_seconds: float = 0) -> Iterator[None]:
        """Hold the key alone. Raises RequestInProgress when another request keeps it that long."""
        key = (ticket.user_id, ticket.key)
        with self._released:
            if not self._released.wait_for(lambda: key not in self._keys, wait_seconds):
                raise RequestInProgress
            self._keys.add(key)
        try:
            yield
        finally:
            with self._released:
                self._keys.discard(key)
                self._released.notify_all()


def read_key(request: Request, user_id: int) -> IdempotencyKey | None:
    """The request's ticket; None when it has no key. Raises Invalid when the key cannot be one."""
    key = request.idempotency_key
    if key is None:
        return None
    if not KEY_PATTERN.fullmatch(key):
        raise Invalid({HEADER: [BAD_KEY]})
    parts = (request.method.encode(), request.path.encode("utf-8", "replace"), request.query, request.body)
    told = hashlib.sha256()
    for part in parts:
        told.update(b"%d:" % len(part) + part)
    return IdempotencyKey(user_id, key.decode("ascii"), told.hexdigest())


def stored_response(ticket: IdempotencyKey, answer: HttpResponse) -> StoredResponse:
    """The answer as it is stored."""
    headers = tuple((name.decode(), value.decode()) for name, value in answer.headers)
    return StoredResponse(ticket.fingerprint, answer.status, answer.body, headers)


def replay_response(stored: StoredResponse, ticket: IdempotencyKey) -> HttpResponse:
    """The stored answer again. Raises Invalid when it was the answer to something else."""
    if stored.fingerprint != ticket.fingerprint:
        raise Invalid({HEADER: [KEY_REUSED]})
    headers = tuple((name.encode(), value.encode()) for name, value in stored.headers)
    return HttpResponse(stored.status, stored.body, headers=(*headers, REPLAYED_HEADER))
