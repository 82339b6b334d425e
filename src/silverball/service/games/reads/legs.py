"""Legs: the single games of the matches of a bracket."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, select

from silverball.kit.errors import NotFound
from silverball.service.games.reads import games
from silverball.store.tables import game
from silverball_wire import times
from silverball_wire.games import Leg

LEGS = select(game.c.game_id, game.c.tournament_id, game.c.legs)


def legs_of_game(db: Connection, tournament_id: int, game_id: int) -> tuple[Leg, ...]:
    """The single games of a match, in playing order.

    Raises NotFound, and WrongFormat for a game of another tournament.
    """
    own = LEGS.where(game.c.game_id == game_id, game.c.tournament_id == tournament_id)
    row = db.execute(own).one_or_none()
    if row is None:
        games.require_game(db, tournament_id, game_id)
    return tuple(_leg_items(row))


def find_leg(db: Connection, tournament_id: int, game_id: int, number: int) -> Leg:
    """A single game of a match, counted from 1. Raises as `legs_of_game` does, and NotFound."""
    legs = legs_of_game(db, tournament_id, game_id)
    if not 1 <= number <= len(legs):
        raise NotFound("Leg", number)
    return legs[number - 1]


def legs_in_tournament(db: Connection, tournament_id: int) -> tuple[Leg, ...]:
    """The single games of all matches of a tournament, by match, in playing order."""
    own = LEGS.where(game.c.tournament_id == tournament_id, game.c.legs.is_not(None))
    return tuple(leg for row in db.execute(own.order_by(game.c.game_id)) for leg in _leg_items(row))


def _leg_items(row: Any) -> Iterator[Leg]:
    for number, leg in enumerate(row.legs or (), start=1):
        recorded_at = leg["recorded_at"]
        yield Leg(
            game_id=row.game_id,
            tournament_id=row.tournament_id,
            leg=number,
            arena_id=leg["arena_id"],
            result_positions=tuple(leg["finishing_order"]),
            recorded_at=None if recorded_at is None else times.iso(times.parse_moment(recorded_at)),
        )
