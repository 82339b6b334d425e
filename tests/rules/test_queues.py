"""Queues of best games. Source: formats, sections 14.18 and 18."""

from random import Random
from typing import Any

import pytest

from rules.night import Night, a_night
from rules.single_player_night import newest_game, play_score
from silverball.kit.errors import Conflict, NotFound
from silverball.kit.values import replace
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.commands import tournament as tournament_commands


def open_night(**given: Any) -> Night:
    """A started best game of four players and three arenas."""
    night = a_night("best_game", players=4, arenas=3, **given)
    night.start()
    return night


def queue_night(**given: Any) -> Night:
    return open_night(use_queues=True, suggestions="disabled", **given)


def change_arena(night: Night, arena_id: int, **values: Any) -> None:
    """Change an arena, outside of the journal."""
    changed = tuple(
        replace(arena, **values) if arena.arena_id == arena_id else arena for arena in night.tournament.lineup
    )
    night.tournament = replace(night.tournament, lineup=changed)


def join(night: Night, player_id: int, arena_id: int) -> int:
    """The id of the new spot in the queue of an arena."""
    night.apply(single_player_commands.join_queue(night.tournament, player_id, arena_id, night.now))
    return night.tournament.queue[-1].queue_id


def waiting_spots(night: Night, arena_id: int) -> list[tuple[int, int | None]]:
    spots = [spot for spot in night.tournament.queue if spot.arena_id == arena_id and not spot.is_done]
    return sorted([(spot.player_id, spot.queue_index) for spot in spots], key=lambda spot: spot[1] or 0)


def test_a_player_who_is_up_plays_and_the_others_move_forward() -> None:
    night = queue_night()
    spots = [join(night, player_id, 501) for player_id in (2, 3, 4)]
    assert waiting_spots(night, 501) == [(2, 0), (3, 1), (4, 2)]
    with pytest.raises(Conflict, match="Player 2 is up"):
        single_player_commands.start_from_queue(night.tournament, spots[1], night.now)
    night.apply(single_player_commands.start_from_queue(night.tournament, spots[0], night.now))
    assert waiting_spots(night, 501) == [(3, 0), (4, 1)]
    assert newest_game(night.tournament, 2, 501).status == "started"
    assert night.tournament.queue[0].completed_at == night.now
    with pytest.raises(Conflict, match="Arena 501 is taken"):
        single_player_commands.start_from_queue(night.tournament, spots[1], night.now)


def test_a_no_show_goes_behind_the_next_one_or_leaves() -> None:
    night = queue_night()
    spots = [join(night, player_id, 501) for player_id in (2, 3, 4)]
    night.apply(single_player_commands.move_behind_next(night.tournament, spots[0]))
    assert waiting_spots(night, 501) == [(3, 0), (2, 1), (4, 2)]
    night.apply(single_player_commands.leave_queue(night.tournament, spots[1]))
    assert waiting_spots(night, 501) == [(2, 0), (4, 1)]
    with pytest.raises(Conflict, match="last in the queue"):
        single_player_commands.move_behind_next(night.tournament, spots[2])


def test_a_player_waits_in_one_queue_only_and_each_arena_has_its_own() -> None:
    night = queue_night()
    join(night, 1, 501)
    join(night, 2, 502)
    assert (waiting_spots(night, 501), waiting_spots(night, 502)) == ([(1, 0)], [(2, 0)])
    with pytest.raises(Conflict, match="waits for arena 501"):
        join(night, 1, 502)


def test_a_queue_takes_nobody_who_could_not_play() -> None:
    night = queue_night(best_game_attempts_on_arena=1)
    play_score(night, 1, 501, 900)
    with pytest.raises(Conflict, match="all 1 attempts on arena 501"):
        join(night, 1, 501)
    change_arena(night, 502, is_queue_closed=True)
    with pytest.raises(Conflict, match="queue of arena 502 is closed"):
        join(night, 1, 502)
    change_arena(night, 503, is_blocked=True)
    with pytest.raises(Conflict, match="Arena 503 is blocked"):
        join(night, 1, 503)


def test_without_queues_nobody_can_join_one() -> None:
    with pytest.raises(Conflict, match="no queues to join"):
        join(open_night(), 1, 501)


def test_queues_and_suggested_results_exclude_each_other() -> None:
    with pytest.raises(Conflict, match="exclude each other"):
        open_night(use_queues=True)


def test_waiting_players_go_before_others() -> None:
    night = queue_night()
    join(night, 1, 501)
    with pytest.raises(Conflict, match="Player 1 is up on arena 501"):
        play_score(night, 2, 501, None)
    # A forgotten score can still be entered, and the score of a waiting player takes them off the queue.
    play_score(night, 2, 501, 50)
    play_score(night, 1, 501, 60)
    assert waiting_spots(night, 501) == []


def test_a_player_who_leaves_leaves_the_queues_and_keeps_their_scores() -> None:
    night = queue_night()
    play_score(night, 1, 502, 900)
    join(night, 1, 501)
    join(night, 2, 501)
    dice = Random(7)
    night.apply(
        tournament_commands.set_active(night.tournament, 1, is_active=False, dice=dice, now=night.now)
    )
    assert waiting_spots(night, 501) == [(2, 0)]
    assert night.standings()[0].points == "100.00"


def test_a_player_removed_before_playing_leaves_the_queues() -> None:
    night = queue_night()
    join(night, 1, 501)
    night.apply(tournament_commands.remove_entrant(night.tournament, 1, dice=Random(7), now=night.now))
    assert waiting_spots(night, 501) == []


def test_a_spot_whose_turn_has_come_is_not_in_the_queue_any_more() -> None:
    night = queue_night()
    spot = join(night, 1, 501)
    night.apply(single_player_commands.start_from_queue(night.tournament, spot, night.now))
    with pytest.raises(Conflict, match="left this queue to play"):
        single_player_commands.leave_queue(night.tournament, spot)
    with pytest.raises(NotFound):
        single_player_commands.leave_queue(night.tournament, 1)
