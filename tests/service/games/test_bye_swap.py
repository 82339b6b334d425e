"""The bye exchanged with another player, before results. Source: formats, sections 9 and 26."""

from typing import Any

import pytest

import build
from service.desk import Desk, a_desk
from silverball.store.database.engine import Store


def a_round_with_a_bye(store: Store, kind: str = "matchplay") -> tuple[Desk, dict[str, Any], int]:
    """A desk whose open round has a bye; with an open game and the player of the bye."""
    desk = a_desk(store, kind, players=5)
    desk.open_round()
    games = build.ask(store, f"{desk.path}/games", by=desk.callers["owner"])[1]["data"]
    (bye,) = [game for game in games if game["bye"]]
    return desk, next(game for game in games if not game["bye"]), bye["playerIds"][0]


@pytest.mark.both_databases
@pytest.mark.parametrize("kind", ["matchplay", "knockout"])
def test_the_bye_goes_to_another_player_and_back_by_undo(store: Store, kind: str) -> None:
    desk, game, resting = a_round_with_a_bye(store, kind)
    player = game["playerIds"][0]
    swap = {"swap": {"playerId": player, "withPlayerId": resting}}
    changed = desk.do_and_undo("PATCH", f"/games/{game['gameId']}", swap)["data"]
    assert resting in changed["playerIds"]
    assert player not in changed["playerIds"]
    desk.ok("PATCH", f"/games/{game['gameId']}", swap)
    games = build.ask(store, f"{desk.path}/games", by=desk.callers["owner"])[1]["data"]
    (bye,) = [each for each in games if each["bye"]]
    assert (bye["playerIds"], bye["resultPositions"], bye["status"]) == ([player], [player], "completed")


def test_a_game_with_a_result_keeps_its_players(store: Store) -> None:
    desk, game, resting = a_round_with_a_bye(store)
    path = f"/games/{game['gameId']}"
    desk.ok("PUT", path + "/result", {"resultPositions": game["playerIds"]})
    swap = {"swap": {"playerId": game["playerIds"][0], "withPlayerId": resting}}
    assert desk.expect_refusal(409, "PATCH", path, swap)["code"] == "group-has-result"
