"""The live state of an amazing race."""

from silverball_wire.base import Wire
from silverball_wire.queues import QueueEntry
from silverball_wire.rounds import Round
from silverball_wire.singleplayer import SinglePlayerGame


class AmazingRaceState(Wire, frozen=True, kw_only=True):
    """Rounds, their games and the player who is up in each. Source: interface.md 2, row 27."""

    rounds: tuple[Round, ...]
    """Rounds of the race, one for each arena."""
    games: tuple[SinglePlayerGame, ...]
    """Games of the current round."""
    queues: tuple[QueueEntry, ...]
    """Players who wait, the next one first."""
