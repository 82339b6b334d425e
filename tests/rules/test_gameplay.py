"""Commands of an organizer on single games. Source: formats, sections 7, 8, 9 and 20."""

from decimal import Decimal
from typing import Any

import pytest

from rules.night import Night, a_night
from silverball.kit.errors import Conflict, Invalid
from silverball.kit.values import replace
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import roster
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model.tournament import Game, LineupArena, Suggestion


def a_started_night(kind: str = "matchplay", **given: Any) -> Night:
    night = a_night(kind, **given)
    night.start()
    return night


def redraw(night: Night, game: Game) -> Game:
    night.apply(game_commands.redraw_arena(night.tournament, game.game_id, night.dice()))
    return night.game(game.game_id)


def test_the_playing_order_of_an_open_game_may_be_changed_and_slot_0_has_the_advantage() -> None:
    night = a_started_night(players=2)
    game = night.open_round()[0]
    after = game.player_ids[::-1]
    night.apply(game_commands.change_order(night.tournament, game.game_id, after))
    assert night.game(game.game_id).player_ids == after
    assert night.game(game.game_id).advantage_id == after[0]
    assert game_commands.change_order(night.tournament, game.game_id, after) == []
    with pytest.raises(Invalid, match="Name the players of game"):
        game_commands.change_order(night.tournament, game.game_id, (1, 3))


def test_a_game_with_a_result_and_a_bye_stay_as_they_are() -> None:
    night = a_started_night(players=3)
    game = night.open_round()[0]
    bye = next(game for game in night.tournament.games if game.is_bye)
    night.record_order(game, *game.player_ids)
    for asked in (game, bye):
        with pytest.raises(Conflict, match=r"has a result|is a bye"):
            game_commands.change_order(night.tournament, asked.game_id, asked.player_ids)
        with pytest.raises(Conflict, match=r"has a result|is a bye"):
            game_commands.redraw_arena(night.tournament, asked.game_id, night.dice())


def test_a_broken_arena_is_replaced_by_one_that_is_free_and_was_played_least() -> None:
    night = a_started_night(players=4, arenas=3)
    first, second = night.open_round()
    free = {501, 502, 503} - {first.arena_id, second.arena_id}
    assert {redraw(night, first).arena_id} == free
    # The broken arena is free now, until it is taken out of service.
    broken = first.arena_id
    assert broken is not None
    night.apply(roster.change_arena(night.tournament, broken, night.dice(), night.now, is_active=False))
    with pytest.raises(Conflict, match="No other arena is free"):
        redraw(night, second)


def test_an_arena_is_chosen_by_hand_unless_a_player_plays_on_it() -> None:
    night = a_started_night(players=4, arenas=3)
    first, second = night.open_round()
    free = ({501, 502, 503} - {first.arena_id, second.arena_id}).pop()
    with pytest.raises(Conflict, match=f"is taken by game {second.game_id}"):
        game_commands.change_arena(night.tournament, first.game_id, second.arena_id)
    with pytest.raises(Invalid, match="Arena 999 is not in this tournament"):
        game_commands.change_arena(night.tournament, first.game_id, 999)
    night.apply(game_commands.change_arena(night.tournament, first.game_id, free))
    night.apply(game_commands.change_arena(night.tournament, first.game_id, None))
    assert night.game(first.game_id).arena_id is None


def test_groups_of_a_round_may_use_an_arena_one_after_the_other() -> None:
    night = a_started_night(players=4, arenas=2, games_per_round=2)
    games = night.open_round()
    first = next(game for game in games if (game.set_number, game.game_index) == (0, 0))
    others = {game.game_index: game for game in games if game.set_number == 1}
    with pytest.raises(Conflict, match="is taken"):
        game_commands.change_arena(night.tournament, first.game_id, others[0].arena_id)
    night.apply(game_commands.change_arena(night.tournament, first.game_id, others[1].arena_id))


def test_without_arenas_none_can_be_chosen() -> None:
    night = a_started_night(players=2, arena_assignment="disabled")
    game = night.open_round()[0]
    with pytest.raises(Conflict, match="played without arenas"):
        game_commands.change_arena(night.tournament, game.game_id, 501)


def test_with_manual_arenas_a_result_waits_for_the_arena() -> None:
    night = a_started_night(players=2, arena_assignment="manual")
    game = night.open_round()[0]
    with pytest.raises(Conflict, match="has no arena yet"):
        night.record_order(game, 1, 2)
    night.apply(game_commands.change_arena(night.tournament, game.game_id, 501))
    night.record_order(game, 1, 2)


def test_two_players_are_swapped_in_all_games_of_their_groups() -> None:
    night = a_started_night("group_matchplay", players=8, games_per_round=2)
    games = night.open_round()
    first_id, last_id = games[0].player_ids[0], games[-1].player_ids[0]
    night.apply(game_commands.swap_players(night.tournament, first_id, last_id))
    for before in games:
        after = night.game(before.game_id)
        swap = {first_id: last_id, last_id: first_id}
        assert after.player_ids == tuple(swap.get(seat, seat) for seat in before.player_ids)


def test_a_swap_is_refused_after_a_result_inside_a_group_and_for_who_does_not_play() -> None:
    night = a_started_night(players=5)
    first, second = night.open_round()
    with pytest.raises(Invalid, match="in the same group already"):
        game_commands.swap_players(night.tournament, *first.player_ids)
    with pytest.raises(Conflict, match="Player 99 is in no game of the open round"):
        game_commands.swap_players(night.tournament, first.player_ids[0], 99)
    night.record_order(second, *second.player_ids)
    with pytest.raises(Conflict, match=f"Game {second.game_id} has a result"):
        game_commands.swap_players(night.tournament, first.player_ids[0], second.player_ids[0])


def test_suggestions_are_deleted_when_the_players_change() -> None:
    night = a_started_night(players=4)
    first, second = night.open_round()
    suggestion = Suggestion(
        suggestion_id=7, game_id=first.game_id, player_id=1, user_id=None, results=(None, None)
    )
    night.tournament = replace(night.tournament, suggestions=(suggestion,))
    night.apply(game_commands.swap_players(night.tournament, first.player_ids[0], second.player_ids[0]))
    assert night.tournament.suggestions == ()


def test_the_opponent_of_a_player_taken_out_has_a_bye_worth_all_open_games() -> None:
    night = a_started_night(players=2, games_per_round=3, byes="zero")
    games = night.open_round()
    night.record_order(games[0], 1, 2)
    night.apply(game_commands.remove_player(night.tournament, games[1].game_id, 1))
    byes = [game for game in night.tournament.games if game.is_bye]
    assert [(bye.player_ids, bye.result_points, bye.set_number) for bye in byes] == [
        ((2,), (Decimal("2.00"),), 9999)
    ]
    assert len(night.tournament.games) == 2
    assert (night.row(1).points, night.row(2).points) == ("1.00", "2.00")
    night.complete_round()


@pytest.mark.parametrize("kind", ["knockout", "group_knockout"])
def test_in_strike_formats_the_opponent_of_a_player_taken_out_gets_no_strike(kind: str) -> None:
    night = a_started_night(kind, players=2)
    game = night.open_round()[0]
    night.apply(game_commands.remove_player(night.tournament, game.game_id, 1))
    night.complete_round()
    assert (night.row(2).points, night.row(2).strike_count) == ("1.00", 0)
    assert night.row(1).strike_count == 0


def test_a_late_player_meets_the_player_with_the_bye() -> None:
    night = a_started_night(players=3, games_per_round=2)
    night.open_round()
    night.join(9)
    bye = next(game for game in night.tournament.games if game.is_bye)
    night.apply(game_commands.add_player(night.tournament, bye.game_id, 9, night.dice(), night.now))
    games = [game for game in night.tournament.games if 9 in game.player_ids]
    assert [(game.set_number, game.game_index, game.status) for game in games] == [
        (1, 0, "started"),
        (1, 1, "started"),
    ]
    assert len({game.arena_id for game in night.open_games() if game.game_index == 0}) == 2
    assert games[0].arena_id != games[1].arena_id
    assert not any(game.is_bye for game in night.tournament.games)
    night.undo()
    assert next(game for game in night.tournament.games if game.is_bye) == bye


def test_two_players_with_byes_of_their_own_may_be_put_together() -> None:
    night = a_started_night(players=5)
    first = night.open_round()[0]
    left, gone = first.player_ids
    night.apply(game_commands.remove_player(night.tournament, first.game_id, gone))
    byes = {game.player_ids[0]: game for game in night.tournament.games if game.is_bye}
    other = next(player_id for player_id in byes if player_id != left)
    with pytest.raises(Conflict, match="has this bye"):
        game_commands.add_player(night.tournament, byes[left].game_id, left, night.dice(), night.now)
    night.apply(
        game_commands.add_player(night.tournament, byes[left].game_id, other, night.dice(), night.now)
    )
    assert night.game_with(left).player_ids == (left, other)
    assert not any(game.is_bye for game in night.tournament.games)


def test_nobody_joins_a_full_group_a_played_one_or_a_second_one() -> None:
    night = a_started_night(players=5)
    first, second = night.open_round()
    night.join(9)
    with pytest.raises(Conflict, match="has 2 players already"):
        game_commands.add_player(night.tournament, first.game_id, 9, night.dice(), night.now)
    bye = next(game for game in night.tournament.games if game.is_bye)
    with pytest.raises(Conflict, match=f"is in game {second.game_id} of Round 1 already"):
        game_commands.add_player(night.tournament, bye.game_id, second.player_ids[0], night.dice(), night.now)
    group = a_started_night("group_matchplay", players=3)
    game = group.open_round()[0]
    group.record_order(game, 1, 2, 3)
    group.join(9)
    with pytest.raises(Conflict, match="has a result"):
        game_commands.add_player(group.tournament, game.game_id, 9, group.dice(), group.now)


def test_games_of_an_older_round_are_left_alone() -> None:
    night = a_started_night("group_matchplay", players=3)
    game = night.open_round()[0]
    night.record_order(game, 1, 2, 3)
    night.open_round()
    night.join(9)
    with pytest.raises(Conflict, match="is not in the open round"):
        game_commands.add_player(night.tournament, game.game_id, 9, night.dice(), night.now)


def test_a_player_who_is_not_in_the_game_cannot_be_taken_out_of_it() -> None:
    night = a_started_night(players=4)
    first, second = night.open_round()
    with pytest.raises(Invalid, match="is not in game"):
        game_commands.remove_player(night.tournament, first.game_id, second.player_ids[0])


def test_games_of_drawn_rounds_are_neither_made_nor_deleted_by_hand() -> None:
    night = a_started_night(players=4)
    game = night.open_round()[0]
    with pytest.raises(Conflict, match="not created by hand"):
        game_commands.create_game(night.tournament, (1, 2), None, dice=night.dice(), now=night.now)
    with pytest.raises(Conflict, match="Delete the round instead"):
        game_commands.delete_game(night.tournament, game.game_id, night.dice(), night.now)


def test_nothing_happens_to_games_of_a_tournament_that_is_not_running() -> None:
    night = a_started_night(players=2)
    game = night.open_round()[0]
    night.record_order(game, 1, 2)
    night.complete()
    with pytest.raises(Conflict, match="Reopen it"):
        game_commands.change_order(night.tournament, game.game_id, (1, 2))
    with pytest.raises(Conflict, match="Reopen it"):
        game_commands.swap_players(night.tournament, 1, 2)


def test_arenas_come_and_go_and_a_played_one_stays_in_the_list() -> None:
    night = a_started_night(players=2, arenas=1)
    game = night.open_round()[0]
    new = LineupArena(arena_id=601)
    night.apply(roster.add_arenas(night.tournament, [new], night.dice(), night.now))
    assert [(arena.arena_id, arena.place) for arena in night.tournament.lineup] == [(501, 0), (601, 1)]
    with pytest.raises(Conflict, match="is in the tournament already"):
        roster.add_arenas(night.tournament, [new], night.dice(), night.now)
    with pytest.raises(Conflict, match="is in use here"):
        roster.remove_arena(night.tournament, 501)
    night.apply(roster.remove_arena(night.tournament, 601))
    night.record_order(game, 1, 2)
    night.complete()
    with pytest.raises(Conflict, match="Reopen it"):
        roster.remove_arena(night.tournament, 501)


def test_a_player_who_comes_back_is_not_first_in_line_for_a_bye() -> None:
    night = a_started_night(players=6)
    night.leave(6)
    for _ in range(5):
        night.play_round()
    night.come_back(6)
    night.leave(5)
    assert night.tournament.entrant_by_id[6].byes_credited == 1
    for _ in range(5):
        night.play_round()
    byes = [game.player_ids[0] for game in night.tournament.games if game.is_bye]
    assert {player_id: byes.count(player_id) for player_id in (1, 2, 3, 4)} == dict.fromkeys((1, 2, 3, 4), 2)
    assert byes.count(6) == 1


def test_taking_a_player_out_who_never_played_leaves_no_trace() -> None:
    night = a_started_night(players=4)
    night.join(9)
    before = night.tournament
    night.apply(tournament_commands.remove_entrant(before, 9, dice=night.dice(), now=night.now))
    assert 9 not in night.tournament.entrant_by_id
    night.undo()
    assert night.tournament == before


def test_a_player_who_has_played_a_game_of_the_round_gets_no_second_group_in_it() -> None:
    night = a_started_night(players=2, games_per_round=2)
    first, second = night.open_round()
    night.record_order(first, 1, 2)
    night.apply(game_commands.remove_player(night.tournament, second.game_id, 2))
    night.join(9)
    with pytest.raises(Conflict, match=f"Player 1 is in game {first.game_id} of Round 1 already"):
        game_commands.add_player(night.tournament, second.game_id, 9, night.dice(), night.now)


def test_a_second_bye_in_a_round_is_added_to_the_first() -> None:
    night = a_started_night(players=2, games_per_round=2)
    first, second = night.open_round()
    night.record_order(first, 2, 1)
    night.apply(game_commands.remove_player(night.tournament, second.game_id, 2))
    night.clear(first)
    night.apply(game_commands.remove_player(night.tournament, first.game_id, 2))
    assert [game.result_points for game in night.tournament.games] == [(Decimal("2.00"),)]
    assert night.row(1).points == "2.00"
