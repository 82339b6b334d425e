"""Pingolf. Source: formats, sections 14.16, 16, 20 and 24; tables added up by hand."""

from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.night import Night, a_night, change_entrant
from rules.properties import quick
from rules.single_player_night import find_game, play_hole, play_holes, undo_all
from silverball.kit.errors import Conflict, Invalid, NotFound
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model import settings
from silverball.rules.model.outcome import AttemptOutcome, GameOutcome, NewAttempt
from silverball.rules.model.tournament import Entrant
from silverball.rules.registry import FORMATS

KEYS = "scorekeeping golfDuration golfParScore golfStrokeLimit golfHolesCounted tiebreaker suggestions"


def golf_night(players: int = 4, **given: Any) -> Night:
    """A started night of three holes."""
    night = a_night("golf", players=players, **{"golf_duration": 3, **given})
    night.start()
    return night


def set_hole(night: Night, index: int, *, arena_id: int | None = 501, target: int | None = None) -> None:
    round_id = night.tournament.rounds_in_order[index].round_id
    night.apply(
        single_player_commands.set_round(
            night.tournament, round_id, arena_id=arena_id, score=target, now=night.now
        )
    )


def outcome_of_hole(night: Night, player_id: int, index: int, **result: Any) -> AttemptOutcome:
    return AttemptOutcome(
        single_player_game_id=find_game(night, player_id, index).single_player_game_id, **result
    )


def standings_rows(night: Night) -> list[tuple[int, int, str]]:
    return [(row.position, row.player_id, str(row.points)) for row in night.standings()]


def test_the_payload_has_exactly_its_keys_with_their_defaults() -> None:
    defaults = settings.default_values(FORMATS["golf"].settings)
    assert list(defaults) == [*KEYS.split(), "playoffsCutoffs"]
    assert defaults == {
        "scorekeeping": "disabled",
        "golfDuration": 9,
        "golfParScore": 0,
        "golfStrokeLimit": 6,
        "golfHolesCounted": 0,
        "tiebreaker": "standard",
        "suggestions": "disabled",
        "playoffsCutoffs": (),
    }


@pytest.mark.parametrize(
    "given", [{"golfDuration": 0}, {"golfDuration": 37}, {"golfStrokeLimit": 11}, {"golfHolesCounted": -1}]
)
def test_a_value_outside_its_limits_is_refused_by_name(given: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError, match=next(iter(given))):
        settings.read_settings(FORMATS["golf"].settings, given)


def test_the_start_makes_all_holes_and_a_waiting_game_per_player_and_hole() -> None:
    night = golf_night(players=2)
    rounds = night.tournament.rounds_in_order
    assert [(round_.round_index, round_.name, round_.status) for round_ in rounds] == [
        (0, "Hole #1", "started"),
        (1, "Hole #2", "started"),
        (2, "Hole #3", "started"),
    ]
    games = night.tournament.single_player_games
    # The games of a player follow one another, as in the sample.
    assert [(game.player_id, game.game_index, game.status) for game in games] == [
        (player_id, index, "pending") for player_id in (1, 2) for index in range(3)
    ]
    assert {game.created_at for game in games} == {night.now}


# Strokes by hole; position, points, tiebreakers after the points. Source: formats, 16; added by hand.
TABLE = {
    1: ((2, 3, 3), 1, "8.00", (0, 1, 2)),
    2: ((1, 5, 3), 2, "9.00", (1, 0, 1)),
    3: ((2, 2, 5), 3, "9.00", (0, 2, 0)),
    4: ((3, 3, 3), 4, "9.00", (0, 0, 3)),
    5: ((2, 2, 5), 3, "9.00", (0, 2, 0)),
}


def test_fewest_strokes_win_then_more_holes_in_one_in_two_and_in_three() -> None:
    night = golf_night(players=5)
    for player_id, (strokes, *_rest) in TABLE.items():
        play_holes(night, player_id, *strokes)
    expected = {1: 1, 2: 2, 3: 3, 5: 3, 4: 5}
    assert night.places() == expected
    for row in night.standings():
        _strokes, _place, points, broken = TABLE[row.player_id]
        assert (row.points, row.tiebreakers) == (points, (points, *broken))
        assert (row.games_played, row.entries_played, row.strike_count) == (3, 0, 0)


def test_without_a_tiebreaker_equal_totals_share_a_place() -> None:
    night = golf_night(players=3, tiebreaker="disabled")
    play_holes(night, 1, 1, 5, 3)
    play_holes(night, 2, 3, 3, 3)
    play_holes(night, 3, 3, 3, 4)
    assert standings_rows(night) == [(1, 1, "9.00"), (1, 2, "9.00"), (3, 3, "10.00")]
    assert night.standings()[0].tiebreakers == ("9.00",)


def test_more_strokes_than_the_limit_count_as_the_limit() -> None:
    night = golf_night(golf_stroke_limit=6)
    play_hole(night, 1, 0, 9)
    assert find_game(night, 1, 0).points == Decimal(6)


# Source: formats, section 16, vectors for a target of 10,000,000.
@pytest.mark.parametrize(
    ("score", "strokes"),
    [
        (0, 10),
        (1_999_999, 10),
        (2_000_000, 9),
        (4_000_000, 8),
        (6_000_000, 7),
        (8_000_000, 6),
        (9_999_999, 6),
    ],
)
def test_a_score_below_the_target_gives_strokes_by_closeness(score: int, strokes: int) -> None:
    night = golf_night(golf_stroke_limit=0)
    set_hole(night, 0, target=10_000_000)
    night.record(outcome_of_hole(night, 1, 0, score=score))
    assert (find_game(night, 1, 0).points, find_game(night, 1, 0).score) == (Decimal(strokes), score)


def test_a_raw_score_may_be_kept_beside_the_strokes() -> None:
    night = golf_night()
    night.record(outcome_of_hole(night, 1, 0, score=12_345, strokes=3))
    assert (find_game(night, 1, 0).points, find_game(night, 1, 0).score) == (Decimal(3), 12_345)


def test_only_the_best_holes_count_when_fewer_are_counted() -> None:
    night = golf_night(golf_holes_counted=2)
    play_holes(night, 1, 6, 2, 1)
    play_holes(night, 2, 2, 2, 2)
    assert standings_rows(night)[:2] == [(1, 1, "3.00"), (2, 2, "4.00")]


def test_players_without_a_hole_are_last_and_share_their_place() -> None:
    night = golf_night(players=4)
    assert [place for place, *_ in standings_rows(night)] == [1, 1, 1, 1]
    play_hole(night, 3, 0, 6)
    play_hole(night, 2, 0, 4)
    assert standings_rows(night) == [(1, 2, "4.00"), (2, 3, "6.00"), (3, 1, "0.00"), (3, 4, "0.00")]


def test_holes_not_played_are_left_out_while_it_runs_and_count_the_limit_in_the_end() -> None:
    night = golf_night(players=2, golf_stroke_limit=5)
    play_holes(night, 1, 2, 2, 2)
    play_hole(night, 2, 0, 4)
    assert standings_rows(night) == [(1, 2, "4.00"), (2, 1, "6.00")]
    night.complete()
    assert standings_rows(night) == [(1, 1, "6.00"), (2, 2, "14.00")]
    assert len(night.tournament.rounds) == 3


def test_without_a_limit_a_hole_not_played_counts_ten() -> None:
    night = golf_night(players=2, golf_stroke_limit=0)
    play_holes(night, 1, 2, 2, 2)
    night.complete()
    assert standings_rows(night)[1] == (2, 2, "30.00")


def test_a_hole_completes_with_its_last_game_and_the_night_is_over_with_the_last_hole() -> None:
    night = golf_night(players=2, golf_duration=2)
    play_hole(night, 1, 1, 3)
    play_hole(night, 2, 1, 3)
    assert [round_.status for round_ in night.tournament.rounds_in_order] == ["started", "completed"]
    assert not FORMATS["golf"].is_over(night.tournament)
    play_hole(night, 1, 0, 3)
    play_hole(night, 2, 0, 3)
    assert FORMATS["golf"].is_over(night.tournament)


def test_a_late_player_gets_all_holes_at_once_and_played_ones_open_again() -> None:
    night = golf_night(players=2, golf_duration=2)
    for player_id in (1, 2):
        play_holes(night, player_id, 3, 3)
    dice, _seed = tournament_commands.dice_for(night.tournament, "late")
    night.apply(tournament_commands.add_entrants(night.tournament, [Entrant(player_id=9)], dice, night.now))
    assert [round_.status for round_ in night.tournament.rounds] == ["started", "started"]
    assert [find_game(night, 9, index).status for index in (0, 1)] == ["pending", "pending"]
    assert night.tournament.entrant_by_id[9].seed_rank == 3


def test_a_player_who_leaves_keeps_played_holes_and_loses_pending_ones() -> None:
    night = golf_night(players=2, golf_duration=2)
    play_hole(night, 1, 0, 3)
    play_hole(night, 2, 0, 4)
    play_hole(night, 1, 1, 3)
    dice, _seed = tournament_commands.dice_for(night.tournament, "leave")
    night.apply(
        tournament_commands.set_active(night.tournament, 2, is_active=False, dice=dice, now=night.now)
    )
    assert FORMATS["golf"].is_over(night.tournament)
    assert standings_rows(night) == [(1, 2, "4.00"), (2, 1, "6.00")]
    night.apply(tournament_commands.set_active(night.tournament, 2, is_active=True, dice=dice, now=night.now))
    assert find_game(night, 2, 1).status == "pending"
    assert night.tournament.rounds_in_order[1].status == "started"


def test_a_player_who_has_not_played_yet_can_be_taken_out() -> None:
    night = golf_night(players=3)
    dice, _seed = tournament_commands.dice_for(night.tournament, "out")
    night.apply(tournament_commands.remove_entrant(night.tournament, 3, dice=dice, now=night.now))
    assert {game.player_id for game in night.tournament.single_player_games} == {1, 2}
    play_hole(night, 2, 0, 3)
    with pytest.raises(Conflict, match="Set the player inactive"):
        tournament_commands.remove_entrant(night.tournament, 2, dice=dice, now=night.now)


def test_the_arena_of_a_hole_reaches_its_games_but_not_those_already_played_elsewhere() -> None:
    night = golf_night(players=2)
    set_hole(night, 0, arena_id=501, target=500)
    play_hole(night, 1, 0, 3)
    set_hole(night, 0, arena_id=502, target=500)
    assert (find_game(night, 1, 0).arena_id, find_game(night, 2, 0).arena_id) == (501, 502)
    assert night.tournament.rounds_in_order[0].score == 500


def test_a_started_game_knows_how_long_it_took() -> None:
    night = golf_night(players=2)
    game_id = find_game(night, 1, 0).single_player_game_id
    night.apply(single_player_commands.start_attempt(night.tournament, game_id, night.now))
    assert night.standings()[0].active_games == (game_id,)
    play_hole(night, 1, 0, 4)
    assert find_game(night, 1, 0).duration_seconds == 300


def test_a_corrected_result_counts_and_the_same_one_again_changes_nothing() -> None:
    night = golf_night(players=2, golf_duration=1)
    play_hole(night, 1, 0, 4)
    play_hole(night, 1, 0, 2)
    assert standings_rows(night) == [(1, 1, "2.00"), (2, 2, "0.00")]
    assert night.record(outcome_of_hole(night, 1, 0, strokes=2, recorded_by=99)) == []


def test_a_deleted_result_leaves_the_hole_to_be_played_again() -> None:
    night = golf_night(players=2, golf_duration=1)
    for player_id in (1, 2):
        play_hole(night, player_id, 0, 4)
    game_id = find_game(night, 1, 0).single_player_game_id
    night.apply(single_player_commands.delete_attempt(night.tournament, game_id, night.now))
    assert (find_game(night, 1, 0).status, find_game(night, 1, 0).points) == ("pending", None)
    assert night.tournament.rounds[0].status == "started"


def test_reopening_brings_the_waiting_games_back() -> None:
    night = golf_night(players=2, golf_duration=2)
    play_hole(night, 1, 0, 4)
    night.complete()
    assert len(night.tournament.single_player_games) == 1
    night.apply(tournament_commands.reopen(night.tournament))
    assert [round_.status for round_ in night.tournament.rounds] == ["started", "started"]
    assert {game.status for game in night.tournament.single_player_games} == {"completed", "pending"}
    assert len(night.tournament.single_player_games) == 4


def test_strokes_added_by_hand_are_part_of_the_total() -> None:
    night = golf_night(players=2)
    play_holes(night, 1, 2, 2, 2)
    play_holes(night, 2, 3, 3, 3)
    change_entrant(night, 1, points_adjustment=Decimal(4))
    assert standings_rows(night) == [(1, 2, "9.00"), (2, 1, "10.00")]
    assert night.standings()[1].adjustment == 4


def test_a_tiebreak_game_separates_equals_and_is_taken_off_the_strokes() -> None:
    night = golf_night(players=2, golf_duration=1)
    for player_id in (1, 2):
        play_hole(night, player_id, 0, 3)
    night.apply(FORMATS["golf"].open_tiebreak(night.tournament, (1, 2), night.now))
    tiebreak = night.open_games()[0]
    assert tiebreak.round_id is None
    night.record(GameOutcome(game_id=tiebreak.game_id, finishing_order=(2, 1)))
    rows = night.standings()
    assert [(row.player_id, row.position, row.points, row.points_with_tiebreaker) for row in rows] == [
        (2, 1, "3.00", "2.50"),
        (1, 2, "3.00", "3.00"),
    ]


def test_a_hand_made_order_separates_equals() -> None:
    night = golf_night(players=2, golf_duration=1)
    for player_id in (1, 2):
        play_hole(night, player_id, 0, 3)
        change_entrant(night, player_id, tie_group=1, tie_place=3 - player_id)
    assert night.places() == {2: 1, 1: 2}
    assert night.standings()[0].manual_tiebreaker_group == 1


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        ({}, "Enter the strokes"),
        ({"strokes": 0}, "1 to 10 strokes"),
        ({"strokes": 11}, "1 to 10 strokes"),
        ({"score": 600}, "The target was reached"),
        ({"score": -1}, "not a pinball score"),
        ({"rolls": (3, 4)}, "Enter the strokes"),
    ],
)
def test_a_result_that_cannot_be_is_refused(result: dict[str, Any], sentence: str) -> None:
    night = golf_night()
    set_hole(night, 0, target=500)
    with pytest.raises(Invalid, match=sentence):
        tournament_commands.record_result(
            night.tournament,
            outcome_of_hole(night, 1, 0, **result),
            tournament_commands.dice_for(night.tournament, "x")[0],
            night.now,
        )


def test_a_score_says_nothing_on_a_hole_without_a_target() -> None:
    night = golf_night()
    with pytest.raises(Invalid, match="Hole #1 has no target"):
        night.record(outcome_of_hole(night, 1, 0, score=100))


def test_requests_that_pingolf_does_not_know_are_refused() -> None:
    night = golf_night()
    now, game = night.now, find_game(night, 1, 0)
    first = night.tournament.rounds_in_order[0]
    with pytest.raises(Conflict, match="voided"):
        single_player_commands.void_attempt(night.tournament, game.single_player_game_id, now)
    with pytest.raises(Conflict, match="no result"):
        single_player_commands.delete_attempt(night.tournament, game.single_player_game_id, now)
    with pytest.raises(Conflict, match="completes itself"):
        tournament_commands.complete_round(night.tournament, first.round_id, now)
    with pytest.raises(Conflict, match="not deleted by hand"):
        tournament_commands.delete_round(night.tournament, first.round_id)
    with pytest.raises(Conflict, match="there already"):
        single_player_commands.open_attempt(
            night.tournament, NewAttempt(player_id=1, arena_id=501, score=1), now
        )
    with pytest.raises(NotFound):
        single_player_commands.delete_attempt(night.tournament, 1, now)
    with pytest.raises(NotFound):
        set_hole(night, 0, arena_id=999)
    assert single_player_commands.find_open_attempt(night.tournament, 1, round_id=first.round_id) == game
    with pytest.raises(Invalid, match="Name the round"):
        single_player_commands.find_open_attempt(night.tournament, 1)


def test_one_player_is_too_few_and_a_completed_night_takes_no_result() -> None:
    with pytest.raises(Conflict, match="too few"):
        golf_night(players=1)
    night = golf_night()
    play_hole(night, 1, 0, 3)
    night.complete()
    with pytest.raises(Conflict, match="Reopen it"):
        play_hole(night, 1, 0, 4)


def test_undoing_everything_gives_the_planned_tournament_back() -> None:
    night = a_night("golf", players=3, golf_duration=2)
    planned = night.tournament
    night.start()
    set_hole(night, 0, target=500)
    play_holes(night, 1, 3, 4)
    play_hole(night, 2, 0, 9)
    night.complete()
    night.apply(tournament_commands.reopen(night.tournament))
    assert undo_all(night) == planned


@quick
@given(st.lists(st.lists(st.integers(1, 10), min_size=3, max_size=3), min_size=2, max_size=6))
def test_the_table_is_ordered_by_the_sum_of_the_capped_strokes(cards: list[list[int]]) -> None:
    night = golf_night(players=len(cards))
    for player_id, strokes in enumerate(cards, start=1):
        play_holes(night, player_id, *strokes)
    totals = [sum(min(6, each) for each in strokes) for strokes in cards]
    rows = night.standings()
    assert [Decimal(row.points) for row in rows] == sorted(totals)
    assert all(Decimal(row.points) == totals[row.player_id - 1] for row in rows)
