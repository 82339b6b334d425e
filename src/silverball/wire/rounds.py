"""Rounds."""

from silverball.wire.base import Wire
from silverball.wire.games import Game
from silverball.wire.values import GameStatus, Number


class Round(Wire, frozen=True, kw_only=True):
    """Games played at the same time, or a hole. Source: interface 4.4, samples/rounds.json."""

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
    """A round that was just drawn, with its games; ids of what was not kept are 0. Ours."""

    data: Round
    games: tuple[Game, ...]
