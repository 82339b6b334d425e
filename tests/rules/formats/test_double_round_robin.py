"""Double round robins. Source: formats, sections 14.9 and 24."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden import load
from rules.night import Night, a_night, random_order
from rules.properties import quick
from silverball.kit.errors import Conflict
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model import settings
from silverball.rules.registry import FORMATS

VECTORS = load.vectors("groups")


def start_night(players: int, **given: Any) -> Night:
    night = a_night("double_round_robin", players=players, **{"seeding": "manual", **given})
    night.start()
    return night


def test_the_payload_has_the_keys_of_a_round_robin() -> None:
    assert settings.default_values(FORMATS["double_round_robin"].settings) == settings.default_values(
        FORMATS["round_robin"].settings
    )


@pytest.mark.parametrize("players", VECTORS["double_round_robin"])
def test_a_started_tournament_has_the_schedule_of_the_library(players: str) -> None:
    night = start_night(int(players), arenas=0)
    games = night.tournament.games_by_round
    made = [
        {
            "groups": [list(game.player_ids) for game in games[round_.round_id] if not game.is_bye],
            "byes": [game.player_ids[0] for game in games[round_.round_id] if game.is_bye],
        }
        for round_ in night.tournament.rounds_in_order
    ]
    assert made == VECTORS["double_round_robin"][players]


def test_the_two_games_of_a_pair_are_one_set_and_turn_the_order_round() -> None:
    for order in ("balanced", "seed", "random", "rotating"):
        night = start_night(5, player_order=order)
        pairs: dict[Any, list[Any]] = {}
        for game in night.tournament.games:
            if not game.is_bye:
                pairs.setdefault((game.round_id, game.set_number), []).append(game)
        assert {len(pair) for pair in pairs.values()} == {2}
        for first, second in pairs.values():
            assert (first.game_index, second.game_index) == (0, 1)
            assert second.player_ids == first.player_ids[::-1]


def test_a_bye_is_worth_the_two_games_that_others_play() -> None:
    night = start_night(3)
    assert {row.points for row in night.standings()} == {"2.00"}


def test_everybody_starts_half_of_the_games_and_arenas_are_used_once_a_round() -> None:
    night = start_night(6, arenas=12)
    assert set(Counter(game.player_ids[0] for game in night.tournament.games).values()) == {5}
    for games in night.tournament.games_by_round.values():
        assert len({game.arena_id for game in games}) == len(games) == 6


def test_a_table_by_hand() -> None:
    # 1 beats 2 twice, 2 beats 3 twice, 1 and 3 win one each; byes are worth nothing.
    night = start_night(3, byes="zero")
    wins = {(1, 2): [1, 1], (2, 3): [2, 2], (1, 3): [1, 3]}
    for pair, winners in wins.items():
        games = [game for game in night.open_games() if set(game.player_ids) == set(pair)]
        for game, winner in zip(games, winners, strict=True):
            loser = next(player_id for player_id in pair if player_id != winner)
            night.record_order(game, winner, loser)
    assert [(row.position, row.player_id, row.points) for row in night.standings()] == [
        (1, 1, "3.00"),
        (2, 2, "2.00"),
        (3, 3, "1.00"),
    ]
    assert tournament_commands.format_of(night.tournament).is_over(night.tournament)


def test_groups_play_twice_as_well() -> None:
    night = start_night(6, round_robin_group_size=3)
    met = Counter(frozenset(game.player_ids) for game in night.tournament.games)
    assert set(met.values()) == {2}
    assert len(night.tournament.rounds) == 2


def test_half_a_pair_comes_back_turned_round_when_it_is_reopened() -> None:
    night = start_night(4)
    first = night.open_games()[0]
    night.record_order(first, *first.player_ids)
    night.complete()
    night.apply(tournament_commands.reopen(night.tournament))
    second = next(game for game in night.open_games() if set(game.player_ids) == set(first.player_ids))
    assert second.player_ids == first.player_ids[::-1]
    assert len(night.tournament.games) == 12


def test_nobody_comes_after_the_first_result() -> None:
    night = start_night(4)
    night.finish_round()
    with pytest.raises(Conflict, match="too late"):
        night.join(9)


@quick
@given(players=st.integers(2, 6), dice=st.randoms(use_true_random=False))
def test_any_night_ends_and_can_be_taken_back_to_the_plan(players: int, dice: Any) -> None:
    night = a_night("double_round_robin", players=players, arenas=3)
    planned = night.tournament
    night.start()
    while night.open_games():
        game = dice.choice(night.open_games())
        night.record_order(game, *random_order(game, dice))
    assert {round_.status for round_ in night.tournament.rounds} == {"completed"}
    night.undo_all()
    assert night.tournament == planned
