"""Rounds."""

from silverball_client.shapes.base import Shape
from silverball_client.shapes.games import Game


class Round(Shape, frozen=True, kw_only=True):
    """Games played at the same time, or a Pingolf hole."""

    round_id: int
    tournament_id: int
    arena_id: int | None
    score: int | float | None
    size: int | None
    description: str | None
    index: int
    name: str
    status: str
    duration: int | None
    created_at: str
    completed_at: str | None


class DrawnRound(Shape, frozen=True, kw_only=True):
    """A round just drawn, with its games; in a dry run new ids are 0. Our addition."""

    data: Round
    games: tuple[Game, ...]
