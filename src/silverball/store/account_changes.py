"""The accounts that this process changed, so that what it remembers of a caller can be dropped."""

import threading

from silverball.store.engine import Commit, Store

ACCOUNTS_MAX = 20_000


class AccountChanges:
    """Numbers the changes of accounts in the order of their commits."""

    def __init__(self, store: Store) -> None:
        self._newest = 0
        self._lock = threading.Lock()
        # Account id -> the number of its newest change. Read without the lock, for each request.
        self.numbers: dict[int, int] = {}
        self._store = store
        store.after_commit.append(self._note_commit)

    def newest_change(self) -> int:
        """The number of the newest change."""
        return self._newest

    def close(self) -> None:
        """Stop listening."""
        self._store.after_commit.remove(self._note_commit)

    def _note_commit(self, commit: Commit) -> None:
        if not commit.changed_user_ids:
            return
        with self._lock:
            for user_id in commit.changed_user_ids:
                self.numbers.pop(user_id, None)
                self.numbers[user_id] = self._newest + 1
                # Last: who is looked up in between is looked up once more than needed, never too rarely.
                self._newest += 1
            while len(self.numbers) > ACCOUNTS_MAX:
                del self.numbers[next(iter(self.numbers))]
