"""Nights that are simulated to count their meaningful games, and the outcome. Source: ratings, B.3."""

from collections.abc import Callable
from typing import Literal, TypeAlias

from msgspec import Struct

NIGHTS = 10_000
# Larger fields are not simulated: the arrays would be large, and no night is.
PLAYERS_MAX = 1_000
ALGORITHM_VERSION = 1
# A rising bar and the player who is last to reach a target need not come to an end.
ROUNDS_MAX = 200

# By group size (one to four) and place: strikes, or hundredths of a point.
Awards: TypeAlias = tuple[tuple[int, ...], ...]


class SimulatedNight(Struct, frozen=True, kw_only=True):
    """The settings that decide how long a night of equal players lasts."""

    # `strikes`: out at the limit. `reaching`: no more games at the limit. `pace`: out below the rising bar.
    ends_by: Literal["strikes", "reaching", "pace"]
    players: int
    group_size: int
    awards: Awards
    limit: int
    games_per_round: int = 1
    # Planned rounds; 0 leaves them open.
    rounds: int = 0
    # The first round with a bar, and its increase in each later round.
    bar_from_round: int = 0
    bar_increment: int = 0

    @property
    def key(self) -> str:
        """The text under which the outcome is stored; nights with equal keys have equal outcomes."""
        awards = "/".join(",".join(str(award) for award in row) for row in self.awards)
        numbers = (
            self.players,
            self.group_size,
            self.limit,
            self.games_per_round,
            self.rounds,
            self.bar_from_round,
            self.bar_increment,
        )
        return f"v{ALGORITHM_VERSION} {self.ends_by} {' '.join(map(str, numbers))} {awards}"


class SimulatedOutcome(Struct, frozen=True, kw_only=True):
    """Means over the simulated nights."""

    nights: int
    # Rounds until the night was over.
    rounds: float
    # Until one was left: rounds times the mean weight of all games. To a target: of those who reached it.
    meaningful_games: float
    # To a target: of the first who reached it; elsewhere as above.
    meaningful_games_of_first: float


# The stored outcome of a night; None while it is being computed.
FindOutcome: TypeAlias = Callable[[SimulatedNight], SimulatedOutcome | None]
