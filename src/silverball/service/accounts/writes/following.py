"""Do the rest of an account's change, a slice at a time: in tournaments, in its book, in slow places.

Each slice is one transaction of at most a quarter of a second, and notes how far it has come.
"""

from collections.abc import Callable, Collection

from sqlalchemy import delete, func, select, update

from silverball.service.accounts.writes import tournaments
from silverball.store import book, hidings, name_indexes, rating_days, references, tables, unfinished_changes
from silverball.store.chain import ERASED_SOURCE
from silverball.store.tables import idempotency, journal
from silverball.store.transaction import Transaction
from silverball.store.unfinished_changes import UnfinishedChange

TOURNAMENTS_PER_SLICE = 50
BOOK_ROWS_PER_SLICE = 500
# Lines of the journal in one slice: a few hundredths of a second.
JOURNAL_LINES = 20_000
# The kinds of an organizer's book, ordered so that no kind is used by a later one.
BOOK_KINDS = (book.OCCASION, book.BANK, book.SERIES, book.PLAYER, book.ARENA, book.LOCATION)
_USER, _ENTRY, _REPLY = tables.user.c, journal.c, idempotency.c


def do_slice(transaction: Transaction) -> bool:
    """Do the next part of an unfinished change; False when nothing is left to do here.

    What another process is doing now is left to it.
    """
    db = transaction.connection
    change = unfinished_changes.lock_next(db)
    if change is None:
        return False
    steps = _steps(change)
    if not steps[change.step](transaction, change):
        change.step += 1
    if change.step == len(steps):
        unfinished_changes.finish(db, change)
    else:
        unfinished_changes.save(db, change)
    return True


def are_quiet(changes: Collection[UnfinishedChange]) -> bool:
    """Whether no answer shows what these changes have left to do."""
    return all(_steps(change)[change.step] in QUIET_STEPS for change in changes)


# The steps. Each returns whether it has to go on


def _erase_traces(transaction: Transaction, change: UnfinishedChange) -> bool:
    """Erase labels and managers: those that were written while the account was erased, or before 0.3.0."""
    traced = tournaments.traced_tournaments(transaction.connection, change)
    ids = sorted(each for each in traced if each > change.tournament_id)[:TOURNAMENTS_PER_SLICE]
    return _change_tournaments(transaction, change, ids)


def _show_in_tournaments(transaction: Transaction, change: UnfinishedChange) -> bool:
    shown_in = tournaments.shown_in(transaction.connection, change)
    ids = sorted(each for each in shown_in if each > change.tournament_id)[:TOURNAMENTS_PER_SLICE]
    return _change_tournaments(transaction, change, ids)


def _change_tournaments(transaction: Transaction, change: UnfinishedChange, ids: list[int]) -> bool:
    if not ids:
        # For the step that comes next.
        change.tournament_id = 0
        return False
    tournaments.change_tournaments(transaction, change, ids)
    change.tournament_id = ids[-1]
    return True


def _erase_remains(transaction: Transaction, change: UnfinishedChange) -> bool:
    """Delete the rows that only the account used, and have the results of its players rated again."""
    db, user_id = transaction.connection, change.user_id
    for table in (idempotency, tables.claim, tables.history_pull):
        db.execute(delete(table).where(table.c.user_id == user_id))
    for kind in BOOK_KINDS:
        # A player without a book: the statement looks for every kind of reference.
        if db.execute(select(kind.key).where(kind.owner == user_id).limit(1)).first() is None:
            continue
        unused = select(kind.key).where(kind.owner == user_id, references.is_unreferenced(kind.key))
        some = unused.limit(BOOK_ROWS_PER_SLICE).scalar_subquery()
        if db.execute(delete(kind.table).where(kind.key.in_(some))).rowcount == BOOK_ROWS_PER_SLICE:
            return True
    members = select(_USER.club_id).where(_USER.club_id.is_not(None))
    mine = tables.club.c.user_id == user_id
    db.execute(delete(tables.club).where(mine, tables.club.c.club_id.not_in(members)))
    # The next run finds the players by their pseudonyms.
    rating_days.mark_players(db, change.player_ids)
    return False


def _erase_sources(transaction: Transaction, change: UnfinishedChange) -> bool:
    """Erase the addresses from which the person did something; the journal keeps the account's id."""
    db = transaction.connection
    newest = db.execute(select(func.max(_ENTRY.journal_id))).scalar_one()
    if change.journal_id >= (newest or 0):
        return False
    after, change.journal_id = change.journal_id, change.journal_id + JOURNAL_LINES
    in_slice = (_ENTRY.journal_id > after, _ENTRY.journal_id <= change.journal_id)
    own = update(journal).where(*in_slice, _ENTRY.actor_id == change.user_id)
    db.execute(own.values(ERASED_SOURCE))
    return True


def _erase_replies(transaction: Transaction, change: UnfinishedChange) -> bool:
    """Erase the person from the stored replies of the next account."""
    db = transaction.connection
    owners = select(func.min(_REPLY.user_id)).where(_REPLY.user_id > change.reply_owner_id)
    owner_id = db.execute(owners).scalar_one()
    if owner_id is None:
        return False
    hidings.erase_from_replies(db, change, owner_id)
    change.reply_owner_id = owner_id
    return True


def _forget_names(transaction: Transaction, change: UnfinishedChange) -> bool:
    """Rid the indexes of names of what they still hold."""
    if not change.is_forgetting:
        name_indexes.begin_forgetting(transaction.connection)
        change.is_forgetting = True
        return True
    return bool(name_indexes.forget_slice(transaction.connection))


Step = Callable[[Transaction, UnfinishedChange], bool]
QUIET_STEPS: tuple[Step, ...] = (_erase_sources, _erase_replies, _forget_names)
STEPS: tuple[Step, ...] = (_show_in_tournaments,)
ERASURE_STEPS: tuple[Step, ...] = (_erase_traces, _show_in_tournaments, _erase_remains, *QUIET_STEPS)


def _steps(change: UnfinishedChange) -> tuple[Step, ...]:
    return STEPS if change.name is None else ERASURE_STEPS
