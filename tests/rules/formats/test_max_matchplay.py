"""Max match play. Source: formats, sections 14.5, 20 and 25 (item 9)."""

from collections import Counter
from contextlib import suppress
from decimal import Decimal
from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.night import Night, a_night, random_order
from rules.properties import quick
from silverball.kit.errors import Conflict, WrongFormat
from silverball.rules.commands import clocks, roster
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.families import max_matchplay as max_matchplay_family
from silverball.rules.model import settings
from silverball.rules.model.tournament import Game
from silverball.rules.registry import FORMATS

KEYS = (
    "scorekeeping maxMatchplayDuration maxMatchplayMaxActive maxMatchplayScorekeeperCreate playerOrder "
    "playerOrderOpen arenaAssignment suggestions tiebreaker playoffsCutoffs"
)
STEPS_MAX = 1000
FORMAT = FORMATS["max_matchplay"]


def a_started_night(**given: Any) -> Night:
    night = a_night("max_matchplay", **{"arenas": 5, **given})
    night.start()
    return night


def create(night: Night) -> list[Game]:
    """The matches that start now."""
    before = len(night.tournament.games)
    night.apply(clocks.create_matches(night.tournament, night.dice(), night.now))
    return list(night.tournament.games[before:])


def play_on(night: Night, dice: Random) -> None:
    """End any game, start what can be started, until nothing is left to play."""
    for _ in range(STEPS_MAX):
        if FORMAT.is_over(night.tournament):
            return
        try:
            create(night)
        except Conflict:
            game = dice.choice(night.open_games())
            night.record_order(game, *random_order(game, dice))
    raise AssertionError("the night does not end")


def test_the_settings_are_the_keys_of_the_payload() -> None:
    assert list(settings.default_values(FORMAT.settings)) == KEYS.split()
    assert FORMAT.primary_settings == ("maxMatchplayDuration", "maxMatchplayMaxActive")


@pytest.mark.parametrize("seed", range(10))
def test_ten_players_with_nine_games_meet_everybody_once_in_any_order(seed: int) -> None:
    night = a_started_night(players=10, max_matchplay_duration=9)
    play_on(night, Random(seed))
    met = Counter(frozenset(game.player_ids) for game in night.tournament.games)
    assert met == Counter(frozenset(pair) for pair in combinations(range(1, 11), 2))
    assert {row.games_played for row in night.standings()} == {9}


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(6))
def test_nobody_plays_one_machine_all_night_where_machines_are_few(seed: int) -> None:
    """28 players, 11 machines and 25 games; a machine is free when its game ends, mostly the oldest."""
    night, dice = a_started_night(players=28, arenas=11, max_matchplay_duration=25), Random(seed)
    while not FORMAT.is_over(night.tournament):
        with suppress(Conflict):
            create(night)
        games = night.open_games()
        game = games[min(dice.randrange(len(games)), dice.randrange(len(games)))]
        night.record_order(game, *random_order(game, dice))
    plays = Counter(
        (player_id, game.arena_id) for game in night.tournament.games for player_id in game.player_ids
    )
    assert max(plays.values()) <= 6
    assert {row.games_played for row in night.standings()} == {25}


def test_ten_players_with_eighteen_games_meet_everybody_twice() -> None:
    night = a_started_night(players=10, max_matchplay_duration=18)
    play_on(night, Random(7))
    met = Counter(frozenset(game.player_ids) for game in night.tournament.games)
    assert set(met.values()) == {2}


def test_an_odd_field_with_an_odd_number_of_games_is_refused_at_the_start() -> None:
    with pytest.raises(Conflict, match="11 players cannot play 9 games each"):
        a_started_night(players=11, max_matchplay_duration=9)
    play_on(a_started_night(players=11, max_matchplay_duration=8), Random(7))


def test_nothing_starts_before_a_player_asks_for_it_neither_then_nor_after_a_result() -> None:
    night = a_started_night(players=4)
    assert night.tournament.games == ()
    assert len(night.tournament.state.schedule) == 20
    games = create(night)
    night.record_order(games[0], *games[0].player_ids)
    assert len(night.open_games()) == 1
    assert len(create(night)) == 1


def test_a_game_has_no_round_index_zero_and_the_first_player_the_advantage() -> None:
    game = create(a_started_night(players=2))[0]
    assert (game.round_id, game.set_number, game.game_index) == (None, 0, 0)
    assert game.advantage_id == game.player_ids[0]


@pytest.mark.parametrize(
    ("given", "games"),
    [
        ({"players": 10, "arenas": 3}, 3),
        ({"players": 10, "arenas": 9}, 5),
        ({"players": 10, "arenas": 9, "max_matchplay_max_active": 2}, 2),
        ({"players": 10, "arenas": 0, "arena_assignment": "disabled"}, 5),
        ({"players": 10, "arenas": 3, "arena_assignment": "manual"}, 3),
        ({"players": 5, "arenas": 9}, 2),
    ],
)
def test_as_many_games_start_as_arenas_settings_and_players_allow(given: dict[str, Any], games: int) -> None:
    started = create(a_started_night(**given))
    assert len(started) == games
    arenas = [game.arena_id for game in started if game.arena_id is not None]
    assert len(set(arenas)) == len(arenas)


def test_asking_in_vain_says_why() -> None:
    night = a_started_night(players=4, arenas=1)
    create(night)
    with pytest.raises(Conflict, match="every arena is taken"):
        create(night)
    night = a_started_night(players=4)
    create(night)
    with pytest.raises(Conflict, match="fewer than two players"):
        create(night)
    night = a_started_night(players=2, max_matchplay_duration=1)
    night.record_order(create(night)[0], 1, 2)
    with pytest.raises(Conflict, match="is over"):
        create(night)
    night.complete()
    with pytest.raises(Conflict, match="is not running"):
        create(night)
    with pytest.raises(WrongFormat, match="Tournament is not Max Match Play"):
        clocks.create_matches(a_night("frenzy").tournament, Random(7), night.now)


def test_free_players_who_have_met_wait_for_others() -> None:
    night = a_started_night(players=4, max_matchplay_duration=3)
    first, second = create(night)
    night.record_order(first, *first.player_ids)
    # The two who are free have just met; the other two still play.
    with pytest.raises(Conflict, match="have met already or wait for others"):
        create(night)
    night.record_order(second, *second.player_ids)
    assert len(create(night)) == 2


def test_a_late_player_plays_as_many_games_as_the_others_and_repeats_stay_few() -> None:
    night = a_started_night(players=9, max_matchplay_duration=8)
    create(night)
    night.join(99)
    play_on(night, Random(7))
    played = Counter(player for game in night.tournament.games for player in game.player_ids)
    assert set(played.values()) == {8}
    met = Counter(frozenset(game.player_ids) for game in night.tournament.games)
    assert max(met.values()) <= 2


def test_a_player_who_leaves_is_required_of_nobody() -> None:
    night = a_started_night(players=10, max_matchplay_duration=8)
    games = create(night)
    gone = games[0].player_ids[0]
    night.leave(gone)
    assert not any(gone in meeting for meeting in night.tournament.state.schedule)
    night.record_order(games[0], *games[0].player_ids)
    play_on(night, Random(7))
    # One of the nine has met the one who left: 71 seats are left, so one player has a walkover.
    assert sorted(row.games_played or 0 for row in night.standings()) == [1, 7, *[8] * 8]
    assert [game.is_bye for game in night.tournament.games].count(True) == 1
    assert night.row(gone).games_played == 1


def test_the_last_short_player_gets_one_walkover_and_it_is_over() -> None:
    night = a_started_night(players=4, max_matchplay_duration=3)
    night.leave(4)
    # Three players with three games each: nine seats cannot be filled in pairs.
    play_on(night, Random(7))
    byes = [game for game in night.tournament.games if game.is_bye]
    assert [(bye.round_id, bye.set_number, bye.result_points) for bye in byes] == [
        (None, 9999, (Decimal("1.00"),))
    ]
    short = byes[0].player_ids[0]
    assert {player: night.row(player).games_played for player in (1, 2, 3)} == {
        player: 2 if player == short else 3 for player in (1, 2, 3)
    }
    night.undo()
    assert not any(game.is_bye for game in night.tournament.games)


def test_a_player_who_joins_after_the_last_game_gets_no_points() -> None:
    night = a_started_night(players=4, max_matchplay_duration=2)
    play_on(night, Random(7))
    night.join(99)
    assert FORMAT.is_over(night.tournament)
    assert night.row(99).points == "0.00"


def test_a_deleted_game_is_played_again_and_a_deleted_result_too_while_both_are_free() -> None:
    night = a_started_night(players=4, max_matchplay_duration=3)
    first, second = create(night)
    night.record_order(first, *first.player_ids)
    night.record_order(second, *second.player_ids)
    night.apply(game_commands.delete_game(night.tournament, first.game_id, night.dice(), night.now))
    assert sorted(first.player_ids) in [sorted(meeting) for meeting in night.tournament.state.schedule]
    night.clear(second)
    assert night.game(second.game_id).status == "started"
    play_on(night, Random(7))
    assert {row.games_played for row in night.standings()} == {3}


def test_a_result_is_not_deleted_while_its_players_or_its_arena_are_busy() -> None:
    night = a_started_night(players=4, arenas=3, max_matchplay_duration=3)
    first, second = create(night)
    night.record_order(first, *first.player_ids)
    night.record_order(second, *second.player_ids)
    create(night)
    with pytest.raises(Conflict, match="Enter the right result of"):
        night.clear(first)
    night.correct(first, *first.player_ids[::-1])
    assert night.game(first.game_id).result_positions == first.player_ids[::-1]


def test_only_the_flag_lets_scorekeepers_ask_for_matches() -> None:
    assert not max_matchplay_family.can_scorekeepers_create(a_night("max_matchplay").tournament)
    allowed = a_night("max_matchplay", max_matchplay_scorekeeper_create=1)
    assert max_matchplay_family.can_scorekeepers_create(allowed.tournament)


def test_the_live_view_counts_games_opponents_arenas_and_time() -> None:
    night = a_started_night(players=4, arenas=2, max_matchplay_duration=2)
    before = max_matchplay_family.live_view(night.tournament)
    assert (before.remaining_games, before.avg_game_duration) == (4, None)
    first, second = create(night)
    night.tick(300)
    night.record_order(first, *first.player_ids)
    night.tick(600)
    night.record_order(second, *second.player_ids)
    # 600 and 1,500 seconds, each result tick of five minutes included.
    shown = max_matchplay_family.live_view(night.tournament)
    assert (shown.remaining_games, shown.avg_game_duration) == (2, 1050)
    player_id, opponent_id = first.player_ids
    assert first.arena_id is not None
    row = next(row for row in shown.players if row.player_id == player_id)
    assert (row.game_count, row.completed_time, row.all_opponents) == (1, None, (opponent_id,))
    assert (row.arena_counts, row.opponent_counts) == ({first.arena_id: 1}, {opponent_id: 1})
    play_on(night, Random(7))
    ended = max_matchplay_family.live_view(night.tournament)
    assert ended.remaining_games == 0
    last = max(game.completed_at for game in night.tournament.games if game.completed_at)
    assert max(row.completed_time or 0 for row in ended.players) == int(last.timestamp())


def test_an_arena_out_of_service_is_not_given_and_a_game_may_move() -> None:
    night = a_started_night(players=4, arenas=3)
    game = create(night)[0]
    assert game.arena_id is not None
    night.apply(
        roster.change_arena(night.tournament, game.arena_id, night.dice(), night.now, is_active=False)
    )
    night.apply(game_commands.redraw_arena(night.tournament, game.game_id, night.dice()))
    assert night.game(game.game_id).arena_id != game.arena_id


@given(
    st.integers(2, 9),
    st.integers(1, 8),
    st.integers(1, 4),
    st.lists(st.sampled_from(["late", "leave", "return"]), max_size=4),
    st.integers(0, 99),
)
@quick
def test_every_night_ends_with_everybody_served_but_one_at_most(
    players: int, games: int, arenas: int, events: list[str], seed: int
) -> None:
    games += players * games % 2
    night = a_started_night(players=players, arenas=arenas, max_matchplay_duration=games)
    dice = Random(seed)
    create(night)
    for at, event in enumerate(events):
        gone = [entrant.player_id for entrant in night.tournament.entrants if not entrant.is_active]
        if event == "late":
            night.join(100 + at)
        elif event == "leave" and len(night.tournament.active_ids) > 2:
            night.leave(dice.choice(night.tournament.active_ids))
        elif event == "return" and gone:
            night.come_back(dice.choice(gone))
        for game in night.open_games()[:1]:
            night.record_order(game, *random_order(game, dice))
    play_on(night, dice)
    short = [left for left in max_matchplay_family.games_left(night.tournament).values() if left]
    assert len(short) <= 1
    assert all(
        len(game.player_ids) == 2 and game.result_positions[0] is not None
        for game in night.tournament.games
        if not game.is_bye
    )


def test_taking_everything_back_leaves_the_planned_tournament() -> None:
    night = a_night("max_matchplay", players=5, max_matchplay_duration=4)
    planned = night.tournament
    night.start()
    create(night)
    night.join(99)
    night.leave(1)
    play_on(night, Random(7))
    night.complete()
    night.apply(tournament_commands.reopen(night.tournament))
    night.undo_all()
    assert night.tournament == planned
