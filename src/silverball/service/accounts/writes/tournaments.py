"""Carry the change of an account, or its erasing, into the tournaments that it is in."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import msgspec
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Select,
    Text,
    exists,
    or_,
    select,
    type_coerce,
    update,
)

from silverball.service.accounts.writes import journal_labels
from silverball.service.events import feed_events
from silverball.store import chain, revisions, tables
from silverball.store.batches import ascending_batches
from silverball.store.pending_announcements import PendingAnnouncement
from silverball.store.transaction import Transaction

_NO_LABELS: dict[str, Any] = {"labels": [], "label_color": None}
_T, _ENTRANT, _CODE_USE = tables.tournament.c, tables.entrant.c, tables.device_action.c
# Rows of tournaments that name the account.
_USER_COLUMNS: tuple[Column[Any], ...] = (tables.game_player.c.user_id, tables.suggestion.c.user_id)
# Most have none, and stay as they are.
_HAS_LABELS = or_(type_coerce(_ENTRANT.labels, Text) != "[]", _ENTRANT.label_color.is_not(None))


class WaitingTournaments(msgspec.Struct, frozen=True):
    """The tournaments that have to follow a change of an account, and how it is stored."""

    pending: PendingAnnouncement
    # Of an erased account: the players that it had claimed, and those that were merged into them.
    player_ids: Collection[int]
    # Ascending.
    tournament_ids: Sequence[int]
    # Those of them in which more than games names an erased person: labels, managers, addresses.
    traced_ids: Collection[int] = frozenset()


def find_waiting(db: Connection, pending: PendingAnnouncement) -> WaitingTournaments:
    """The tournaments that still have to follow."""
    ids = set(revisions.tournaments_of_users(db, [pending.user_id]))
    player_ids: Collection[int] = ()
    traced: set[int] = set()
    if pending.erased_name is not None:
        player_ids = journal_labels.with_merged_players(db, pending.player_ids)
        traced = _traced_tournaments(db, player_ids, pending.erased_name)
        ids |= traced | _played_tournaments(db, pending.user_id, player_ids)
    left = sorted(tournament_id for tournament_id in ids if tournament_id > pending.tournament_id)
    return WaitingTournaments(pending, player_ids, left, traced)


def _played_tournaments(db: Connection, user_id: int, player_ids: Collection[int]) -> set[int]:
    """The tournaments that these players are in, and those whose games name the account."""
    ids = set(
        _ids_of(
            db, [select(column.table.c.tournament_id).where(column == user_id) for column in _USER_COLUMNS]
        )
    )
    for players in ascending_batches(player_ids):
        ids.update(_ids_of(db, [select(_ENTRANT.tournament_id).where(_ENTRANT.player_id.in_(players))]))
    return ids


def _traced_tournaments(db: Connection, player_ids: Collection[int], name: str) -> set[int]:
    """The tournaments with labels of these players, their addresses, or this name among the managers.

    Nothing adds others later: labels come from labels, and the players have none any more.
    """
    ids = set(_ids_of(db, [select(_T.tournament_id).where(_may_name_manager(name))]))
    for players in ascending_batches(player_ids):
        labelled = select(_ENTRANT.tournament_id).where(_ENTRANT.player_id.in_(players), _HAS_LABELS)
        with_code = select(_CODE_USE.tournament_id).where(_CODE_USE.player_id.in_(players))
        ids.update(_ids_of(db, [labelled, with_code]))
    return ids | journal_labels.labelled_tournaments(db, player_ids)


def _ids_of(db: Connection, statements: Iterable[Select[Any]]) -> Iterable[int]:
    for statement in statements:
        yield from db.execute(statement.distinct()).scalars()


def change_tournaments(
    transaction: Transaction, waiting: WaitingTournaments, tournament_ids: Collection[int]
) -> None:
    """Let these tournaments, no more than fit into one statement, show the account as it is now."""
    db, pending = transaction.connection, waiting.pending
    if pending.erased_name is not None:
        revisions.lock_tournaments(db, tournament_ids)
        traced = [tournament_id for tournament_id in tournament_ids if tournament_id in waiting.traced_ids]
        if traced:
            _erase_traces(db, waiting.player_ids, pending.erased_name, traced)
        _erase_from_games(db, pending.user_id, tournament_ids)
    feed_events.announce_users_in(
        transaction,
        [pending.user_id],
        tournament_ids,
        is_hiding=pending.is_hiding,
        player_ids=waiting.player_ids,
    )


def _erase_traces(
    db: Connection, player_ids: Collection[int], name: str, tournament_ids: Collection[int]
) -> None:
    _erase_manager(db, name, tournament_ids)
    for players in ascending_batches(player_ids):
        theirs = (_ENTRANT.tournament_id.in_(tournament_ids), _ENTRANT.player_id.in_(players), _HAS_LABELS)
        db.execute(update(tables.entrant).where(*theirs).values(**_NO_LABELS))
        _erase_code_sources(db, players, tournament_ids)
    journal_labels.erase_labels(db, player_ids, tournament_ids)


def _erase_from_games(db: Connection, user_id: int, tournament_ids: Collection[int]) -> None:
    for column in _USER_COLUMNS:
        # Not by the index of the column, which has the rows of all other tournaments too.
        own = (column.table.c.tournament_id.in_(tournament_ids), column + 0 == user_id)
        db.execute(update(column.table).where(*own).values({column: None}))


def _erase_manager(db: Connection, name: str, tournament_ids: Collection[int]) -> None:
    rows = select(_T.tournament_id, _T.managers).where(
        _T.tournament_id.in_(tournament_ids), _may_name_manager(name)
    )
    for tournament_id, managers in db.execute(rows).all():
        # Imported tournaments may name their managers.
        remaining = [manager for manager in managers if manager.get("name") != name]
        row = update(tables.tournament).where(_T.tournament_id == tournament_id)
        db.execute(row.values(managers=remaining))


def _may_name_manager(name: str) -> ColumnElement[bool]:
    return type_coerce(_T.managers, Text).contains(msgspec.json.encode(name).decode(), autoescape=True)


def _erase_code_sources(db: Connection, player_ids: Collection[int], tournament_ids: Collection[int]) -> None:
    """Erase the addresses from which these players' printed codes were used."""
    entry = tables.journal.c
    with_code = _CODE_USE.player_id.in_(player_ids)
    used = select(_CODE_USE.tournament_id).where(with_code, _CODE_USE.tournament_id.in_(tournament_ids))
    is_action = (_CODE_USE.tournament_id == entry.tournament_id) & (_CODE_USE.action_id == entry.action_id)
    used_codes = (entry.tournament_id.in_(used), exists().where(is_action, with_code))
    db.execute(update(tables.journal).where(*used_codes).values(chain.ERASED_SOURCE))
