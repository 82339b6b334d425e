"""Finals of a night: who goes on to each, and what a final has that its source no longer gives."""

from silverball_wire.base import Wire
from silverball_wire.values import TournamentType


class Seed(Wire, frozen=True, kw_only=True):
    """A player and a seed."""

    player_id: int
    seed: int
    """Seed, 1 is best."""


class FinalDifference(Wire, frozen=True, kw_only=True):
    """The changes that would make a final what its source gives now."""

    entering: tuple[int, ...]
    """Ids of the players who would come in."""
    leaving: tuple[int, ...]
    """Ids of the players who no longer qualify."""
    reseeded: tuple[Seed, ...]
    """Players who would have another place in the order of the seeds."""
    kept_by_hand: tuple[int, ...]
    """Ids of the players whose seed was set by hand, and whom the source seeds otherwise: they stay."""
    tied: tuple[int, ...]
    """Ids of the players who are tied across the cut or a line of byes: settle that first."""
    can_follow: bool
    """Whether the final has no result yet, so that it can take this over."""


class Final(Wire, frozen=True, kw_only=True):
    """A step to a final: who goes on, into what, and the tournament once it is made."""

    index: int
    """Position of the step, from 0."""
    name: str
    type: TournamentType
    """Format of the final."""
    players: int | None
    """Number of players who go on; null where another rule says it."""
    half: bool
    """Whether the upper half goes on."""
    within: str | None
    """All within so many points of the best go on; null where another rule says it."""
    qualified: tuple[int, ...]
    """Ids of those who would go on now, by place."""
    tied: tuple[int, ...]
    """Ids of the players who are tied across the cut."""
    tied_at_bye: tuple[int, ...]
    """Ids of the players who are tied across a line of byes."""
    byes: tuple[int, ...]
    """How many of the best seeds wait, for each line of byes."""
    rounds: int | None
    """Number of rounds; null where it is open."""
    tournament_id: int | None
    """Id of the final; null until it is made."""


class Finals(Wire, frozen=True, kw_only=True):
    """The finals of a tournament, and where it is one, how it differs from its source."""

    steps: tuple[Final, ...]
    """Finals that this tournament leads to, best first."""
    source_id: int | None
    """Id of the tournament that this final was made from; null for a series, and for no final."""
    series_id: int | None
    """Id of the series that this final was made from; null for none."""
    difference: FinalDifference | None
    """What its source would give now; null where nothing differs, and for no final."""
