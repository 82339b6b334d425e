"""The rating formulas for a single player. Source: ratings, section A.1.

Whole periods are rated by `kernel.py`, which has the same formulas for arrays.
"""

import math
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Q = math.log(10) / 400
# Expected scores are rounded before use, as in the library that this rating comes from.
EXPECTED_DECIMALS = 4
DISPLAYED_DECIMALS = 3
CLASS_BEST = 0
CLASS_LAST = 7
# Without the cap at the best class, 2,000 and above would be class -1.
CLASS_ZERO_HUNDREDS = 19


class Parameters(Struct, frozen=True, kw_only=True):
    """Parameters that the operator may choose. Source: ratings, section A.3.

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


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
ROUNDING = 10.0**EXPECTED_DECIMALS
# A batch whose intermediate arrays fit into the processor's cache.
RESULTS_AT_ONCE = 16_384


class RatingArrays(Struct, frozen=True):
    """Ratings and deviations of a period's players, by position."""

    ratings: Floats
    rds: Floats


class HeadToHeadResults(Struct, frozen=True):
    """Head-to-head results, one element each; players are positions in the rating arrays."""

    first: Ints
    second: Ints
    # The first player's score: 1, 0.5 or 0.
    scores: Floats
    # The divisor of the result: more than 1 in games of more than two.
    divisors: Floats


def deviations_after(rds: Floats, days: Any, parameters: Parameters) -> Floats:
    """The deviations after `days` (a number, or one per player) without play."""
    grown: Floats = rds * rds
    grown += np.maximum(days, 0) * parameters.c**2
    np.sqrt(grown, out=grown)
    return np.minimum(grown, parameters.rd_max, out=grown)


def rate_results(field: RatingArrays, results: HeadToHeadResults, parameters: Parameters) -> RatingArrays:
    """The ratings after the results of a period. Takes deviations at the time of the period.

    Players without a result keep rating and deviation.
    """
    if not len(results.first):
        return field
    # Arrays are overwritten where possible: allocating memory costs more here than arithmetic.
    variances = field.rds * Q
    variances *= variances
    g = variances * (3 / math.pi**2)
    g += 1
    np.reciprocal(g, out=g)
    np.sqrt(g, out=g)
    gains, informations = _gains_and_informations(field, g, results, parameters)
    # rd / sqrt(1 + variance * information), which leaves players without a result exactly as they were.
    informations *= variances
    informations += 1
    roots = np.sqrt(informations, out=informations)
    rds = np.divide(field.rds, roots, out=variances)
    np.clip(rds, parameters.rd_min, parameters.rd_max, out=rds)
    if field.rds.min() < parameters.rd_min or field.rds.max() > parameters.rd_max:
        np.copyto(rds, field.rds, where=roots == 1)
    gains *= rds
    gains *= rds
    gains *= Q
    gains += field.ratings
    return RatingArrays(gains, rds)


def _gains_and_informations(
    field: RatingArrays, g: Floats, results: HeadToHeadResults, parameters: Parameters
) -> tuple[Floats, Floats]:
    """By player: the sum of gains and the sum of information.

    Expected scores are counted in the unit that they are rounded to; the sums are scaled back to 1.
    """
    unit = ROUNDING if parameters.is_expected_rounded else 1.0
    gains, informations = np.zeros((2, len(g)))
    for start in range(0, len(results.first), RESULTS_AT_ONCE):
        some = slice(start, start + RESULTS_AT_ONCE)
        first, second, scores = results.first[some], results.second[some], results.scores[some] * unit
        shares = np.reciprocal(results.divisors[some])
        gap = field.ratings[second]
        gap -= field.ratings[first]
        gap *= Q
        gain, information = _result_contributions(gap, g[second], scores, shares, unit)
        # In NumPy 2 several times as fast as `bincount`.
        np.add.at(gains, first, gain)
        np.add.at(informations, first, information)
        np.negative(gap, out=gap)
        np.subtract(unit, scores, out=scores)
        gain, information = _result_contributions(gap, g[first], scores, shares, unit)
        np.add.at(gains, second, gain)
        np.add.at(informations, second, information)
    gains *= 1 / unit
    informations *= 1 / unit**2
    return gains, informations


def _result_contributions(
    gap: Floats, weights: Floats, scores: Floats, shares: Floats, unit: float
) -> tuple[Floats, Floats]:
    """The contribution of each result to the player's gain (in units) and information (in squared units).

    Takes q times (opponent's rating - own rating), and g of the opponent, which is overwritten.
    """
    expected = weights * gap
    np.exp(expected, out=expected)
    expected += 1
    np.divide(unit, expected, out=expected)
    if unit != 1:
        expected += 0.5
        np.floor(expected, out=expected)
    information = unit - expected
    information *= expected
    information *= weights
    weights *= shares
    information *= weights
    gain = np.subtract(scores, expected, out=expected)
    gain *= weights
    return gain, information
