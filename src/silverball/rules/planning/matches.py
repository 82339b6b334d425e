"""The matches of a night against the clock, predicted from the pace. Ours."""

from math import expm1

from silverball.rules.pairing.groups import PAIR_SIZE
from silverball.rules.planning.pace import Pace


def matches_at_once(players: int, *, machines: int, waiting: int = 0) -> int:
    """How many matches are played at once while the clock runs; `waiting` is the queue that is wanted."""
    return max(0, min(machines, (players - max(waiting, players % PAIR_SIZE)) // PAIR_SIZE))


def matches_per_player(players: int, *, minutes: int, at_once: int, pace: Pace) -> float:
    """The matches that a player plays in the mean before the clock stops.

    On each machine a match begins with the clock, and the next one a gap after its end; whatever has begun
    is finished. The mean number that begin is that of a renewal process, whose first match comes at once.
    """
    length = pace.minutes[PAIR_SIZE]
    cycle = length + pace.gap
    variation = expm1(pace.game_spread**2) * (length / cycle) ** 2
    begun = max(1.0, minutes / cycle + (1 + variation) / 2)
    return PAIR_SIZE * at_once * begun / players
