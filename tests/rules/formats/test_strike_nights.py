"""Knockouts played from the start: who is drawn, who is out, what the organizer does by hand.

Source: formats, sections 10, 12, 14.1, 14.2 and 20.
"""

from decimal import Decimal
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.night import Night, a_night, random_order
from rules.properties import quick
from silverball.kit.errors import Conflict, Invalid
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.drawing import groups
from silverball.rules.mechanics import lineups
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.registry import FORMATS


def a_started_night(kind: str = "knockout", **given: Any) -> Night:
    night = a_night(kind, **given)
    night.start()
    return night


def strikes_by_player(night: Night) -> dict[int, int | None]:
    return {row.player_id: row.strike_count for row in night.standings()}


def playing_ids(night: Night) -> tuple[int, ...]:
    return FORMATS[night.tournament.type].playing_ids(night.tournament)


def is_over(night: Night) -> bool:
    return FORMATS[night.tournament.type].is_over(night.tournament)


def test_a_knockout_goes_on_until_one_player_is_left() -> None:
    night = a_started_night(players=7, knockout_strike_count=2)
    for _ in range(12):
        if is_over(night):
            break
        night.play_round()
    # The lower id always wins.
    assert playing_ids(night) == (1,)
    assert (night.places()[1], night.row(1).strike_count) == (1, 0)
    with pytest.raises(Conflict, match="is over"):
        night.open_round()


@given(st.integers(2, 14), st.integers(1, 4), st.sampled_from([1, 2, 3, 100, 101]), st.integers(0, 99))
@quick
def test_a_group_knockout_ends_with_one_survivor_and_the_sizes_of_the_table(
    players: int, count: int, four: int, seed: int
) -> None:
    night = a_started_night(
        "group_knockout",
        players=players,
        pairing="random",
        knockout_strike_count=count,
        knockout_four_player_strikes=four,
        knockout_fair=four == 101,
        knockout_progressive=four == 100,
    )
    dice = Random(seed)
    for _ in range(60):
        if is_over(night):
            break
        alive = len(playing_ids(night))
        games = night.open_round()
        assert tuple(len(game.player_ids) for game in games) == groups.group_sizes(alive)
        for game in games:
            night.record_order(game, *random_order(game, dice))
        night.complete_round()
    assert len(playing_ids(night)) == 1
    assert list(night.places().values()).count(1) == 1


def test_standard_strikes_may_be_entered_as_the_players_struck_and_entered_again() -> None:
    night = a_started_night("group_knockout", players=4)
    game = night.open_round()[0]
    night.record(GameOutcome(game_id=game.game_id, strikers=(1, 3)))
    assert strikes_by_player(night) == {1: 1, 2: 0, 3: 1, 4: 0}
    shown = night.game(game.game_id).result_positions
    assert shown[:3] == (None, None, None)
    assert shown[3] in {2, 4}
    night.record(GameOutcome(game_id=game.game_id, strikers=(1, 2)))
    assert strikes_by_player(night) == {1: 1, 2: 1, 3: 0, 4: 0}


def test_an_order_entered_before_is_not_lost_when_the_same_strikes_are_entered_again() -> None:
    night = a_started_night("group_knockout", players=4)
    game = night.open_round()[0]
    night.record_order(game, 4, 2, 1, 3)
    assert night.record(GameOutcome(game_id=game.game_id, strikers=(1, 3))) == []
    assert night.game(game.game_id).finishing_order == (4, 2, 1, 3)


@pytest.mark.parametrize(
    ("strikers", "sentence"),
    [((1,), "gives 2 strikes, not 1"), ((1, 9), "did not play this game"), ((1, 1), "gives 2 strikes")],
)
def test_strikes_that_cannot_be_are_refused(strikers: tuple[int, ...], sentence: str) -> None:
    night = a_started_night("group_knockout", players=4)
    game = night.open_round()[0]
    with pytest.raises(Invalid, match=sentence):
        night.record(GameOutcome(game_id=game.game_id, strikers=strikers))


def test_fair_strikes_need_the_order() -> None:
    night = a_started_night("group_knockout", players=4, knockout_four_player_strikes=101, knockout_fair=True)
    game = night.open_round()[0]
    with pytest.raises(Invalid, match="follow from the finishing order"):
        night.record(GameOutcome(game_id=game.game_id, strikers=(1, 2)))
    night.record_order(game, 3, 1, 2, 4)
    assert strikes_by_player(night) == {3: 0, 1: 1, 2: 1, 4: 2}


def test_a_late_player_starts_with_the_strikes_given() -> None:
    night = a_started_night(players=4, knockout_strike_count=3)
    night.play_round()
    night.open_round()
    night.join(9, points_adjustment=Decimal(2))
    assert strikes_by_player(night)[9] == 2
    night.finish_round()
    night.open_round()
    assert 9 in {player_id for game in night.open_games() for player_id in game.player_ids}


def test_a_player_who_leaves_is_out_in_the_round_of_their_last_game_and_in_again_after_a_return() -> None:
    night = a_started_night(players=6, knockout_strike_count=9)
    night.play_round()
    night.leave(1)
    night.play_round()
    night.play_round()
    assert night.places()[1] == 6
    night.come_back(1)
    # Back at once with the same strikes, despite missing the last two rounds.
    assert night.places()[1] == 1
    night.open_round()
    assert night.game_with(1).round_id == night.tournament.rounds[-1].round_id


def test_a_player_who_was_taken_out_of_a_game_plays_the_next_round() -> None:
    night = a_started_night(players=4)
    game = night.open_round()[0]
    gone = game.player_ids[0]
    night.apply(game_commands.remove_player(night.tournament, game.game_id, gone))
    night.finish_round()
    night.complete_round()
    assert gone in playing_ids(night)


def test_a_strike_by_hand_puts_a_player_out_at_once_in_the_newest_completed_round() -> None:
    night = a_started_night(players=8, knockout_strike_count=3, seeding="manual")
    for _ in range(2):
        night.play_round()
    night.open_round()
    assert 1 in playing_ids(night)
    night.adjust(1, 3)
    assert 1 not in playing_ids(night)
    assert night.places()[1] == 8
    # Player 1 still plays the open game and wins; two players who go out in round 3 were in longer.
    night.finish_round()
    night.complete_round()
    assert len(playing_ids(night)) == 5
    assert night.places()[1] == 8
    night.adjust(1, 0)
    assert 1 in playing_ids(night)
    assert night.places()[1] == 1


def test_a_player_who_is_brought_back_is_not_first_in_line_for_a_bye() -> None:
    night = a_started_night(players=7, knockout_strike_count=1)
    while len(playing_ids(night)) > 2:
        night.play_round()
    out = night.standings()[-1].player_id
    night.adjust(out, -5)
    counted = lineups.pairing_history(night.tournament)
    fewest = min(counted.bye_count(player_id) for player_id in playing_ids(night) if player_id != out)
    assert counted.bye_count(out) >= fewest


def test_strikes_by_hand_for_everybody_share_first_place() -> None:
    night = a_started_night(players=4, knockout_strike_count=2)
    night.play_round()
    night.play_round()
    left = playing_ids(night)
    for player_id in left:
        night.adjust(player_id, 2)
    assert playing_ids(night) == ()
    assert [night.places()[player_id] for player_id in left] == [1] * len(left)


def test_a_corrected_result_brings_the_loser_back_while_the_round_is_the_newest() -> None:
    night = a_started_night(players=4, knockout_strike_count=1)
    game = night.open_round()[0]
    night.finish_round()
    night.complete_round()
    loser = max(game.player_ids)
    assert loser not in playing_ids(night)
    night.correct(game, loser, min(game.player_ids))
    assert loser in playing_ids(night)
    assert min(game.player_ids) not in playing_ids(night)


def test_the_organizer_may_close_with_several_left_who_rank_by_fewer_strikes() -> None:
    night = a_started_night(players=8, knockout_strike_count=3, pairing="swiss")
    for _ in range(3):
        night.play_round()
    left = playing_ids(night)
    night.complete()
    rows = night.standings()
    assert {row.player_id for row in rows[: len(left)]} == set(left)
    counts = [row.strike_count or 0 for row in rows[: len(left)]]
    assert counts == sorted(counts)


def test_closing_in_the_middle_of_a_round_puts_nobody_out_whose_game_was_not_finished() -> None:
    night = a_started_night(players=8, knockout_strike_count=3)
    night.play_round()
    games = night.open_round()
    night.record_order(games[0], *games[0].player_ids)
    left = playing_ids(night)
    night.complete()
    assert len(left) == 8
    unfinished = {player_id for game in games[1:] for player_id in game.player_ids}
    winners = {row.player_id for row in night.standings() if row.strike_count == 0}
    assert all(night.places()[player_id] == 1 for player_id in winners)
    assert winners & unfinished


def test_strikes_are_not_fair_and_progressive_at_once() -> None:
    with pytest.raises(Invalid, match="either fair or progressive"):
        a_started_night("group_knockout", players=4, knockout_fair=True, knockout_progressive=True)


@pytest.mark.parametrize("kind", ["knockout", "group_knockout"])
def test_taking_everything_back_leaves_the_planned_tournament(kind: str) -> None:
    night = a_night(kind, players=6)
    planned = night.tournament
    night.start()
    night.play_round()
    night.join(9, points_adjustment=Decimal(1))
    night.adjust(2, 3)
    night.leave(3)
    night.play_round()
    night.come_back(3)
    night.open_round()
    night.complete()
    night.apply(tournament_commands.reopen(night.tournament))
    night.undo_all()
    assert night.tournament == planned
