"""Revisions: how a transaction raises them.

A change that several tournaments show (a player's name, a location) raises each of them, in the
order of their ids, so that two such changes cannot deadlock. A transaction that holds one tournament's
lock raises that tournament only. A change of something shared takes no tournament's lock before, and
locks the shared row in no way that a new reference to it would have to wait for.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, Select, bindparam, select, update

from silverball.store import tables
from silverball.store.database.conditions import ascending_batches
from silverball.store.database.statements import Statement
from silverball.store.database.transaction import Transaction
from silverball.store.revisions.stamps import Revision

RAISE_LOCKED = Statement(
    update(tables.tournament)
    .where(tables.tournament.c.tournament_id == bindparam("own_id"))
    .values(
        revision=tables.tournament.c.revision + 1,
        stamp=bindparam("new_stamp"),
        updated_at=bindparam("moment"),
        seq=tables.tournament.c.seq + bindparam("announced"),
    )
    .returning(tables.tournament.c.revision, tables.tournament.c.epoch, tables.tournament.c.seq)
)


class RaisedTournament(NamedTuple):
    """The row of a tournament after its revision was raised."""

    revision: int
    # The epoch of its channel, and the newest number that was given out in it.
    epoch: str
    seq: int


def raise_tournaments(transaction: Transaction, tournament_ids: Collection[int]) -> dict[int, int]:
    """Raise the revisions of these tournaments by one and return the new ones."""
    db = transaction.connection
    raised: dict[int, int] = {}
    column = tables.tournament.c.tournament_id
    for batch in ascending_batches(tournament_ids):
        _lock(db, batch)
        raised_row = {"revision": tables.tournament.c.revision + 1, "stamp": transaction.stamp}
        rows = update(tables.tournament).where(column.in_(batch)).values(**raised_row)
        changed = db.execute(rows.returning(column, tables.tournament.c.revision))
        raised |= {tournament_id: revision for tournament_id, revision in changed}  # noqa: C416  # rows are no pairs to mypy
    # Only `Store.write` publishes them, and only after the commit.
    transaction.raised_revisions.update(raised)
    return raised


def lock_tournaments(db: Connection, tournament_ids: Collection[int]) -> None:
    """Lock these tournaments, in the order of their ids."""
    for batch in ascending_batches(tournament_ids):
        _lock(db, batch)


def _lock(db: Connection, tournament_ids: Collection[int]) -> None:
    if db.dialect.name == "sqlite":
        # Its one writer has locked them all.
        return
    column = tables.tournament.c.tournament_id
    db.execute(select(column).where(column.in_(tournament_ids)).order_by(column).with_for_update()).all()


def raise_locked(
    transaction: Transaction, tournament_id: int, now: datetime, *, announced: int
) -> RaisedTournament:
    """Raise the revision of the tournament whose lock this transaction holds.

    Takes the numbers of this many announcements of its channel, with the same statement.
    """
    row = {"own_id": tournament_id, "new_stamp": transaction.stamp, "moment": now, "announced": announced}
    raised = RaisedTournament(*RAISE_LOCKED.rows(transaction.connection, **row)[0])
    transaction.raised_revisions[tournament_id] = raised.revision
    return raised


def current_revision(db: Connection, tournament_id: int) -> Revision | None:
    """The revision of a tournament as this connection sees it; None when there is none."""
    columns = select(tables.tournament.c.revision, tables.tournament.c.stamp)
    row = db.execute(columns.where(tables.tournament.c.tournament_id == tournament_id)).one_or_none()
    return None if row is None else Revision(row.revision, row.stamp)


def tournaments_of_users(db: Connection, user_ids: Collection[int]) -> Sequence[int]:
    """The tournaments that these users organize, keep scores in, or play in as a claimed player."""
    claimed = select(tables.player.c.player_id).where(tables.player.c.claimed_by.in_(user_ids))
    return _selected_ids(
        db,
        select(tables.tournament.c.tournament_id).where(tables.tournament.c.organizer_id.in_(user_ids)),
        select(tables.scorekeeper.c.tournament_id).where(tables.scorekeeper.c.user_id.in_(user_ids)),
        select(tables.entrant.c.tournament_id).where(tables.entrant.c.player_id.in_(claimed)),
    )


def tournaments_of_players(db: Connection, player_ids: Collection[int]) -> Sequence[int]:
    """The tournaments that these players are entrants in."""
    own = tables.entrant.c
    rows = select(own.tournament_id).where(own.player_id.in_(player_ids)).distinct()
    return db.execute(rows).scalars().all()


def raise_for_players(transaction: Transaction, player_ids: Collection[int]) -> dict[int, int]:
    """Raise every tournament that these players are entrants in."""
    return raise_tournaments(transaction, tournaments_of_players(transaction.connection, player_ids))


def raise_for_arenas(transaction: Transaction, arena_ids: Collection[int]) -> dict[int, int]:
    """Raise every tournament with one of these arenas in its lineup, in a bank or in a game."""
    banks = select(tables.bank_arena.c.bank_id).where(tables.bank_arena.c.arena_id.in_(arena_ids))
    tables_with_arenas = (tables.lineup_arena, tables.game, tables.round_, tables.single_player_game)
    return _raise_selected(
        transaction,
        select(tables.lineup_bank.c.tournament_id).where(tables.lineup_bank.c.bank_id.in_(banks)),
        *(
            select(table.c.tournament_id).where(table.c.arena_id.in_(arena_ids))
            for table in tables_with_arenas
        ),
    )


def raise_for_banks(transaction: Transaction, bank_ids: Collection[int]) -> dict[int, int]:
    """Raise every tournament with one of these banks in its lineup."""
    return _raise_selected(
        transaction,
        select(tables.lineup_bank.c.tournament_id).where(tables.lineup_bank.c.bank_id.in_(bank_ids)),
    )


def raise_for_locations(transaction: Transaction, location_ids: Collection[int]) -> dict[int, int]:
    """Raise every tournament at these locations, or of an occasion at one of them."""
    occasions = select(tables.occasion.c.occasion_id).where(tables.occasion.c.location_id.in_(location_ids))
    return _raise_selected(
        transaction,
        select(tables.tournament.c.tournament_id).where(tables.tournament.c.location_id.in_(location_ids)),
        _select_in_occasions(occasions),
    )


def raise_for_occasions(transaction: Transaction, occasion_ids: Collection[int]) -> dict[int, int]:
    """Raise every tournament of these occasions."""
    return _raise_selected(transaction, _select_in_occasions(occasion_ids))


def _select_in_occasions(occasion_ids: Collection[int] | Select[tuple[int]]) -> Select[tuple[int]]:
    entry = tables.occasion_tournament.c
    return select(entry.tournament_id).where(
        entry.occasion_id.in_(occasion_ids), entry.tournament_id.is_not(None)
    )


def raise_for_series(transaction: Transaction, series_ids: Collection[int]) -> dict[int, int]:
    """Raise every tournament of these series."""
    return _raise_selected(
        transaction,
        select(tables.tournament.c.tournament_id).where(tables.tournament.c.series_id.in_(series_ids)),
    )


def _raise_selected(transaction: Transaction, *selects: Select[tuple[int]]) -> dict[int, int]:
    return raise_tournaments(transaction, _selected_ids(transaction.connection, *selects))


def _selected_ids(db: Connection, first: Select[tuple[int]], *more: Select[tuple[int]]) -> Sequence[int]:
    selected = first.union(*more).subquery()
    return db.execute(select(selected.c.tournament_id)).scalars().all()
