"""Rounds."""

from silverball_wire.base import Wire
from silverball_wire.games import Game
from silverball_wire.values import GameStatus, Number


class Round(Wire, frozen=True, kw_only=True):
    """Games played at the same time, or a Pingolf hole. Source: interface 4.4, samples/rounds.json."""

    round_id: int
    tournament_id: int
    arena_id: int | None
    """Id of the arena of a hole, a frame or a race; null elsewhere."""
    score: Number | None
    """Target of a hole, or bar of a race; null elsewhere."""
    size: int | None
    """Number of groups; null when it is not known."""
    description: str | None
    # From 0.
    index: int
    name: str
    """Name of the round, such as `Round #1`."""
    status: GameStatus
    """`started`, or `completed`."""
    # Seconds.
    duration: int | None
    created_at: str
    completed_at: str | None


class DrawnRound(Wire, frozen=True, kw_only=True):
    """A round just drawn, with its games; in a dry run new ids are 0. Our addition."""

    data: Round
    """The round."""
    games: tuple[Game, ...]
    """Its games; in a dry run their ids are 0."""
