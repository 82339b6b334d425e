"""Which tournaments that are not completed show something of a book or an account."""

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import Connection, Select, select, union

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

# SQLite takes 32,766 parameters in one statement.
IDS_PER_STATEMENT = 5_000
IdsByTournament = dict[int, list[int]]


def running_tournaments(db: Connection, tournament_ids: Collection[int]) -> list[int]:
    """Those of these tournaments that are not completed, ascending."""
    found: list[int] = []
    for some in _chunks(tournament_ids):
        rows = select(tournament.c.tournament_id).where(
            tournament.c.tournament_id.in_(some), tournament.c.status != "completed"
        )
        found += db.execute(rows.order_by(tournament.c.tournament_id)).scalars()
    return found


def entrants_by_tournament(
    db: Connection, tournament_ids: Collection[int], player_ids: Collection[int]
) -> IdsByTournament:
    """Tournament id -> those of the players who take part there."""
    columns = select(entrant.c.tournament_id, entrant.c.player_id)
    return _group_running(db, tournament_ids, columns.where(entrant.c.player_id.in_(player_ids)))


def claimed_entrants_by_tournament(
    db: Connection, tournament_ids: Collection[int], user_ids: Collection[int]
) -> IdsByTournament:
    """Tournament id -> its players whom one of the users claimed."""
    claimed = select(player.c.player_id).where(player.c.claimed_by.in_(user_ids))
    columns = select(entrant.c.tournament_id, entrant.c.player_id)
    return _group_running(db, tournament_ids, columns.where(entrant.c.player_id.in_(claimed)))


def arenas_by_tournament(
    db: Connection, tournament_ids: Collection[int], arena_ids: Collection[int]
) -> IdsByTournament:
    """Tournament id -> those of the arenas that it shows: in its lineup, in a bank, in a game."""
    in_banks = (
        select(lineup_bank.c.tournament_id, bank_arena.c.arena_id)
        .join(bank_arena, bank_arena.c.bank_id == lineup_bank.c.bank_id)
        .where(bank_arena.c.arena_id.in_(arena_ids))
    )
    used = [
        select(one.c.tournament_id, one.c.arena_id).where(one.c.arena_id.in_(arena_ids))
        for one in (lineup_arena, game, round_, single_player_game)
    ]
    both = union(in_banks, *used).subquery()
    return _group_running(db, tournament_ids, select(both.c.tournament_id, both.c.arena_id))


def tournaments_staffed_by(
    db: Connection, tournament_ids: Collection[int], user_ids: Collection[int]
) -> list[int]:
    """Those of the tournaments that one of the users organizes or keeps scores in, ascending."""
    organized = select(tournament.c.tournament_id).where(tournament.c.organizer_id.in_(user_ids))
    kept = select(scorekeeper.c.tournament_id).where(scorekeeper.c.user_id.in_(user_ids))
    found = union(organized, kept).subquery()
    wanted = set(tournament_ids)
    return sorted(wanted.intersection(db.execute(select(found.c.tournament_id)).scalars()))


def tournaments_linking_to(db: Connection, tournament_id: int) -> list[int]:
    """The tournaments that show this one as linked, ascending."""
    link = tournament_link.c
    rows = select(link.tournament_id).where(link.linked_tournament_id == tournament_id).distinct()
    return list(db.execute(rows.order_by(link.tournament_id)).scalars())


def _group_running(db: Connection, tournament_ids: Collection[int], pairs: Select[Any]) -> IdsByTournament:
    wanted = set(running_tournaments(db, tournament_ids))
    found: IdsByTournament = {}
    for tournament_id, key in db.execute(pairs):
        if tournament_id in wanted:
            found.setdefault(tournament_id, []).append(key)
    return found


def _chunks(keys: Collection[int]) -> Iterable[list[int]]:
    ordered = sorted(keys)
    return (ordered[start : start + IDS_PER_STATEMENT] for start in range(0, len(ordered), IDS_PER_STATEMENT))
