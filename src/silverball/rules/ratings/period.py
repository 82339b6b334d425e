"""The games of one period: from finishing orders to new ratings and records. Source: ratings, A.1 and A.4."""

import numpy as np
from msgspec import Struct

from silverball.rules.ratings import kernel
from silverball.rules.ratings.formulas import Parameters
from silverball.rules.ratings.kernel import Floats, HeadToHeadResults, Ints, RatingArrays


class PlayedGames(Struct, frozen=True):
    """Games, seat by seat, game after game; lower places are better."""

    # By seat: position in the rating arrays, and place in the game.
    players: Ints
    places: Ints
    # By game: the number of seats listed here, and the number of players in the real game.
    seat_counts: Ints
    played_counts: Ints
    # By game: 1 when equal places are a draw, 0 when they are no result; None when they always are draws.
    has_draws: Ints | None = None


class PeriodRecords(Struct, frozen=True):
    """Games, wins and losses of each player in the period, by position."""

    games: Ints
    wins: Ints
    losses: Ints
    results: Ints


class HeadToHeadRecords(Struct, frozen=True):
    """Results between each two players in both directions, by player, then by opponent (positions)."""

    players: Ints
    opponents: Ints
    wins: Ints
    losses: Ints
    draws: Ints


class RatedPeriod(Struct, frozen=True):
    """The outcome of a rating period."""

    ratings_after: RatingArrays
    records: PeriodRecords
    meetings: HeadToHeadRecords


def rate_period(field: RatingArrays, played: PlayedGames, parameters: Parameters) -> RatedPeriod:
    """Rate a period: new ratings and all records. Takes deviations at the time of the period."""
    results = head_to_head_results(played)
    count = len(field.ratings)
    wins_first, losses_first = results.scores == 1, results.scores == 0
    wins = np.bincount(np.concatenate((results.first[wins_first], results.second[losses_first])), None, count)
    losses = np.bincount(
        np.concatenate((results.second[wins_first], results.first[losses_first])), None, count
    )
    records = PeriodRecords(
        games=np.bincount(played.players, None, count),
        wins=wins,
        losses=losses,
        results=np.bincount(np.concatenate((results.first, results.second)), None, count),
    )
    return RatedPeriod(
        kernel.rate_results(field, results, parameters), records, _opponent_records(results, count)
    )


def head_to_head_results(played: PlayedGames) -> HeadToHeadResults:
    """All games as results of pairs: of k players k(k-1)/2, without equal places that are no result.

    Source: ratings, section A.1, and formats, section 22.
    """
    starts = np.cumsum(played.seat_counts) - played.seat_counts
    firsts, seconds, scores, sizes = [], [], [], []
    for length in np.unique(played.seat_counts):
        has_length = played.seat_counts == length
        first_offsets, second_offsets = np.triu_indices(length, 1)
        seat, other_seat = (starts[has_length, None] + offsets for offsets in (first_offsets, second_offsets))
        place, other_place = played.places[seat], played.places[other_seat]
        is_result = np.ones(place.shape, bool)
        if played.has_draws is not None:
            is_result = (place != other_place) | (played.has_draws[has_length, None] == 1)
        firsts.append(played.players[seat][is_result])
        seconds.append(played.players[other_seat][is_result])
        scores.append(((place < other_place) + 0.5 * (place == other_place))[is_result])
        sizes.append(np.broadcast_to(played.played_counts[has_length, None], place.shape)[is_result])
    if not firsts:
        no_players, no_values = np.zeros(0, np.int64), np.zeros(0)
        return HeadToHeadResults(no_players, no_players, no_values, no_values)
    return HeadToHeadResults(
        np.concatenate(firsts), np.concatenate(seconds), np.concatenate(scores), _divisors(sizes)
    )


def _divisors(sizes: list[Ints]) -> Floats:
    size = np.concatenate(sizes)
    adjusted: Floats = np.where(size > 2, np.sqrt(np.maximum(size - 1, 1)), 1.0)
    return adjusted


def _opponent_records(results: HeadToHeadResults, count: int) -> HeadToHeadRecords:
    """Records of each pair, once in each direction."""
    own = np.concatenate((results.first, results.second))
    other = np.concatenate((results.second, results.first))
    scores = np.concatenate((results.scores, 1 - results.scores))
    pairs, which = np.unique(own * count + other, return_inverse=True)
    players, opponents = np.divmod(pairs, max(count, 1))
    counts = [np.bincount(which[scores == score], None, len(pairs)) for score in (1.0, 0.0, 0.5)]
    return HeadToHeadRecords(players, opponents, *counts)
