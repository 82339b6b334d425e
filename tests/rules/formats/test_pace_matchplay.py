"""Pace match play. Source: formats, sections 14.6 and 20."""

from collections.abc import Sequence
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.night import Night, a_night, random_order
from rules.properties import quick
from silverball.kit.errors import Conflict
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model import settings
from silverball.rules.ranking.pace import PaceRules
from silverball.rules.registry import FORMATS

KEYS = (
    "scorekeeping seeding firstRoundPairing pairing playerOrder playerOrderOpen arenaAssignment suggestions "
    "gamesPerRound tiebreaker scoring paceInitialRounds paceInitialTarget paceIncrement playoffsCutoffs"
)
FORMAT = FORMATS["pace_matchplay"]


def a_started_night(**given: Any) -> Night:
    night = a_night("pace_matchplay", **given)
    night.start()
    return night


def play_one_group(night: Night, *orders: Sequence[int]) -> None:
    """Rounds of one group, each with its finishing order."""
    for order in orders:
        game = night.open_round()[0]
        night.record_order(game, *[player_id for player_id in order if player_id in game.player_ids])
        night.complete_round()


def test_the_settings_are_the_keys_of_the_payload_with_seven_rounds_28_points_and_pace_7() -> None:
    defaults = settings.default_values(FORMAT.settings)
    assert list(defaults) == KEYS.split()
    assert [defaults[key] for key in ("paceInitialRounds", "paceInitialTarget", "paceIncrement")] == [
        7,
        28,
        7,
    ]


@pytest.mark.parametrize(("number", "bar"), [(1, None), (6, None), (7, 28), (8, 35), (9, 42)])
def test_the_bar_is_28_after_round_seven_and_rises_by_seven(number: int, bar: int | None) -> None:
    assert PaceRules(initial_rounds=7, initial_target=28, increment=7).bar_after(number) == bar


def test_below_the_bar_is_out_on_the_bar_stays_in() -> None:
    night = a_started_night(players=4, pace_initial_rounds=2, pace_initial_target=8, pace_increment=4)
    play_one_group(night, (1, 2, 3, 4), (1, 2, 4, 3))
    # 14, 10, 4 and 4 points; the bar is 8.
    assert FORMAT.playing_ids(night.tournament) == (1, 2)
    assert night.places() == {1: 1, 2: 2, 3: 3, 4: 3}


def test_nobody_is_out_before_the_round_is_completed() -> None:
    night = a_started_night(players=4, pace_initial_rounds=1, pace_initial_target=6)
    game = night.open_round()[0]
    night.record_order(game, 1, 2, 3, 4)
    assert FORMAT.playing_ids(night.tournament) == (1, 2, 3, 4)
    night.complete_round()
    assert FORMAT.playing_ids(night.tournament) == (1,)
    assert FORMAT.is_over(night.tournament)


def test_the_later_out_the_better_then_points() -> None:
    night = a_started_night(players=4, pace_initial_rounds=1, pace_initial_target=3, pace_increment=7)
    # After round 1 player 4 is out with 1 point; the bar is 10 after round 2, with awards 7/4/1.
    play_one_group(night, (1, 2, 3, 4), (3, 1, 2))
    # 1 has 11, 3 has 10, 2 has 6 and is out in round 2.
    assert [(row.player_id, row.position) for row in night.standings()] == [(1, 1), (3, 2), (2, 3), (4, 4)]


def test_when_nobody_reaches_the_bar_those_with_the_most_points_stay() -> None:
    night = a_started_night(players=4, pace_initial_rounds=1, pace_initial_target=100)
    play_one_group(night, (1, 2, 3, 4))
    assert FORMAT.playing_ids(night.tournament) == (1,)
    night = a_started_night(players=8, pace_initial_rounds=1, pace_initial_target=100)
    night.play_round()
    # Both winners have 7 points.
    assert len(FORMAT.playing_ids(night.tournament)) == 2
    assert not FORMAT.is_over(night.tournament)
    night.complete()
    assert sorted(night.places().values())[:3] == [1, 1, 3]


def test_the_bubble_shows_the_next_bar_to_those_whom_a_last_place_would_put_out() -> None:
    night = a_started_night(players=4, pace_initial_rounds=2, pace_initial_target=8, pace_increment=7)
    assert night.row(1).pace_bubble is None
    play_one_group(night, (1, 2, 3, 4))
    # Points 7, 5, 3, 1; a last place earns 1: 7 + 1 reach 8, the others need more.
    assert night.row(1).pace_bubble is None
    shown = {player_id: night.row(player_id).pace_bubble for player_id in (2, 3, 4)}
    assert {
        player_id: (int(bubble.target), int(bubble.needed)) for player_id, bubble in shown.items() if bubble
    } == {
        2: (8, 3),
        3: (8, 5),
        4: (8, 7),
    }
    play_one_group(night, (1, 2, 3, 4))
    # 14, 10, 6 and 2: two are out; the bar is 15 next.
    assert night.row(3).pace_bubble is None
    bubble = night.row(2).pace_bubble
    assert bubble is not None
    assert (bubble.target, bubble.needed) == (Decimal(15), Decimal(5))
    night.complete()
    assert night.row(2).pace_bubble is None


def test_a_late_player_below_the_bar_is_refused_once_it_applies() -> None:
    night = a_started_night(players=4, pace_initial_rounds=2, pace_initial_target=6)
    play_one_group(night, (1, 2, 3, 4))
    night.join(8)
    assert 8 in FORMAT.playing_ids(night.tournament)
    night.play_round()
    with pytest.raises(Conflict, match="below the bar of 6"):
        night.join(9)
    night.join(9, points_adjustment=Decimal(6))
    assert 9 in FORMAT.playing_ids(night.tournament)


def test_a_player_who_leaves_is_out_in_the_round_of_their_last_game() -> None:
    night = a_started_night(players=4, pace_initial_rounds=3, pace_initial_target=4)
    play_one_group(night, (1, 2, 3, 4))
    night.leave(1)
    play_one_group(night, (2, 3, 4), (2, 3, 4))
    # 4 has 1 + 1 + 1 and is out in round 3; 1 was out in round 1 despite 7 points.
    assert night.places() == {2: 1, 3: 2, 4: 3, 1: 4}
    night.come_back(1)
    assert FORMAT.playing_ids(night.tournament) == (1, 2, 3)
    assert night.places() == {2: 1, 3: 2, 1: 3, 4: 4}


def test_a_player_who_leaves_before_their_first_game_has_no_place() -> None:
    night = a_started_night(players=5, pace_initial_rounds=1, pace_initial_target=2)
    night.leave(5)
    play_one_group(night, (1, 2, 3, 4))
    assert night.places() == {1: 1, 2: 2, 3: 3, 4: 4}


def test_points_by_hand_bring_a_player_back() -> None:
    night = a_started_night(players=4, pace_initial_rounds=1, pace_initial_target=3)
    play_one_group(night, (1, 2, 3, 4))
    assert 4 not in FORMAT.playing_ids(night.tournament)
    night.adjust(4, 2)
    assert 4 in FORMAT.playing_ids(night.tournament)


@given(st.integers(3, 10), st.integers(1, 3), st.integers(0, 12), st.integers(0, 8), st.randoms())
@quick
def test_somebody_is_always_left_and_those_are_ahead(
    players: int, rounds: int, target: int, increment: int, dice: Random
) -> None:
    night = a_started_night(
        players=players,
        pace_initial_rounds=rounds,
        pace_initial_target=target,
        pace_increment=increment,
        pairing="random",
    )
    for _ in range(6):
        if FORMAT.is_over(night.tournament):
            break
        for game in night.open_round():
            night.record_order(game, *random_order(game, dice))
        night.complete_round()
    left = set(FORMAT.playing_ids(night.tournament))
    assert left
    assert {row.player_id for row in night.standings()[: len(left)]} == left


def test_tiers_need_a_number_of_rounds_that_pace_does_not_have() -> None:
    with pytest.raises(Conflict, match="Tiers need"):
        a_started_night(players=16, pairing="tiers")


def test_taking_everything_back_leaves_the_planned_tournament() -> None:
    night = a_night("pace_matchplay", players=6, pace_initial_rounds=1, pace_initial_target=3)
    planned = night.tournament
    night.start()
    night.play_round()
    night.adjust(6, 5)
    night.play_round()
    night.complete()
    night.apply(tournament_commands.reopen(night.tournament))
    night.undo_all()
    assert night.tournament == planned
