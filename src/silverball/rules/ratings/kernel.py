"""A rating period for all players at once. Source: ratings, section A.1.

All values after a period follow from those before it, so the order of results does not matter.
This module imports NumPy, so import it only where ratings are computed.
"""

import math
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from silverball.rules.ratings.formulas import EXPECTED_DECIMALS, Parameters, Q

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
