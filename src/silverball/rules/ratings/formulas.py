"""The rating formulas for a single player. Source: ratings, section A.1.

Whole periods are rated by `kernel.py`, which has the same formulas for arrays.
"""

import math

from msgspec import Struct

Q = math.log(10) / 400
# Expected scores are rounded before use, as in the library that this rating comes from.
EXPECTED_DECIMALS = 4
DISPLAYED_DECIMALS = 3
CLASS_BEST = 0
CLASS_LAST = 7
# Without the cap at the best class, 2,000 and above would be class -1.
CLASS_ZERO_HUNDREDS = 19


class Parameters(Struct, frozen=True, kw_only=True):
    """Parameters of the formula. Source: ratings, section A.3.

    Fingerprints of rated days hold the representation of this class, so neither its name nor those of
    its fields may change.
    """

    rating_default: float = 1500.0
    rd_default: float = 75.0
    rd_max: float = 75.0
    rd_min: float = 20.0
    # The growth of uncertainty: every day adds c squared to RD squared.
    c: float = 2.137
    is_expected_rounded: bool = True


DEFAULTS = Parameters()


def g(rd: float) -> float:
    """The weight of a result against an opponent with this deviation, g(RD) of Glicko."""
    return 1 / math.sqrt(1 + 3 * Q * Q * rd * rd / math.pi**2)


def win_probability(rating: float, rd: float, opponent_rating: float, opponent_rd: float) -> float:
    """The displayed win probability to three decimals; here both deviations count."""
    both = math.hypot(rd, opponent_rd)
    return _round_decimals(1 / (1 + 10 ** (g(both) * (opponent_rating - rating) / 400)), DISPLAYED_DECIMALS)


def deviation_after(rd: float, days: int, parameters: Parameters = DEFAULTS) -> float:
    """The deviation after a number of days without play.

    The closed form of adding c squared day by day.
    """
    if rd >= parameters.rd_max:
        return parameters.rd_max
    return min(math.sqrt(rd * rd + max(days, 0) * parameters.c**2), parameters.rd_max)


def lower_bound(rating: float, rd: float) -> float:
    """The lower end of the 95 % confidence interval of a rating; players are ranked by it."""
    return rating - 2 * rd


def rating_class(rating: float) -> int:
    """The class: 0 from 1900, one more for each hundred below, 7 below 1300. Source: ratings, A.6."""
    return min(max(CLASS_ZERO_HUNDREDS - math.floor(rating / 100), CLASS_BEST), CLASS_LAST)


def round_half_up(value: float) -> int:
    """Round half up, as ratings are displayed."""
    return math.floor(value + 0.5)


def _round_decimals(value: float, decimals: int) -> float:
    scale = 10.0**decimals
    return math.floor(value * scale + 0.5) / scale


# A rating period for all players at once. Source: ratings, section A.1.
#
# All values after a period follow from those before it, so the order of results does not matter. This
# module imports NumPy, so import it only where ratings are computed.
