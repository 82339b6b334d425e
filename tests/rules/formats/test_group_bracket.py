"""Group elimination. Source: formats, 14.12, 13.4, 20, 24 and 25 (test 7); points added up by hand."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.bracket_night import games_of_round, record_win, standings_rows, start_night
from rules.night import Night, a_night, random_order
from rules.properties import quick
from silverball.kit.errors import Conflict, Invalid
from silverball.kit.values import replace
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import tiebreaks as tiebreak_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.families import group_stages
from silverball.rules.formats import group_bracket
from silverball.rules.mechanics import call_ups
from silverball.rules.mechanics.call_ups import CallUp
from silverball.rules.model import settings
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.registry import FORMATS
from silverball.rules.verify import groups as verify_groups

SIZES = (4, 6, 8, 10, 12, 16, 24, 28, 32, 40, 64, 128)
ROUNDS = {4: 1, 6: 2, 8: 2, 10: 3, 12: 3, 16: 3, 24: 4, 28: 4, 32: 4, 40: 5, 64: 5, 128: 6}
# Three games by the scoring 4, 2, 1, 0: 1 has 7, 4 has 6, 5 has 5, 8 has 3.
GROUP_OF_1 = ((1, 4, 5, 8), (4, 1, 8, 5), (5, 8, 1, 4))
# 2 has 8, 3 has 7, 6 has 4, 7 has 2.
GROUP_OF_2 = ((2, 3, 6, 7), (2, 6, 3, 7), (3, 7, 6, 2))


def bracket(size: int = 8, **given: Any) -> Night:
    """A running group bracket with its first round open."""
    night = start_night("group_bracket", size, bracket_size=size, **given)
    night.open_round()
    return night


def groups(night: Night, index: int) -> list[tuple[int, ...]]:
    found = dict.fromkeys(tuple(sorted(game.player_ids)) for game in games_of_round(night.tournament, index))
    return list(found)


def play_games(night: Night, orders: Sequence[Sequence[int]]) -> None:
    for order in orders:
        record_win(night, *order)


def play_by_seed(night: Night) -> None:
    """Every open game is won by the better seed."""
    night.finish_round()


def rows_with_tiebreak(night: Night) -> list[tuple[int, int, Any, Any]]:
    return [
        (row.position, row.player_id, row.points, row.points_with_tiebreaker) for row in night.standings()
    ]


def test_the_payload_has_exactly_its_keys_with_their_defaults() -> None:
    assert settings.default_values(FORMATS["group_bracket"].settings) == {
        "scorekeeping": "disabled",
        "roundCount": 2,
        "bracketSize": 8,
        "groupBracketDoubleByes": 0,
        "scoring": "papa",
        "gamesPerRound": 3,
        "seeding": "manual",
        "playerOrder": "seed",
        "playerOrderOpen": "scorekeepers",
        "arenaAssignment": "balanced",
        "suggestions": "disabled",
    }


@pytest.mark.parametrize("size", SIZES)
def test_the_number_of_rounds_follows_from_the_size(size: int) -> None:
    chosen = settings.read_settings(
        FORMATS["group_bracket"].settings, {"bracketSize": size, "roundCount": 77}
    )
    assert getattr(chosen, "round_count", None) == ROUNDS[size]


@pytest.mark.parametrize(
    ("given", "setting_name"),
    [
        ({"bracketSize": 129}, "bracketSize"),
        ({"bracketSize": 1}, "bracketSize"),
        ({"groupBracketDoubleByes": 2}, "groupBracketDoubleByes"),
        ({"gamesPerRound": 10}, "gamesPerRound"),
    ],
)
def test_a_value_outside_its_limits_is_refused_by_name(given: dict[str, Any], setting_name: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=setting_name):
        settings.read_settings(FORMATS["group_bracket"].settings, given)


@pytest.mark.parametrize(
    ("size", "first"),
    [
        (4, [(1, 2, 3, 4)]),
        (8, [(1, 4, 5, 8), (2, 3, 6, 7)]),
        (16, [(1, 8, 9, 16), (2, 7, 10, 15), (3, 6, 11, 14), (4, 5, 12, 13)]),
        # The worst seeds play for the places beside those who wait.
        (6, [(3, 4, 5, 6)]),
        (10, [(7, 8, 9, 10)]),
        (12, [(5, 8, 9, 12), (6, 7, 10, 11)]),
    ],
)
def test_groups_of_the_first_round_are_made_by_seed(size: int, first: list[tuple[int, ...]]) -> None:
    assert groups(bracket(size), 0) == first


def test_a_group_plays_all_games_of_its_round_on_different_arenas() -> None:
    night = bracket()
    games = games_of_round(night.tournament, 0)
    assert [(game.set_number, game.game_index) for game in games] == [
        (number, index) for number in (0, 1) for index in (0, 1, 2)
    ]
    assert len({game.arena_id for game in games[:3]}) == 3
    assert {game.advantage_id for game in games} == {None}
    assert {game.player_ids for game in games} == {(1, 4, 5, 8), (2, 3, 6, 7)}


@pytest.mark.parametrize("assignment", ["random", "balanced"])
def test_a_further_game_of_a_group_is_on_an_arena_that_it_has_not_had(assignment: str) -> None:
    night = bracket(4, arena_assignment=assignment, arenas=4)
    night.finish_round()
    played = tuple(games_of_round(night.tournament, 0))
    (group,) = groups(night, 0)
    call = CallUp(round_id=played[0].round_id or 0, set_number=0, player_ids=group, earlier_games=played)
    used = {game.arena_id for game in played}
    assert len(used) == 3
    for seed in range(20):
        (game,) = call_ups.create_games(night.tournament, [call], Random(seed), night.now)
        assert game.arena_id not in {None, *used}


def test_the_best_two_of_each_group_meet_in_the_next_round() -> None:
    night = bracket()
    play_games(night, GROUP_OF_1)
    play_games(night, GROUP_OF_2)
    night.open_round()
    assert groups(night, 1) == [(1, 2, 3, 4)]


def test_the_final_and_the_losers_are_placed_as_in_the_document() -> None:
    # Source: formats, section 25, test 7. The final ends 7, 7, 7, 0; a tiebreak separates the three.
    night = bracket()
    play_games(night, (*GROUP_OF_1, *GROUP_OF_2))
    night.open_round()
    play_games(night, ((1, 2, 3, 4), (3, 1, 2, 4), (2, 3, 1, 4)))
    assert tournament_commands.format_of(night.tournament).is_over(night.tournament)
    assert [position for position, _, _ in standings_rows(night)] == [1, 1, 1, 4, 5, 6, 7, 8]
    night.apply(tiebreak_commands.open_tiebreak(night.tournament, [1, 2, 3], night.now))
    record_win(night, 2, 3, 1)
    assert rows_with_tiebreak(night) == [
        (1, 2, 7, Decimal("7.5")),
        (2, 3, 7, Decimal("7.25")),
        (3, 1, 7, 7),
        (4, 4, 0, 0),
        (5, 5, 5, 5),
        (6, 6, 4, 4),
        (7, 8, 3, 3),
        (8, 7, 2, 2),
    ]


def test_losers_are_ranked_across_groups_and_equals_share() -> None:
    # One game of 7, 5, 3, 1: the thirds of both groups have 3, the fourths 1.
    night = bracket(games_per_round=1, scoring="ifpa")
    record_win(night, 1, 4, 5, 8)
    record_win(night, 2, 3, 6, 7)
    assert standings_rows(night) == [(5, 5, 3), (5, 6, 3), (7, 7, 1), (7, 8, 1)]


def test_nobody_is_listed_before_the_round_is_finished() -> None:
    night = bracket()
    play_games(night, GROUP_OF_1)
    assert standings_rows(night) == []
    play_games(night, GROUP_OF_2)
    assert [player for _, player, _ in standings_rows(night)] == [5, 6, 8, 7]


def test_the_rows_are_those_of_the_bracket_family() -> None:
    night = bracket(4)
    play_by_seed(night)
    row = night.standings()[0]
    assert (row.points, row.points_with_tiebreaker, row.tiebreakers, row.adjustment) == (12, 12, None, None)
    assert (row.games_played, row.entries_played, row.entries_available, row.strike_count) == (None,) * 4


def test_a_tied_advancing_place_blocks_the_round_until_a_tiebreak() -> None:
    night = bracket(games_per_round=2)
    # 1 has 8 points; 4, 5 and 8 have 2 each.
    play_games(night, ((1, 4, 5, 8), (1, 8, 5, 4)))
    play_games(night, ((2, 3, 6, 7), (2, 3, 6, 7)))
    with pytest.raises(Conflict, match="Players 4, 5 and 8 are tied"):
        night.open_round()
    with pytest.raises(Conflict, match="Players 4, 5 and 8 are tied"):
        night.complete_round()
    assert standings_rows(night) == []
    with pytest.raises(Conflict, match="all of them play"):
        tiebreak_commands.open_tiebreak(night.tournament, [4, 8], night.now)
    night.apply(tiebreak_commands.open_tiebreak(night.tournament, [4, 5, 8], night.now))
    game = games_of_round(night.tournament, 0)[-1]
    assert (game.set_number, game.is_tiebreak, game.player_ids) == (2, True, (4, 5, 8))
    with pytest.raises(Conflict, match="open games"):
        night.open_round()
    record_win(night, 8, 4, 5)
    night.open_round()
    assert groups(night, 1) == [(1, 2, 3, 8)]
    assert rows_with_tiebreak(night)[:2] == [(5, 4, 2, Decimal("2.25")), (6, 5, 2, 2)]


def test_a_tie_below_or_above_the_line_does_not_block() -> None:
    night = bracket(games_per_round=2)
    # 1 and 4 share the first place, 5 and 8 the third.
    play_games(night, ((1, 4, 5, 8), (4, 1, 8, 5), (2, 3, 6, 7), (3, 2, 7, 6)))
    night.open_round()
    assert groups(night, 1) == [(1, 2, 3, 4)]
    assert [position for position, _, _ in standings_rows(night)] == [5, 5, 5, 5]


def test_a_deleted_tiebreak_leaves_the_tie_and_deletes_what_followed() -> None:
    night = bracket(games_per_round=1, scoring="winneronly")
    record_win(night, 1, 4, 5, 8)
    record_win(night, 2, 3, 6, 7)
    # All who did not win have nothing: three are tied in each group.
    for tie in ([4, 5, 8], [3, 6, 7]):
        night.apply(tiebreak_commands.open_tiebreak(night.tournament, tie, night.now))
        record_win(night, *tie)
    night.open_round()
    assert groups(night, 1) == [(1, 2, 3, 4)]
    game = next(game for game in night.tournament.games if game.is_tiebreak)
    night.apply(game_commands.delete_game(night.tournament, game.game_id, night.dice(), night.now))
    assert [round_.status for round_ in night.tournament.rounds] == ["started"]
    with pytest.raises(Conflict, match="Players 4, 5 and 8 are tied"):
        night.open_round()


def test_an_order_by_hand_separates_final_places_and_no_others() -> None:
    night = bracket(4, games_per_round=1, scoring="winwinlossloss")
    record_win(night, 1, 2, 3, 4)
    assert standings_rows(night) == [(1, 1, 1), (1, 2, 1), (3, 3, 0), (3, 4, 0)]
    night.apply(tiebreak_commands.set_manual_order(night.tournament, [2, 1]))
    assert [(position, player) for position, player, _ in standings_rows(night)] == [
        (1, 2),
        (2, 1),
        (3, 3),
        (3, 4),
    ]
    assert night.row(2).manual_tiebreaker_group == 1
    blocked = bracket(8, games_per_round=1, scoring="winneronly")
    record_win(blocked, 1, 4, 5, 8)
    record_win(blocked, 2, 3, 6, 7)
    with pytest.raises(Conflict, match="share one place"):
        tiebreak_commands.set_manual_order(blocked.tournament, [4, 5, 8])


@pytest.mark.parametrize("size", [6, 10, 12, 24, 28])
def test_those_with_a_bye_join_in_the_second_round(size: int) -> None:
    night = bracket(size, games_per_round=1)
    first = {player_id for group in groups(night, 0) for player_id in group}
    waiting = set(range(1, size + 1)) - first
    assert waiting == set(range(1, len(waiting) + 1))
    play_by_seed(night)
    night.open_round()
    assert waiting < {player_id for group in groups(night, 1) for player_id in group}


def test_double_byes_bring_the_best_in_after_two_rounds() -> None:
    night = bracket(8, games_per_round=1, group_bracket_double_byes=1)
    assert groups(night, 0) == [(5, 6, 7, 8)]
    play_by_seed(night)
    night.open_round()
    assert groups(night, 1) == [(3, 4, 5, 6)]
    play_by_seed(night)
    night.open_round()
    assert groups(night, 2) == [(1, 2, 3, 4)]
    play_by_seed(night)
    assert [player for _, player, _ in standings_rows(night)] == [1, 2, 3, 4, 5, 6, 7, 8]
    with pytest.raises(Conflict, match="final is played"):
        night.open_round()


def test_a_bracket_of_forty_ends_with_sixteen_qualifiers() -> None:
    night = bracket(40, games_per_round=1)
    assert len(groups(night, 0)) == 4
    play_by_seed(night)
    night.open_round()
    assert len(groups(night, 1)) == 8
    play_by_seed(night)
    assert tournament_commands.format_of(night.tournament).is_over(night.tournament)
    positions = [position for position, _, _ in standings_rows(night)]
    # Eight winners, eight seconds, then the losers of both rounds, always four or eight together.
    assert positions == [1] * 8 + [9] * 8 + [17] * 8 + [25] * 8 + [33] * 4 + [37] * 4


def test_the_last_round_of_forty_needs_its_ties_broken_too() -> None:
    night = bracket(40, games_per_round=1, scoring="winneronly")
    play_by_seed(night)
    while not tournament_commands.format_of(night.tournament).is_over(night.tournament):
        ties = tiebreak_commands.tied_groups(night.tournament)
        if not ties:
            night.open_round()
            play_by_seed(night)
            continue
        night.apply(tiebreak_commands.open_tiebreak(night.tournament, ties[0], night.now))
        record_win(night, *ties[0])
    assert len(night.tournament.rounds) == 2
    assert [position for position, _, _ in standings_rows(night)][:16] == [1] * 8 + [9] * 8


def test_a_correction_in_an_earlier_round_deletes_what_others_have_to_play() -> None:
    night = bracket(games_per_round=1)
    record_win(night, 1, 4, 5, 8)
    record_win(night, 2, 3, 6, 7)
    night.open_round()
    play_by_seed(night)
    first = games_of_round(night.tournament, 0)[0]
    night.correct(first, 4, 1, 8, 5)
    # The same two go on: only points change.
    assert len(night.tournament.rounds) == 2
    night.correct(first, 5, 1, 4, 8)
    assert [round_.status for round_ in night.tournament.rounds] == ["started"]
    night.open_round()
    assert groups(night, 1) == [(1, 2, 3, 5)]


def test_a_deleted_result_opens_its_round_again() -> None:
    night = bracket(games_per_round=1)
    play_by_seed(night)
    night.open_round()
    night.clear(games_of_round(night.tournament, 0)[0])
    assert [round_.status for round_ in night.tournament.rounds] == ["started"]
    assert standings_rows(night) == []


def test_the_newest_round_can_be_deleted_and_drawn_again() -> None:
    night = bracket(games_per_round=1)
    play_by_seed(night)
    night.open_round()
    before = groups(night, 1)
    night.apply(
        tournament_commands.delete_round(night.tournament, night.tournament.rounds_in_order[-1].round_id)
    )
    night.open_round()
    assert groups(night, 1) == before


def test_the_size_is_the_number_of_players_and_follows_it_until_the_start() -> None:
    night = a_night("group_bracket", players=8)
    night.leave(8)
    assert size_and_rounds(night) == (7, 2)
    night.join(9)
    night.join(10)
    assert size_and_rounds(night) == (9, 3)
    night.undo()
    assert size_and_rounds(night) == (8, 2)
    night.join(10)
    night.start()
    assert size_and_rounds(night) == (9, 3)


def test_double_byes_wait_for_a_number_of_players_that_has_them() -> None:
    night = a_night("group_bracket", players=8, group_bracket_double_byes=1)
    assert size_and_rounds(night) == (8, 3)
    night.leave(8)
    assert size_and_rounds(night) == (7, 2)
    assert set(group_stages.setting_faults(night.tournament.settings)) == {"groupBracketDoubleByes"}
    night.join(9)
    assert size_and_rounds(night) == (8, 3)


def size_and_rounds(night: Night) -> tuple[int, int]:
    chosen = night.tournament.settings
    assert isinstance(chosen, group_bracket.GroupBracketSettings)
    return chosen.bracket_size, chosen.round_count


def test_three_of_seven_in_the_first_group_and_places_by_round() -> None:
    # 13 players: 11 play in groups of three, four and four, seeds 1 and 2 wait. One game by 4, 2, 1, 0.
    night = bracket(13, games_per_round=1)
    assert groups(night, 0) == [(3, 8, 9), (4, 7, 10, 13), (5, 6, 11, 12)]
    play_by_seed(night)
    night.open_round()
    assert groups(night, 1) == [(1, 4, 5, 8), (2, 3, 6, 7)]
    while not tournament_commands.format_of(night.tournament).is_over(night.tournament):
        play_by_seed(night)
        if not tournament_commands.format_of(night.tournament).is_over(night.tournament):
            night.open_round()
    # Thirds of the first round share: 9, 10 and 11 have 1 point, 12 and 13 none.
    assert standings_rows(night) == [
        (1, 1, 4), (2, 2, 2), (3, 3, 1), (4, 4, 0),
        (5, 5, 1), (5, 6, 1), (7, 7, 0), (7, 8, 0),
        (9, 9, 1), (9, 10, 1), (9, 11, 1), (12, 12, 0), (12, 13, 0),
    ]  # fmt: skip


@pytest.mark.sample(6)
@pytest.mark.parametrize("players", range(2, 129))
def test_a_final_of_any_size_is_played_to_its_end_and_verified(players: int) -> None:
    night = bracket(players, games_per_round=1)
    form = tournament_commands.format_of(night.tournament)
    play_by_seed(night)
    while not form.is_over(night.tournament):
        night.open_round()
        play_by_seed(night)
    assert sorted(row.player_id for row in night.standings()) == list(range(1, players + 1))
    best = [player_id for _, player_id, _ in standings_rows(night)]
    assert best[:4] == [1, 2, 3, 4][:players]
    rows = [(row.player_id, row.position) for row in night.standings()]
    expected = verify_groups.group_bracket_table(night.tournament)
    assert sorted(rows) == sorted((row["playerId"], row["position"]) for row in expected)


def test_more_than_128_are_refused() -> None:
    with pytest.raises(Invalid, match="2 to 128 players, not 129"):
        start_night("group_bracket", 129)


def test_the_field_and_the_groups_stand_once_it_has_begun() -> None:
    night = bracket()
    game = night.open_games()[0]
    for move, sentence in (
        (lambda: night.join(9), "made at the start"),
        (lambda: night.adjust(1, 1), "correct a result"),
        (night.open_round, "open games"),
        (lambda: game_commands.remove_player(night.tournament, game.game_id, 1), "gives up the game"),
    ):
        with pytest.raises(Conflict, match=sentence):
            move()
    with pytest.raises(Invalid, match="same score"):
        night.record(GameOutcome(game_id=game.game_id, scores=dict.fromkeys(game.player_ids, 9)))


def test_two_players_may_change_groups_before_a_result() -> None:
    night = bracket(games_per_round=1)
    night.apply(game_commands.swap_players(night.tournament, 8, 7))
    assert groups(night, 0) == [(1, 4, 5, 7), (2, 3, 6, 8)]
    play_by_seed(night)
    night.open_round()
    assert groups(night, 1) == [(1, 2, 3, 4)]


def test_closed_early_only_decided_places_are_listed() -> None:
    # As a real bracket of eight that stopped after one round: 5, 6, 7, 7.
    night = bracket()
    play_games(night, (*GROUP_OF_1, *GROUP_OF_2))
    night.complete()
    assert [position for position, _, _ in standings_rows(night)] == [5, 6, 7, 8]


def test_reopened_a_round_has_its_missing_games_again() -> None:
    night = bracket()
    play_games(night, GROUP_OF_1)
    record_win(night, *GROUP_OF_2[0])
    missing = [(game.set_number, game.game_index) for game in night.open_games()]
    night.complete()
    assert standings_rows(night) == []
    night.apply(tournament_commands.reopen(night.tournament))
    assert [round_.status for round_ in night.tournament.rounds] == ["started"]
    assert len(night.open_games()) == len(missing) == 2
    assert groups(night, 0) == [(1, 4, 5, 8), (2, 3, 6, 7)]
    play_games(night, GROUP_OF_2[1:])
    night.open_round()
    assert groups(night, 1) == [(1, 2, 3, 4)]


def test_reopened_a_group_without_any_game_left_has_them_again() -> None:
    night = bracket(16, games_per_round=1)
    record_win(night, 2, 7, 10, 15)
    night.complete()
    night.apply(tournament_commands.reopen(night.tournament))
    assert sorted(groups(night, 0)) == sorted(groups(bracket(16), 0))


def test_a_bracket_that_was_drawn_elsewhere_is_left_alone() -> None:
    night = bracket(games_per_round=1)
    play_by_seed(night)
    night.open_round()
    last = games_of_round(night.tournament, 1)[0]
    strange = replace(last, player_ids=(1, 2, 3, 8))
    games = tuple(strange if game == last else game for game in night.tournament.games)
    night.tournament = replace(night.tournament, games=games)
    for ask in (lambda: record_win(night, 1, 2, 3, 8), night.open_round):
        with pytest.raises(Conflict, match="drawn elsewhere"):
            ask()


def test_other_scorings_and_numbers_of_games_add_up() -> None:
    totals: Mapping[str, list[Any]] = {
        "ifpa": [28, 20, 12, 4],
        "pinburgh": [12, 8, 4, 0],
        "dcleague": [16, 12, 8, 4],
    }
    for scoring, points in totals.items():
        night = bracket(4, games_per_round=4, scoring=scoring)
        play_by_seed(night)
        assert [shown_points for _, _, shown_points in standings_rows(night)] == points


@quick
@given(
    size=st.sampled_from((4, 6, 8, 10, 12, 16)),
    games=st.integers(1, 3),
    seed=st.integers(0, 10**6),
)
def test_any_bracket_ends_with_everybody_placed_and_can_be_taken_back(
    size: int, games: int, seed: int
) -> None:
    night = a_night("group_bracket", players=size, bracket_size=size, games_per_round=games)
    planned, dice = night.tournament, Random(seed)
    night.start()
    form = tournament_commands.format_of(night.tournament)
    while not form.is_over(night.tournament):
        blocked = tiebreak_commands.tied_groups(night.tournament)
        if night.open_games():
            game = dice.choice(night.open_games())
            night.record_order(game, *random_order(game, dice))
        elif blocked and len(blocked[0]) <= 4:
            night.apply(tiebreak_commands.open_tiebreak(night.tournament, blocked[0], night.now))
        else:
            night.open_round()
    rows = night.standings()
    assert {row.player_id for row in rows} == set(range(1, size + 1))
    assert len(night.tournament.rounds) == ROUNDS[size]
    assert rows[0].position == 1
    assert rows[4:] == [] or min(row.position for row in rows[4:]) == 5
    night.undo_all()
    assert night.tournament == planned
