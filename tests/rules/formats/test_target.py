"""Target match play. Source: formats, sections 14.15 and 20."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.night import Night, a_night
from rules.properties import quick
from silverball.kit.errors import Conflict
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model import settings
from silverball.rules.registry import FORMATS

KEYS = (
    "scorekeeping seeding firstRoundPairing pairing playerOrder playerOrderOpen arenaAssignment suggestions "
    "duration gamesPerRound scoring targetPoints playoffsCutoffs"
)


def a_started_night(**given: Any) -> Night:
    night = a_night("target", **given)
    night.start()
    return night


def test_the_settings_are_the_keys_of_the_payload_and_have_no_tiebreaker() -> None:
    assert list(settings.default_values(FORMATS["target"].settings)) == KEYS.split()
    assert settings.default_values(FORMATS["target"].settings)["targetPoints"] == 24


def test_a_player_who_reaches_the_target_stops_playing_and_is_ahead_of_all_who_have_not() -> None:
    night = a_started_night(players=5, target_points=7)
    night.play_round()
    # Groups of 3 and 2: both winners have 7 points.
    made_it = sorted(row.player_id for row in night.standings() if row.points == "7.00")
    assert len(made_it) == 2
    assert [night.places()[player_id] for player_id in made_it] == [1, 1]
    night.open_round()
    assert not set(made_it) & {player for game in night.open_games() for player in game.player_ids}


def test_the_earlier_round_wins_then_more_points_in_the_same_round() -> None:
    night = a_started_night(players=4, target_points=12)
    game = night.open_round()[0]
    night.record_order(game, 1, 2, 3, 4)
    game = night.open_round()[0]
    night.record_order(game, 1, 2, 3, 4)
    # After round 2: 14, 10, 6, 2. Player 1 has made it; 2, 3 and 4 go on as a group of three: 7/4/1.
    assert night.places() == {1: 1, 2: 2, 3: 3, 4: 4}
    game = night.open_round()[0]
    assert sorted(game.player_ids) == [2, 3, 4]
    night.record_order(game, 3, 2, 4)
    # 2 has 14 and 3 has 13, both in round 3; 1 was there first with 14.
    assert [(row.player_id, row.position, row.points) for row in night.standings()] == [
        (1, 1, "14.00"),
        (2, 2, "14.00"),
        (3, 3, "13.00"),
        (4, 4, "3.00"),
    ]
    assert night.row(2).tiebreakers == ("14.00",)


def test_equal_points_in_the_same_round_share_the_place() -> None:
    night = a_started_night(players=8, target_points=7)
    night.play_round()
    assert sorted(night.places().values())[:3] == [1, 1, 3]


def test_it_is_over_when_at_most_one_player_is_below_the_target() -> None:
    night = a_started_night(players=3, target_points=4)
    is_over = FORMATS["target"].is_over
    night.open_round()
    assert not is_over(night.tournament)
    night.finish_round()
    assert is_over(night.tournament)
    with pytest.raises(Conflict, match="is over"):
        night.open_round()
    night.complete()
    assert night.places() == {1: 1, 2: 2, 3: 3}


def test_the_organizer_may_close_with_several_below_the_target() -> None:
    night = a_started_night(players=8, target_points=24)
    night.play_round()
    night.complete()
    assert night.tournament.status == "completed"


def test_an_adjustment_reaches_the_target_in_the_round_it_was_made() -> None:
    night = a_started_night(players=4, target_points=10)
    night.play_round()
    night.play_round()
    # 14, 10, 6 and 2 points: players 1 and 2 made it in round 2.
    night.adjust(3, 4)
    assert night.places()[3] == 2
    night.adjust(3, 8)
    # 14 points, in round 2 as well, are as many as player 1 has.
    assert night.places() == {1: 1, 3: 1, 2: 3, 4: 4}
    night.adjust(3, 0)
    assert night.places()[3] == 3


def test_a_correction_takes_a_player_back_below_the_target() -> None:
    night = a_started_night(players=4, target_points=7)
    game = night.open_round()[0]
    night.record_order(game, 1, 2, 3, 4)
    assert FORMATS["target"].playing_ids(night.tournament) == (2, 3, 4)
    night.correct(game, 2, 1, 3, 4)
    assert FORMATS["target"].playing_ids(night.tournament) == (1, 3, 4)


def test_a_player_who_has_made_it_cannot_be_put_into_another_group() -> None:
    night = a_started_night(players=5, target_points=7)
    night.play_round()
    made_it = next(row.player_id for row in night.standings() if row.position == 1)
    game = night.open_round()[0]
    with pytest.raises(Conflict, match="does not play in this tournament now"):
        game_commands.add_player(night.tournament, game.game_id, made_it, night.dice(), night.now)


def test_a_planned_number_of_rounds_is_for_tiers_and_ends_nothing() -> None:
    night = a_started_night(players=16, pairing="tiers", duration=3, target_points=1000)
    for _ in range(4):
        night.play_round()
    assert night.tournament.rounds_completed == 4
    assert not FORMATS["target"].is_over(night.tournament)


@given(st.integers(3, 12), st.integers(5, 30))
@quick
def test_those_who_made_it_are_always_ahead(players: int, target: int) -> None:
    night = a_started_night(players=players, target_points=target)
    for _ in range(6):
        if FORMATS["target"].is_over(night.tournament):
            break
        night.play_round()
    below = [Decimal(str(row.points)) < target for row in night.standings()]
    assert below == sorted(below)


def test_taking_everything_back_leaves_the_planned_tournament() -> None:
    night = a_night("target", players=7, target_points=9)
    planned = night.tournament
    night.start()
    night.play_round()
    night.join(9)
    night.leave(1)
    night.play_round()
    night.complete()
    night.apply(tournament_commands.reopen(night.tournament))
    night.undo_all()
    assert night.tournament == planned
