"""Lengths of simulated nights: hand-checked cases, properties, nights without an end."""

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.kit.values import replace
from silverball.rules.model.settings import read_settings
from silverball.rules.outlook.plans import LINE, NIGHTS_SIMULATED, plan_nights
from silverball.rules.planning import simulation
from silverball.rules.planning.answers import nights_for
from silverball.rules.planning.nights import (
    ClockNight,
    DoesNotFit,
    FreeTurns,
    NightShape,
    OpenEnd,
    SetRounds,
    SimulatedNight,
)
from silverball.rules.planning.pace import DEFAULT_PACE, NIGHTS_MIN, Pace, PastNight, PlayedGame, learn_pace
from silverball.rules.planning.simulation import DrawnNights, FinishedNight, calibrate
from silverball.rules.registry import FORMATS

# Every game of n players takes 10 n minutes, and rounds follow at once.
EXACT = Pace(minutes={1: 10.0, 2: 20.0, 3: 30.0, 4: 40.0}, game_spread=0.0, night_spread=0.0, gap=0.0)

ONE_STRIKE = SimulatedNight(
    ends_by="strikes", players=8, group_size=2, awards=((0,), (0, 1), (), ()), limit=1
)


def minutes(
    shape: NightShape, players: int, machines: int, pace: Pace = EXACT, nights: int = 50
) -> list[float]:
    dice = np.random.default_rng(7)
    drawn = simulation.simulate_minutes(
        shape, players=players, machines=machines, pace=pace, dice=dice, nights=nights
    )
    assert drawn is not None
    return [round(each, 6) for each in drawn.tolist()]


@pytest.mark.parametrize(
    ("shape", "players", "machines", "expected"),
    [
        # Three rounds of two fours: 3 x 40.
        (SetRounds(rounds=((4, 4),) * 3), 8, 2, 120),
        # One machine: the groups of a round play one after the other.
        (SetRounds(rounds=((4, 4),) * 3), 8, 1, 240),
        # A four and a three: the four is last.
        (SetRounds(rounds=((4, 3),)), 7, 5, 40),
        # Two games in a round.
        (SetRounds(rounds=((2, 2),) * 2, games=2), 4, 2, 80),
        # A race on one machine, however many there are: 3 + 2 turns of 10.
        (SetRounds(rounds=((1,) * 3, (1,) * 2), machines_max=1), 3, 9, 50),
        # Six players with two turns each on three machines: 12 turns of 10, three at once.
        (FreeTurns(turns=2), 6, 3, 40),
        # Four players, three games each: 6 games of two, two at once at most, whatever the machines.
        (FreeTurns(turns=3, size=2), 4, 10, 60),
        (FreeTurns(turns=3, size=2, at_once=1), 4, 10, 120),
        # One strike: 8, 4, 2 players in three rounds of 20.
        (
            ONE_STRIKE,
            8,
            4,
            60,
        ),
        # 5 players: 2 games and a bye leave 3, 1 game and a bye leave 2, then one game.
        (
            ONE_STRIKE,
            5,
            9,
            60,
        ),
    ],
)
def test_nights_of_games_of_known_length_are_as_long_as_counted_by_hand(
    shape: NightShape, players: int, machines: int, expected: float
) -> None:
    assert set(minutes(shape, players, machines)) == {expected}


def test_a_clock_ends_the_night_after_the_games_that_run_then() -> None:
    drawn = minutes(ClockNight(minutes=60), 10, 5)
    assert min(drawn) > 60
    assert max(drawn) < 80


def test_a_match_ends_when_one_side_has_won() -> None:
    drawn = minutes(SetRounds(rounds=((2,),), games=3, is_best_of=True), 2, 1, nights=400)
    assert set(drawn) == {40.0, 60.0}
    # Between equals half of the matches need the third game.
    assert 150 < drawn.count(60.0) < 250


def test_an_open_end_has_no_length() -> None:
    dice = np.random.default_rng(7)
    shape = OpenEnd("Nobody knows.")
    assert simulation.simulate_minutes(shape, players=8, machines=4, pace=EXACT, dice=dice, nights=5) is None


def test_the_same_dice_give_the_same_nights() -> None:
    shape = SetRounds(rounds=((4, 4, 3),) * 5)
    assert minutes(shape, 11, 3, DEFAULT_PACE) == minutes(shape, 11, 3, DEFAULT_PACE)


@given(players=st.integers(2, 40), machines=st.integers(1, 12))
def test_another_machine_makes_no_night_longer(players: int, machines: int) -> None:
    for type_, choice in (
        ("group_matchplay", {"duration": 3}),
        ("max_matchplay", {"maxMatchplayDuration": 4}),
    ):
        form = FORMATS[type_]
        shape = form.planning.shape(read_settings(form.settings, dict(choice)), players)
        fewer, more = (
            minutes(shape, players, machines, nights=2),
            minutes(shape, players, machines + 1, nights=2),
        )
        assert max(more) <= max(fewer)


def drawn_nights(players: int, group_size: int, games: int, strength: simulation.Numbers) -> DrawnNights:
    shape = (50, players)
    return DrawnNights(
        np.zeros(shape),
        np.ones(shape, dtype=bool),
        group_size=group_size,
        awards=((0,), (1, 0), (1, 0, 0), (1, 0, 0, 0)),
        games=games,
        dice=np.random.default_rng(7),
        strength=strength,
    )


def test_nobody_has_a_second_simulated_bye_before_all_have_had_one() -> None:
    running = drawn_nights(5, group_size=2, games=1, strength=np.zeros(5))
    for _ in range(5):
        running.play_round()
    assert (running.byes == 1).all()
    assert (running.totals.sum(axis=1) == 10).all()


def test_a_simulated_group_stays_together_for_all_games_of_its_round() -> None:
    # The stronger player always wins, so that the two of each night who win a game win both.
    running = drawn_nights(8, group_size=4, games=2, strength=np.linspace(-42.0, 42.0, 8))
    running.play_round()
    assert set(running.totals.ravel().tolist()) == {0.0, 2.0}


def test_every_format_is_planned_or_says_why_not() -> None:
    for players in (2, 3, 5, 8, 13, 60, 200):
        dice = np.random.default_rng(players)
        planned = list(
            plan_nights(
                FORMATS.values(), players=players, machines=10, pace_of=lambda _: DEFAULT_PACE, dice=dice
            )
        )
        assert {night.form.type for night in planned} == set(FORMATS)
        for night in planned:
            if night.note is None:
                assert night.expected is not None
                assert night.line is not None
                assert 0 < night.expected < inf
                assert night.line >= night.expected * 0.9
            else:
                assert night.expected is None
                assert night.note.endswith(".")
            assert night.label
    assert NIGHTS_SIMULATED == 200


def test_a_bracket_of_more_than_128_does_not_fit() -> None:
    form = FORMATS["bracket"]
    with pytest.raises(DoesNotFit, match="at most 128 players"):
        form.planning.shape(read_settings(form.settings, {}), 129)


def a_night(*lengths: float, size: int = 4, arena_id: int | None = None) -> PastNight:
    return PastNight(
        games=tuple(PlayedGame(size=size, minutes=length, arena_id=arena_id) for length in lengths),
        gaps=(2.0,),
    )


def test_fewer_than_five_nights_are_planned_with_the_defaults() -> None:
    assert learn_pace([a_night(30, 31)] * (NIGHTS_MIN - 1)) is DEFAULT_PACE
    # Nights without games say nothing.
    assert learn_pace([a_night(30)] * 4 + [a_night()]) is DEFAULT_PACE


def test_five_nights_say_how_long_games_are() -> None:
    pace = learn_pace([a_night(24.0, 36.0)] * NIGHTS_MIN)
    assert (pace.nights, pace.is_default, pace.gap) == (5, False, 2.0)
    assert pace.minutes[4] == pytest.approx(30)
    # Games of two were not played: they follow the fours in the proportion of the defaults.
    assert pace.minutes[2] == pytest.approx(18)
    assert 0.15 < pace.game_spread < 0.25


def test_corrections_and_forgotten_results_are_no_lengths() -> None:
    clean = learn_pace([a_night(20.0, 25.0)] * NIGHTS_MIN)
    spoilt = learn_pace([a_night(20.0, 25.0, 0.1, 900.0)] * NIGHTS_MIN)
    assert spoilt == clean


def test_a_slow_machine_makes_its_nights_longer() -> None:
    fast, slow = a_night(*[10.0] * 40, arena_id=1), a_night(*[30.0] * 40, arena_id=2)
    pace = learn_pace([fast, slow] * NIGHTS_MIN)
    assert pace.on_machines([2]).minutes[4] > pace.minutes[4] > pace.on_machines([1]).minutes[4]
    # A machine that nobody has played is like the mean, and so is no choice at all.
    assert pace.on_machines([3]).minutes == pace.on_machines([]).minutes == pace.minutes


def test_the_line_of_the_defaults_holds_at_venues_of_any_pace() -> None:
    # More of them are slower than the defaults.
    shape = SetRounds(rounds=((4, 4, 3),) * 5)
    known = replace(DEFAULT_PACE, venue_spread=0.0)
    dice = np.random.default_rng(11)
    ended = [
        minutes_at(shape, replace(known, length_factor=factor), dice, nights=1)[0]
        for factor in np.exp(dice.uniform(-0.3, 0.5, size=600))
    ]

    def share_by(pace: Pace) -> float:
        line = np.quantile(minutes_at(shape, pace, dice, nights=4000), LINE)
        return float(np.mean(ended <= line))

    assert 0.85 < share_by(DEFAULT_PACE) < 0.95
    # As if every venue were the mean of all: the line was too early.
    assert share_by(known) < 0.83


def minutes_at(shape: NightShape, pace: Pace, dice: simulation.Dice, nights: int) -> simulation.Numbers:
    drawn = simulation.simulate_minutes(shape, players=11, machines=4, pace=pace, dice=dice, nights=nights)
    assert drawn is not None
    return drawn


def test_a_venue_with_nights_of_its_own_is_known() -> None:
    assert learn_pace([a_night(24.0, 36.0)] * NIGHTS_MIN).venue_spread == 0
    finished = FinishedNight(shape=SetRounds(rounds=((4, 4),) * 3), players=8, machines=2, minutes=70)
    known = calibrate(DEFAULT_PACE, [finished] * NIGHTS_MIN, np.random.default_rng(7))
    assert (known.venue_spread, DEFAULT_PACE.venue_spread) == (0, 0.4)
    assert DEFAULT_PACE.whole_spread == pytest.approx(0.4272, abs=0.0001)


def test_nights_that_were_longer_than_their_games_say_make_the_next_one_longer() -> None:
    shape = SetRounds(rounds=((4, 4),) * 3)
    long = FinishedNight(shape=shape, players=8, machines=2, minutes=180)
    dice = np.random.default_rng(7)
    assert calibrate(EXACT, [long] * (NIGHTS_MIN - 1), dice) is EXACT
    # All were half as long again.
    assert calibrate(EXACT, [long] * 9, dice).length_factor == pytest.approx(1.5)


def test_a_club_whose_nights_differ_more_has_a_later_line() -> None:
    shape = SetRounds(rounds=((4, 4),) * 3)
    dice = np.random.default_rng(7)

    def spread(*lengths: float) -> float:
        nights = [FinishedNight(shape=shape, players=8, machines=2, minutes=each) for each in lengths]
        return calibrate(EXACT, nights, dice).night_spread

    steady = spread(*[120.0] * 9)
    # Four misses of 0.2 among the eight that nine nights tell of: sqrt(4 * 0.04 / 12), and the mean is one
    # of nine; Student's t with twelve degrees of freedom is 1.356 where the normal is 1.2816.
    assert steady == pytest.approx(sqrt(4 * 0.04 / 12) * sqrt(10 / 9) * 1.356 / 1.2816, rel=0.001)
    assert spread(*[100.0, 120.0, 144.0] * 3) > steady


@pytest.mark.parametrize(
    ("known", "quantile"), [(4, 1.533), (6, 1.440), (8, 1.397), (13, 1.350), (30, 1.310)]
)
def test_a_line_from_few_misses_is_as_wide_as_a_table_of_student_says(known: int, quantile: float) -> None:
    assert 1.2816 * simulation.widening(known) == pytest.approx(quantile, rel=0.005)


def test_the_minutes_after_the_clock_say_how_long_the_next_ones_are() -> None:
    shape = ClockNight(minutes=60)
    dice = np.random.default_rng(7)
    usual = float(np.mean(minutes(shape, 8, 4, EXACT, nights=500))) - 60
    late = FinishedNight(shape=shape, players=8, machines=4, minutes=60 + 2 * usual)
    assert calibrate(EXACT, [late] * NIGHTS_MIN, dice).length_factor == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize(
    ("players", "nights"), [(2, 200), (100, 200), (101, 198), (200, 100), (500, 40), (1_000, 20), (9_000, 20)]
)
def test_a_large_field_is_simulated_in_fewer_nights_but_a_tenth_at_least(players: int, nights: int) -> None:
    assert nights_for(players, NIGHTS_SIMULATED) == nights
