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

from silverball.kit import replies
from silverball.kit.errors import Conflict
from silverball.kit.http import TOURNAMENT, Answer, Endpoint, Moved, Once, Request, Stale, Write
from silverball.kit.replies import Answered, InFlight, Replies, Ticket, UnderWay

TRIES = 3
MOVED = "The tournament changed each time while this was being prepared. Nothing was done; send it again."


class Writing:
    """How writing endpoints are answered."""

    def __init__(
        self,
        *,
        read: Callable[[], AbstractContextManager[Any]],
        write: Callable[[int | None], AbstractContextManager[Any]],
        revision_of: Callable[[Any, int], int | None],
        replies: Replies,
        now: Callable[[], datetime],
    ) -> None:
        self._read = read
        self._write = write
        self._revision_of = revision_of
        self._replies = replies
        self._now = now
        self._under_way = UnderWay()
        self._encode = msgspec.json.Encoder().encode

    def answer(self, endpoint: Endpoint, call: Write[Any], request: Request) -> Answer:
        """The answer, committed; or the stored one when the request was answered before."""
        ticket = replies.ticket_of(request, call.caller.keys_of)
        if ticket is None:
            return self._tried(endpoint, call, request, None)
        with self._under_way.alone(ticket):
            with self._read() as db:
                stored = self._replies.found(db, ticket, call.now)
            if stored is not None:
                return replies.replayed(stored, ticket)
            try:
                return self._tried(endpoint, call, request, ticket)
            except Answered as elsewhere:
                return replies.replayed(elsewhere.kept, ticket)

    def _tried(self, endpoint: Endpoint, call: Write[Any], request: Request, ticket: Ticket | None) -> Answer:
        for _ in range(TRIES):
            try:
                return self._committed(endpoint, self._prepared(endpoint, call, request), request, ticket)
            except Moved:
                continue
        raise Conflict(MOVED)

    def _prepared(self, endpoint: Endpoint, call: Write[Any], request: Request) -> Write[Any]:
        if endpoint.ahead is None:
            return call
        with self._read() as db:
            self._refuse_stale(db, call, request)
            seen = replace(call, db=db, now=self._moment())
            return replace(call, ahead=endpoint.ahead(seen))

    def _committed(
        self, endpoint: Endpoint, call: Write[Any], request: Request, ticket: Ticket | None
    ) -> Answer:
        with self._write(call.ids.get(TOURNAMENT)) as db:
            # Read under the lock: moments of one tournament are in the order of its changes.
            call = replace(call, db=db, now=self._moment())
            self._claim(ticket, call)
            self._refuse_stale(db, call, request)
            value = endpoint.handler(call)
            said, again = (value.value, value.again) if isinstance(value, Once) else (value, value)
            answer = Answer(endpoint.status, self._encode(said), headers=self._headers(call))
            if ticket is not None:
                stored = answer if again is said else replace(answer, body=self._encode(again))
                self._replies.keep(db, ticket, replies.kept(ticket, stored), call.now)
        return answer

    def _claim(self, ticket: Ticket | None, call: Write[Any]) -> None:
        if ticket is None or self._replies.claim(call.db, ticket, call.now):
            return
        stored = self._replies.found(call.db, ticket, call.now)
        # Gone again with its user's account, a moment ago.
        if stored is None:
            raise InFlight
        raise Answered(stored)

    def _refuse_stale(self, db: Any, call: Write[Any], request: Request) -> None:
        tournament_id = call.ids.get(TOURNAMENT)
        if request.if_match is None or tournament_id is None:
            return
        revision = self._revision_of(db, tournament_id)
        # That there is no such tournament is the handler's to say.
        if revision is not None and not _names(request.if_match, revision):
            raise Stale(revision)

    def _headers(self, call: Write[Any]) -> tuple[tuple[bytes, bytes], ...]:
        tournament_id = call.ids.get(TOURNAMENT)
        revision = None if tournament_id is None else self._revision_of(call.db, tournament_id)
        return () if revision is None else ((b"x-tournament-revision", b"%d" % revision),)

    def _moment(self) -> datetime:
        return self._now().replace(microsecond=0)


def _names(if_match: bytes, revision: int) -> bool:
    """Whether an If-Match (`"6"`, `W/"6"`, `6`, a list of them, or `*`) names this revision."""
    named = [one.strip().removeprefix(b"W/").strip(b'"') for one in if_match.split(b",")]
    return b"*" in named or b"%d" % revision in named
