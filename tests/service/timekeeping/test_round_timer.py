"""The round timer and calls over HTTP, for tools that keep a night on time."""

from datetime import timedelta
from typing import Any

import build
from service.desk import Desk, a_desk
from silverball.store.database.engine import Store


def timer_of(desk: Desk) -> Any:
    return build.ask(desk.store, f"{desk.path}/timer", by=desk.callers["owner"])[1]["data"]


def test_a_round_is_timed_extended_and_freed_again(store: Store) -> None:
    desk = a_desk(store, "matchplay", players=8, arenas=4)
    assert timer_of(desk) == {"minutes": None, "roundId": None, "endsAt": None, "calledGames": []}
    round_id = desk.ok("POST", "/rounds", {})["data"]["roundId"]
    desk.do_and_undo("PUT", "/timer", {"minutes": 20})
    timed = desk.ok("PUT", "/timer", {"minutes": 20})["data"]
    in_20_minutes = (build.NOW + timedelta(minutes=20)).strftime("%Y-%m-%dT%H:%M:%S")
    assert (timed["minutes"], timed["roundId"]) == (20, round_id)
    assert timed["endsAt"].startswith(in_20_minutes)
    extended = desk.do_and_undo("POST", "/timer/extend", {"minutes": 5})["data"]
    in_25_minutes = (build.NOW + timedelta(minutes=25)).strftime("%Y-%m-%dT%H:%M:%S")
    assert extended["endsAt"].startswith(in_25_minutes)
    assert timer_of(desk) == timed
    assert desk.ok("PUT", "/timer", {"minutes": 0})["data"]["endsAt"] is None
    desk.expect_refusal(409, "POST", "/timer/extend", {"minutes": 5})


def test_players_are_called_by_a_scorekeeper_until_their_game_has_a_result(store: Store) -> None:
    desk = a_desk(store, "matchplay", players=8, arenas=4)
    desk.ok("POST", "/rounds", {})
    games = build.ask(store, f"{desk.path}/games", by=desk.callers["owner"])[1]["data"]
    path = f"/games/{games[0]['gameId']}"
    desk.do_and_undo("POST", f"{path}/call", by="keeper")
    called = desk.ok("POST", f"{path}/call", by="keeper")["data"]["calledGames"]
    assert [each["gameId"] for each in called] == [games[0]["gameId"]]
    assert timer_of(desk)["calledGames"] == called
    desk.ok("PUT", f"{path}/result", {"resultPositions": games[0]["playerIds"]})
    assert timer_of(desk)["calledGames"] == []
    desk.expect_refusal(409, "POST", f"{path}/call")


def test_only_organizers_time_rounds_and_only_with_minutes_that_can_be(store: Store) -> None:
    desk = a_desk(store, "matchplay", players=8, arenas=4)
    desk.expect_refusal(403, "PUT", "/timer", {"minutes": 20}, by="keeper")
    desk.expect_refusal(422, "PUT", "/timer", {"minutes": 241})
    desk.expect_refusal(422, "PUT", "/timer", {})
    desk.expect_refusal(404, "POST", "/games/999999/call")
    frenzy = a_desk(store, "frenzy", players=7, arenas=2)
    frenzy.expect_refusal(409, "PUT", "/timer", {"minutes": 20})


def test_one_game_gets_extra_time_which_is_announced_undone_and_gone_with_its_result(store: Store) -> None:
    desk = a_desk(store, "matchplay", players=8, arenas=4)
    desk.ok("POST", "/rounds", {})
    game = build.ask(store, f"{desk.path}/games", by=desk.callers["owner"])[1]["data"][0]
    path = f"/games/{game['gameId']}"
    desk.expect_refusal(409, "POST", f"{path}/extra-time", {"minutes": 5})
    desk.ok("PUT", "/timer", {"minutes": 20})
    before = desk.mirror.seq
    desk.do_and_undo("POST", f"{path}/extra-time", {"minutes": 5})
    assert desk.mirror.seq > before
    (extended,) = desk.ok("POST", f"{path}/extra-time", {"minutes": 5})["data"]["extendedGames"]
    in_25_minutes = (build.NOW + timedelta(minutes=25)).strftime("%Y-%m-%dT%H:%M:%S")
    assert extended["gameId"] == game["gameId"]
    assert extended["endsAt"].startswith(in_25_minutes)
    desk.expect_refusal(403, "POST", f"{path}/extra-time", {"minutes": 5}, by="keeper")
    for minutes in (0, -5, 241, None):
        desk.expect_refusal(422, "POST", f"{path}/extra-time", {"minutes": minutes})
    desk.expect_refusal(404, "POST", "/games/999999/extra-time", {"minutes": 5})
    desk.ok("PUT", f"{path}/result", {"resultPositions": game["playerIds"]})
    assert "extendedGames" not in timer_of(desk)
