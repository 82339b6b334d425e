"""Results that count, and finishing places. Source: ratings.md A.4."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from silverball.rules.ranking.standing import StoredResult, WinLossRule
from silverball.rules.ratings import formulas, seats, standing
from silverball.rules.ratings.seats import GameSeats, IdentityRegister, RatedEvent, RatedPerson
from silverball.rules.ratings.standing import FinishedGame
from silverball.rules.registry import FORMATS

DAY = date(2026, 3, 5)
NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)
# Of a day with two games, computed by version 0.1.0.
FINGERPRINT = "f9bd084eec3c52a5507c2e1f0f8edf839ceb1fd1a5e35a7a3fc1224eef4d40f0"
AGAINST_THE_SCORE = {"golf", "best_game", "card_best_game", "bowling", "amazingrace"}


@pytest.mark.parametrize("type_", sorted(FORMATS))
def test_direct_play_counts_and_play_against_the_score_does_not(type_: str) -> None:
    counts = standing.is_counting(FORMATS[type_].rated, NOON, NOON, is_test=False)
    assert counts is (type_ not in AGAINST_THE_SCORE)


@pytest.mark.parametrize(
    ("span", "counts"), [(timedelta(days=7), True), (timedelta(days=7, seconds=1), False)]
)
def test_a_tournament_of_more_than_seven_days_does_not_count(span: timedelta, counts: bool) -> None:
    assert standing.is_counting(True, NOON, NOON + span, is_test=False) is counts


def test_a_test_does_not_count() -> None:
    assert not standing.is_counting(True, NOON, NOON, is_test=True)


def finished(positions: tuple[int | None, ...], points: tuple[str, ...], **more: object) -> FinishedGame:
    result = StoredResult((1, 2, 3, 4)[: len(points)], positions, tuple(map(Decimal, points)))
    return FinishedGame(result, **more)  # type: ignore[arg-type]  # fields by name


@pytest.mark.parametrize(
    ("rule", "game", "places"),
    [
        (WinLossRule.POSITIONS, finished((3, 1, 2), ("5", "3", "7")), {3: 0, 1: 1, 2: 2}),
        # Strikes decide, whether or not an order was stored besides.
        (
            WinLossRule.STRIKE,
            finished((None, None, 2), ("0", "1", "1"), finishing_order=(3, 2, 1)),
            {1: 1, 2: 0, 3: 0},
        ),
        # Two strikes of four: players without a strike beat players with one.
        (WinLossRule.STRIKE, finished((None, None, None, 3), ("0", "1", "1", "0")), {1: 1, 2: 0, 3: 0, 4: 1}),
        # Fair strikes of four hide the order of the two in the middle.
        (
            WinLossRule.FAIR_STRIKES,
            finished((2, None, 3, 4), ("0.02", "1.00", "0.02", "0.01")),
            {1: 1, 2: 0, 3: 1, 4: 2},
        ),
        (
            WinLossRule.FAIR_STRIKES,
            finished((2, None, 3, 4), ("0.02", "1.00", "0.02", "0.01"), finishing_order=(2, 1, 3, 4)),
            {1: 1, 2: 0, 3: 1, 4: 2},
        ),
        # Nobody did better than anybody.
        (WinLossRule.STRIKE, finished((None, None), ("1", "1")), {}),
        (WinLossRule.POSITIONS, finished((None, None), ("1", "1")), {1: 0, 2: 0}),
        # Without an order, points decide.
        (WinLossRule.POSITIONS, finished((None, None), ("1", "0")), {1: 0, 2: 1}),
    ],
)
def test_strikes_decide_where_they_are_given_then_the_order_and_then_the_points(
    rule: WinLossRule, game: FinishedGame, places: dict[int, int]
) -> None:
    assert standing.counting_places(rule, game) == places


@pytest.mark.parametrize(
    "game",
    [
        finished((1,), ("1",)),
        finished((1, 2), ("1", "0"), is_bye=True),
        finished((1, 2), ("1", "0"), is_forfeit=True),
        FinishedGame(StoredResult((1, 2), (None, None), (Decimal(1), None))),
    ],
)
def test_byes_forfeits_and_unfinished_games_do_not_count(game: FinishedGame) -> None:
    assert standing.counting_places(WinLossRule.POSITIONS, game) == {}


def an_event(games: GameSeats, *names: str) -> RatedEvent:
    people = {n: RatedPerson(name, organizer_id=1, name_key=name) for n, name in enumerate(names, start=1)}
    return RatedEvent("tournament", 42, "Thursday", DAY, people, games)


def games_of(*games: dict[int, int], has_draws: bool = True) -> GameSeats:
    seats_of_games = GameSeats()
    for places in games:
        seats_of_games.add(places, has_draws=has_draws)
    return seats_of_games


def test_a_player_who_was_taken_out_is_left_out_and_the_size_stays() -> None:
    event = an_event(games_of({1: 0, 2: 1, 9: 2, 3: 3}, {9: 0, 1: 1}), "ada", "bo", "cy")
    day = seats.day_of_events(DAY, [event], IdentityRegister())
    assert (list(day.seat_counts), list(day.played_counts)) == ([3], [4])
    assert list(day.players) == [1, 2, 3]
    assert (day.result_count, day.player_count) == (3, 3)


def test_equal_strikes_are_not_counted_as_results() -> None:
    games = games_of({1: 0, 2: 0, 3: 1, 4: 1}, has_draws=False)
    day = seats.day_of_events(DAY, [an_event(games, "ada", "bo", "cy", "di")], IdentityRegister())
    assert (day.result_count, day.player_count) == (4, 4)
    # Cy and Di were taken out: nothing is left between Ada and Bo, who still drew in another format.
    day = seats.day_of_events(DAY, [an_event(games, "ada", "bo")], IdentityRegister())
    assert (day.result_count, list(day.seat_counts)) == (0, [])
    drawn = games_of({1: 0, 2: 0, 3: 1, 4: 1})
    day = seats.day_of_events(DAY, [an_event(drawn, "ada", "bo")], IdentityRegister())
    assert (day.result_count, list(day.seat_counts)) == (1, [2])


def test_a_game_with_a_person_in_two_seats_is_skipped_and_reported() -> None:
    event = an_event(games_of({1: 0, 2: 1}, {1: 0, 3: 1}), "ada", "ada", "bo")
    day = seats.day_of_events(DAY, [event], IdentityRegister())
    assert list(day.seat_counts) == [2]
    assert day.skipped == [("tournament", 42)]


def test_the_fingerprint_is_that_of_results_people_and_parameters() -> None:
    def fingerprint(
        games: GameSeats, parameters: object = "p", *, names: tuple[str, ...] = ("ada", "bo")
    ) -> str:
        return seats.day_of_events(DAY, [an_event(games, *names)], IdentityRegister()).fingerprint(parameters)

    same = fingerprint(games_of({1: 0, 2: 1}))
    assert fingerprint(games_of({1: 0, 2: 1})) == same
    others = [
        fingerprint(games_of({1: 1, 2: 0})),
        fingerprint(games_of({1: 0, 2: 0})),
        fingerprint(games_of({1: 0, 2: 1}, has_draws=False)),
        fingerprint(games_of({1: 0, 2: 1}, {1: 0, 2: 1})),
        fingerprint(games_of({1: 0, 2: 1}), "q"),
    ]
    assert same not in others
    assert len(set(others)) == len(others)


def test_days_rated_by_version_0_1_0_keep_their_fingerprints() -> None:
    games = games_of({1: 0, 2: 1}, {1: 1, 2: 0})
    day = seats.day_of_events(DAY, [an_event(games, "ada", "bo")], IdentityRegister())
    # The fingerprint covers the names of Parameters and its fields; were they renamed, all days would be
    # rated again.
    assert day.fingerprint(formulas.DEFAULTS) == FINGERPRINT
