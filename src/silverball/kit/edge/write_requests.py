"""Runs a writing request as one transaction, and commits it.

In this order: prepare slow work on a snapshot, take the lock, claim the idempotency key, compare
If-Match, run the handler, encode its value, store the answer, commit. An exception at any step rolls
everything back.
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


class TournamentKeptChanging(Conflict):
    """Each prepared attempt was overtaken by another change."""

    sentence = (
        "The tournament changed each time while this was being prepared. Nothing was done; send it again."
    )


class WriteRequests:
    """Answers requests to writing endpoints."""

    def __init__(
        self,
        *,
        read: Callable[[], AbstractContextManager[Any]],
        write: Callable[[int | None], AbstractContextManager[OpenTransaction]],
        revision_of: Callable[[Any, int], int | None],
        idempotency_store: IdempotencyStore[Any],
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
        self, endpoint: Endpoint, call: AnyWrite, request: Request, *, duplicate_wait_seconds: float = 0.0
    ) -> HttpResponse:
        """The committed answer, or the stored one of an earlier request with the same key.

        A duplicate of a request in progress waits that long for its answer, then is refused.
        """
        key = idempotency.read_key(request, call.caller.idempotency_owner_id)
        if key is None:
            return self._answer_with_retries(endpoint, call, request, None)
        with self._keys_in_progress.hold(key, wait_seconds=duplicate_wait_seconds):
            with self._read() as db:
                stored = self._idempotency_store.load_response(db, key, call.now)
            if stored is not None:
                return idempotency.replay_response(stored, key)
            try:
                return self._answer_with_retries(endpoint, call, request, key)
            except AlreadyAnswered as duplicate:
                return idempotency.replay_response(duplicate.stored, key)

    def _answer_with_retries(
        self, endpoint: Endpoint, call: AnyWrite, request: Request, key: IdempotencyKey | None
    ) -> HttpResponse:
        for _ in range(ATTEMPTS_MAX):
            try:
                return self._run_and_commit(endpoint, self._prepare(endpoint, call, request), request, key)
            except PreparationOutdated:
                continue
        raise TournamentKeptChanging

    def _prepare(self, endpoint: Endpoint, call: AnyWrite, request: Request) -> AnyWrite:
        if endpoint.prepare is None:
            return call
        with self._read() as db:
            self._refuse_revision_mismatch(db, call, request)
            snapshot_call = replace(call, db=db, now=self._current_second())
            return replace(call, preparation=endpoint.prepare(snapshot_call))

    def _run_and_commit(
        self, endpoint: Endpoint, call: AnyWrite, request: Request, key: IdempotencyKey | None
    ) -> HttpResponse:
        with self._write(call.ids.get(TOURNAMENT)) as transaction:
            db = transaction.connection
            # The clock is read under the lock, so that times follow the order of the changes.
            call = replace(call, db=db, transaction=transaction, now=self._current_second())
            self._claim_key(key, call)
            self._refuse_revision_mismatch(db, call, request)
            result = endpoint.handler(call)
            value, replay_value = (
                (result.value, result.replay_value) if isinstance(result, OneTimeResult) else (result, result)
            )
            response = HttpResponse(
                endpoint.status,
                self._encode(value),
                headers=self._revision_headers(call),
                hides=transaction.hides,
            )
            if key is not None:
                replay = (
                    response if replay_value is value else replace(response, body=self._encode(replay_value))
                )
                stored = idempotency.stored_response(key, replay)
                self._idempotency_store.store_response(db, key, stored, call.now)
        return response

    def _claim_key(self, key: IdempotencyKey | None, call: AnyWrite) -> None:
        if key is None or self._idempotency_store.claim_key(call.db, key, call.now):
            return
        stored = self._idempotency_store.load_response(call.db, key, call.now)
        # The claim can vanish between the two statements, with its user's account.
        if stored is None:
            raise RequestInProgress
        raise AlreadyAnswered(stored)

    def _refuse_revision_mismatch(self, db: object, call: AnyWrite, request: Request) -> None:
        tournament_id = call.ids.get(TOURNAMENT)
        if request.if_match is None or tournament_id is None:
            return
        revision = self._revision_of(db, tournament_id)
        # An unknown tournament is refused by the handler.
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
    names = [tag.strip().removeprefix(b"W/").strip(b'"') for tag in if_match.split(b",")]
    return b"*" in names or b"%d" % revision in names
