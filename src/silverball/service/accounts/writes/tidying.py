"""Erase traces of a person from slow places, a slice at a time: addresses in the journal, stored replies."""

from sqlalchemy import Connection, func, select, update

from silverball.store import erased_replies, erasures, name_indexes
from silverball.store.chain import ERASED_SOURCE
from silverball.store.erasures import PendingErasure
from silverball.store.tables import idempotency, journal

# Lines of the journal in one slice: a few hundredths of a second.
JOURNAL_LINES = 20_000
_ENTRY, _REPLY = journal.c, idempotency.c


def tidy_slice(db: Connection, journal_lines: int = JOURNAL_LINES) -> bool:
    """Do the next part of an erasure; returns False when nothing is left to do."""
    pending = erasures.next_pending(db)
    if pending is None:
        return False
    if _tidy_journal(db, pending, journal_lines) or _tidy_replies(db, pending):
        return True
    if not pending.is_forgetting:
        name_indexes.begin_forgetting(db)
        pending.is_forgetting = True
        erasures.save_progress(db, pending)
    elif not name_indexes.forget_slice(db):
        erasures.finish(db, pending)
    return True


def _tidy_journal(db: Connection, pending: PendingErasure, lines: int) -> bool:
    """Erase the addresses from which the person did something; the journal keeps the account's id."""
    newest = db.execute(select(func.max(_ENTRY.journal_id))).scalar_one()
    if pending.journal_id >= (newest or 0):
        return False
    after, pending.journal_id = pending.journal_id, pending.journal_id + lines
    in_slice = (_ENTRY.journal_id > after, _ENTRY.journal_id <= pending.journal_id)
    own = update(journal).where(*in_slice, _ENTRY.actor_id == pending.user_id)
    db.execute(own.values(ERASED_SOURCE))
    erasures.save_progress(db, pending)
    return True


def _tidy_replies(db: Connection, pending: PendingErasure) -> bool:
    """Erase the person from the stored replies of the next account."""
    owners = select(func.min(_REPLY.user_id)).where(_REPLY.user_id > pending.reply_owner_id)
    owner_id = db.execute(owners).scalar_one()
    if owner_id is None:
        return False
    erased_replies.erase_from_replies(db, pending, owner_id)
    pending.reply_owner_id = owner_id
    erasures.save_progress(db, pending)
    return True
