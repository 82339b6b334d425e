"""Looks up callers by their tokens."""

import logging
from datetime import UTC, datetime
from functools import partial

from silverball.kit.http.endpoints import Caller
from silverball.kit.threads import ThreadPool
from silverball.service.tokens import reads, writes
from silverball.service.tournaments.reads import staff
from silverball.store.engine import Store

LOG = logging.getLogger("silverball.app")


class CallerLookup:
    """Finds the caller behind a token, and records in the background that the token was used."""

    def __init__(self, store: Store) -> None:
        self._store = store
        # A read must not wait behind a long write only to record a token's use.
        self._recorder = ThreadPool(1, "silverball-notes")

    def find_caller(self, authorization: bytes) -> Caller | None:
        """The caller of this Authorization header; None when it holds no valid token."""
        now = datetime.now(UTC)
        with self._store.read() as db:
            caller = reads.find_caller(db, authorization, now)
        if caller is not None and caller.token_to_note is not None:
            self._recorder.submit(partial(self._record_token_use, caller.token_to_note, now))
        return caller

    def is_running(self, caller: Caller, tournament_id: int) -> bool:
        """Whether the tournament is running now and the caller is an organizer or scorekeeper of it."""
        with self._store.read() as db:
            return staff.is_on_duty(db, caller.user_id, tournament_id)

    def close(self) -> None:
        """Finish the recording that is under way."""
        self._recorder.close()

    def _record_token_use(self, token_id: int, now: datetime) -> None:
        try:
            with self._store.write(quiet=True) as transaction:
                writes.record_use(transaction.connection, token_id, now)
        except Exception as error:  # the edge of a thread: the error would be lost otherwise
            LOG.error("the use of a token could not be recorded", exc_info=error)
