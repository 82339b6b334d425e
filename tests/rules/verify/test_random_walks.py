"""The verifier accuses no healthy night: random nights of all formats are clean after every step."""

import pytest

from rules import test_machines, test_machines_brackets, test_machines_solo
from rules.moves import Moves
from rules.night import a_night
from rules.verify import walked_nights
from silverball.rules.commands import games as game_commands
from silverball.rules.registry import FORMATS

ALL: list[tuple[str, Moves]] = [
    (name, case.machine.moves)
    for module in (test_machines, test_machines_brackets, test_machines_solo)
    for name, case in sorted(vars(module).items())
    if hasattr(case, "machine")
]
WALKS = 4
# `make soak` walks as many more as make two hundred of each format.
WALKS_SOAK = 200


def test_every_format_is_walked() -> None:
    assert {moves.kind for _, moves in ALL} == set(FORMATS)


@pytest.mark.parametrize(("byes", "points"), [("full", "2.00"), ("half", "1.00"), ("zero", "0.00")])
def test_a_bye_of_a_double_round_robin_counts_twice(byes: str, points: str) -> None:
    night = walked_nights.journalled(a_night("double_round_robin", players=3, byes=byes))
    night.start()
    assert {str(game.result_points[0]) for game in night.tournament.games if game.is_bye} == {points}
    assert night.faults() == []


def test_a_bye_beside_a_finished_game_of_the_same_round_is_no_fault() -> None:
    night = walked_nights.journalled(a_night("matchplay", players=4, games_per_round=2))
    night.start()
    first, second = [game for game in night.open_round() if game.set_number == 0]
    staying, leaving = first.player_ids
    night.record_order(first, staying, leaving)
    night.leave(leaving)
    night.apply(game_commands.remove_player(night.tournament, second.game_id, leaving))
    assert night.game(second.game_id).is_bye
    assert night.faults() == []


@pytest.mark.sample(8)
@pytest.mark.parametrize(("name", "moves"), ALL, ids=[name for name, _ in ALL])
def test_healthy_nights_are_clean_after_every_step(name: str, moves: Moves) -> None:
    for number in range(WALKS):
        assert walked_nights.walk(moves, f"{name} {number}") == []


@pytest.mark.soak
@pytest.mark.parametrize(("name", "moves"), ALL, ids=[name for name, _ in ALL])
def test_many_healthy_nights_are_clean_after_every_step(name: str, moves: Moves) -> None:
    for number in range(WALKS, WALKS_SOAK):
        assert walked_nights.walk(moves, f"{name} {number}") == []
