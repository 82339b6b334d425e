"""Rounds."""

from silverball.wire.base import Wire
from silverball.wire.games import Game
from silverball.wire.values import GameStatus, Number


class Round(Wire, frozen=True, kw_only=True):
    """Games played at the same time, or a Pingolf hole. Source: interface 4.4, samples/rounds.json."""

    round_id: int
    tournament_id: int
    arena_id: int | None
    # The target of a hole, or the bar of a race.
    score: Number | None
    size: int | None
    description: str | None
    # From 0.
    index: int
    name: str
    status: GameStatus
    # Seconds.
    duration: int | None
    created_at: str
    completed_at: str | None


class DrawnRound(Wire, frozen=True, kw_only=True):
    """A round just drawn, with its games; in a dry run new ids are 0. Our addition."""

    data: Round
    games: tuple[Game, ...]
