"""Group match play. Source: formats, sections 3, 11, 13.4, 14.4 and 20."""

from collections import Counter
from decimal import Decimal
from itertools import pairwise
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.night import Night, a_night, random_order
from rules.properties import quick
from silverball.kit.errors import Conflict, Invalid
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.drawing import groups
from silverball.rules.model import settings
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.ranking import points as ranking_points
from silverball.rules.registry import FORMATS

KEYS = (
    "scorekeeping seeding firstRoundPairing pairing playerOrder playerOrderOpen arenaAssignment suggestions "
    "duration gamesPerRound tiebreaker scoring playoffsCutoffs"
)


def a_started_night(**given: Any) -> Night:
    night = a_night("group_matchplay", **given)
    night.start()
    return night


def points_by_player(night: Night) -> dict[int, str]:
    return {row.player_id: str(row.points) for row in night.standings()}


def test_the_settings_are_the_keys_of_the_payload() -> None:
    assert list(settings.default_values(FORMATS["group_matchplay"].settings)) == KEYS.split()


def test_four_players_get_seven_five_three_and_one_and_three_get_seven_four_and_one() -> None:
    night = a_started_night(players=7, first_round_pairing="adjacent", seeding="manual")
    first, second = night.open_round()
    assert (sorted(first.player_ids), sorted(second.player_ids)) == ([1, 2, 3, 4], [5, 6, 7])
    night.record_order(first, 3, 1, 4, 2)
    night.record_order(second, 7, 5, 6)
    assert points_by_player(night) == {
        3: "7.00",
        7: "7.00",
        1: "5.00",
        5: "4.00",
        4: "3.00",
        2: "1.00",
        6: "1.00",
    }
    assert night.places() == {3: 1, 7: 1, 1: 3, 5: 4, 4: 5, 2: 6, 6: 6}


def test_the_winner_of_five_games_and_second_of_two_shows_45_5_2() -> None:
    # A real row: 5 x 7 + 2 x 5 points with the tiebreaker placement.
    night = a_started_night(players=4, tiebreaker="placement")
    for number in range(7):
        winner = 1 if number < 5 else 2
        game = night.open_round()[0]
        night.record_order(game, winner, *(player_id for player_id in (1, 2, 3, 4) if player_id != winner))
    row = night.row(1)
    assert (row.position, row.points) == (1, "45.00")
    assert row.tiebreakers == ("45.00", 5, 2)


def test_a_row_has_every_column_of_the_list_family() -> None:
    night = a_started_night(players=4)
    night.play_round()
    game = night.open_round()[0]
    row = night.row(1)
    assert (row.points, row.points_with_tiebreaker, row.games_played, row.tiebreakers) == (
        "7.00",
        None,
        1,
        ("7.00",),
    )
    assert (row.entries_played, row.entries_available, row.strike_count, row.cards_counted) == (0, 0, 0, None)
    assert row.adjustment == 0
    assert (row.frenzy_wins, row.frenzy_losses, row.points_list) == (None, None, None)
    assert (row.active_games, row.active_game_color) == ((game.game_id,), "green")
    assert (row.pace_bubble, row.bubble.on_cutoff_bubble, row.manual_tiebreaker_group) == (None, None, None)


@pytest.mark.parametrize(("tiebreaker", "first"), [("placement", 1), ("placement_last", 2), ("wins", 1)])
def test_equal_points_are_separated_by_places(tiebreaker: str, first: int) -> None:
    # Bonus point 5/3/2/1: 1 has 5 + 1, 2 has 3 + 3.
    night = a_started_night(players=4, scoring="winnerbonus", tiebreaker=tiebreaker)
    game = night.open_round()[0]
    night.record_order(game, 1, 2, 3, 4)
    game = night.open_round()[0]
    night.record_order(game, 3, 2, 4, 1)
    assert night.row(1).points == night.row(2).points == "6.00"
    assert {night.row(1).position, night.row(2).position} == {2, 3}
    assert night.row(first).position == 2


def test_the_standard_tiebreaker_counts_every_opponent_of_every_round() -> None:
    night = a_started_night(players=4, tiebreaker="standard")
    night.play_round()
    # 5 + 3 + 1 points of three opponents are 3 each; without the highest and the lowest 3 are left.
    assert night.row(1).tiebreakers == ("7.00", 3, 3)


def test_the_winner_of_a_three_is_not_behind_for_meeting_fewer() -> None:
    night = a_night(
        "group_matchplay",
        players=7,
        scoring="papa",
        games_per_round=2,
        tiebreaker="standard",
        seeding="manual",
        first_round_pairing="adjacent",
    )
    night.start()
    night.play_round()
    # 1 met players with 4, 2 and 0 points twice, 5 met players with 4 and 2 points twice. By sums it
    # was 8 and 12 against 6 and 12.
    assert night.row(1).tiebreakers == ("8.00", 2, 2)
    assert night.row(5).tiebreakers == ("8.00", 3, 3)
    assert (night.row(5).position, night.row(1).position) == (1, 2)


def test_equal_points_go_by_the_mean_of_all_opponents_met() -> None:
    points = {1: Decimal(12), 2: Decimal(12), 3: Decimal(9), 4: Decimal(7), 5: Decimal(6), 6: Decimal(2)}
    met = {1: [3, 4, 5, 3, 4, 6], 2: [3, 4, 5, 3, 4]}
    broken = ranking_points.mean_strength_tiebreaks(points, met)
    # 1: (9 + 7 + 6 + 9 + 7 + 2) / 6 = 40 / 6, between 29 / 4; 2: (9 + 7 + 6 + 9 + 7) / 5, between 23 / 3.
    assert broken[1].values == (Decimal(12), Decimal("7.25"), Decimal("6.67"))
    assert broken[2].values == (Decimal(12), Decimal("7.67"), Decimal("7.60"))
    assert broken[2].key > broken[1].key
    sums = ranking_points.standard_tiebreaks(points, met)
    assert sums[1].key > sums[2].key


@given(st.lists(st.integers(0, 60), min_size=4, max_size=12), st.integers(1, 5), st.integers(0, 99))
@quick
def test_where_all_met_equally_many_the_order_is_that_of_the_sums(
    totals: list[int], count: int, seed: int
) -> None:
    dice = Random(seed)
    points = {player: Decimal(total) / 2 for player, total in enumerate(totals)}
    met = {player: dice.choices(range(len(totals)), k=3 * count) for player in points}
    means = ranking_points.mean_strength_tiebreaks(points, met)
    sums = ranking_points.standard_tiebreaks(points, met)
    assert sorted(points, key=lambda player: means[player].key) == sorted(
        points, key=lambda player: sums[player].key
    )


@given(st.integers(2, 19), st.integers(0, 99))
@quick
def test_nobody_ever_has_a_bye_and_the_groups_have_the_sizes_of_the_table(players: int, seed: int) -> None:
    night = a_started_night(players=players, pairing="random")
    for _ in range(2):
        games = night.open_round()
        assert [len(game.player_ids) for game in games] == list(groups.group_sizes(players))
        assert not any(game.is_bye for game in night.tournament.games)
        for game in games:
            night.record_order(game, *random_order(game, Random(seed)))


@given(st.integers(2, 12), st.integers(1, 3), st.integers(0, 99))
@quick
def test_the_table_adds_up_to_the_points_of_the_games(players: int, per_round: int, seed: int) -> None:
    night = a_started_night(players=players, games_per_round=per_round)
    for _ in range(3):
        for game in night.open_round():
            night.record_order(game, *random_order(game, Random(seed)))
    given = sum(
        points for game in night.tournament.games for points in game.result_points if points is not None
    )
    assert sum(Decimal(str(row.points)) for row in night.standings()) == given
    assert {row.games_played for row in night.standings()} == {3 * per_round}


def test_a_group_plays_its_games_of_a_round_on_different_arenas() -> None:
    night = a_started_night(players=8, arenas=4, games_per_round=3)
    games = night.open_round()
    assert Counter(game.set_number for game in games) == {0: 3, 1: 3}
    for number in range(2):
        own = [game for game in games if game.set_number == number]
        assert len({game.arena_id for game in own}) == 3
        assert [game.game_index for game in own] == [0, 1, 2]
        assert len({frozenset(game.player_ids) for game in own}) == 1
    assert all(game.advantage_id is None for game in games)


def test_after_the_planned_rounds_it_is_over_and_stays_so_until_it_is_completed() -> None:
    night = a_started_night(players=5, duration=2)
    night.play_round()
    assert not tournament_commands.format_of(night.tournament).is_over(night.tournament)
    night.play_round()
    assert tournament_commands.format_of(night.tournament).is_over(night.tournament)
    with pytest.raises(Conflict, match="is over"):
        night.open_round()
    night.complete()
    assert night.tournament.status == "completed"


def test_tiers_draw_by_the_map_and_need_a_planned_number_of_rounds() -> None:
    night = a_started_night(players=16, pairing="tiers", duration=5, seeding="manual")
    drawn = [sorted(game.player_ids) for game in night.open_round()]
    assert drawn == [[1, 8, 9, 16], [2, 7, 10, 15], [3, 6, 11, 14], [4, 5, 12, 13]]
    for players, duration in ((16, 0), (15, 5), (161, 5), (16, 9)):
        with pytest.raises(Conflict, match="There are no tiers"):
            a_started_night(players=players, pairing="tiers", duration=duration)


def test_a_late_player_is_in_from_the_next_round_and_scored_nothing_before() -> None:
    night = a_started_night(players=8)
    night.play_round()
    night.join(9)
    assert (night.row(9).points, night.row(9).games_played) == ("0.00", 0)
    night.finish_round()
    assert sorted(len(game.player_ids) for game in night.open_round()) == [3, 3, 3]
    assert night.game_with(9).round_id == night.open_games()[0].round_id


def test_a_late_player_may_be_put_into_a_group_of_three_of_the_open_round() -> None:
    night = a_started_night(players=7)
    dora, cleo = night.open_round()
    night.join(9)
    with pytest.raises(Conflict, match="has 4 players already"):
        game_commands.add_player(night.tournament, dora.game_id, 9, night.dice(), night.now)
    night.apply(game_commands.add_player(night.tournament, cleo.game_id, 9, night.dice(), night.now))
    joined = night.game(cleo.game_id)
    assert joined.player_ids == (*cleo.player_ids, 9)
    night.record_order(joined, 9, *cleo.player_ids)
    assert night.row(9).points == "7.00"


def test_a_player_taken_out_of_an_open_game_leaves_a_game_of_three_or_two_or_a_bye() -> None:
    night = a_started_night(players=4)
    game = night.open_round()[0]
    for gone in (4, 3):
        night.apply(game_commands.remove_player(night.tournament, game.game_id, gone))
    assert sorted(night.game(game.game_id).player_ids) == [1, 2]
    night.apply(game_commands.remove_player(night.tournament, game.game_id, 2))
    bye = night.game(game.game_id)
    assert (bye.is_bye, bye.status, bye.set_number, bye.player_ids) == (True, "completed", 9999, (1,))
    assert (night.row(1).points, night.row(1).games_played) == ("7.00", 0)


def test_three_left_of_four_are_scored_as_a_group_of_three() -> None:
    night = a_started_night(players=4)
    game = night.open_round()[0]
    night.apply(game_commands.remove_player(night.tournament, game.game_id, 4))
    night.record_order(game, 1, 2, 3)
    assert points_by_player(night) == {1: "7.00", 2: "4.00", 3: "1.00", 4: "0.00"}


def test_a_player_who_leaves_keeps_points_and_place_and_may_come_back() -> None:
    night = a_started_night(players=5)
    night.play_round()
    night.leave(1)
    night.play_round()
    assert night.row(1).points == "7.00"
    night.come_back(1)
    night.open_round()
    assert night.game_with(1).status == "started"


def test_an_adjustment_counts_in_the_points() -> None:
    night = a_started_night(players=4)
    night.play_round()
    night.adjust(4, 10)
    assert (night.row(4).points, night.row(4).position) == ("11.00", 1)
    assert night.row(4).adjustment == 10


def test_a_result_may_be_corrected_or_deleted_while_its_round_is_the_newest() -> None:
    night = a_started_night(players=4)
    game = night.open_round()[0]
    night.record_order(game, 1, 2, 3, 4)
    night.record_order(game, 4, 3, 2, 1)
    assert night.row(4).points == "7.00"
    night.clear(game)
    assert night.row(4).points == "0.00"
    night.record_order(game, 1, 2, 3, 4)
    night.open_round()
    with pytest.raises(Conflict, match="Round 1 is over"):
        night.record_order(game, 4, 3, 2, 1)
    with pytest.raises(Conflict, match="Round 1 is over"):
        night.clear(game)


def test_the_same_result_again_changes_nothing() -> None:
    night = a_started_night(players=4)
    game = night.open_round()[0]
    night.record(GameOutcome(game_id=game.game_id, scores={1: 90, 2: 80, 3: 70, 4: 60}, recorded_by=5))
    assert night.record_order(game, 1, 2, 3, 4) == []
    assert night.record(GameOutcome(game_id=game.game_id, scores={1: 90, 2: 80, 3: 70, 4: 61})) != []


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"finishing_order": (1, 2, 3, 9)}, "Player 9 is not in game"),
        ({"finishing_order": (1, 2, 3)}, "Player 4 of game"),
        ({"finishing_order": (1, 2, 3, 3)}, "Player 3 is named twice"),
        ({"scores": {1: 5, 2: 5, 3: 4, 4: 1}}, "Players [12] and [12] have the same score"),
        ({"scores": {1: -5, 2: 5, 3: 4, 4: 1}}, "is not a pinball score"),
        ({"gave_up": (99,)}, "99 is not in"),
        ({}, "Enter the finishing order"),
    ],
)
def test_an_impossible_result_is_refused_and_changes_nothing(
    values: dict[str, object], sentence: str
) -> None:
    night = a_started_night(players=4)
    game = night.open_round()[0]
    before = night.tournament
    with pytest.raises(Invalid, match=sentence):
        night.record(GameOutcome(game_id=game.game_id, **values))  # type: ignore[arg-type]  # a table of both
    assert night.tournament is before


def test_a_round_with_open_games_keeps_the_next_one_closed() -> None:
    night = a_started_night(players=8)
    first = night.open_round()[0]
    with pytest.raises(Conflict, match=f"Round 1 still has open games: {first.game_id}"):
        night.open_round()


def test_one_player_is_too_few_to_start_and_to_go_on() -> None:
    with pytest.raises(Conflict, match="1 players are too few"):
        a_started_night(players=1)
    night = a_started_night(players=2)
    night.leave(2)
    with pytest.raises(Conflict, match="Fewer than two players"):
        night.open_round()


def test_nothing_can_be_done_once_it_is_completed_and_all_of_it_once_it_is_reopened() -> None:
    night = a_started_night(players=4)
    game = night.open_round()[0]
    night.record_order(game, 1, 2, 3, 4)
    night.complete()
    with pytest.raises(Conflict, match="Reopen it"):
        night.record_order(game, 4, 3, 2, 1)
    with pytest.raises(Conflict, match="Reopen it"):
        night.adjust(1, 3)
    night.apply(tournament_commands.reopen(night.tournament))
    night.record_order(game, 4, 3, 2, 1)
    assert night.row(4).points == "7.00"


def test_taking_everything_back_leaves_the_planned_tournament() -> None:
    night = a_night("group_matchplay", players=7)
    planned = night.tournament
    night.start()
    night.play_round()
    night.join(9, points_adjustment=Decimal(3))
    night.leave(1)
    night.open_round()
    night.adjust(2, -1)
    night.finish_round()
    night.complete()
    night.undo_all()
    assert night.tournament == planned


def test_a_round_drawn_again_after_an_undo_is_the_same() -> None:
    night = a_started_night(players=11)
    night.play_round()
    drawn = night.open_round()
    night.undo()
    again = night.open_round()
    assert [(game.player_ids, game.arena_id) for game in drawn] == [
        (game.player_ids, game.arena_id) for game in again
    ]


def test_the_last_of_a_game_starts_the_next_one_of_the_round() -> None:
    night = a_started_night(players=4, games_per_round=3, player_order="loser")
    first, second, third = night.open_round()
    assert first.player_ids == second.player_ids == third.player_ids
    ann, ben, cleo, dora = first.player_ids
    night.record_order(first, cleo, ann, dora, ben)
    # By hand: the second player was last, so they go first; the others stay as they were.
    assert night.game(second.game_id).player_ids == (ben, ann, cleo, dora)
    assert night.game(third.game_id).player_ids == first.player_ids
    night.record_order(second, ann, ben, cleo, dora)
    assert night.game(third.game_id).player_ids == (dora, ann, ben, cleo)
    night.undo()
    assert night.game(third.game_id) == third


def test_a_correction_decides_anew_who_starts_the_next_game() -> None:
    night = a_started_night(players=4, games_per_round=2, player_order="loser")
    first, second = night.open_round()
    ann, ben, cleo, dora = first.player_ids
    night.record_order(first, ann, ben, cleo, dora)
    night.correct(first, ann, dora, cleo, ben)
    assert night.game(second.game_id).player_ids[0] == ben
    night.record_order(second, ann, ben, cleo, dora)
    played = night.game(second.game_id)
    night.correct(first, dora, ben, cleo, ann)
    assert night.game(second.game_id) == played
    assert night.open_round()[0].player_ids != ()


@given(st.integers(0, 2**16), st.integers(4, 11), st.integers(2, 4))
@quick
def test_each_further_game_of_a_round_is_started_by_who_was_last(seed: int, players: int, games: int) -> None:
    night = a_started_night(players=players, games_per_round=games, player_order="loser")
    dice = Random(seed)
    opened = night.open_round()
    for game in sorted(opened, key=lambda game: (game.game_index or 0, dice.random())):
        night.record_order(game, *random_order(game, dice))
    by_group = Counter(game.set_number for game in opened)
    for number in by_group:
        group = [night.game(game.game_id) for game in opened if game.set_number == number]
        for before, after in pairwise(sorted(group, key=lambda game: game.game_index or 0)):
            assert after.player_ids[0] == before.result_positions[-1]


def test_an_order_that_the_format_does_not_know_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="playerOrder"):
        a_night("group_matchplay", player_order="winner")
