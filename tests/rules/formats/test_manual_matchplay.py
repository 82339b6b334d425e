"""Manual match play. Source: formats, sections 14.7 and 20."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.night import Night, a_night
from rules.properties import quick
from silverball.kit.errors import Conflict, Invalid
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import roster
from silverball.rules.model import settings
from silverball.rules.model.tournament import Game
from silverball.rules.registry import FORMATS

KEYS = "scorekeeping playerOrder playerOrderOpen scoring tiebreaker suggestions playoffsCutoffs"


def a_started_night(**given: Any) -> Night:
    night = a_night("manual_matchplay", **given)
    night.start()
    return night


def create(night: Night, *player_ids: int, arena_id: int | None = None) -> Game:
    night.apply(
        game_commands.create_game(night.tournament, player_ids, arena_id, dice=night.dice(), now=night.now)
    )
    return night.tournament.games[-1]


def test_the_settings_are_the_keys_of_the_payload() -> None:
    assert list(settings.default_values(FORMATS["manual_matchplay"].settings)) == KEYS.split()


def test_a_game_is_made_outside_rounds_with_the_players_in_the_order_they_were_named() -> None:
    night = a_started_night(players=5)
    game = create(night, 5, 2, 4, arena_id=503)
    assert (game.round_id, game.set_number, game.game_index) == (None, 0, None)
    assert (game.player_ids, game.arena_id, game.status) == ((5, 2, 4), 503, "started")
    assert game.advantage_id is None
    night.record_order(game, 2, 4, 5)
    assert [(row.player_id, row.points) for row in night.standings()][:3] == [
        (2, "7.00"),
        (4, "4.00"),
        (5, "1.00"),
    ]


def test_a_playing_order_other_than_disabled_seats_the_players() -> None:
    night = a_started_night(players=3, player_order="seed")
    assert create(night, 3, 1, 2).player_ids == (1, 2, 3)


def test_games_made_while_a_round_is_open_are_in_it_each_as_a_group_of_its_own() -> None:
    night = a_started_night(players=4)
    night.open_round()
    games = [create(night, 1, 2), create(night, 3, 4)]
    assert [(game.round_id, game.set_number, game.game_index) for game in games] == [
        (night.tournament.rounds[0].round_id, 0, 0),
        (night.tournament.rounds[0].round_id, 1, 0),
    ]
    with pytest.raises(Conflict, match="still has open games"):
        night.open_round()


def test_results_of_any_round_may_be_corrected_and_it_is_never_over_by_itself() -> None:
    night = a_started_night(players=2)
    night.open_round()
    game = create(night, 1, 2)
    night.record_order(game, 1, 2)
    night.open_round()
    night.record_order(game, 2, 1)
    assert night.row(2).points == "7.00"
    assert not FORMATS["manual_matchplay"].is_over(night.tournament)


def test_a_late_player_plays_at_once_and_a_departed_one_does_not() -> None:
    night = a_started_night(players=3)
    night.join(9)
    assert create(night, 9, 1).player_ids == (9, 1)
    night.leave(2)
    with pytest.raises(Invalid, match="Player 2 does not play"):
        create(night, 2, 3)


@pytest.mark.parametrize(
    ("players", "arena_id", "sentence"),
    [
        ((1,), None, "two to four players, not 1"),
        ((1, 2, 3, 4, 5), None, "two to four players, not 5"),
        ((1, 1), None, "named twice"),
        ((1, 77), None, "Player 77 does not play"),
        ((1, 2), 999, "Arena 999 is not in this tournament"),
    ],
)
def test_a_game_that_cannot_be_is_refused(
    players: tuple[int, ...], arena_id: int | None, sentence: str
) -> None:
    night = a_started_night(players=5)
    with pytest.raises(Invalid, match=sentence):
        create(night, *players, arena_id=arena_id)


def test_an_arena_that_is_taken_or_out_of_service_is_refused() -> None:
    night = a_started_night(players=6)
    game = create(night, 1, 2, arena_id=501)
    with pytest.raises(Conflict, match=f"Arena 501 is taken by game {game.game_id}"):
        create(night, 3, 4, arena_id=501)
    night.apply(roster.change_arena(night.tournament, 502, night.dice(), night.now, is_active=False))
    with pytest.raises(Conflict, match="out of service"):
        create(night, 3, 4, arena_id=502)
    night.record_order(game, 1, 2)
    assert create(night, 3, 4, arena_id=501).arena_id == 501


def test_players_join_and_leave_an_open_game_and_two_is_the_least() -> None:
    night = a_started_night(players=5)
    game = create(night, 1, 2, 3)
    night.apply(game_commands.add_player(night.tournament, game.game_id, 4, night.dice(), night.now))
    with pytest.raises(Conflict, match="has 4 players already"):
        game_commands.add_player(night.tournament, game.game_id, 5, night.dice(), night.now)
    night.apply(game_commands.remove_player(night.tournament, game.game_id, 1))
    night.apply(game_commands.remove_player(night.tournament, game.game_id, 2))
    with pytest.raises(Conflict, match="Delete it instead"):
        game_commands.remove_player(night.tournament, game.game_id, 3)
    night.apply(game_commands.delete_game(night.tournament, game.game_id, night.dice(), night.now))
    assert night.tournament.games == ()


@given(st.lists(st.permutations(range(1, 7)), min_size=1, max_size=8), st.integers(2, 4))
@quick
def test_the_table_adds_up_and_everything_can_be_taken_back(orders: list[list[int]], size: int) -> None:
    night = a_night("manual_matchplay", players=6, scoring="papa")
    planned = night.tournament
    night.start()
    for order in orders:
        game = create(night, *order[:size])
        night.record_order(game, *order[:size])
    each = {2: 6, 3: 7, 4: 7}[size]
    assert sum(float(str(row.points)) for row in night.standings()) == each * len(orders)
    night.undo_all()
    assert night.tournament == planned
