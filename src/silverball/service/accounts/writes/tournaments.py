"""Carry the change of an account, or its erasing, into the tournaments that it is in.

A label may say who somebody is, and the journal keeps old ones. All lines of a player are rewritten alike, so
that undo and verification, which compare them with each other and with the rows, find no difference.
"""

from collections.abc import Collection, Iterable
from typing import Any

import msgspec
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Select,
    Text,
    and_,
    exists,
    or_,
    select,
    type_coerce,
    update,
)

from silverball.service.events import feed_events
from silverball.store import chain, journal, revisions, tables
from silverball.store.batches import ascending_batches
from silverball.store.transaction import Transaction
from silverball.store.unfinished_changes import UnfinishedChange

_NO_LABELS: dict[str, Any] = {"labels": [], "label_color": None}
_T, _ENTRANT, _CODE_USE = tables.tournament.c, tables.entrant.c, tables.device_action.c
_PLAYER, _ENTRY = tables.player.c, tables.journal.c
# Rows of tournaments that name the account.
_USER_COLUMNS: tuple[Column[Any], ...] = (tables.game_player.c.user_id, tables.suggestion.c.user_id)
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


def shown_in(db: Connection, change: UnfinishedChange) -> set[int]:
    """The tournaments that show the account."""
    ids = set(revisions.tournaments_of_users(db, [change.user_id]))
    if change.name is None:
        return ids
    ids.update(
        _ids_of(
            db,
            [
                select(column.table.c.tournament_id).where(column == change.user_id)
                for column in _USER_COLUMNS
            ],
        )
    )
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
        _erase_from_games(db, change.user_id, tournament_ids)
    feed_events.announce_users_in(
        transaction,
        [change.user_id],
        tournament_ids,
        is_hiding=change.is_hiding,
        player_ids=player_ids,
    )


def _erase_from_games(db: Connection, user_id: int, tournament_ids: Collection[int]) -> None:
    for column in _USER_COLUMNS:
        # Not by the index of the column, which has the rows of all other tournaments too.
        own = (column.table.c.tournament_id.in_(tournament_ids), column + 0 == user_id)
        db.execute(update(column.table).where(*own).values({column: None}))


def _erase_manager(db: Connection, name: str, tournament_ids: Collection[int]) -> None:
    for tournament_id, managers in _managed_by(db, name, _T.tournament_id.in_(tournament_ids)):
        remaining = [manager for manager in managers if manager.get("name") != name]
        row = update(tables.tournament).where(_T.tournament_id == tournament_id)
        db.execute(row.values(managers=remaining))


def _managed_by(
    db: Connection, name: str, *conditions: ColumnElement[bool]
) -> list[tuple[int, list[dict[str, Any]]]]:
    """The tournaments with a manager of this name, and their managers; imported ones may name them."""
    may_name = type_coerce(_T.managers, Text).contains(msgspec.json.encode(name).decode(), autoescape=True)
    rows = db.execute(select(_T.tournament_id, _T.managers).where(may_name, *conditions))
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
    organized = select(_T.tournament_id).where(_T.organizer_id.in_(owners))
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
