"""Bytes that accounts have in the journal and under idempotency keys."""

from collections import Counter

from sqlalchemy import Connection, Text, func, select, type_coerce

from silverball.store.database.engine import Store
from silverball.store.tables import idempotency, journal, tournament

MEGABYTE = 1_000_000


class AccountStorage:
    """Counts what accounts store. `measure` is called now and then, by one thread."""

    def __init__(self, store: Store, *, journal_megabytes: int, replies_megabytes: int) -> None:
        self._store = store
        self._full = store.full_accounts
        self._full.journal_megabytes = journal_megabytes
        self._full.replies_megabytes = replies_megabytes
        # What the journal has up to this entry. Deleted tournaments count until the next start.
        self._newest_entry = 0
        self._journal_bytes: Counter[int] = Counter()

    def measure(self) -> bool:
        """Count what was added since. Returns False: there is nothing more to do at once."""
        with self._store.read() as db:
            if self._full.journal_megabytes:
                self._measure_journal(db)
            if self._full.replies_megabytes:
                self._measure_replies(db)
        return False

    def _measure_journal(self, db: Connection) -> None:
        size = func.sum(func.length(type_coerce(journal.c.data, Text)))
        rows = (
            select(tournament.c.organizer_id, size, func.max(journal.c.journal_id))
            .join(tournament, tournament.c.tournament_id == journal.c.tournament_id)
            .where(journal.c.journal_id > self._newest_entry)
            .group_by(tournament.c.organizer_id)
        )
        for organizer_id, added, newest in db.execute(rows):
            self._journal_bytes[organizer_id] += added
            self._newest_entry = max(self._newest_entry, newest)
        limit = self._full.journal_megabytes * MEGABYTE
        self._full.journal = frozenset(key for key, size in self._journal_bytes.items() if size > limit)

    def _measure_replies(self, db: Connection) -> None:
        size = func.sum(func.length(idempotency.c.body))
        rows = select(idempotency.c.user_id).group_by(idempotency.c.user_id)
        rows = rows.having(size > self._full.replies_megabytes * MEGABYTE)
        self._full.replies = frozenset(db.execute(rows).scalars())
