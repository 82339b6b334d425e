"""All ratings in memory while one period after the other is rated. Imports NumPy."""

from collections.abc import Collection, Iterable
from datetime import date

import numpy as np
from msgspec import Struct

from silverball.rules.ratings import kernel
from silverball.rules.ratings.formulas import Parameters
from silverball.rules.ratings.kernel import Floats, HeadToHeadResults, Ints, RatingArrays
from silverball.rules.ratings.seats import RatingDay
from silverball.rules.ratings.standing import CurrentRating, RankedRatings, RatingUpdate

# The games of one period: from finishing orders to new ratings and records. Source: ratings, A.1 and A.4.


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


NEVER = 0
MEETING_PARTS = 4
PERCENTS = (50, 75, 95, 99)


class RatingTable:
    """Ratings in arrays by position, with room for new players."""

    def __init__(self, parameters: Parameters, standings: Iterable[CurrentRating] = ()) -> None:
        self._parameters = parameters
        known = list(standings)
        self._rating_ids = [rating.rating_id for rating in known]
        self._position_by_id = {rating_id: position for position, rating_id in enumerate(self._rating_ids)}
        self._ratings = np.array([rating.rating for rating in known], np.float64)
        self._rds = np.array([rating.rd for rating in known], np.float64)
        self._deltas = np.array(
            [np.nan if rating.delta is None else rating.delta for rating in known], np.float64
        )
        self._first_days = np.array([rating.first_period.toordinal() for rating in known], np.int64)
        self._last_days = np.array([rating.last_period.toordinal() for rating in known], np.int64)
        self._counts = np.array(
            [
                (rating.games or 0, rating.wins or 0, rating.losses or 0, rating.results or 0)
                for rating in known
            ],
            np.int64,
        ).reshape(-1, MEETING_PARTS)
        self._changed_positions: set[int] = set()

    def rate_day(self, day: RatingDay) -> list[RatingUpdate]:
        """Rate a day and return the updates of its players, by rating id."""
        if not day.seat_counts:
            return []
        seats = np.frombuffer(day.players, np.int64)
        rating_ids, seated = np.unique(seats, return_inverse=True)
        at = self._positions_of(rating_ids.tolist())
        ordinal = day.day.toordinal()
        idle = np.where(self._last_days[at] == NEVER, 0, ordinal - self._last_days[at])
        before = RatingArrays(
            self._ratings[at], kernel.deviations_after(self._rds[at], idle, self._parameters)
        )
        played = PlayedGames(
            seated,
            *(
                np.frombuffer(part, np.int64)
                for part in (day.places, day.seat_counts, day.played_counts, day.has_draws)
            ),
        )
        rated = rate_period(before, played, self._parameters)
        deltas = rated.ratings_after.ratings - before.ratings
        counts = np.column_stack(
            (rated.records.games, rated.records.wins, rated.records.losses, rated.records.results)
        )
        self._store_results(at, rated.ratings_after, deltas, ordinal, counts)
        columns = (rating_ids, rated.ratings_after.ratings, rated.ratings_after.rds, deltas, *counts.T)
        meetings = _opponent_lists(rated.meetings, rating_ids)
        rows = zip(*(column.tolist() for column in columns), meetings, strict=True)
        return list(map(RatingUpdate._make, rows))

    def pop_changed(self) -> list[CurrentRating]:
        """Return the current ratings of players rated since the last call."""
        at = sorted(self._changed_positions)
        self._changed_positions.clear()
        return self._current_ratings(np.array(at, np.int64))

    def all_ratings(self) -> list[CurrentRating]:
        """The current ratings of all players who have been rated."""
        return self._current_ratings(np.flatnonzero(self._last_days != NEVER))

    def ranked_on(self, day: date, hidden: Collection[int]) -> RankedRatings:
        """Lower bounds of all ratings on a day, with ranks of those that are not hidden."""
        at = np.flatnonzero(self._last_days != NEVER)
        ids = [self._rating_ids[position] for position in at.tolist()]
        idle = day.toordinal() - self._last_days[at]
        lower = self._ratings[at] - 2 * kernel.deviations_after(self._rds[at], idle, self._parameters)
        is_shown = np.array([rating_id not in hidden for rating_id in ids], bool)
        rank: list[int | None] = [None] * len(ids)
        shown = np.flatnonzero(is_shown).tolist()
        for position, place in zip(shown, rank_lower_bounds(lower[is_shown]).tolist(), strict=True):
            rank[position] = place
        spread = self._ratings[at][is_shown]
        percentiles = np.percentile(spread, PERCENTS).tolist() if len(spread) else []
        return RankedRatings(
            rows=list(zip(lower.tolist(), rank, ids, strict=True)),
            percentiles={f"p{n}": round(value, 2) for n, value in zip(PERCENTS, percentiles, strict=False)},
        )

    def _positions_of(self, rating_ids: list[int]) -> Ints:
        new_ids = [rating_id for rating_id in rating_ids if rating_id not in self._position_by_id]
        if new_ids:
            self._add_newcomers(new_ids)
        return np.array([self._position_by_id[rating_id] for rating_id in rating_ids], np.int64)

    def _add_newcomers(self, new_ids: list[int]) -> None:
        count, rule = len(new_ids), self._parameters
        for rating_id in new_ids:
            self._position_by_id[rating_id] = len(self._rating_ids)
            self._rating_ids.append(rating_id)
        self._ratings = np.append(self._ratings, np.full(count, rule.rating_default))
        self._rds = np.append(self._rds, np.full(count, rule.rd_default))
        self._deltas = np.append(self._deltas, np.full(count, np.nan))
        self._first_days = np.append(self._first_days, np.full(count, NEVER))
        self._last_days = np.append(self._last_days, np.full(count, NEVER))
        self._counts = np.append(self._counts, np.zeros((count, MEETING_PARTS), np.int64), axis=0)

    def _store_results(
        self, at: Ints, field: RatingArrays, deltas: Floats, ordinal: int, counts: Ints
    ) -> None:
        self._ratings[at], self._rds[at], self._deltas[at] = field.ratings, field.rds, deltas
        self._first_days[at] = np.where(self._first_days[at] == NEVER, ordinal, self._first_days[at])
        self._last_days[at] = ordinal
        self._counts[at] += counts
        self._changed_positions.update(at.tolist())

    def _current_ratings(self, at: Ints) -> list[CurrentRating]:
        columns = (self._ratings, self._rds, self._deltas, self._first_days, self._last_days)
        rows = zip(at.tolist(), *(column[at].tolist() for column in columns), strict=True)
        counts = self._counts[at].tolist()
        return [
            CurrentRating(
                self._rating_ids[position],
                rating,
                rd,
                None if delta != delta else delta,  # noqa: PLR0124  # Only NaN differs from itself.
                date.fromordinal(first),
                date.fromordinal(last),
                *(meetings if meetings[0] else (None,) * MEETING_PARTS),
            )
            for (position, rating, rd, delta, first, last), meetings in zip(rows, counts, strict=True)
        ]


def _opponent_lists(meetings: HeadToHeadRecords, rating_ids: Ints) -> list[list[int]]:
    """For each player a flat list: opponent, wins, losses, draws; opponent, wins, losses, draws; ..."""
    parts = (rating_ids[meetings.opponents], meetings.wins, meetings.losses, meetings.draws)
    flat: list[int] = np.column_stack(parts).ravel().tolist()
    ends = (np.searchsorted(meetings.players, np.arange(len(rating_ids)), "right") * MEETING_PARTS).tolist()
    return [flat[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def rank_lower_bounds(lower: Floats) -> Ints:
    """1 + the number of larger lower bounds, so that equals share a rank."""
    above: Ints = len(lower) - np.searchsorted(np.sort(lower), lower, "right")
    return above + 1
