"""Rounds of a snapshot in the shape that the interface publishes."""

from silverball.rules.model import tournament as rules
from silverball.store.rows import seconds_between
from silverball_wire import times
from silverball_wire.rounds import Round


def wire_round(tournament_id: int, round_: rules.Round) -> Round:
    """The round in its published shape."""
    assert round_.created_at is not None
    return Round(
        round_id=round_.round_id,
        tournament_id=tournament_id,
        arena_id=round_.arena_id,
        score=round_.score,
        size=round_.size,
        description=None,
        index=round_.round_index,
        name=round_.name,
        status=round_.status,
        duration=seconds_between(round_.created_at, round_.completed_at),
        created_at=times.plain_z(round_.created_at),
        completed_at=times.plain_z_or_none(round_.completed_at),
    )
