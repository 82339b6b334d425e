"""The meaningful games of planned nights. Source: ratings, B.3, and vectors tgp.json."""

import itertools
from collections import Counter
from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from functools import partial
from math import log
from random import Random
from typing import Any

import numpy as np
import pytest

from golden.load import vectors
from silverball.kit.values import replace
from silverball.rules.drawing import bracket_nodes, elimination
from silverball.rules.drawing.bracket_nodes import BracketNode, NodeKey, SeedSource, WinnerSource
from silverball.rules.model.settings import read_settings
from silverball.rules.planning import pace, planned
from silverball.rules.planning.answers import (
    ASK_THE_FEDERATION,
    BEING_COMPUTED,
    NIGHTS,
    Circumstances,
    MeaningfulGames,
)
from silverball.rules.planning.nights import SimulatedNight
from silverball.rules.planning.pace import DEFAULT_PACE
from silverball.rules.planning.simulation import simulate
from silverball.rules.registry import FORMATS

ROWS = vectors("tgp")
STRIKES_GIVEN: dict[str, dict[str, Any]] = {
    "fair": {"knockoutFair": True},
    "progressive": {"knockoutProgressive": True},
    "one loser": {"knockoutFourPlayerStrikes": 1, "knockoutThreePlayerStrikes": 1},
    "two of four, one of three": {"knockoutFourPlayerStrikes": 2, "knockoutThreePlayerStrikes": 1},
    "two of four, two of three": {"knockoutFourPlayerStrikes": 2, "knockoutThreePlayerStrikes": 2},
    "all but the winner": {"knockoutFourPlayerStrikes": 3, "knockoutThreePlayerStrikes": 2},
}


def count(
    type_: str, settings: dict[str, Any], players: int, circumstances: Circumstances | None = None
) -> MeaningfulGames:
    form = FORMATS[type_]
    return form.meaningful_games(
        read_settings(form.settings, settings), players, circumstances or Circumstances()
    )


def count_strikes(row: dict[str, Any], nights: int) -> MeaningfulGames:
    settings = {"knockoutStrikeCount": row["out"]}
    if row["groupSize"] == 4:
        settings |= STRIKES_GIVEN[row["strikes"]]
    type_ = "group_knockout" if row["groupSize"] == 4 else "knockout"
    find_outcome = partial(simulate, nights=nights)
    return count(type_, settings, row["players"], Circumstances(find_outcome=find_outcome))


def strikes_id(row: dict[str, Any]) -> str:
    return f"{row['strikes']}-{row['players']}-{row['out']}-in-{row['groupSize']}s"


@pytest.mark.sample(40)
@pytest.mark.parametrize("row", ROWS["strikes"]["rows"], ids=strikes_id)
def test_strikes_are_worth_what_the_recommended_calculator_says(row: dict[str, Any]) -> None:
    """A quarter of the nights: every row is within its tolerance with them too."""
    assert_within_tolerance(row, NIGHTS // 4)


@pytest.mark.soak
def test_strikes_in_all_nights_are_worth_what_the_calculator_says() -> None:
    for row in ROWS["strikes"]["rows"]:
        assert_within_tolerance(row, NIGHTS)


def assert_within_tolerance(row: dict[str, Any], nights: int) -> None:
    found = count_strikes(row, nights)
    assert found.games is not None
    assert float(found.games) == pytest.approx(row["meaningfulGames"], rel=0.015)
    assert found.origin == "simulation"
    assert f"{nights:,} simulated nights" in found.notes[0]


@pytest.mark.parametrize("row", ROWS["matchplayRounds"]["rows"])
def test_rounds_are_worth_what_directors_were_told(row: dict[str, Any]) -> None:
    type_ = "matchplay" if row["groupSize"] == 2 else "group_matchplay"
    settings = {"duration": row["rounds"], "gamesPerRound": row["gamesPerRound"]}
    assert count(type_, settings, row["players"]).games == row["meaningfulGames"]


@pytest.mark.parametrize("row", ROWS["groupBrackets"]["rows"])
def test_brackets_of_groups_are_worth_what_the_guide_says(row: dict[str, Any]) -> None:
    for players in range(row["from"], row["to"] + 1):
        rounds = planned.rounds_of_group_bracket(players)
        assert rounds * row["gamesPerRound"] * 2 == row["meaningfulGames"]
    sizes = [size for size in (4, 6, 8, 10, 12, 16, 24, 28, 32, 64) if row["from"] <= size <= row["to"]]
    for size in sizes:
        found = count("group_bracket", {"bracketSize": size, "gamesPerRound": row["gamesPerRound"]}, size)
        assert found.games == row["meaningfulGames"]
        assert found.is_unsettled == (size not in (4, 8, 16, 32, 64))


@pytest.mark.parametrize("row", ROWS["singleElimination"]["rows"])
def test_single_elimination_is_worth_what_directors_were_told(row: dict[str, Any]) -> None:
    settings = {"gamesPerRound": row["bestOf"], "bracketSize": 16}
    assert count("bracket", settings, row["players"]).games == row["meaningfulGames"]


@pytest.mark.parametrize(
    ("type_", "settings", "players", "games"),
    [
        # Forty players play two rounds of three games in fours.
        ("group_bracket", {"bracketSize": 40}, 40, 12),
        ("group_bracket", {"bracketSize": 16, "groupBracketDoubleByes": 1}, 16, 18),
        ("bracket", {"gamesPerRound": 5}, 8, Fraction(33, 8) * 3),
        ("max_matchplay", {"maxMatchplayDuration": 12}, 9, 12),
        ("round_robin", {}, 9, 8),
        ("double_round_robin", {}, 9, 16),
        ("round_robin", {"roundRobinGroupSize": 4}, 16, 3),
        ("round_robin", {"roundRobinGroupSize": 4}, 9, Fraction(5 * 4 + 4 * 3, 9)),
        # The guide's table for two out of each game, and 4 + 3 + 2 players: 2 + 1.5 + 1.
        ("ladder", {"ladderType": "fast"}, 4, 2),
        ("ladder", {"ladderType": "fast"}, 6, 3),
        ("ladder", {"ladderType": "fast"}, 64, 4),
        ("ladder", {}, 8, Fraction(9, 2)),
        ("ladder", {}, 3, Fraction(5, 2)),
        # Equal numbers of threes and fours: the smaller weight.
        ("group_matchplay", {"duration": 6}, 14, 9),
        ("card_best_game", {"cardBestGameGamesPerCard": 5}, 30, 5),
        ("best_game", {"bestGameArenasCounted": 6, "bestGameNumberOfBestGames": 2}, 30, 12),
    ],
)
def test_planned_nights_are_worth_what_the_rules_say(
    type_: str, settings: dict[str, Any], players: int, games: Fraction | int
) -> None:
    assert count(type_, settings, players).games == games


@pytest.mark.parametrize(
    ("type_", "settings", "circumstances", "games", "hours"),
    [
        ("best_game", {"bestGameArenasCounted": 5}, Circumstances(hours=20), 10, 20),
        ("best_game", {"bestGameArenasCounted": 5}, Circumstances(hours=19), 5, 19),
        ("best_game", {"bestGameOverallAttempts": 9}, Circumstances(hours=20, arenas=5), 15, 0),
        # No more games count than a player may play.
        ("best_game", {"bestGameOverallAttempts": 4}, Circumstances(arenas=5), 4, 0),
        (
            "card_best_game",
            {"bestGameOverallAttempts": 1, "cardBestGameGamesPerCard": 3, "cardBestGameCardsCounted": 2},
            Circumstances(),
            3,
            0,
        ),
        ("best_game", {}, Circumstances(hours=20, arenas=5, has_entry_limits=True), 15, 0),
        ("card_best_game", {}, Circumstances(hours=20), 20, 20),
        ("card_best_game", {}, Circumstances(hours=19), 5, 19),
        ("card_best_game", {"bestGameOverallAttempts": 9}, Circumstances(hours=20), 5, 0),
        ("frenzy", {}, Circumstances(matches_per_player=Fraction(21)), Fraction(21, 2), 0),
        ("frenzy", {}, Circumstances(matches_per_player=Fraction(21), balls=1), 7, 0),
    ],
)
def test_open_play_counts_by_hours_limits_and_matches(
    type_: str, settings: dict[str, Any], circumstances: Circumstances, games: Fraction | int, hours: int
) -> None:
    found = count(type_, settings, 30, circumstances)
    assert (found.games, found.hours) == (games, hours)


@pytest.mark.parametrize(
    ("type_", "settings", "players", "reason"),
    [
        ("matchplay", {}, 12, "rounds is open"),
        ("group_matchplay", {}, 12, "rounds is open"),
        ("matchplay", {"duration": 5}, 1, "fewer than two players"),
        ("manual_matchplay", {}, 12, "makes every game"),
        ("best_game", {}, 12, "none is entered"),
        ("bracket", {}, 6, "skip a round"),
        ("double_bracket", {}, 129, "at most 128"),
        ("ladder", {"ladderType": "fast"}, 65, "ends with 64"),
        ("bowling", {}, 8, "pinbowling"),
        ("amazingrace", {}, 8, "amazing races"),
        ("golf", {}, 8, "strokes"),
        ("golf_bracket", {}, 8, "strokes"),
        ("frenzy", {}, 8, "once it is played"),
        ("knockout", {}, 1001, "not simulated"),
    ],
)
def test_a_night_without_a_number_says_why(
    type_: str, settings: dict[str, Any], players: int, reason: str
) -> None:
    found = count(type_, settings, players)
    assert found.games is None
    assert reason in found.notes[0]


@pytest.mark.parametrize(
    ("type_", "settings", "players"),
    [
        ("ladder", {}, 8),
        ("ladder", {"ladderType": "fast"}, 8),
        ("group_matchplay", {"duration": 4}, 7),
        ("group_matchplay", {"duration": 4}, 14),
        ("group_matchplay", {"duration": 4}, 21),
        ("bracket", {}, 6),
        ("double_bracket", {}, 6),
        ("group_bracket", {"bracketSize": 24}, 24),
        ("group_bracket", {"bracketSize": 16, "groupBracketDoubleByes": 1}, 16),
    ],
)
def test_what_is_not_settled_is_sent_to_the_federation(
    type_: str, settings: dict[str, Any], players: int
) -> None:
    found = count(type_, settings, players)
    assert found.is_unsettled
    assert any(ASK_THE_FEDERATION in note for note in found.notes)


def test_the_matches_of_a_planned_frenzy_are_predicted_from_clock_machines_and_pace() -> None:
    hall = Circumstances(arenas=8, pace=DEFAULT_PACE)
    found = count("frenzy", {"frenzyDuration": 120}, 24, hall)
    # On each of eight machines 120 / 13 matches of 12 minutes and a gap of one, and a half and a bit for
    # those that run when the clock stops: 9.80. Sixteen of 24 play at once: 6.54 for each, half of it.
    assert found.games == pytest.approx(3.27, abs=0.005)
    assert found.origin == "ours"
    assert "about 6.5 matches" in found.notes[0]
    assert "8 at once for 120 minutes" in found.notes[0]
    one_ball = count("frenzy", {"frenzyDuration": 120}, 24, replace(hall, balls=1))
    assert one_ball.games == pytest.approx(2.18, abs=0.005)
    # A queue of twelve leaves six games at once.
    waiting = count("frenzy", {"frenzyDuration": 120, "frenzyQueueSize": 12}, 24, hall)
    assert waiting.games == pytest.approx(2.45, abs=0.005)
    assert count("frenzy", {}, 24, Circumstances(pace=DEFAULT_PACE)).games is None


@pytest.mark.parametrize("minutes", [30, 60, 180])
def test_the_predicted_matches_are_those_of_simulated_clocks(minutes: int) -> None:
    dice, nights = Random(7), 4000
    begun = 0
    for _ in range(nights):
        at = 0.0
        while at < minutes:
            begun += 1
            # The logarithm of a length of 12 minutes in the mean.
            spread = DEFAULT_PACE.game_spread
            at += dice.lognormvariate(log(12) - spread**2 / 2, spread) + DEFAULT_PACE.gap
    predicted = pace.matches_per_player(2, minutes=minutes, at_once=1, pace=DEFAULT_PACE)
    assert predicted == pytest.approx(begun / nights, rel=0.02)


@pytest.mark.parametrize(
    ("finalists", "year", "is_known"), [(0, 2026, True), (4, 2026, True), (5, 2026, False), (5, 2025, True)]
)
def test_a_frenzy_that_sends_a_quarter_to_finals_has_no_number_since_2026(
    finalists: int, year: int, is_known: bool
) -> None:
    found = count(
        "frenzy",
        {},
        20,
        Circumstances(
            finalists=finalists, held_on=date(year, 3, 1), matches_per_player=Fraction(20), part="qualifying"
        ),
    )
    assert (found.games is not None) == is_known


def test_a_simulated_night_without_a_stored_outcome_is_being_computed() -> None:
    found = count("knockout", {"knockoutStrikeCount": 2}, 8)
    assert (found.games, found.notes) == (None, (BEING_COMPUTED,))
    assert found.awaited is not None
    assert found.awaited.players == 8


def test_every_format_answers_for_its_demo_night() -> None:
    for form in FORMATS.values():
        settings = read_settings(form.settings, dict(form.demo.settings))
        found = form.meaningful_games(settings, form.demo.players)
        assert found.notes
        assert (found.games is None) == (found.origin is None)


def test_a_target_counts_the_first_there_as_a_final_and_all_of_them_as_a_qualifying() -> None:
    first, every = (
        count("target", {"targetPoints": 20}, 16, Circumstances(find_outcome=simulate, part=part))
        for part in ("finals", "qualifying")
    )
    assert first.games is not None
    assert every.games is not None
    # Seven points a round at most, so three rounds in fours are the fewest.
    assert 6 <= first.games < every.games


def test_a_target_of_one_win_is_over_after_a_round_for_half_of_the_field() -> None:
    night = SimulatedNight(
        ends_by="reaching",
        players=4,
        group_size=4,
        awards=((100,), (100, 0), (100, 0, 0), (100, 0, 0, 0)),
        limit=100,
    )
    outcome = simulate(night, nights=200, dice=np.random.Generator(np.random.PCG64(1)))
    # A game of four, one of three, one of two; each has one winner: 2, 2 + 1.5 and 2 + 1.5 + 1 games.
    assert (outcome.nights, outcome.rounds, outcome.meaningful_games_of_first) == (200, 3.0, 2.0)
    assert outcome.meaningful_games == pytest.approx((2 + 3.5 + 4.5) / 3)


def test_a_rising_bar_that_nobody_reaches_keeps_the_best() -> None:
    awards = ((700,), (700, 100), (700, 400, 100), (700, 500, 300, 100))
    night = SimulatedNight(
        ends_by="pace",
        players=4,
        group_size=4,
        awards=awards,
        limit=100_000,
        bar_from_round=1,
        bar_increment=0,
    )
    outcome = simulate(night, nights=50)
    assert (outcome.rounds, outcome.meaningful_games) == (1.0, 2.0)


def test_the_same_night_has_the_same_outcome_everywhere() -> None:
    night = SimulatedNight(ends_by="strikes", players=9, group_size=2, awards=((0,), (0, 1), (), ()), limit=2)
    assert simulate(night, nights=300) == simulate(night, nights=300)
    assert night.key == "v1 strikes 9 2 2 1 0 0 0 0/0,1//"
    assert NIGHTS == 10_000


@pytest.mark.parametrize(("players", "group_size"), [(1, 4), (1001, 4), (8, 3)])
def test_impossible_nights_are_not_simulated(players: int, group_size: int) -> None:
    night = SimulatedNight(
        ends_by="strikes", players=players, group_size=group_size, awards=((0,),) * 4, limit=1
    )
    with pytest.raises(ValueError, match="is not simulated"):
        simulate(night)


# Players -> games of the calculator that the federation's guide names.
DOUBLE_ELIMINATION = {4: 3.750, 6: 4.344, 8: 4.875, 12: 5.422, 13: 5.551, 16: 5.938, 24: 6.461, 32: 6.969}


@pytest.mark.parametrize(("players", "games"), DOUBLE_ELIMINATION.items())
def test_double_elimination_counts_as_the_calculator_of_the_guide(players: int, games: float) -> None:
    found = count("double_bracket", {}, players)
    assert found.games is not None
    assert float(found.games) == pytest.approx(games, abs=0.001)
    assert (found.origin, found.last_players) == ("rule", 2)
    assert count("double_bracket", {"gamesPerRound": 3}, players).games == found.games * Fraction(5, 2)


@pytest.mark.parametrize("players", range(2, 9))
def test_double_elimination_is_the_mean_over_all_outcomes(players: int) -> None:
    nodes = bracket_nodes.double_elimination_nodes(elimination.size_for(players))
    outcomes = list(itertools.product((0, 1), repeat=2 * players - 1))
    total = sum(_matches_of_winner(nodes, players, list(outcome)) for outcome in outcomes)
    assert planned.matches_of_double_winner(players) == Fraction(total, len(outcomes))


def _matches_of_winner(nodes: Sequence[BracketNode], players: int, coins: list[int]) -> int:
    """The matches of the winner where each match falls as the next coin does."""
    won: dict[NodeKey, int | None] = {}
    lost: dict[NodeKey, int | None] = {}
    matches: Counter[int | None] = Counter()
    champion: int | None = None
    first_of_final: int | None = None
    for node in nodes:
        seats: list[int | None] = []
        for source in node.sources:
            if isinstance(source, SeedSource):
                seats.append(source.seed if source.seed <= players else None)
            else:
                seats.append((won if isinstance(source, WinnerSource) else lost)[source.node])
        there = [seat for seat in seats if seat is not None]
        if node.reset_of is not None and won[node.reset_of] == first_of_final:
            break
        if len(there) == 2:
            coin = coins.pop()
            won[node.key], lost[node.key] = there[coin], there[1 - coin]
            matches.update(there)
        else:
            won[node.key], lost[node.key] = next(iter(there), None), None
        first_of_final, champion = seats[0], won[node.key]
    return matches[champion]


def test_double_elimination_has_a_number_for_every_size() -> None:
    numbers = [planned.matches_of_double_winner(players) for players in range(2, 129)]
    assert numbers == sorted(numbers)
    assert float(numbers[-1]) == pytest.approx(8.992, abs=0.001)


def test_a_race_shows_both_published_readings_and_says_who_decides() -> None:
    found = count("amazingrace", {}, 24)
    assert (found.games, found.is_unsettled) == (None, True)
    assert "11.5 games" in found.notes[1]
    assert "7.67 to 23 games" in found.notes[2]
    assert "IFPA decides" in found.notes[-1]


def test_a_target_says_how_long_it_takes_the_first_and_not_the_whole_night() -> None:
    found = count("target", {"targetPoints": 24}, 24, Circumstances(find_outcome=simulate))
    assert "until the first is there: 4.18 rounds in the mean, 8.37 meaningful games" in found.notes[0]
    qualifying = Circumstances(part="qualifying", find_outcome=simulate)
    # The number of those who go on is another one, of nights that last longer.
    assert "of 8.91 rounds in the mean" in count("target", {"targetPoints": 24}, 24, qualifying).notes[0]
