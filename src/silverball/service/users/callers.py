"""Looks up callers by their tokens."""

import logging
import threading
from datetime import UTC, datetime
from functools import partial

from silverball.kit.http.endpoints import Caller
from silverball.kit.threads import ThreadPool
from silverball.service.tournaments.reads import listing
from silverball.service.users import reads, writes
from silverball.store.database.engine import Commit, Store

LOG = logging.getLogger("silverball.app")

# Whose changes are remembered.
ACCOUNTS_MAX = 20_000


class CallerLookup:
    """Finds the caller behind a token, and records in the background that the token was used.

    Numbers the changes of accounts by this process in the order of their commits, so that what is remembered
    of a caller can be dropped.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._newest_change = 0
        self._lock = threading.Lock()
        # Account id -> the number of its newest change. Read without the lock, for each request.
        self.account_changes: dict[int, int] = {}
        store.after_commit.append(self._note_commit)
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
            return listing.is_on_duty(db, caller.user_id, tournament_id)

    def newest_account_change(self) -> int:
        """The number of the newest change of an account."""
        return self._newest_change

    def close(self) -> None:
        """Stop listening, and finish the recording that is under way."""
        self._store.after_commit.remove(self._note_commit)
        self._recorder.close()

    def _note_commit(self, commit: Commit) -> None:
        if not commit.changed_user_ids:
            return
        with self._lock:
            for user_id in commit.changed_user_ids:
                self.account_changes.pop(user_id, None)
                self.account_changes[user_id] = self._newest_change + 1
                # Last: who is looked up in between is looked up once more than needed, never too rarely.
                self._newest_change += 1
            while len(self.account_changes) > ACCOUNTS_MAX:
                del self.account_changes[next(iter(self.account_changes))]

    def _record_token_use(self, token_id: int, now: datetime) -> None:
        try:
            with self._store.write(quiet=True) as transaction:
                writes.record_use(transaction.connection, token_id, now)
        except Exception as error:  # the edge of a thread: the error would be lost otherwise
            LOG.error("the use of a token could not be recorded", exc_info=error)
