"""The snapshot that rules work on, loaded from rows. Only for formats that the registry knows."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, Table, select

from silverball.rules import settings
from silverball.rules.registry import FORMATS
from silverball.rules.tournament import (
    Card,
    Entrant,
    Game,
    LineupArena,
    QueueSpot,
    Round,
    SinglePlayerGame,
    Tournament,
)
from silverball.store import tables


def load(db: Connection, tournament_id: int) -> Tournament:
    """The tournament with everything in it; it must exist and be of a known format."""
    columns = (tables.tournament.c.type, tables.tournament.c.status, tables.tournament.c.settings)
    row = db.execute(select(*columns).where(tables.tournament.c.tournament_id == tournament_id)).one()
    return Tournament(
        tournament_id=tournament_id,
        type=row.type,
        status=row.status,
        settings=settings.read(FORMATS[row.type].settings, row.settings),
        entrants=tuple(_entrant(one) for one in _rows(db, tables.entrant, tournament_id, "place")),
        lineup=tuple(_lineup_arena(one) for one in _lineup_rows(db, tournament_id)),
        rounds=tuple(_round(one) for one in _rows(db, tables.round_, tournament_id, "round_id")),
        games=_games(db, tournament_id),
        single_player_games=tuple(
            _single_player_game(one)
            for one in _rows(db, tables.single_player_game, tournament_id, "single_player_game_id")
        ),
        cards=tuple(_card(one) for one in _rows(db, tables.card, tournament_id, "card_id")),
        queue=tuple(_queue_spot(one) for one in _rows(db, tables.queue_entry, tournament_id, "queue_id")),
    )


def _rows(db: Connection, table: Table, tournament_id: int, order: str) -> Sequence[Any]:
    rows = select(table).where(table.c.tournament_id == tournament_id).order_by(table.c[order])
    return db.execute(rows).all()


def _lineup_rows(db: Connection, tournament_id: int) -> Sequence[Any]:
    lineup = tables.lineup_arena
    rows = (
        select(lineup, tables.arena.c.category_id)
        .join(tables.arena, tables.arena.c.arena_id == lineup.c.arena_id)
        .where(lineup.c.tournament_id == tournament_id)
        .order_by(lineup.c.place)
    )
    return db.execute(rows).all()


def _games(db: Connection, tournament_id: int) -> tuple[Game, ...]:
    seats = _rows(db, tables.game_player, tournament_id, "game_id")
    seats_of = {
        game_id: sorted(group, key=attrgetter("slot"))
        for game_id, group in groupby(seats, key=attrgetter("game_id"))
    }
    games = _rows(db, tables.game, tournament_id, "game_id")
    return tuple(_game(row, seats_of.get(row.game_id, [])) for row in games)


def _game(row: Any, seats: Sequence[Any]) -> Game:
    return Game(
        game_id=row.game_id,
        round_id=row.round_id,
        status=row.status,
        player_ids=tuple(seat.player_id for seat in seats),
        result_positions=tuple(seat.result_position for seat in seats),
        result_points=tuple(seat.points for seat in seats),
        result_scores=tuple(seat.score for seat in seats),
        arena_id=row.arena_id,
        set_number=row.set_number,
        game_index=row.game_index,
        is_bye=row.bye,
    )


def _entrant(row: Any) -> Entrant:
    return Entrant(
        player_id=row.player_id,
        is_active=row.status == "active",
        seed_rank=row.seed_rank,
        points_adjustment=row.points_adjustment,
        score_adjustment=row.score_adjustment,
    )


def _lineup_arena(row: Any) -> LineupArena:
    return LineupArena(
        arena_id=row.arena_id,
        is_active=row.status == "active",
        is_preferred=bool(row.preferred),
        category_id=row.category_id,
        amazing_race_seed=row.amazing_race_seed,
    )


def _round(row: Any) -> Round:
    return Round(
        round_id=row.round_id,
        round_index=row.round_index,
        status=row.status,
        arena_id=row.arena_id,
        score=row.score,
    )


def _single_player_game(row: Any) -> SinglePlayerGame:
    return SinglePlayerGame(
        single_player_game_id=row.single_player_game_id,
        player_id=row.player_id,
        status=row.status,
        arena_id=row.arena_id,
        round_id=row.round_id,
        card_id=row.card_id,
        score=row.score,
        points=row.points,
        game_index=row.game_index,
        is_voided=row.voided,
    )


def _card(row: Any) -> Card:
    return Card(card_id=row.card_id, player_id=row.player_id, status=row.status, is_voided=row.voided)


def _queue_spot(row: Any) -> QueueSpot:
    return QueueSpot(
        queue_id=row.queue_id,
        player_id=row.player_id,
        queue_index=row.queue_index,
        arena_id=row.arena_id,
        round_id=row.round_id,
        is_done=row.completed_at is not None,
    )
