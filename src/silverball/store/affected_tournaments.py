"""Tournaments in progress that show something of an account or of an organizer's book."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Select, or_, select, union

from silverball.store.batches import ascending_batches
from silverball.store.tables import (
    bank_arena,
    entrant,
    game,
    lineup_arena,
    lineup_bank,
    player,
    round_,
    scorekeeper,
    single_player_game,
    tournament,
    tournament_link,
)

IdsByTournament = dict[int, list[int]]


def running_tournaments(db: Connection, tournament_ids: Collection[int]) -> list[int]:
    """Those of these tournaments that are not completed, ascending."""
    running: list[int] = []
    for batch in ascending_batches(tournament_ids):
        rows = select(tournament.c.tournament_id).where(
            tournament.c.tournament_id.in_(batch), tournament.c.status != "completed"
        )
        running += db.execute(rows.order_by(tournament.c.tournament_id)).scalars()
    return running


def entrants_by_tournament(
    db: Connection, tournament_ids: Collection[int], player_ids: Collection[int]
) -> IdsByTournament:
    """Tournament id -> those of the players who are entrants there."""
    columns = select(entrant.c.tournament_id, entrant.c.player_id)
    return _group_running(db, tournament_ids, columns.where(entrant.c.player_id.in_(player_ids)))


def claimed_entrants_by_tournament(
    db: Connection,
    tournament_ids: Collection[int],
    user_ids: Collection[int],
    player_ids: Collection[int] = (),
) -> IdsByTournament:
    """Tournament id -> its players who are claimed by one of the users, or are among these players."""
    claimed = select(player.c.player_id).where(player.c.claimed_by.in_(user_ids))
    is_theirs = or_(entrant.c.player_id.in_(claimed), entrant.c.player_id.in_(player_ids))
    columns = select(entrant.c.tournament_id, entrant.c.player_id)
    ids: IdsByTournament = {}
    for batch in ascending_batches(tournament_ids):
        ids |= _group_running(db, batch, columns.where(entrant.c.tournament_id.in_(batch), is_theirs))
    return ids


def arenas_by_tournament(
    db: Connection, tournament_ids: Collection[int], arena_ids: Collection[int]
) -> IdsByTournament:
    """Tournament id -> those of the arenas that it shows: in its lineup, in a bank, in a game."""
    in_banks = (
        select(lineup_bank.c.tournament_id, bank_arena.c.arena_id)
        .join(bank_arena, bank_arena.c.bank_id == lineup_bank.c.bank_id)
        .where(bank_arena.c.arena_id.in_(arena_ids))
    )
    in_play = [
        select(table.c.tournament_id, table.c.arena_id).where(table.c.arena_id.in_(arena_ids))
        for table in (lineup_arena, game, round_, single_player_game)
    ]
    pairs = union(in_banks, *in_play).subquery()
    return _group_running(db, tournament_ids, select(pairs.c.tournament_id, pairs.c.arena_id))


def tournaments_staffed_by(
    db: Connection, tournament_ids: Collection[int], user_ids: Collection[int]
) -> list[int]:
    """Those of the tournaments that one of the users organizes or keeps scores in, ascending."""
    own, keeper = tournament.c, scorekeeper.c
    staffed: list[int] = []
    for batch in ascending_batches(tournament_ids):
        organized = select(own.tournament_id).where(
            own.tournament_id.in_(batch), own.organizer_id.in_(user_ids)
        )
        scored = select(keeper.tournament_id).where(
            keeper.tournament_id.in_(batch), keeper.user_id.in_(user_ids)
        )
        both = union(organized, scored).subquery()
        staffed += sorted(db.execute(select(both.c.tournament_id)).scalars())
    return staffed


def tournaments_linking_to(db: Connection, tournament_id: int) -> list[int]:
    """The tournaments that link to this one, ascending."""
    link = tournament_link.c
    rows = select(link.tournament_id).where(link.linked_tournament_id == tournament_id).distinct()
    return list(db.execute(rows.order_by(link.tournament_id)).scalars())


def _group_running(db: Connection, tournament_ids: Collection[int], pairs: Select[Any]) -> IdsByTournament:
    """Tournament id -> ids, from a statement for pairs of both, without completed tournaments."""
    running = set(running_tournaments(db, tournament_ids))
    ids: IdsByTournament = {}
    for tournament_id, row_id in db.execute(pairs):
        if tournament_id in running:
            ids.setdefault(tournament_id, []).append(row_id)
    return ids
