"""The live state of an amazing race."""

from silverball_client.shapes.base import Shape
from silverball_client.shapes.queues import QueueEntry
from silverball_client.shapes.rounds import Round
from silverball_client.shapes.singleplayer import SinglePlayerGame


class AmazingRaceState(Shape, frozen=True, kw_only=True):
    """Rounds, their games and the player who is up in each."""

    rounds: tuple[Round, ...]
    games: tuple[SinglePlayerGame, ...]
    queues: tuple[QueueEntry, ...]
