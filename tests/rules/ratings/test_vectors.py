"""The rating against published and derived numbers. Source: ratings.md A.2, vectors/ratings.json."""

from typing import Any

import numpy as np
import pytest

from golden.load import vectors
from silverball.rules.ratings import book, formulas, kernel
from silverball.rules.ratings.book import PlayedGames
from silverball.rules.ratings.formulas import Parameters
from silverball.rules.ratings.kernel import HeadToHeadResults, RatingArrays

VECTORS: dict[str, Any] = vectors("ratings")
LIBRARY = Parameters(rd_default=350, rd_max=350, rd_min=30, c=14.2694)
EXACT = Parameters(is_expected_rounded=False)


@pytest.mark.parametrize(("rd", "g"), VECTORS["g"].items())
def test_the_weight_of_a_result_depends_on_the_opponents_deviation(rd: str, g: float) -> None:
    assert formulas.g(float(rd)) == pytest.approx(g, abs=1e-12)


@pytest.mark.parametrize("row", VECTORS["expected"])
def test_the_win_probability_that_is_shown_has_three_decimals(row: dict[str, float]) -> None:
    assert formulas.win_probability(row["r"], row["rd"], row["ro"], row["rdo"]) == row["p3"]


@pytest.mark.parametrize("row", VECTORS["advance"])
def test_the_deviation_grows_day_by_day_up_to_its_largest(row: dict[str, float]) -> None:
    parameters = Parameters(c=row["c"], rd_max=row["max"])
    days = int(row["n"])
    assert formulas.deviation_after(row["rd"], days, parameters) == pytest.approx(row["out"], abs=1e-9)
    assert kernel.deviations_after(np.array([row["rd"]], float), days, parameters)[0] == pytest.approx(
        row["out"], abs=1e-9
    )
    stepped = row["rd"]
    for _ in range(days):
        stepped = formulas.deviation_after(stepped, 1, parameters)
    assert stepped == pytest.approx(row["out"], abs=1e-9)


@pytest.mark.parametrize(
    ("rd", "days", "advanced"), [(30, 1, 33.2207), (30, 2, 36.1557), (30, 5, 43.7959), (250, 300, 350)]
)
def test_the_deviation_grows_as_in_the_library(rd: float, days: int, advanced: float) -> None:
    assert formulas.deviation_after(rd, days, LIBRARY) == pytest.approx(advanced, abs=5e-5)


def glickman(parameters: Parameters) -> tuple[float, float]:
    """The player of Glickman's paper after three games, without growth of the deviation."""
    field = RatingArrays(np.array([1500.0, 1400, 1550, 1700]), np.array([200.0, 30, 100, 300]))
    results = HeadToHeadResults(np.zeros(3, np.int64), np.array([1, 2, 3]), np.array([1.0, 0, 0]), np.ones(3))
    after = kernel.rate_results(field, results, parameters)
    return after.ratings[0], after.rds[0]


@pytest.mark.parametrize(("name", "is_rounded"), [("glickman_rounded4", True), ("glickman_unrounded", False)])
def test_glickmans_example_comes_out(name: str, is_rounded: bool) -> None:
    parameters = Parameters(rd_max=350, rd_min=30, is_expected_rounded=is_rounded)
    rating, rd = glickman(parameters)
    assert rating == pytest.approx(VECTORS[name]["new_rating"], abs=1e-9)
    assert rd == pytest.approx(VECTORS[name]["new_rd"], abs=1e-9)


def test_a_full_period_of_the_library_comes_out() -> None:
    rds = kernel.deviations_after(np.array([200.0, 30, 100, 300]), 1, LIBRARY)
    assert rds == pytest.approx([200.51, 33.22, 101.01, 300.34], abs=5e-3)
    field = RatingArrays(np.array([1500.0, 1400, 1550, 1700]), rds)
    results = HeadToHeadResults(np.zeros(3, np.int64), np.array([1, 2, 3]), np.array([1.0, 0, 0]), np.ones(3))
    after = kernel.rate_results(field, results, LIBRARY)
    assert after.ratings == pytest.approx([1464.00, 1397.97, 1570.56, 1784.49], abs=5e-3)
    assert after.rds == pytest.approx([151.67, 33.12, 98.15, 251.70], abs=5e-3)


EQUAL = dict.fromkeys("ABCD", (1500.0, 75.0))
MIXED = {"A": (1599.74, 24.23), "B": (1500.0, 75.0), "C": (1720.5, 31.2), "D": (1388.1, 48.9)}
# Vector -> players and places.
GAMES: dict[str, tuple[dict[str, tuple[float, float]], dict[str, int]]] = {
    "h2h_equal": (EQUAL, {"A": 0, "B": 1}),
    "draw_equal": (EQUAL, {"A": 0, "B": 0}),
    "three_equal": (EQUAL, {"A": 0, "B": 1, "C": 2}),
    "four_equal": (EQUAL, {"A": 0, "B": 1, "C": 2, "D": 3}),
    "four_tie_2nd": (EQUAL, {"A": 0, "B": 1, "C": 1, "D": 3}),
    "four_mixed": (MIXED, {"B": 0, "A": 1, "D": 2, "C": 3}),
    "four_mixed_unrounded": (MIXED, {"B": 0, "A": 1, "D": 2, "C": 3}),
    "three_mixed_tie": (MIXED, {"A": 0, "C": 0, "B": 1}),
}


@pytest.mark.parametrize("name", GAMES)
def test_a_game_of_two_to_four_gives_the_derived_ratings(name: str) -> None:
    players, places = GAMES[name]
    field = RatingArrays(*np.array([players[player] for player in places]).T)
    seats = np.arange(len(places))
    size = np.array([len(places)])
    played = PlayedGames(seats, np.array(list(places.values())), size, size)
    after = book.rate_period(field, played, EXACT if "unrounded" in name else formulas.DEFAULTS).ratings_after
    for at, player in enumerate(places):
        assert (after.ratings[at], after.rds[at]) == pytest.approx(VECTORS[name][player], abs=1e-9), player


def test_the_class_of_a_rating_is_its_hundred() -> None:
    ratings = (2300, 1900, 1899.99, 1800, 1600.26, 1599.74, 1500, 1400, 1399.99, 1300, 1299.99, 0)
    assert [formulas.rating_class(rating) for rating in ratings] == [0, 0, 1, 1, 3, 4, 4, 5, 6, 6, 7, 7]


def test_the_observed_player_has_the_observed_bounds() -> None:
    # Source: ratings.md A.6, a captured profile and its revisions; shares and deltas: `service/ratings`.
    assert formulas.round_half_up(formulas.lower_bound(1599.74, 24.23)) == 1551
    assert [formulas.round_half_up(rating) for rating in (1606.46, 1608.86, 1599.74)] == [1606, 1609, 1600]
    assert formulas.lower_bound(1500, 125) == 1250
