"""Runs a writing request as one transaction, and commits it.

In this order: run long draws, take the lock, claim the idempotency key, compare If-Match, run the
handler, encode its value, store the answer, commit. An exception at any step rolls everything back.

No transaction is open during a long draw. It is known beforehand (`prepare` reads a snapshot and returns
the draw), or the handler asks for it (DrawNeeded) and runs again when it has been drawn. A draw that
was overtaken by another change is drawn again, three times at most.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol

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
    DrawNeeded,
    Endpoint,
    HttpResponse,
    OneTimeResult,
    PreparationOutdated,
    Request,
)
from silverball.kit.http.refusals import RevisionMismatch, revision_headers, revision_tag
from silverball.kit.values import replace

ATTEMPTS_MAX = 3


class OpenTransaction(Protocol):
    """A transaction, as far as this package reads it before the commit."""

    @property
    def connection(self) -> Any: ...

    @property
    def raised_revisions(self) -> Mapping[int, int]:
        """Tournament id -> its revision after the commit."""
        ...

    @property
    def stamp(self) -> int:
        """Tells these revisions from those of another history of the database."""
        ...

    @property
    def hides(self) -> bool:
        """Whether something of somebody was hidden."""
        ...


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
        revision_of: Callable[[Any, int], tuple[int, int] | None],
        idempotency_store: IdempotencyStore[Any],
        refuse_replay: Callable[[Any, AnyWrite, str], None],
        now: Callable[[], datetime],
    ) -> None:
        self._read = read
        self._write = write
        self._revision_of = revision_of
        self._idempotency_store = idempotency_store
        # Raises NotAllowed where the caller may not see now what such an answer says. Takes the ability that
        # the endpoint asks for.
        self._refuse_replay = refuse_replay
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
                stored = self._idempotency_store.load_response(db, key)
                if stored is not None:
                    self._refuse_replay(db, call, endpoint.ability)
            if stored is not None:
                return idempotency.replay_response(stored, key)
            try:
                return self._answer_with_retries(endpoint, call, request, key)
            except AlreadyAnswered as duplicate:
                with self._read() as db:
                    self._refuse_replay(db, call, endpoint.ability)
                return idempotency.replay_response(duplicate.stored, key)

    def _answer_with_retries(
        self, endpoint: Endpoint, call: AnyWrite, request: Request, key: IdempotencyKey | None
    ) -> HttpResponse:
        prepared = self._prepare(endpoint, call, request)
        overtaken = 0
        while True:
            try:
                return self._run_and_commit(endpoint, prepared, request, key)
            except PreparationOutdated as outdated:
                draw = outdated.draw if isinstance(outdated, DrawNeeded) else None
                # Without a draw yet, the first attempt only finds out which one is needed.
                overtaken += draw is None or prepared.preparation is not None
                if overtaken == ATTEMPTS_MAX:
                    raise TournamentKeptChanging from None
            # The transaction is rolled back here.
            if draw is None:
                prepared = self._prepare(endpoint, call, request)
            else:
                prepared = replace(call, preparation=draw())

    def _prepare(self, endpoint: Endpoint, call: AnyWrite, request: Request) -> AnyWrite:
        if endpoint.prepare is None:
            return call
        with self._read() as db:
            self._refuse_revision_mismatch(db, call, request)
            snapshot_call = replace(call, db=db, now=self._current_second())
            draw = endpoint.prepare(snapshot_call)
        return replace(call, preparation=draw())

    def _run_and_commit(
        self, endpoint: Endpoint, call: AnyWrite, request: Request, key: IdempotencyKey | None
    ) -> HttpResponse:
        with self._write(call.ids.get(TOURNAMENT)) as transaction:
            db = transaction.connection
            # The clock is read under the lock, so that times follow the order of the changes.
            call = call.within(db, transaction, self._current_second())
            if key is not None:
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
                self._idempotency_store.store_response(db, key, stored)
        return response

    def _claim_key(self, key: IdempotencyKey, call: AnyWrite) -> None:
        if self._idempotency_store.claim_key(call.db, key, call.ids.get(TOURNAMENT), call.now):
            return
        stored = self._idempotency_store.load_response(call.db, key)
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
        if revision is not None and not names_revision(request.if_match, *revision):
            raise RevisionMismatch(*revision)

    def _revision_headers(self, call: AnyWrite) -> tuple[tuple[bytes, bytes], ...]:
        tournament_id = call.ids.get(TOURNAMENT)
        if tournament_id is None:
            return ()
        raised = call.transaction.raised_revisions.get(tournament_id)
        if raised is not None:
            return revision_headers(raised, call.transaction.stamp)
        revision = self._revision_of(call.db, tournament_id)
        return () if revision is None else revision_headers(*revision)

    def _current_second(self) -> datetime:
        return self._now().replace(microsecond=0)


def names_revision(if_match: bytes, revision: int, stamp: int) -> bool:
    """Whether an If-Match names this revision: by its tag, by its number alone, or by `*`.

    A list (`"6-3f9a"`, `"6"`, `W/"6"`, `6`) matches if one of its members does.
    """
    names = [tag.strip().removeprefix(b"W/").strip(b'"') for tag in if_match.split(b",")]
    return not {b"*", b"%d" % revision, revision_tag(revision, stamp)}.isdisjoint(names)
