"""Whole nights against what their games say: how far a plan was off, and how far the next one may be.

A simulation of equal players knows nothing of skill, breaks and habits. What past nights lasted, compared
with what the simulation says of them, corrects it.
"""

from collections.abc import Sequence
from math import exp, sqrt

import numpy as np
from msgspec import Struct

from silverball.kit.values import replace
from silverball.rules.planning.pace import NIGHT_SPREAD_MIN, NIGHTS_MIN, Pace
from silverball.rules.planning.shapes import ClockNight, NightShape
from silverball.rules.planning.simulation import Dice, simulate_minutes

# Simulated nights for each past one.
NIGHTS_EACH = 60
# Nights as planned that are added to the past ones, so that a few do not say too much.
NIGHTS_ASSUMED = 1


class FinishedNight(Struct, frozen=True, kw_only=True):
    """A night that is over: its shape, and how long it was."""

    shape: NightShape
    players: int
    machines: int
    # From the first game to the last result.
    minutes: float


def calibrate(pace: Pace, finished: Sequence[FinishedNight], dice: Dice) -> Pace:
    """The pace with the length and the spread of whole nights; unchanged for fewer than five of them."""
    steady = replace(pace, night_spread=0.0, venue_spread=0.0)
    off: list[float] = []
    chance: list[float] = []
    for night in finished:
        if isinstance(night.shape, ClockNight) or night.minutes <= 0:
            continue
        simulated = simulate_minutes(
            night.shape,
            players=night.players,
            machines=night.machines,
            pace=steady,
            dice=dice,
            nights=NIGHTS_EACH,
        )
        if simulated is not None:
            off.append(float(np.log(night.minutes / simulated.mean())))
            chance.append(float(np.log(np.maximum(simulated, 1.0)).var()))
    count = len(off)
    if count < NIGHTS_MIN:
        return pace
    left = float(np.var(off, ddof=1)) - float(np.mean(chance))
    spread = max(sqrt(max(left, 0.0)), NIGHT_SPREAD_MIN)
    return replace(
        pace,
        length_factor=exp(sum(off) / (count + NIGHTS_ASSUMED)),
        night_spread=spread * sqrt(1 + 1 / count),
        # Whole nights of this venue say how fast it is.
        venue_spread=0.0,
    )
