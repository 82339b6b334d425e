"""Comparisons: both directions of a pair agree. Source: ratings.md D, F 8."""

from collections import Counter
from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import build
from selection import examples
from service.ratings.circuit import Circuit, delete_everything
from silverball.rules.ratings import formulas
from silverball.store.database.engine import Store

NAMES = ("Ada", "Bo", "Cy", "Di", "Eve")
FEW = settings(
    max_examples=examples(10),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@st.composite
def months(draw: st.DrawFn) -> list[tuple[int, list[list[str]]]]:
    """Days of March with their games, each its players, best first."""
    dice = Random(draw(st.integers(0, 2**32)))
    return [
        (
            dice.randint(1, 12),
            [dice.sample(NAMES, dice.randint(2, 4)) for _ in range(dice.randint(1, 4))],
        )
        for _ in range(draw(st.integers(1, 4)))
    ]


def compare(circuit: Circuit, names: list[str]) -> Any:
    ids = ",".join(str(circuit.player(name)) for name in names)
    return circuit.get_json(f"/api/ratings/compare?playerIds={ids}")


@pytest.mark.both_databases
@FEW
@given(played=months(), dice=st.randoms(use_true_random=False))
def test_both_directions_agree_and_sum_up_to_the_ratings(
    store: Store, played: list[tuple[int, list[list[str]]]], dice: Any
) -> None:
    delete_everything(store)
    circuit = Circuit(store)
    won: Counter[tuple[str, str]] = Counter()
    last: dict[tuple[str, str], int] = {}
    for day, games in played:
        circuit.night(day, *games)
        for game in games:
            for better, worse in combinations(game, 2):
                won[better, worse] += 1
                for pair in ((better, worse), (worse, better)):
                    last[pair] = max(day, last.get(pair, 0))
    circuit.rate(13)
    there = sorted({name for pair in won for name in pair})
    body = compare(circuit, there)
    name_of = {rating["ratingId"]: rating["name"] for rating in body["ratings"]}
    met = {
        (name_of[record["ratingId"]], name_of[record["opponentRatingId"]]): record
        for record in body["records"]
    }
    assert set(met) == {pair for winner, other in won for pair in ((winner, other), (other, winner))}
    for (winner, other), record in met.items():
        assert (record["winCount"], record["lossCount"]) == (won[winner, other], won[other, winner])
        assert record["winCount"] == met[other, winner]["lossCount"]
        assert record["resultCount"] == record["gameCount"] == won[winner, other] + won[other, winner]
        assert record["lastPlayed"] == f"2026-03-{last[winner, other]:02}"
    for rating in body["ratings"]:
        own = [record for (name, _), record in met.items() if name == rating["name"]]
        for count in ("winCount", "lossCount", "resultCount"):
            assert sum(record[count] for record in own) == rating[count]
    # The order of the players in the query does not matter.
    assert compare(circuit, dice.sample(there, len(there))) == body


@pytest.mark.both_databases
def test_a_draw_counts_for_neither_in_both_directions(store: Store) -> None:
    circuit = Circuit(store)
    ids = [circuit.player(name) for name in ("Ada", "Bo")]
    night = circuit.night(1, ["Ada", "Bo"])
    build.a_game(store, night, ids, status="completed", points=[1, 1])
    circuit.rate(1)
    record, other = compare(circuit, ["Ada", "Bo"])["records"]
    assert (record["winCount"], record["lossCount"], record["drawCount"], record["resultCount"]) == (
        1,
        0,
        1,
        2,
    )
    assert (other["winCount"], other["lossCount"], other["drawCount"]) == (0, 1, 1)
    assert (record["efficiencyPercent"], other["efficiencyPercent"]) == (0.5, 0)
    ratings = circuit.ratings()
    assert record["expectedWinProbability"] == formulas.win_probability(*ratings["Ada"], *ratings["Bo"])


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_players_may_stand_in_a_json_body(store: Store, method: str) -> None:
    circuit = Circuit(store)
    circuit.player("Ada", ifpa_id=11)
    circuit.night(1, ["Ada", "Bo"])
    circuit.rate(1)
    asked = {"ifpaIds": "11", "playerIds": [circuit.player("Bo")]}
    by = build.caller(circuit.organizer_id)
    status, body, _ = build.do(store, method, "/api/ratings/compare", asked, by=by)
    assert (status, [rating["name"] for rating in body["ratings"]], len(body["records"])) == (
        200,
        ["Ada", "Bo"],
        2,
    )
