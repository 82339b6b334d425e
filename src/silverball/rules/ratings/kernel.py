"""One rating period for everybody at once. Source: ratings, section A.1.

All values after a period follow from those before it, so the order of results does not matter.
Importing this module imports NumPy: rules and slices do so where they rate, not before.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from silverball.rules.ratings.formulas import EXPECTED_DECIMALS, Parameters, Q

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
ROUNDING = 10.0**EXPECTED_DECIMALS
# So many that what is computed of them stays in the processor's own memory.
RESULTS_AT_ONCE = 16_384


@dataclass(frozen=True)
class RatingArrays:
    """The players of a period, by position: ratings and deviations."""

    ratings: Floats
    rds: Floats


@dataclass(frozen=True)
class HeadToHeadResults:
    """Head-to-head results, one element each; players are positions in the field."""

    first: Ints
    second: Ints
    # The first player's score: 1, 0.5 or 0.
    scores: Floats
    # What the result is divided by: more than 1 in games of more than two.
    divisors: Floats


def deviations_after(rds: Floats, days: Any, parameters: Parameters) -> Floats:
    """The deviations after `days` (a number, or one for each) without play."""
    grown: Floats = rds * rds
    grown += np.maximum(days, 0) * parameters.c**2
    np.sqrt(grown, out=grown)
    return np.minimum(grown, parameters.rd_max, out=grown)


def rate_results(field: RatingArrays, results: HeadToHeadResults, parameters: Parameters) -> RatingArrays:
    """Everybody after the results of one period. Takes deviations that are advanced already.

    Who has no result keeps rating and deviation.
    """
    if not len(results.first):
        return field
    # Arrays are written over where they can be: fresh memory costs more here than arithmetic.
    variances = field.rds * Q
    variances *= variances
    g = variances * (3 / math.pi**2)
    g += 1
    np.reciprocal(g, out=g)
    np.sqrt(g, out=g)
    gains, informations = _gains_and_informations(field, g, results, parameters)
    # rd / sqrt(1 + variance * information), which leaves whoever has no result exactly where he was.
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
    """By player: the sum of his gains, and of what is known of him.

    Expected scores are counted in the unit that they are rounded to, and sums are brought back to 1.
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
    """What each result adds to the player's gain (in units) and to what is known of him (in their squares).

    Takes q times (opponent's rating - own rating), and g of the opponent, which is written over.
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
