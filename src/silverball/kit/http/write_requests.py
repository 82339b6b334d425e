"""A request that writes is one transaction, and here it is committed.

In this order: what takes long is prepared on a snapshot; the lock; the idempotency key; If-Match; the
handler; its value as bytes; the stored answer; the commit. Whatever is raised on the way, nothing of
it happened.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec

from silverball.kit.edge import idempotency
from silverball.kit.edge.idempotency import (
    AlreadyAnswered,
    IdempotencyKey,
    IdempotencyStore,
    KeysInProgress,
    RequestInProgress,
)
from silverball.kit.errors import Conflict
from silverball.kit.http.endpoints import (
    TOURNAMENT,
    AnyWrite,
    Endpoint,
    HttpResponse,
    OneTimeResult,
    OpenTransaction,
    PreparationOutdated,
    Request,
    RevisionMismatch,
)

ATTEMPTS_MAX = 3
CHANGED_EACH_TIME = (
    "The tournament changed each time while this was being prepared. Nothing was done; send it again."
)


class WriteRequests:
    """How writing endpoints are answered."""

    def __init__(
        self,
        *,
        read: Callable[[], AbstractContextManager[Any]],
        write: Callable[[int | None], AbstractContextManager[OpenTransaction]],
        revision_of: Callable[[Any, int], int | None],
        idempotency_store: IdempotencyStore,
        now: Callable[[], datetime],
    ) -> None:
        self._read = read
        self._write = write
        self._revision_of = revision_of
        self._idempotency_store = idempotency_store
        self._now = now
        self._keys_in_progress = KeysInProgress()
        self._encode = msgspec.json.Encoder().encode

    def answer(
        self, endpoint: Endpoint, call: AnyWrite, request: Request, *, duplicate_wait_seconds: float = 0
    ) -> HttpResponse:
        """The answer, committed; or the stored one when the request was answered before.

        A duplicate of a request in progress waits that long for its result, then is refused.
        """
        ticket = idempotency.read_key(request, call.caller.idempotency_owner_id)
        if ticket is None:
            return self._answer_with_retries(endpoint, call, request, None)
        with self._keys_in_progress.hold(ticket, wait_seconds=duplicate_wait_seconds):
            with self._read() as db:
                stored = self._idempotency_store.load_response(db, ticket, call.now)
            if stored is not None:
                return idempotency.replay_response(stored, ticket)
            try:
                return self._answer_with_retries(endpoint, call, request, ticket)
            except AlreadyAnswered as elsewhere:
                return idempotency.replay_response(elsewhere.stored, ticket)

    def _answer_with_retries(
        self, endpoint: Endpoint, call: AnyWrite, request: Request, ticket: IdempotencyKey | None
    ) -> HttpResponse:
        for _ in range(ATTEMPTS_MAX):
            try:
                return self._run_and_commit(endpoint, self._prepare(endpoint, call, request), request, ticket)
            except PreparationOutdated:
                continue
        raise Conflict(CHANGED_EACH_TIME)

    def _prepare(self, endpoint: Endpoint, call: AnyWrite, request: Request) -> AnyWrite:
        if endpoint.prepare is None:
            return call
        with self._read() as db:
            self._refuse_revision_mismatch(db, call, request)
            seen = replace(call, db=db, now=self._current_second())
            return replace(call, preparation=endpoint.prepare(seen))

    def _run_and_commit(
        self, endpoint: Endpoint, call: AnyWrite, request: Request, ticket: IdempotencyKey | None
    ) -> HttpResponse:
        with self._write(call.ids.get(TOURNAMENT)) as transaction:
            db = transaction.connection
            # Read under the lock: moments of one tournament are in the order of its changes.
            call = replace(call, db=db, transaction=transaction, now=self._current_second())
            self._claim_key(ticket, call)
            self._refuse_revision_mismatch(db, call, request)
            value = endpoint.handler(call)
            said, again = (
                (value.value, value.replay_value) if isinstance(value, OneTimeResult) else (value, value)
            )
            answer = HttpResponse(endpoint.status, self._encode(said), headers=self._revision_headers(call))
            if ticket is not None:
                stored = answer if again is said else replace(answer, body=self._encode(again))
                self._idempotency_store.store_response(
                    db, ticket, idempotency.stored_response(ticket, stored), call.now
                )
        return answer

    def _claim_key(self, ticket: IdempotencyKey | None, call: AnyWrite) -> None:
        if ticket is None or self._idempotency_store.claim_key(call.db, ticket, call.now):
            return
        stored = self._idempotency_store.load_response(call.db, ticket, call.now)
        # Gone again with its user's account, a moment ago.
        if stored is None:
            raise RequestInProgress
        raise AlreadyAnswered(stored)

    def _refuse_revision_mismatch(self, db: object, call: AnyWrite, request: Request) -> None:
        tournament_id = call.ids.get(TOURNAMENT)
        if request.if_match is None or tournament_id is None:
            return
        revision = self._revision_of(db, tournament_id)
        # That there is no such tournament is the handler's to say.
        if revision is not None and not _names_revision(request.if_match, revision):
            raise RevisionMismatch(revision)

    def _revision_headers(self, call: AnyWrite) -> tuple[tuple[bytes, bytes], ...]:
        tournament_id = call.ids.get(TOURNAMENT)
        if tournament_id is None:
            return ()
        revision = call.transaction.raised_revisions.get(tournament_id)
        if revision is None:
            revision = self._revision_of(call.db, tournament_id)
        return () if revision is None else ((b"x-tournament-revision", b"%d" % revision),)

    def _current_second(self) -> datetime:
        return self._now().replace(microsecond=0)


def _names_revision(if_match: bytes, revision: int) -> bool:
    """Whether an If-Match (`"6"`, `W/"6"`, `6`, a list of them, or `*`) names this revision."""
    named = [one.strip().removeprefix(b"W/").strip(b'"') for one in if_match.split(b",")]
    return b"*" in named or b"%d" % revision in named
