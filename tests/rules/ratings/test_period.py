"""A period for all players at once equals a period player by player. Source: ratings.md A.1, F 2."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.properties import quick
from rules.ratings import oracle
from silverball.rules.ratings import book
from silverball.rules.ratings.book import PlayedGames, RatedPeriod
from silverball.rules.ratings.formulas import DEFAULTS, Parameters
from silverball.rules.ratings.kernel import RatingArrays

EXACT = Parameters(is_expected_rounded=False)


@dataclass(frozen=True)
class Made:
    """Players and what they played."""

    players: dict[int, oracle.Rating]
    games: list[oracle.Game]
    # Numbers of the games in which equal places are no result.
    drawless: frozenset[int] = frozenset()


@st.composite
def periods(draw: st.DrawFn) -> Made:
    dice = Random(draw(st.integers(0, 2**32)))
    count = draw(st.integers(2, 9))
    players = {n: (dice.uniform(900, 2100), dice.uniform(20, 75)) for n in range(count)}
    games: list[oracle.Game] = []
    for _ in range(draw(st.integers(0, 14))):
        seats = dice.sample(range(count), dice.randint(2, min(4, count)))
        # A player may have been taken out of a game, and some places are shared.
        size = min(4, len(seats) + dice.choice([0, 0, 1]))
        games.append((size, {player: dice.randint(0, 3) for player in seats}))
    drawless = frozenset(number for number in range(len(games)) if dice.random() < 0.3)
    return Made(players, games, drawless)


def rate(
    made: Made,
    games: Sequence[oracle.Game],
    parameters: Parameters = DEFAULTS,
    drawless: Collection[int] = (),
) -> RatedPeriod:
    field = RatingArrays(*np.array(list(made.players.values())).T)
    seats = [(player, place) for _, places in games for player, place in places.items()]
    played = PlayedGames(
        np.array([player for player, _ in seats], np.int64),
        np.array([place for _, place in seats], np.int64),
        np.array([len(places) for _, places in games], np.int64),
        np.array([size for size, _ in games], np.int64),
        np.array([number not in drawless for number in range(len(games))], np.int64),
    )
    return book.rate_period(field, played, parameters)


@quick
@given(periods(), st.booleans())
def test_rating_all_players_at_once_equals_rating_each_alone(made: Made, is_rounded: bool) -> None:
    after = rate(made, made.games, DEFAULTS if is_rounded else EXACT, made.drawless).ratings_after
    alone = oracle.rated(made.players, made.games, is_rounded=is_rounded, drawless=made.drawless)
    for player, (rating, rd) in alone.items():
        # A tie at the fifth decimal may be rounded the other way by another order of operations.
        tolerance = 0.02 if is_rounded and abs(after.ratings[player] - rating) > 1e-9 else 1e-9
        assert after.ratings[player] == pytest.approx(rating, abs=tolerance)
        assert after.rds[player] == pytest.approx(rd, abs=tolerance)


@quick
@given(periods(), st.randoms(use_true_random=False))
def test_the_order_of_games_does_not_matter(made: Made, dice: Random) -> None:
    before, shuffled = rate(made, made.games), rate(made, dice.sample(made.games, len(made.games)))
    assert shuffled.ratings_after.ratings == pytest.approx(before.ratings_after.ratings, abs=1e-9)
    assert shuffled.ratings_after.rds == pytest.approx(before.ratings_after.rds, abs=1e-9)
    assert (shuffled.records.results == before.records.results).all()


@quick
@given(periods())
def test_records_and_meetings_add_up(made: Made) -> None:
    rated = rate(made, made.games)
    records, met = rated.records, rated.meetings
    results = oracle.results(made.games)
    for player in made.players:
        mine = [score for first, _, score, _ in results if first == player]
        assert records.results[player] == len(mine)
        assert (records.wins[player], records.losses[player]) == (mine.count(1), mine.count(0))
        assert records.games[player] == sum(player in places for _, places in made.games)
        own = met.players == player
        assert met.wins[own].sum() == records.wins[player]
        assert met.losses[own].sum() == records.losses[player]
    there = {
        (first, other): n for n, (first, other) in enumerate(zip(met.players, met.opponents, strict=True))
    }
    for (first, other), n in there.items():
        back = there[other, first]
        assert (met.wins[n], met.losses[n], met.draws[n]) == (
            met.losses[back],
            met.wins[back],
            met.draws[back],
        )


@quick
@given(st.integers(2, 4), st.data())
def test_among_equals_nothing_is_won_or_lost_in_all(size: int, data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    made = Made(dict.fromkeys(range(size), (1500.0, 60.0)), [(size, dict(enumerate(places)))])
    after = rate(made, made.games).ratings_after
    assert after.ratings.sum() == pytest.approx(1500 * size, abs=1e-9)
    if len(set(places)) == 1:
        assert after.ratings == pytest.approx([1500] * size, abs=1e-9)
        assert (after.rds < 60).all()


def test_a_player_who_does_not_play_keeps_rating_and_deviation() -> None:
    made = Made({0: (1500.0, 50.0), 1: (1600.0, 40.0), 2: (1700.0, 75.0)}, [(2, {0: 0, 1: 1})])
    after = rate(made, made.games).ratings_after
    assert (after.ratings[2], after.rds[2]) == (1700, 75)


def test_a_game_where_a_player_was_taken_out_still_weighs_as_one_of_all() -> None:
    made = Made({0: (1500.0, 50.0), 1: (1500.0, 50.0)}, [])
    of_two, of_four = (rate(made, [(size, {0: 0, 1: 1})]).ratings_after.ratings[0] for size in (2, 4))
    assert of_two > of_four > 1500
    assert of_four == pytest.approx(oracle.rated(made.players, [(4, {0: 0, 1: 1})])[0][0], abs=1e-9)


def test_a_period_without_games_changes_nothing() -> None:
    made = Made({0: (1500.0, 50.0), 1: (1600.0, 40.0)}, [])
    rated = rate(made, [])
    assert rated.ratings_after.ratings.tolist() == [1500, 1600]
    assert rated.ratings_after.rds.tolist() == [50, 40]
    assert len(rated.meetings.players) == 0


@pytest.mark.parametrize("rd", [20.0, 20.001])
def test_the_deviation_never_falls_below_its_smallest(rd: float) -> None:
    made = Made({0: (1500.0, rd), 1: (1500.0, rd)}, [(2, {0: 0, 1: 1})] * 50)
    assert rate(made, made.games).ratings_after.rds.tolist() == [20, 20]
