"""The games of one period: from finishing orders to new ratings and records. Source: ratings, A.1 and A.4."""

from dataclasses import dataclass

import numpy as np

from silverball.rules.ratings import kernel
from silverball.rules.ratings.formulas import Parameters
from silverball.rules.ratings.kernel import Field, Floats, Ints, Results


@dataclass(frozen=True)
class Played:
    """Games, seat by seat, game after game; lower places are better, equal places are a draw."""

    # By seat: position in the field, and place in the game.
    players: Ints
    places: Ints
    # By game: how many seats it has here, and how many really played.
    lengths: Ints
    sizes: Ints


@dataclass(frozen=True)
class Records:
    """What each player of the field did in the period, by position."""

    games: Ints
    wins: Ints
    losses: Ints
    results: Ints


@dataclass(frozen=True)
class Meetings:
    """Who met whom, both ways, by player and then by opponent (positions in the field)."""

    players: Ints
    opponents: Ints
    wins: Ints
    losses: Ints
    draws: Ints


@dataclass(frozen=True)
class Rated:
    """A period that was rated."""

    field: Field
    records: Records
    meetings: Meetings


def rate(field: Field, played: Played, parameters: Parameters) -> Rated:
    """The field after the period, with everybody's record. Takes deviations that are advanced already."""
    results = head_to_head(played)
    count = len(field.ratings)
    wins_first, losses_first = results.scores == 1, results.scores == 0
    wins = np.bincount(np.concatenate((results.first[wins_first], results.second[losses_first])), None, count)
    losses = np.bincount(
        np.concatenate((results.second[wins_first], results.first[losses_first])), None, count
    )
    records = Records(
        games=np.bincount(played.players, None, count),
        wins=wins,
        losses=losses,
        results=np.bincount(np.concatenate((results.first, results.second)), None, count),
    )
    return Rated(kernel.rated(field, results, parameters), records, _meetings(results, count))


def head_to_head(played: Played) -> Results:
    """Every game as results of its pairs; k players give k(k-1)/2. Source: ratings, section A.1."""
    starts = np.cumsum(played.lengths) - played.lengths
    firsts, seconds, scores, sizes = [], [], [], []
    for length in np.unique(played.lengths):
        is_such = played.lengths == length
        one, other = np.triu_indices(length, 1)
        seat, other_seat = (starts[is_such, None] + offsets for offsets in (one, other))
        place, other_place = played.places[seat], played.places[other_seat]
        firsts.append(played.players[seat].ravel())
        seconds.append(played.players[other_seat].ravel())
        scores.append(((place < other_place) + 0.5 * (place == other_place)).ravel())
        sizes.append(np.repeat(played.sizes[is_such], len(one)))
    if not firsts:
        nobody, nothing = np.zeros(0, np.int64), np.zeros(0)
        return Results(nobody, nobody, nothing, nothing)
    return Results(
        np.concatenate(firsts), np.concatenate(seconds), np.concatenate(scores), _adjustments(sizes)
    )


def _adjustments(sizes: list[Ints]) -> Floats:
    size = np.concatenate(sizes)
    adjusted: Floats = np.where(size > 2, np.sqrt(np.maximum(size - 1, 1)), 1.0)
    return adjusted


def _meetings(results: Results, count: int) -> Meetings:
    """Each direction of each pair once."""
    own = np.concatenate((results.first, results.second))
    other = np.concatenate((results.second, results.first))
    scores = np.concatenate((results.scores, 1 - results.scores))
    pairs, which = np.unique(own * count + other, return_inverse=True)
    players, opponents = np.divmod(pairs, max(count, 1))
    counts = [np.bincount(which[scores == score], None, len(pairs)) for score in (1.0, 0.0, 0.5)]
    return Meetings(players, opponents, *counts)
