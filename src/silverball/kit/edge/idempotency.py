"""Idempotency keys: a request that is sent again has one effect and one answer.

A key is claimed, and the answer stored, in the transaction of the change; the store implements that
(`IdempotencyStore`). This module validates keys and replays stored answers.
"""

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Protocol, TypeVar

from msgspec import Struct

from silverball.kit.errors import Conflict, Invalid
from silverball.kit.http.endpoints import HttpResponse, Request

# The type of a connection, which this package does not know.
D_contra = TypeVar("D_contra", contravariant=True)
HEADER = "Idempotency-Key"
KEY_PATTERN = re.compile(rb"[\x21-\x7e]{1,200}")
REPLAYED_HEADER = (b"idempotency-replayed", b"true")


class RequestInProgress(Conflict):
    """Another request with this key has no answer yet."""

    sentence = "A request with this idempotency key is being answered. Send it again in a moment."


class IdempotencyKeyMalformed(Invalid):
    """The header's value cannot be a key."""

    sentence = "The idempotency key must be 1 to 200 visible ASCII characters without spaces."

    def __init__(self) -> None:
        super().__init__({HEADER: [self.sentence]})


class IdempotencyKeyReused(Invalid):
    """The key was used before, for a different request."""

    sentence = "This idempotency key was used for another request. Use a new key for every new request."

    def __init__(self) -> None:
        super().__init__({HEADER: [self.sentence]})


class IdempotencyKey(Struct, frozen=True):
    """A key, the account that it belongs to, and the fingerprint of its request."""

    user_id: int
    key: str
    fingerprint: str


class StoredResponse(Struct, frozen=True):
    """The stored answer to a request with a key."""

    fingerprint: str
    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...]


class IdempotencyStore(Protocol[D_contra]):
    """Storage for claimed keys and their answers."""

    def load_response(self, db: D_contra, key: IdempotencyKey, /) -> StoredResponse | None:
        """The stored answer to this key."""
        ...

    def claim_key(
        self, db: D_contra, key: IdempotencyKey, tournament_id: int | None, now: datetime, /
    ) -> bool:
        """Claim the key for this transaction; False when another transaction has claimed it before."""
        ...

    def store_response(self, db: D_contra, key: IdempotencyKey, response: StoredResponse, /) -> None:
        """Store the answer to a claimed key."""
        ...


class AlreadyAnswered(Exception):
    """Another transaction claimed the key first and stored this answer."""

    def __init__(self, stored: StoredResponse) -> None:
        super().__init__()
        self.stored = stored


class KeysInProgress:
    """The keys whose requests this process is answering now."""

    def __init__(self) -> None:
        self._released = threading.Condition()
        self._keys: set[tuple[int, str]] = set()

    @contextmanager
    def hold(self, key: IdempotencyKey, *, wait_seconds: float = 0.0) -> Iterator[None]:
        """Reserve the key for one request; wait this long for it, then raise RequestInProgress."""
        owned_key = (key.user_id, key.key)
        with self._released:
            if not self._released.wait_for(lambda: owned_key not in self._keys, wait_seconds):
                raise RequestInProgress
            self._keys.add(owned_key)
        try:
            yield
        finally:
            with self._released:
                self._keys.discard(owned_key)
                self._released.notify_all()


def read_key(request: Request, user_id: int) -> IdempotencyKey | None:
    """The request's key; None when it has none. Raises IdempotencyKeyMalformed."""
    key = request.idempotency_key
    if key is None:
        return None
    if not KEY_PATTERN.fullmatch(key):
        raise IdempotencyKeyMalformed
    parts = (request.method.encode(), request.path.encode("utf-8", "replace"), request.query, request.body)
    fingerprint = hashlib.sha256()
    for part in parts:
        fingerprint.update(b"%d:" % len(part) + part)
    return IdempotencyKey(user_id, key.decode("ascii"), fingerprint.hexdigest())


def stored_response(key: IdempotencyKey, response: HttpResponse) -> StoredResponse:
    """The answer in the form that is stored."""
    headers = tuple((name.decode(), value.decode()) for name, value in response.headers)
    return StoredResponse(key.fingerprint, response.status, response.body, headers)


def replay_response(stored: StoredResponse, key: IdempotencyKey) -> HttpResponse:
    """The stored answer again. Raises IdempotencyKeyReused when it answers a different request."""
    if stored.fingerprint != key.fingerprint:
        raise IdempotencyKeyReused
    headers = tuple((name.encode(), value.encode()) for name, value in stored.headers)
    return HttpResponse(stored.status, stored.body, headers=(*headers, REPLAYED_HEADER))
