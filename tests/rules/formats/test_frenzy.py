"""Flip Frenzy. Source: formats, sections 13.4, 14.14, 20 and 25 (item 8)."""

import itertools
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.night import NOON, Night, a_night
from rules.properties import quick
from silverball.kit.errors import Conflict, Invalid, WrongFormat
from silverball.rules.commands import clocks, roster
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.families import frenzy as frenzy_family
from silverball.rules.mechanics import queues
from silverball.rules.model import settings
from silverball.rules.model.tournament import Game, LineupArena
from silverball.rules.registry import FORMATS

KEYS = (
    "scorekeeping frenzyDuration frenzyQueueSize frenzyPausedSecondsLeft frenzyStandings tiebreaker "
    "useQueues playoffsCutoffs"
)
FORMAT = FORMATS["frenzy"]


def a_started_night(**given: Any) -> Night:
    night = a_night("frenzy", **given)
    night.start()
    return night


def waiting_ids(night: Night) -> list[int]:
    """Ids of the waiting players, the head first; checks that places have no gaps."""
    spots = queues.waiting_spots(night.tournament)
    assert [spot.queue_index for spot in spots] == list(range(len(spots)))
    return [spot.player_id for spot in spots]


def set_arena_active(night: Night, arena_id: int, *, is_active: bool) -> None:
    night.apply(roster.change_arena(night.tournament, arena_id, night.dice(), night.now, is_active=is_active))


def queue_id_of(night: Night, player_id: int) -> int:
    return next(
        spot.queue_id for spot in queues.waiting_spots(night.tournament) if spot.player_id == player_id
    )


def test_the_settings_are_the_keys_of_the_payload() -> None:
    assert list(settings.default_values(FORMAT.settings)) == KEYS.split()


def test_six_players_on_two_arenas_play_two_games_and_two_wait() -> None:
    night = a_started_night(players=6, arenas=2)
    games = night.open_games()
    assert len(games) == 2
    assert len({player_id for game in games for player_id in game.player_ids}) == 4
    assert {game.arena_id for game in games} == {501, 502}
    assert [(game.round_id, game.set_number, game.game_index, game.advantage_id) for game in games] == [
        (None, 0, None, None)
    ] * 2
    assert len(waiting_ids(night)) == 2
    assert frenzy_family.seconds_left(night.tournament, night.now) == 7200


def test_slot_0_moves_to_slot_1_slot_1_waits_and_the_head_of_the_queue_takes_slot_0() -> None:
    night = a_started_night(players=6, arenas=2)
    game, other = night.open_games()
    stays, goes = game.player_ids
    head, behind = waiting_ids(night)
    for winner, loser in ((stays, goes), (goes, stays)):
        # It does not matter who won.
        night.record_order(game, winner, loser)
        new = night.open_games()[-1]
        assert new.player_ids == (head, stays)
        assert waiting_ids(night) == [behind, goes]
        # The other arena is taken, so the one just left is used again.
        assert new.arena_id == game.arena_id
        assert night.open_games() == [other, new]
        night.undo()


def test_an_unused_arena_is_preferred_to_the_one_just_left_and_least_played_goes_first() -> None:
    night = a_started_night(players=2, arenas=3)
    for _ in range(5):
        game = night.open_games()[0]
        night.record_order(game, *game.player_ids)
    played = [game.arena_id for game in night.tournament.games]
    assert set(played[:3]) == set(played[3:]) == {501, 502, 503}
    assert all(arena_id != next_id for arena_id, next_id in itertools.pairwise(played))


def test_an_empty_queue_gives_a_rematch_with_the_slots_swapped() -> None:
    night = a_started_night(players=2, arenas=1)
    game = night.open_games()[0]
    night.record_order(game, *game.player_ids)
    assert night.open_games()[0].player_ids == game.player_ids[::-1]
    assert waiting_ids(night) == []


@pytest.mark.parametrize(
    ("players", "arenas", "size", "games"),
    [(6, 2, 0, 2), (7, 9, 0, 3), (10, 9, 2, 4), (10, 9, 3, 3), (20, 4, 4, 4), (4, 9, 2, 1), (2, 1, 0, 1)],
)
def test_the_queue_size_is_kept_waiting_and_one_at_least_in_an_odd_field(
    players: int, arenas: int, size: int, games: int
) -> None:
    night = a_started_night(players=players, arenas=arenas, frenzy_queue_size=size)
    assert len(night.open_games()) == games
    assert len(waiting_ids(night)) == players - 2 * games
    for _ in range(5):
        game = night.open_games()[0]
        night.record_order(game, *game.player_ids)
        assert len(night.open_games()) == games


def test_without_an_arena_or_with_too_long_a_queue_it_does_not_start() -> None:
    with pytest.raises(Conflict, match="no arena"):
        a_started_night(players=4, arenas=0)
    with pytest.raises(Conflict, match="A queue of 120 leaves nobody to play"):
        a_started_night(players=10, frenzy_queue_size=120)


def test_a_row_of_eleven_wins_and_a_loss_shows_ten_and_ten_eleven() -> None:
    night = a_started_night(players=2, arenas=1)
    for number in range(12):
        game = night.open_games()[0]
        night.record_order(game, *((1, 2) if number else (2, 1)))
    row = night.row(1)
    assert (row.points, row.frenzy_wins, row.frenzy_losses, row.games_played) == (10, 11, 1, 12)
    assert row.tiebreakers == (10, 11)
    assert not isinstance(row.points, str)
    assert (night.row(2).points, night.row(2).tiebreakers) == (-10, (-10, 1))


@pytest.mark.parametrize(
    ("tiebreaker", "values", "positions"),
    [
        ("wins", {1: (0, 2), 2: (0, 1)}, [1, 2]),
        ("losses", {1: (0, 2), 2: (0, 1)}, [2, 1]),
        ("disabled", {1: (0,), 2: (0,)}, [1, 1]),
    ],
)
def test_more_wins_or_fewer_losses_separate_equals(
    tiebreaker: str, values: dict[int, tuple[int, ...]], positions: list[int]
) -> None:
    night = a_started_night(players=4, use_queues=False, tiebreaker=tiebreaker)
    # 1 wins two and loses two, 2 wins one and loses one; 3 and 4 make up the rest.
    for first, second in ((1, 3), (1, 4), (3, 1), (4, 1), (2, 3), (4, 2)):
        night.apply(
            game_commands.create_game(
                night.tournament, (first, second), None, dice=night.dice(), now=night.now
            )
        )
        night.record_order(night.open_games()[0], first, second)
    assert {player: night.row(player).tiebreakers for player in values} == values
    better = [night.row(player).position for player in (1, 2)]
    assert (better[0] < better[1]) == (positions[0] < positions[1])
    assert (better[0] == better[1]) == (positions[0] == positions[1])


def test_a_wrong_result_is_flipped_or_deleted_later_and_the_queue_stays() -> None:
    night = a_started_night(players=5, arenas=2)
    game = night.open_games()[0]
    first, second = game.player_ids
    night.record_order(game, first, second)
    queue, running = waiting_ids(night), night.open_games()
    night.record_order(game, second, first)
    assert (night.row(second).frenzy_wins, night.row(first).frenzy_losses) == (1, 1)
    assert (waiting_ids(night), night.open_games()) == (queue, running)
    night.clear(game)
    assert {row.games_played for row in night.standings()} == {0}
    assert (waiting_ids(night), night.open_games()) == (queue, running)
    assert game.game_id not in [game.game_id for game in night.tournament.games]


def test_while_it_is_paused_running_games_end_and_none_begins() -> None:
    night = a_started_night(players=4, arenas=1)
    game = night.open_games()[0]
    queue = waiting_ids(night)
    night.tick(1000)
    night.apply(clocks.pause(night.tournament, night.now))
    assert settings.default_values(type(night.tournament.settings))["frenzyPausedSecondsLeft"] == 0
    assert frenzy_family.paused_seconds(night.tournament) == 6200
    assert night.tournament.state.clock_ends_at is None
    night.tick(5000)
    assert frenzy_family.seconds_left(night.tournament, night.now) == 6200
    night.record_order(game, *game.player_ids)
    assert night.open_games() == []
    # The player in slot 0 would have played on, so they are next. Slot 1 waits behind all others.
    assert waiting_ids(night) == [game.player_ids[0], *queue, game.player_ids[1]]
    assert not FORMAT.is_over(night.tournament)
    night.apply(clocks.resume(night.tournament, night.dice(), night.now))
    assert frenzy_family.paused_seconds(night.tournament) == 0
    assert frenzy_family.seconds_left(night.tournament, night.now) == 6200
    assert night.open_games()[0].player_ids == (game.player_ids[0], queue[0])


def test_the_clock_is_paused_once_and_resumed_once() -> None:
    night = a_started_night(players=2)
    with pytest.raises(Conflict, match="is not paused"):
        clocks.resume(night.tournament, night.dice(), night.now)
    night.apply(clocks.pause(night.tournament, night.now))
    with pytest.raises(Conflict, match="does not run"):
        clocks.pause(night.tournament, night.now)
    with pytest.raises(WrongFormat, match="Tournament is not Frenzy"):
        clocks.pause(a_night("matchplay").tournament, NOON)


def test_when_time_runs_out_running_games_end_and_then_it_is_over() -> None:
    night = a_started_night(players=4, arenas=2, frenzy_duration=30)
    first, second = night.open_games()
    night.now = NOON + timedelta(minutes=29)
    night.tick(60)
    night.record_order(first, *first.player_ids)
    assert night.open_games() == [second]
    assert not FORMAT.is_over(night.tournament)
    night.record_order(second, *second.player_ids)
    assert FORMAT.is_over(night.tournament)
    night.complete()
    assert night.tournament.status == "completed"
    assert waiting_ids(night) == []


def test_time_is_added_and_taken_off_running_paused_and_after_the_end() -> None:
    night = a_started_night(players=4, arenas=1, frenzy_duration=10)
    night.apply(clocks.change_time(night.tournament, 60, night.dice(), night.now))
    assert frenzy_family.seconds_left(night.tournament, night.now) == 660
    with pytest.raises(Invalid, match="Only 660 seconds are left"):
        clocks.change_time(night.tournament, -661, night.dice(), night.now)
    night.apply(clocks.pause(night.tournament, night.now))
    night.apply(clocks.change_time(night.tournament, -60, night.dice(), night.now))
    assert frenzy_family.paused_seconds(night.tournament) == 600
    with pytest.raises(Invalid, match="Only 600 seconds are left"):
        clocks.change_time(night.tournament, -600, night.dice(), night.now)
    night.apply(clocks.resume(night.tournament, night.dice(), night.now))
    night.tick(900)
    game = night.open_games()[0]
    night.record_order(game, *game.player_ids)
    assert FORMAT.is_over(night.tournament)
    night.apply(clocks.change_time(night.tournament, 300, night.dice(), night.now))
    assert len(night.open_games()) == 1
    assert frenzy_family.seconds_left(night.tournament, night.now) == 300


def test_a_late_player_waits_at_the_end_and_two_fill_a_free_arena() -> None:
    night = a_started_night(players=4, arenas=3)
    night.join(8)
    assert waiting_ids(night) == [8]
    night.join(9)
    assert waiting_ids(night) == []
    assert night.open_games()[-1].player_ids == (8, 9)


def test_a_player_who_leaves_the_queue_is_gone_from_it() -> None:
    night = a_started_night(players=6, arenas=2)
    head, behind = waiting_ids(night)
    night.leave(head)
    assert waiting_ids(night) == [behind]
    night.come_back(head)
    assert waiting_ids(night) == [behind, head]


def test_a_player_who_leaves_in_a_game_deletes_it_and_the_other_is_next() -> None:
    night = a_started_night(players=6, arenas=2)
    game = night.open_games()[0]
    left, gone = game.player_ids
    queue = waiting_ids(night)
    night.leave(gone)
    new = night.open_games()[-1]
    # The other player is at the head of the queue, so they start at once against the next one.
    assert new.player_ids == (left, queue[0])
    assert waiting_ids(night) == queue[1:]
    assert game.game_id not in [game.game_id for game in night.tournament.games]


def test_a_no_show_goes_to_the_end_or_out_and_may_join_again() -> None:
    night = a_started_night(players=7, arenas=2)
    first, second, third = waiting_ids(night)
    night.apply(clocks.move_to_end(night.tournament, queue_id_of(night, first)))
    assert waiting_ids(night) == [second, third, first]
    with pytest.raises(Conflict, match="is the last in the queue already"):
        clocks.move_to_end(night.tournament, queue_id_of(night, first))
    night.apply(clocks.remove_from_queue(night.tournament, queue_id_of(night, second)))
    assert waiting_ids(night) == [third, first]
    assert second in night.tournament.active_ids
    night.apply(clocks.join_queue(night.tournament, second, night.dice(), night.now))
    assert waiting_ids(night) == [third, first, second]
    with pytest.raises(Conflict, match="plays or waits already"):
        clocks.join_queue(night.tournament, second, night.dice(), night.now)


def test_the_game_on_an_arena_out_of_service_moves_to_another() -> None:
    night = a_started_night(players=6, arenas=3, frenzy_queue_size=2)
    game = night.open_games()[0]
    assert game.arena_id is not None
    set_arena_active(night, game.arena_id, is_active=False)
    moved = night.game(game.game_id)
    assert moved.player_ids == game.player_ids
    assert moved.arena_id not in {game.arena_id, night.open_games()[1].arena_id}


def test_without_another_arena_its_players_are_next_when_one_comes() -> None:
    night = a_started_night(players=4, arenas=1)
    game = night.open_games()[0]
    queue = waiting_ids(night)
    set_arena_active(night, 501, is_active=False)
    assert night.open_games() == []
    assert waiting_ids(night) == [*game.player_ids, *queue]
    assert not FORMAT.is_over(night.tournament)
    night.apply(roster.add_arenas(night.tournament, [LineupArena(arena_id=601)], night.dice(), night.now))
    new = night.open_games()[0]
    assert (new.player_ids, new.arena_id) == (game.player_ids, 601)
    assert waiting_ids(night) == queue


def test_a_frenzy_that_lost_its_only_machine_after_a_result_is_not_over() -> None:
    night = a_started_night(players=4, arenas=1)
    game = night.open_games()[0]
    night.record_order(game, *game.player_ids)
    set_arena_active(night, 501, is_active=False)
    assert night.open_games() == []
    assert not FORMAT.is_over(night.tournament)


def test_a_new_arena_is_filled_from_the_queue_beyond_those_to_be_kept_waiting() -> None:
    night = a_started_night(players=9, arenas=2, frenzy_queue_size=2)
    assert len(waiting_ids(night)) == 5
    for arena_id in (601, 602, 603):
        new = [LineupArena(arena_id=arena_id)]
        night.apply(roster.add_arenas(night.tournament, new, night.dice(), night.now))
    assert len(night.open_games()) == 3
    assert len(waiting_ids(night)) == 3


def test_without_queues_the_organizer_makes_the_games() -> None:
    night = a_started_night(players=4, arenas=2, use_queues=False)
    assert (night.tournament.games, night.tournament.queue) == ((), ())

    def create(*player_ids: int) -> Game:
        night.apply(
            game_commands.create_game(night.tournament, player_ids, 501, dice=night.dice(), now=night.now)
        )
        return night.tournament.games[-1]

    game = create(1, 2)
    assert (game.player_ids, game.arena_id, game.round_id) == ((1, 2), 501, None)
    with pytest.raises(Conflict, match="Player 2 plays game"):
        create(2, 3)
    with pytest.raises(Invalid, match="has two players, not 3"):
        create(2, 3, 4)
    night.record_order(game, 1, 2)
    assert night.open_games() == []
    night.tick(7200)
    with pytest.raises(Conflict, match="has run out"):
        create(3, 4)
    with pytest.raises(Conflict, match="has no queue"):
        clocks.remove_from_queue(night.tournament, 1)


def test_with_queues_no_game_is_made_by_hand_but_one_may_be_deleted() -> None:
    night = a_started_night(players=6, arenas=2)
    with pytest.raises(Conflict, match="The queue decides"):
        game_commands.create_game(night.tournament, (1, 2), None, dice=night.dice(), now=night.now)
    game = night.open_games()[0]
    queue = waiting_ids(night)
    night.apply(game_commands.delete_game(night.tournament, game.game_id, night.dice(), night.now))
    # Its players are next, so they begin again at once.
    assert night.open_games()[-1].player_ids == game.player_ids
    assert waiting_ids(night) == queue


def test_a_reopened_frenzy_goes_on_when_there_is_time() -> None:
    night = a_started_night(players=4, arenas=1)
    game = night.open_games()[0]
    night.record_order(game, *game.player_ids)
    night.complete()
    night.apply(tournament_commands.reopen(night.tournament))
    assert waiting_ids(night) == [1, 2, 3, 4]
    night.apply(clocks.start_waiting_games(night.tournament, night.dice(), night.now))
    assert night.open_games()[0].player_ids == (1, 2)
    with pytest.raises(Conflict, match="No game can start now"):
        clocks.start_waiting_games(night.tournament, night.dice(), night.now)


@given(st.integers(2, 12), st.integers(1, 4), st.integers(0, 3), st.integers(0, 99))
@quick
def test_everybody_plays_waits_or_has_left_and_wins_equal_losses(
    players: int, arenas: int, size: int, seed: int
) -> None:
    size = min(size, players - 2)
    night = a_started_night(players=players, arenas=arenas, frenzy_queue_size=size)
    dice = Random(seed)
    for _ in range(15):
        game = dice.choice(night.open_games())
        night.record_order(game, *dice.sample(game.player_ids, 2))
        playing = [player_id for game in night.open_games() for player_id in game.player_ids]
        assert sorted([*playing, *waiting_ids(night)]) == list(range(1, players + 1))
    assert sum(int(row.points) for row in night.standings()) == 0
    assert sum(row.frenzy_wins or 0 for row in night.standings()) == 15


def test_taking_everything_back_leaves_the_planned_tournament() -> None:
    night = a_night("frenzy", players=7, arenas=2)
    planned = night.tournament
    night.start()
    for _ in range(3):
        game = night.open_games()[0]
        night.record_order(game, *game.player_ids)
    night.apply(clocks.pause(night.tournament, night.now))
    night.join(9)
    night.apply(clocks.resume(night.tournament, night.dice(), night.now))
    night.leave(night.open_games()[0].player_ids[0])
    set_arena_active(night, 501, is_active=False)
    night.complete()
    night.apply(tournament_commands.reopen(night.tournament))
    night.undo_all()
    assert night.tournament == planned
