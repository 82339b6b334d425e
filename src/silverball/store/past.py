"""Tournaments as they stood after an earlier action of their journal."""

from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection, func, select

from silverball.rules.model.apply import revert_changes
from silverball.rules.model.tournament import Tournament
from silverball.store import journal, snapshot
from silverball.store.loaded import SNAPSHOTS, SnapshotCache
from silverball.store.stamps import Revision
from silverball.store.tables import journal as entry

# The journal tells what came after one of these, and nothing of what was before.
BEGINNINGS = (journal.TOURNAMENT_CREATED, journal.TOURNAMENT_IMPORTED, journal.MATCHES_MERGED)


class JournalDoesNotFit(ValueError):
    """The changes of the journal do not lead to the tournament as it is stored."""


class JournalSpan(Struct, frozen=True):
    """The actions after which a tournament can be shown: the first and the newest."""

    first_action_id: int
    newest_action_id: int


def journal_span(db: Connection, tournament_id: int) -> JournalSpan | None:
    """The span of the journal since the tournament was created or imported; None without a journal."""
    own = entry.c.tournament_id == tournament_id
    first, newest = db.execute(
        select(func.min(entry.c.action_id), func.max(entry.c.action_id)).where(own)
    ).one()
    if newest is None:
        return None
    begun = select(func.max(entry.c.action_id)).where(own, entry.c.change.in_(BEGINNINGS))
    return JournalSpan(db.execute(begun).scalar_one() or first, newest)


def action_time(db: Connection, tournament_id: int, action_id: int) -> datetime:
    """When this action, which exists, was done."""
    own = (entry.c.tournament_id == tournament_id, entry.c.action_id == action_id)
    done_at: datetime = db.execute(select(entry.c.at).where(*own).limit(1)).scalar_one()
    return done_at


def load_after_action(
    db: Connection, tournament_id: int, revision: Revision, span: JournalSpan, action_id: int
) -> Tournament:
    """The tournament as it stood after this action of the span. Raises JournalDoesNotFit.

    What is looked up in the book of the organizer (accounts, categories, banks) is today's.
    """
    cache: SnapshotCache = db.get_execution_options()[SNAPSHOTS]
    known = cache.find_past(tournament_id, action_id, revision)
    if known is not None:
        return known
    present = snapshot.load_at_revision(db, tournament_id, revision).tournament
    later = journal.newest_actions(db, tournament_id, limit=span.newest_action_id - action_id)
    changes = (change for action in later for change in reversed(action.decode_changes(present.type)))
    try:
        past = revert_changes(present, changes)
    except ValueError as error:
        raise JournalDoesNotFit(str(error)) from error
    cache.add_past(past, action_id, revision)
    return past
