"""A slice of the tournaments that follow the change of a large account."""

import time

import msgspec

from silverball.service.accounts.writes import remains, tournaments
from silverball.service.accounts.writes.tournaments import WaitingTournaments
from silverball.store import hidings, pending_announcements, rating_days
from silverball.store.transaction import Transaction

# A slice ends after the first few tournaments that take it beyond this time.
SLICE_SECONDS = 0.015
TOURNAMENTS_PER_STATEMENT = 20


def change_slice(transaction: Transaction, waiting: WaitingTournaments) -> WaitingTournaments | None:
    """Let some of these tournaments follow, the first ones, and return what is left to do.

    When all have followed, the change is finished, and None is returned; also where another process has
    let some follow meanwhile, or the account has changed again.
    """
    db, began, pending = transaction.connection, time.monotonic(), waiting.pending
    if pending_announcements.find(db, pending.user_id, is_locked=True) != pending:
        return None
    ids, done = waiting.tournament_ids, 0
    if not ids:
        _finish(transaction, waiting)
        return None
    while done < len(ids) and (not done or time.monotonic() - began < SLICE_SECONDS):
        some = ids[done : done + TOURNAMENTS_PER_STATEMENT]
        tournaments.change_tournaments(transaction, waiting, some)
        done += len(some)
    progress = msgspec.structs.replace(pending, tournament_id=ids[done - 1])
    pending_announcements.save_progress(db, progress)
    return msgspec.structs.replace(waiting, pending=progress, tournament_ids=ids[done:])


def _finish(transaction: Transaction, waiting: WaitingTournaments) -> None:
    db, pending = transaction.connection, waiting.pending
    if pending.erased_name is not None:
        remains.erase_remains(db, pending.user_id, waiting.player_ids)
    rating_days.settle_rank(db, pending.user_id)
    pending_announcements.finish(db, pending)
    if pending.is_hiding:
        # What was exported since the beginning may show what the last tournaments still showed.
        hidings.note_hiding(transaction)
