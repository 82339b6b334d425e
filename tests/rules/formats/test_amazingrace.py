"""The amazing race. Source: formats, sections 14.21, 18, 20 and 24; races run by hand."""

from decimal import Decimal
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.night import Night, a_night, change_entrant
from rules.properties import quick
from rules.single_player_night import pending_game, play_race_score, undo_all
from silverball.kit.errors import Conflict, Invalid, WrongFormat
from silverball.kit.values import replace
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.mechanics import queues
from silverball.rules.model import settings
from silverball.rules.model.outcome import AttemptOutcome
from silverball.rules.model.tournament import Entrant, Round, SinglePlayerGame
from silverball.rules.registry import FORMATS


def race_night(players: int = 4, arenas: int = 3, **given: Any) -> Night:
    """A started race, seeded in the order of the player ids."""
    night = a_night("amazingrace", players=players, arenas=arenas, **{"seeding": "manual", **given})
    night.start()
    return night


def rounds(night: Night) -> list[Round]:
    return list(night.tournament.rounds_in_order)


def playing_ids(night: Night, index: int) -> list[int]:
    """Ids of the players with a pending game in a round, in the order of the games."""
    round_id = rounds(night)[index].round_id
    return [
        game.player_id
        for game in night.tournament.single_player_games
        if game.round_id == round_id and game.status != "completed"
    ]


def games_of_player(night: Night, player_id: int) -> list[SinglePlayerGame]:
    return [game for game in night.tournament.single_player_games if game.player_id == player_id]


def waiting_ids(night: Night, index: int) -> list[int]:
    """Ids of the players waiting in the queue of a round, the next one first."""
    return [
        spot.player_id
        for spot in queues.waiting_spots(night.tournament, round_id=rounds(night)[index].round_id)
    ]


def standings_rows(night: Night) -> list[tuple[int, int, str]]:
    return [(row.position, row.player_id, str(row.points)) for row in night.standings()]


def advance(night: Night, player_id: int) -> None:
    night.apply(
        single_player_commands.advance_player(
            night.tournament, player_id, recorded_by=7, dice=Random(7), now=night.now
        )
    )


def leave(night: Night, player_id: int) -> None:
    dice = Random(7)
    night.apply(
        tournament_commands.set_active(night.tournament, player_id, is_active=False, dice=dice, now=night.now)
    )


def correct(night: Night, game: SinglePlayerGame, score: int) -> None:
    night.record(AttemptOutcome(single_player_game_id=game.single_player_game_id, score=score))


def test_the_payload_has_exactly_its_keys_with_their_defaults() -> None:
    defaults = settings.default_values(FORMATS["amazingrace"].settings)
    assert defaults == {"scorekeeping": "disabled", "seeding": "random", "arenaAssignment": "balanced"}
    assert list(defaults) == ["scorekeeping", "seeding", "arenaAssignment"]
    with pytest.raises(msgspec.ValidationError, match="seeding"):
        settings.read_settings(FORMATS["amazingrace"].settings, {"seeding": "alphabetical"})


def test_everybody_waits_in_the_first_round_in_seed_order() -> None:
    night = race_night(players=3)
    assert [(round_.name, round_.size, round_.score, round_.status) for round_ in rounds(night)] == [
        ("Round 1", 3, None, "started")
    ]
    assert (waiting_ids(night, 0), playing_ids(night, 0)) == ([1, 2, 3], [1, 2, 3])
    assert {game.arena_id for game in night.tournament.single_player_games} == {rounds(night)[0].arena_id}


def test_a_race_of_three_ends_after_two_rounds() -> None:
    night = race_night(players=3)
    for player_id, score in ((1, 500), (2, 300), (3, 400)):
        play_race_score(night, player_id, score)
    assert (rounds(night)[0].status, rounds(night)[0].score) == ("completed", 300)
    assert (rounds(night)[1].size, playing_ids(night, 1)) == (2, [1, 3])
    play_race_score(night, 1, 100)
    play_race_score(night, 3, 200)
    assert FORMATS["amazingrace"].is_over(night.tournament)
    assert standings_rows(night) == [(1, 3, "2.00"), (2, 1, "1.00"), (3, 2, "0.00")]
    assert [row.games_played for row in night.standings()] == [2, 2, 1]


def test_a_player_who_is_safe_plays_on_at_once_while_others_still_play_the_round_before() -> None:
    night = race_night(players=4)
    play_race_score(night, 1, 500)
    assert len(rounds(night)) == 1
    play_race_score(night, 2, 300)
    # Player 1 has somebody below, player 2 has not.
    assert (playing_ids(night, 1), rounds(night)[0].score) == ([1], 300)
    play_race_score(night, 1, 900)
    play_race_score(night, 3, 400)
    play_race_score(night, 3, 800)
    assert [round_.status for round_ in rounds(night)] == ["started", "started", "started"]
    assert (playing_ids(night, 0), playing_ids(night, 1), playing_ids(night, 2)) == ([4], [], [1])
    # Player 4 is below: player 2 goes on and is the last to reach the second round.
    play_race_score(night, 4, 100)
    assert (rounds(night)[0].status, playing_ids(night, 1)) == ("completed", [2])
    assert [row.player_id for row in night.standings()][-1] == 4


def test_the_bar_is_the_lowest_of_two_scores_at_least() -> None:
    night = race_night()
    bars = []
    for player_id, score in ((1, 500), (2, 600), (3, 300)):
        play_race_score(night, player_id, score)
        bars.append(rounds(night)[0].score)
    assert bars == [None, 500, 300]


def test_a_player_above_the_bar_goes_on_without_a_score() -> None:
    night = race_night(players=3)
    with pytest.raises(Conflict, match="there is no bar to be above"):
        advance(night, 1)
    play_race_score(night, 1, 500)
    advance(night, 2)
    game = games_of_player(night, 2)[0]
    assert (game.status, game.score, game.is_advanced, game.scorekeeper_id) == ("completed", None, True, 7)
    play_race_score(night, 3, 100)
    assert (rounds(night)[0].status, sorted(playing_ids(night, 1))) == ("completed", [1, 2])


def test_the_tied_lowest_replay_as_often_as_it_takes_and_the_others_are_safe() -> None:
    night = race_night(players=4)
    for player_id, score in ((1, 500), (2, 300), (3, 300), (4, 300)):
        play_race_score(night, player_id, score)
    assert (playing_ids(night, 0), playing_ids(night, 1), rounds(night)[0].status) == (
        [2, 3, 4],
        [1],
        "started",
    )
    for player_id, score in ((2, 70), (3, 50), (4, 50)):
        play_race_score(night, player_id, score)
    assert (playing_ids(night, 0), playing_ids(night, 1)) == ([3, 4], [1, 2])
    play_race_score(night, 3, 10)
    play_race_score(night, 4, 20)
    assert rounds(night)[0].status == "completed"
    assert standings_rows(night)[-1] == (4, 3, "0.00")
    assert [game.game_index for game in games_of_player(night, 3)] == [0, 1, 2]


def test_a_player_who_begins_to_play_leaves_the_queue_and_a_no_show_lets_the_next_one_go() -> None:
    night = race_night(players=3)
    spot = night.tournament.queue[0].queue_id
    night.apply(single_player_commands.move_behind_next(night.tournament, spot))
    assert waiting_ids(night, 0) == [2, 1, 3]
    night.apply(
        single_player_commands.start_from_queue(
            night.tournament, night.tournament.queue[1].queue_id, night.now
        )
    )
    assert (waiting_ids(night, 0), games_of_player(night, 2)[0].status) == ([1, 3], "started")
    with pytest.raises(Conflict, match="has to play this round"):
        single_player_commands.leave_queue(night.tournament, spot)


def test_prepared_arenas_come_in_their_order_and_again_from_the_first() -> None:
    night = a_night("amazingrace", players=4, arenas=3, seeding="manual")
    seeds = {501: 2, 503: 1}
    lineup = tuple(
        replace(arena, amazing_race_seed=seeds.get(arena.arena_id)) for arena in night.tournament.lineup
    )
    night.tournament = replace(night.tournament, lineup=lineup)
    night.start()
    for index in range(3):
        for player_id in playing_ids(night, index):
            play_race_score(night, player_id, 100 + player_id)
    assert [round_.arena_id for round_ in rounds(night)] == [503, 501, 503]


def test_unprepared_arenas_are_spread_over_the_rounds() -> None:
    night = race_night(players=4, arenas=3)
    for index in range(3):
        for player_id in playing_ids(night, index):
            play_race_score(night, player_id, 100 + player_id)
    assert {round_.arena_id for round_ in rounds(night)} == {501, 502, 503}


def test_an_arena_to_be_chosen_by_hand_has_to_be_chosen_before_a_score() -> None:
    night = race_night(players=2, arena_assignment="manual")
    with pytest.raises(Conflict, match="Round 1 has no arena yet"):
        play_race_score(night, 1, 500)
    round_ = rounds(night)[0]
    night.apply(
        single_player_commands.set_round(
            night.tournament, round_.round_id, arena_id=502, score=None, now=night.now
        )
    )
    play_race_score(night, 1, 500)
    assert games_of_player(night, 1)[0].arena_id == 502


def test_a_race_without_arenas_takes_scores_all_the_same() -> None:
    night = race_night(players=2, arena_assignment="disabled")
    play_race_score(night, 1, 500)
    play_race_score(night, 2, 400)
    assert FORMATS["amazingrace"].is_over(night.tournament)


# Malfunction. Source: formats, 14.21, skip rule.
def test_another_arena_keeps_who_is_safe_and_lets_the_others_play_there() -> None:
    night = race_night(players=4)
    play_race_score(night, 1, 500)
    play_race_score(night, 2, 300)
    round_ = rounds(night)[0]
    other = next(each.arena_id for each in night.tournament.lineup if each.arena_id != round_.arena_id)
    night.apply(
        single_player_commands.set_round(
            night.tournament, round_.round_id, arena_id=other, score=round_.score, now=night.now
        )
    )
    assert (playing_ids(night, 0), playing_ids(night, 1)) == ([2, 3, 4], [1])
    assert (games_of_player(night, 1)[0].score, games_of_player(night, 1)[0].arena_id) == (
        500,
        round_.arena_id,
    )
    assert {games_of_player(night, player_id)[0].arena_id for player_id in (2, 3, 4)} == {other}
    for player_id, score in ((2, 900), (3, 800), (4, 700)):
        play_race_score(night, player_id, score)
    # Player 1 is not compared with what is played on the other arena.
    assert standings_rows(night)[-1] == (4, 4, "0.00")


def test_the_bar_is_not_set_by_hand_and_a_round_that_is_over_keeps_its_arena() -> None:
    night = race_night(players=2)
    round_ = rounds(night)[0]
    with pytest.raises(Conflict, match="bar follows from the scores"):
        single_player_commands.set_round(
            night.tournament, round_.round_id, arena_id=round_.arena_id, score=99, now=night.now
        )
    play_race_score(night, 1, 500)
    play_race_score(night, 2, 400)
    with pytest.raises(Conflict, match="Round 1 is over"):
        single_player_commands.set_round(
            night.tournament, round_.round_id, arena_id=None, score=400, now=night.now
        )


# Corrections. Source: formats, 14.21.
def test_a_correction_that_makes_a_safe_player_unsafe_deletes_their_later_games() -> None:
    night = race_night(players=4)
    for player_id, score in ((1, 500), (2, 300), (3, 400)):
        play_race_score(night, player_id, score)
    play_race_score(night, 1, 900)
    play_race_score(night, 3, 800)
    assert (len(games_of_player(night, 1)), len(rounds(night))) == (3, 3)
    correct(night, games_of_player(night, 1)[0], 200)
    # Player 1 is the lowest now and player 2 safe; the third round is reached by nobody.
    assert (len(games_of_player(night, 1)), len(rounds(night))) == (1, 2)
    assert (playing_ids(night, 1), rounds(night)[0].score) == ([2], 200)


def test_a_deleted_score_is_played_again_and_takes_back_what_followed() -> None:
    night = race_night(players=3)
    for player_id, score in ((1, 500), (2, 300), (3, 400)):
        play_race_score(night, player_id, score)
    game_id = games_of_player(night, 2)[0].single_player_game_id
    night.apply(single_player_commands.delete_attempt(night.tournament, game_id, night.now))
    # Player 1 still has player 3 below.
    assert (playing_ids(night, 0), playing_ids(night, 1), waiting_ids(night, 0)) == ([2], [1], [2])
    assert rounds(night)[0].status == "started"
    play_race_score(night, 2, 300)
    assert rounds(night)[0].status == "completed"


def test_the_same_score_again_changes_nothing() -> None:
    night = race_night()
    play_race_score(night, 1, 500)
    outcome = AttemptOutcome(
        single_player_game_id=games_of_player(night, 1)[0].single_player_game_id, score=500, recorded_by=9
    )
    assert night.record(outcome) == []


# Leavers and late players. Source: formats, section 20.
def test_a_player_who_leaves_is_out_in_their_round_and_the_others_go_on() -> None:
    night = race_night(players=4)
    play_race_score(night, 1, 500)
    leave(night, 3)
    assert rounds(night)[0].status == "completed"
    assert playing_ids(night, 1) == [1, 2, 4]
    assert standings_rows(night)[-1] == (4, 3, "0.00")
    assert [game.is_advanced for game in (games_of_player(night, 2)[0], games_of_player(night, 4)[0])] == [
        True,
        True,
    ]


def test_a_player_who_leaves_further_on_is_out_there_and_who_arrives_later_is_past_it() -> None:
    night = race_night(players=4)
    play_race_score(night, 1, 500)
    play_race_score(night, 2, 300)
    leave(night, 1)
    play_race_score(night, 3, 400)
    assert playing_ids(night, 2) == [3]
    play_race_score(night, 4, 100)
    assert playing_ids(night, 2) == [3, 2]
    assert standings_rows(night)[2:] == [(3, 1, "1.00"), (4, 4, "0.00")]


def test_the_last_one_left_wins_when_the_other_leaves() -> None:
    night = race_night(players=2)
    leave(night, 1)
    assert FORMATS["amazingrace"].is_over(night.tournament)
    assert standings_rows(night) == [(1, 2, "1.00"), (2, 1, "0.00")]


def test_a_player_who_left_does_not_come_back_and_nobody_comes_late() -> None:
    night = race_night(players=3)
    leave(night, 1)
    with pytest.raises(Conflict, match="cannot come back"):
        tournament_commands.set_active(night.tournament, 1, is_active=True, dice=Random(7), now=night.now)
    with pytest.raises(Conflict, match="Nobody can join"):
        tournament_commands.add_entrants(night.tournament, [Entrant(player_id=9)], Random(7), night.now)
    with pytest.raises(Conflict, match="left the race in Round 1"):
        correct(night, games_of_player(night, 1)[0], 500)


def test_a_player_who_is_out_may_leave_and_nothing_changes() -> None:
    night = race_night(players=3)
    for player_id, score in ((1, 500), (2, 300), (3, 400)):
        play_race_score(night, player_id, score)
    table = standings_rows(night)
    leave(night, 2)
    assert standings_rows(night) == table


def test_all_who_leave_before_the_next_score_share_the_place() -> None:
    night = race_night(players=6)
    play_race_score(night, 1, 500)
    leave(night, 6)
    # Neither 5 nor 4 has played the round that 6 left, and nothing is played since.
    leave(night, 5)
    assert [round_.size for round_ in rounds(night)] == [6, 4]
    play_race_score(night, 2, 300)
    leave(night, 4)
    assert standings_rows(night)[3:] == [(4, 4, "1.00"), (5, 5, "0.00"), (5, 6, "0.00")]
    assert [round_.size for round_ in rounds(night)] == [6, 4, 3]
    # Player 1 had played the first round, but not the one that 4 left.
    leave(night, 1)
    play_race_score(night, 2, 100)
    play_race_score(night, 3, 200)
    assert FORMATS["amazingrace"].is_over(night.tournament)
    assert [(place, player_id) for place, player_id, _ in standings_rows(night)] == [
        (1, 3),
        (2, 2),
        (3, 1),
        (3, 4),
        (5, 5),
        (5, 6),
    ]


def test_the_last_two_share_the_first_place_when_both_leave() -> None:
    night = race_night(players=3)
    for player_id, score in ((1, 500), (2, 400), (3, 300)):
        play_race_score(night, player_id, score)
    leave(night, 1)
    assert FORMATS["amazingrace"].is_over(night.tournament)
    assert standings_rows(night)[:2] == [(1, 2, "2.00"), (2, 1, "1.00")]
    leave(night, 2)
    assert FORMATS["amazingrace"].is_over(night.tournament)
    assert standings_rows(night)[:2] == [(1, 1, "1.00"), (1, 2, "1.00")]


# Byes. Source: formats, section 26.


def bye_night(players: int, byes: int, bye_rounds: int) -> Night:
    return race_night(players, amazing_race_byes=byes, amazing_race_bye_rounds=bye_rounds)


def test_the_best_seeds_wait_in_the_first_rounds_and_join_the_first_who_gets_through() -> None:
    night = bye_night(players=6, byes=2, bye_rounds=2)
    assert (rounds(night)[0].size, playing_ids(night, 0)) == (6, [3, 4, 5, 6])
    play_race_score(night, 3, 300)
    play_race_score(night, 4, 200)
    # Round 2 has those who got through only; the best still wait.
    assert (len(rounds(night)), playing_ids(night, 1)) == (2, [3])
    play_race_score(night, 5, 250)
    play_race_score(night, 6, 100)
    assert (rounds(night)[0].status, rounds(night)[1].size, playing_ids(night, 1)) == (
        "completed",
        5,
        [3, 5, 4],
    )
    play_race_score(night, 3, 10)
    play_race_score(night, 5, 20)
    assert (rounds(night)[2].size, playing_ids(night, 2)) == (4, [1, 2, 5])
    play_race_score(night, 4, 30)
    assert playing_ids(night, 2) == [1, 2, 5, 4]
    assert standings_rows(night)[4:] == [(5, 3, "1.00"), (6, 6, "0.00")]
    for player_id, score in ((1, 50), (2, 40), (5, 30), (4, 20)):
        play_race_score(night, player_id, score)
    assert standings_rows(night)[3] == (4, 4, "2.00")
    assert [row.games_played for row in night.standings() if row.player_id < 3] == [1, 1]


def test_all_play_where_fewer_than_two_others_would() -> None:
    # Of four, two wait in round 1; in round 2 only one other is left, so all three play.
    night = bye_night(players=4, byes=2, bye_rounds=3)
    play_race_score(night, 3, 300)
    play_race_score(night, 4, 100)
    assert playing_ids(night, 1) == [1, 2, 3]
    assert playing_ids(bye_night(players=3, byes=2, bye_rounds=1), 0) == [1, 2, 3]


def test_who_leaves_while_they_wait_is_out_in_the_round_that_is_played() -> None:
    night = bye_night(players=6, byes=2, bye_rounds=2)
    play_race_score(night, 6, 100)
    leave(night, 1)
    assert (rounds(night)[0].status, rounds(night)[1].size) == ("completed", 5)
    # Nobody takes over the bye.
    assert playing_ids(night, 1) == [3, 4, 5, 6]
    assert standings_rows(night)[5] == (6, 1, "0.00")
    assert undo_all(night).status == "planned"


def test_a_correction_takes_back_the_round_that_the_best_joined() -> None:
    night = bye_night(players=4, byes=1, bye_rounds=1)
    play_race_score(night, 2, 300)
    play_race_score(night, 3, 200)
    assert playing_ids(night, 1) == [1, 2]
    game_id = games_of_player(night, 3)[0].single_player_game_id
    night.apply(single_player_commands.delete_attempt(night.tournament, game_id, night.now))
    # Nobody is safe by a score any more, and those who wait do not begin the round.
    assert (len(rounds(night)), playing_ids(night, 0)) == (1, [3, 4])
    # But what they have played in it stays.
    play_race_score(night, 3, 200)
    play_race_score(night, 1, 50)
    game_id = games_of_player(night, 3)[0].single_player_game_id
    night.apply(single_player_commands.delete_attempt(night.tournament, game_id, night.now))
    assert (len(rounds(night)), [game.score for game in games_of_player(night, 1)]) == (2, [50])


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ({}, {}),
        ({"amazingRaceByes": 4}, {"amazingRaceByes": 4, "amazingRaceByeRounds": 1}),
        (
            {"amazingRaceByes": 4, "amazingRaceByeRounds": 3},
            {"amazingRaceByes": 4, "amazingRaceByeRounds": 3},
        ),
        ({"amazingRaceByes": 0, "amazingRaceByeRounds": 3}, {}),
        ({"amazingRaceByes": 4, "amazingRaceByeRounds": 0}, {}),
    ],
)
def test_byes_are_off_and_absent_unless_somebody_waits(sent: dict[str, Any], stored: dict[str, Any]) -> None:
    read = settings.read_settings(FORMATS["amazingrace"].settings, sent)
    shown = msgspec.to_builtins(read)
    assert {key: value for key, value in shown.items() if "Bye" in key} == stored
    assert FORMATS["amazingrace"].setting_faults(read) == {}


def test_rounds_with_byes_need_somebody_who_waits() -> None:
    form = FORMATS["amazingrace"]
    assert list(form.setting_faults(settings.read_settings(form.settings, {"amazingRaceByeRounds": 2}))) == [
        "amazingRaceByeRounds"
    ]
    with pytest.raises(msgspec.ValidationError, match="amazingRaceByes"):
        settings.read_settings(form.settings, {"amazingRaceByes": -1})


@pytest.mark.parametrize(("players", "lines"), [(3, ()), (5, ()), (6, (4,)), (20, (4,))])
def test_a_tie_across_the_line_of_byes_matters_where_the_best_wait(
    players: int, lines: tuple[int, ...]
) -> None:
    form = FORMATS["amazingrace"]
    chosen = settings.read_settings(form.settings, {"amazingRaceByes": 4})
    assert form.bye_lines(chosen, players) == lines


# Closing.
def test_closing_early_ranks_those_left_by_the_rounds_they_survived() -> None:
    night = race_night(players=4)
    for player_id, score in ((1, 500), (2, 300), (3, 400), (4, 350)):
        play_race_score(night, player_id, score)
    play_race_score(night, 1, 100)
    play_race_score(night, 3, 200)
    night.complete()
    assert standings_rows(night) == [(1, 3, "2.00"), (2, 1, "1.00"), (2, 4, "1.00"), (4, 2, "0.00")]
    assert all(round_.status == "completed" for round_ in rounds(night))


def test_reopening_goes_on_where_it_was_closed() -> None:
    night = race_night(players=4)
    for player_id, score in ((1, 500), (2, 300), (3, 400)):
        play_race_score(night, player_id, score)
    before = (playing_ids(night, 0), playing_ids(night, 1), waiting_ids(night, 0), waiting_ids(night, 1))
    night.complete()
    night.apply(tournament_commands.reopen(night.tournament))
    assert (
        playing_ids(night, 0),
        playing_ids(night, 1),
        waiting_ids(night, 0),
        waiting_ids(night, 1),
    ) == before
    assert [round_.status for round_ in rounds(night)] == ["started", "started"]


def test_impossible_requests_are_refused() -> None:
    night = race_night(players=2)
    game = pending_game(night, 1)
    with pytest.raises(Conflict, match="too few"):
        race_night(players=1)
    with pytest.raises(Invalid, match="Enter the score"):
        night.record(AttemptOutcome(single_player_game_id=game.single_player_game_id))
    with pytest.raises(Invalid, match="not a pinball score"):
        play_race_score(night, 1, -1)
    with pytest.raises(Conflict, match="completes itself"):
        tournament_commands.complete_round(night.tournament, rounds(night)[0].round_id, night.now)
    with pytest.raises(Conflict, match="not deleted by hand"):
        tournament_commands.delete_round(night.tournament, rounds(night)[0].round_id)
    with pytest.raises(Conflict, match="cannot be voided"):
        single_player_commands.void_attempt(night.tournament, game.single_player_game_id, night.now)
    play_race_score(night, 1, 500)
    with pytest.raises(Conflict, match="nothing to play now"):
        advance(night, 1)
    golf = a_night("golf")
    golf.start()
    with pytest.raises(WrongFormat):
        advance(golf, 1)


def test_an_adjustment_is_shown_but_moves_nobody() -> None:
    night = race_night(players=2)
    play_race_score(night, 1, 500)
    play_race_score(night, 2, 400)
    change_entrant(night, 2, points_adjustment=Decimal(3))
    assert standings_rows(night) == [(1, 1, "1.00"), (2, 2, "3.00")]


def test_undoing_everything_gives_the_planned_tournament_back() -> None:
    night = a_night("amazingrace", players=5, arenas=2)
    planned = night.tournament
    night.start()
    for player_id, score in ((1, 500), (2, 300), (3, 300)):
        play_race_score(night, player_id, score)
    advance(night, 4)
    leave(night, 5)
    correct(night, games_of_player(night, 1)[0], 100)
    night.complete()
    night.apply(tournament_commands.reopen(night.tournament))
    assert undo_all(night) == planned


@quick
@given(st.integers(2, 8), st.integers(0, 999))
def test_every_race_takes_one_out_per_round_and_leaves_one(players: int, seed: int) -> None:
    # Separate dice, because shrunk ones would tie forever.
    dice = Random(seed)
    night = race_night(players=players)
    while not FORMATS["amazingrace"].is_over(night.tournament):
        waiting = [game for game in night.tournament.single_player_games if game.status != "completed"]
        assert len({round_.player_id for round_ in waiting}) == len(waiting) > 0
        play_race_score(night, dice.choice(waiting).player_id, dice.randint(0, 5))
    assert [place for place, _player, _points in standings_rows(night)] == list(range(1, players + 1))
    assert [Decimal(points) for _place, _player, points in standings_rows(night)] == [
        players - 1,
        *range(players - 2, -1, -1),
    ]
    assert [round_.size for round_ in rounds(night)] == list(range(players, 1, -1))
