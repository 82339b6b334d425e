"""A slice of the tournaments that follow the change of a large account."""

import time
from collections.abc import Sequence

from silverball.service.accounts.writes import tournaments
from silverball.store import hidings, pending_announcements
from silverball.store.pending_announcements import PendingAnnouncement
from silverball.store.transaction import Transaction

# A slice ends after the first few tournaments that take it beyond this time.
SLICE_SECONDS = 0.015
TOURNAMENTS_PER_STATEMENT = 20


def change_slice(
    transaction: Transaction,
    pending: PendingAnnouncement,
    tournament_ids: Sequence[int],
    *,
    slice_seconds: float = SLICE_SECONDS,
) -> Sequence[int]:
    """Let some of these tournaments follow, the first ones, and return the others.

    Returns none where another process has let some follow meanwhile, or the account changed again.
    """
    db, began = transaction.connection, time.monotonic()
    if pending_announcements.find(db, pending.user_id, is_locked=True) != pending:
        return ()
    done = 0
    while done < len(tournament_ids) and (not done or time.monotonic() - began < slice_seconds):
        some = tournament_ids[done : done + TOURNAMENTS_PER_STATEMENT]
        tournaments.change_tournaments(transaction, pending, some)
        done += len(some)
        pending.tournament_id = some[-1]
    if done < len(tournament_ids):
        pending_announcements.save_progress(db, pending)
        return tournament_ids[done:]
    pending_announcements.finish(db, pending)
    if pending.is_hiding:
        # What was exported since the beginning may show what the last tournaments still showed.
        hidings.note_hiding(transaction)
    return ()
