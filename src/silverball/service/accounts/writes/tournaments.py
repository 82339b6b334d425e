"""Carry the change of an account, or its erasing, into the tournaments that it is in.

A label may say who somebody is, and the journal keeps old ones. All lines of a player are rewritten alike, so
that undo and verification, which compare them with each other and with the rows, find no difference.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Any

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Text,
    and_,
    delete,
    exists,
    func,
    or_,
    select,
    type_coerce,
    update,
)

from silverball.service.core import feed_events
from silverball.store import tables
from silverball.store.database import migrate
from silverball.store.database.conditions import ascending_batches
from silverball.store.database.transaction import Transaction
from silverball.store.people import book, hidings, merging, rating_days, unfinished_changes
from silverball.store.people.unfinished_changes import UnfinishedChange
from silverball.store.revisions import revisions
from silverball.store.tables import idempotency
from silverball.store.tables import journal as tables_journal
from silverball.store.tournament import chain, journal
from silverball.store.tournament.chain import ERASED_SOURCE

_NO_LABELS: dict[str, Any] = {"labels": [], "label_color": None}
_TOURNAMENT, _ENTRANT, _CODE_USE = tables.tournament.c, tables.entrant.c, tables.device_action.c
_PLAYER, _ENTRY = tables.player.c, tables.journal.c
_REPORT = tables.suggestion.c
# Most have none, and stay as they are.
_HAS_LABELS = or_(type_coerce(_ENTRANT.labels, Text) != "[]", _ENTRANT.label_color.is_not(None))
_IS_CODE_ACTION = and_(
    _CODE_USE.tournament_id == _ENTRY.tournament_id, _CODE_USE.action_id == _ENTRY.action_id
)
_ENTRANT_CHANGES = tuple(
    name for name, kind in journal.CHANGES.items() if getattr(kind, "part", None) == "entrants"
)
# Lines of an earlier version are sealed later, when their journal is chained.
_MAY_HAVE_LABELS = (
    _ENTRY.change.in_(_ENTRANT_CHANGES),
    or_(_ENTRY.sealed_labels.is_not(None), _ENTRY.hash.is_(None)),
)


def tournaments_shown_in(db: Connection, change: UnfinishedChange) -> set[int]:
    """The tournaments that show the account."""
    ids = set(revisions.tournaments_of_users(db, [change.user_id]))
    if change.name is None:
        return ids
    ids.update(_ids_of(db, [select(_REPORT.tournament_id).where(_REPORT.user_id == change.user_id)]))
    for players in ascending_batches(change.player_ids):
        ids.update(_ids_of(db, [select(_ENTRANT.tournament_id).where(_ENTRANT.player_id.in_(players))]))
    return ids


def traced_tournaments(db: Connection, change: UnfinishedChange) -> set[int]:
    """The tournaments with more of an erased person than their number: labels, addresses, the name.

    Nothing adds others later: labels come from labels, and the players have none any more.
    """
    ids = {tournament_id for tournament_id, _ in _managed_by(db, change.name or "")}
    for players in ascending_batches(change.player_ids):
        labelled = select(_ENTRANT.tournament_id).where(_ENTRANT.player_id.in_(players), _HAS_LABELS)
        with_code = (
            select(_CODE_USE.tournament_id)
            .join(tables.journal, _IS_CODE_ACTION)
            .where(_CODE_USE.player_id.in_(players), _ENTRY.source != "")
        )
        ids.update(_ids_of(db, [labelled, with_code]))
    return ids | _with_journal_labels(db, change.player_ids)


def _ids_of(db: Connection, statements: Iterable[Select[Any]]) -> Iterable[int]:
    for statement in statements:
        yield from db.execute(statement.distinct()).scalars()


def change_tournaments(
    transaction: Transaction, change: UnfinishedChange, tournament_ids: Collection[int]
) -> None:
    """Let these tournaments, no more than fit into one statement, show the account as it is now."""
    db, player_ids = transaction.connection, change.player_ids
    if change.name is not None:
        revisions.lock_tournaments(db, tournament_ids)
        _erase_manager(db, change.name, tournament_ids)
        for players in ascending_batches(player_ids):
            theirs = (
                _ENTRANT.tournament_id.in_(tournament_ids),
                _ENTRANT.player_id.in_(players),
                _HAS_LABELS,
            )
            db.execute(update(tables.entrant).where(*theirs).values(**_NO_LABELS))
            _erase_code_sources(db, players, tournament_ids)
        _erase_journal_labels(db, player_ids, tournament_ids)
        _erase_from_reports(db, change.user_id, tournament_ids)
    feed_events.announce_users_in(
        transaction,
        [change.user_id],
        tournament_ids,
        is_hiding=change.is_hiding,
        player_ids=player_ids,
    )


def _erase_from_reports(db: Connection, user_id: int, tournament_ids: Collection[int]) -> None:
    # Not by the index of the column, which has the rows of all other tournaments too.
    own = (_REPORT.tournament_id.in_(tournament_ids), _REPORT.user_id + 0 == user_id)
    db.execute(update(tables.suggestion).where(*own).values(user_id=None))


def _erase_manager(db: Connection, name: str, tournament_ids: Collection[int]) -> None:
    for tournament_id, managers in _managed_by(db, name, _TOURNAMENT.tournament_id.in_(tournament_ids)):
        remaining = [manager for manager in managers if manager.get("name") != name]
        row = update(tables.tournament).where(_TOURNAMENT.tournament_id == tournament_id)
        db.execute(row.values(managers=remaining))


def _managed_by(
    db: Connection, name: str, *conditions: ColumnElement[bool]
) -> list[tuple[int, list[dict[str, Any]]]]:
    """The tournaments with a manager of this name, and their managers; imported ones may name them."""
    may_name = type_coerce(_TOURNAMENT.managers, Text).contains(
        msgspec.json.encode(name).decode(), autoescape=True
    )
    rows = db.execute(select(_TOURNAMENT.tournament_id, _TOURNAMENT.managers).where(may_name, *conditions))
    return [
        (tournament_id, managers)
        for tournament_id, managers in rows
        if any(manager.get("name") == name for manager in managers)
    ]


def _erase_code_sources(db: Connection, player_ids: Collection[int], tournament_ids: Collection[int]) -> None:
    """Erase the addresses from which these players' printed codes were used."""
    with_code = _CODE_USE.player_id.in_(player_ids)
    used = select(_CODE_USE.tournament_id).where(with_code, _CODE_USE.tournament_id.in_(tournament_ids))
    used_codes = (_ENTRY.tournament_id.in_(used), exists().where(_IS_CODE_ACTION, with_code))
    db.execute(update(tables.journal).where(*used_codes).values(chain.ERASED_SOURCE))


# Labels in the journal


def _with_journal_labels(db: Connection, player_ids: Collection[int]) -> set[int]:
    """The tournaments whose journal has labels of these players, in the books that they are in."""
    if not player_ids:
        return set()
    rows = select(_ENTRY.tournament_id, _ENTRY.data).where(_in_their_books(player_ids), *_MAY_HAVE_LABELS)
    return {tournament_id for tournament_id, data in db.execute(rows) if _labelled_sides(data, player_ids)}


def _erase_journal_labels(
    db: Connection, player_ids: Collection[int], tournament_ids: Collection[int]
) -> None:
    """Erase the labels that these players ever had in these tournaments."""
    if not player_ids:
        return
    rows = select(_ENTRY.journal_id, _ENTRY.data, _ENTRY.sealed_labels).where(
        _ENTRY.tournament_id.in_(tournament_ids), *_MAY_HAVE_LABELS
    )
    for journal_id, data, sealed in db.execute(rows).all():
        labelled = _labelled_sides(data, player_ids)
        for side in labelled:
            side.update(_NO_LABELS)
        if labelled:
            # The hashes stay, so that the chain stays whole; without the salt they say nothing.
            hashes = None if sealed is None else {"hashes": sealed["hashes"]}
            line = update(tables.journal).where(_ENTRY.journal_id == journal_id)
            db.execute(line.values(data=data, sealed_labels=hashes))


def _in_their_books(player_ids: Collection[int]) -> ColumnElement[bool]:
    """Whether a line is of a tournament of these players' organizers, or of one that they are in."""
    owners = select(_PLAYER.organizer_id).where(_PLAYER.player_id.in_(player_ids))
    organized = select(_TOURNAMENT.tournament_id).where(_TOURNAMENT.organizer_id.in_(owners))
    entered = select(_ENTRANT.tournament_id).where(_ENTRANT.player_id.in_(player_ids))
    return _ENTRY.tournament_id.in_(organized.union(entered))


def with_merged_players(db: Connection, player_ids: Collection[int]) -> set[int]:
    """These players, and those that were merged into them, whom earlier lines name."""
    merged = _ENTRY.change == journal.PLAYERS_MERGED
    merges = select(_ENTRY.data).where(_in_their_books(player_ids), merged)
    ids = set(player_ids)
    # The newest first, because the removed one may be what remained of an earlier merge.
    for data in db.execute(merges.order_by(_ENTRY.journal_id.desc())).scalars():
        if data["remaining"] in ids:
            ids.add(data["removed"])
    return ids


def _labelled_sides(data: dict[str, Any], player_ids: Collection[int]) -> list[dict[str, Any]]:
    """The states of a change in which one of the players has a label."""
    return [
        side
        for side in data.values()
        if side["player_id"] in player_ids and (side.get("labels") or side.get("label_color"))
    ]


# Do the rest of an account's change, a slice at a time: in tournaments, in its book, in slow places.
#
# Each slice is one transaction of at most a quarter of a second, and notes how far it has come.


TOURNAMENTS_PER_SLICE = 50
BOOK_ROWS_PER_SLICE = 500
# Lines of the journal in one slice: a few hundredths of a second.
JOURNAL_LINES = 20_000
# The kinds of an organizer's book, ordered so that no kind is used by a later one.
BOOK_KINDS = (book.OCCASION, book.BANK, book.SERIES, book.PLAYER, book.ARENA, book.LOCATION)
_USER, _JOURNAL_ENTRY, _REPLY = tables.user.c, tables_journal.c, idempotency.c


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
    traced = traced_tournaments(transaction.connection, change)
    ids = sorted(each for each in traced if each > change.tournament_id)[:TOURNAMENTS_PER_SLICE]
    return _change_tournaments(transaction, change, ids)


def _show_in_tournaments(transaction: Transaction, change: UnfinishedChange) -> bool:
    shown_in = tournaments_shown_in(transaction.connection, change)
    ids = sorted(each for each in shown_in if each > change.tournament_id)[:TOURNAMENTS_PER_SLICE]
    return _change_tournaments(transaction, change, ids)


def _change_tournaments(transaction: Transaction, change: UnfinishedChange, ids: list[int]) -> bool:
    if not ids:
        # For the step that comes next.
        change.tournament_id = 0
        return False
    change_tournaments(transaction, change, ids)
    change.tournament_id = ids[-1]
    return True


def _erase_remains(transaction: Transaction, change: UnfinishedChange) -> bool:
    """Delete the rows that only the account used, and have the results of its players rated again."""
    db, user_id = transaction.connection, change.user_id
    for table in (idempotency, tables.claim, tables.history_pull, tables.book_action):
        db.execute(delete(table).where(table.c.user_id == user_id))
    for kind in BOOK_KINDS:
        # A player without a book: the statement looks for every kind of reference.
        if db.execute(select(kind.key).where(kind.owner == user_id).limit(1)).first() is None:
            continue
        unused = select(kind.key).where(kind.owner == user_id, merging.is_unreferenced(kind.key))
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
    newest = db.execute(select(func.max(_JOURNAL_ENTRY.journal_id))).scalar_one()
    if change.journal_id >= (newest or 0):
        return False
    after, change.journal_id = change.journal_id, change.journal_id + JOURNAL_LINES
    in_slice = (_JOURNAL_ENTRY.journal_id > after, _JOURNAL_ENTRY.journal_id <= change.journal_id)
    own = update(tables_journal).where(*in_slice, _JOURNAL_ENTRY.actor_id == change.user_id)
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
        migrate.begin_forgetting(transaction.connection)
        change.is_forgetting = True
        return True
    return bool(migrate.forget_slice(transaction.connection))


Step = Callable[[Transaction, UnfinishedChange], bool]
QUIET_STEPS: tuple[Step, ...] = (_erase_sources, _erase_replies, _forget_names)
STEPS: tuple[Step, ...] = (_show_in_tournaments,)
ERASURE_STEPS: tuple[Step, ...] = (_erase_traces, _show_in_tournaments, _erase_remains, *QUIET_STEPS)


def _steps(change: UnfinishedChange) -> tuple[Step, ...]:
    return STEPS if change.name is None else ERASURE_STEPS
