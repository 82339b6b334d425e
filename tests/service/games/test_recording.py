"""Games over HTTP: results, corrections, and changes to open games. Source: formats, 10 and 20."""

from datetime import timedelta

import pytest

import build
from service.desk import Desk, a_desk
from silverball.store.database.engine import Store


def result(game: dict[str, object], *, flip: bool = False) -> dict[str, object]:
    order = list(game["playerIds"])  # type: ignore[call-overload]  # a list of ids
    return {"resultPositions": order[::-1] if flip else order}


def test_a_result_is_the_games_and_moves_the_standings(store: Store) -> None:
    desk = a_desk(store)
    game = desk.open_round()[0]
    winner = game["playerIds"][1]
    shown = desk.do_and_undo("PUT", f"/games/{game['gameId']}/result", result(game, flip=True))["data"]
    assert (shown["status"], shown["resultPositions"][0], shown["resultPoints"]) == (
        "completed",
        winner,
        ["0.00", "1.00"],
    )
    again = desk.ok("PUT", f"/games/{game['gameId']}/result", result(game, flip=True))["data"]
    assert (
        again == build.ask(store, f"{desk.path}/games/{game['gameId']}", by=desk.callers["owner"])[1]["data"]
    )


@pytest.mark.parametrize(
    ("kind", "body", "points"),
    [
        ("matchplay", {"resultScores": {"0": 10, "1": 2**62}}, ["0.00", "1.00"]),
        ("matchplay", {"resultScores": {"0": 5, "1": 5}, "resultPositions": [1, 0]}, ["0.00", "1.00"]),
        ("matchplay", {"forfeit": 0}, ["0.00", "1.00"]),
        ("knockout", {"strikes": [0]}, ["0.00", "1.00"]),
        ("matchplay", {"strokes": {"0": 4, "1": 2}}, ["0.00", "1.00"]),
    ],
)
def test_a_result_is_said_in_one_of_five_ways(
    store: Store, kind: str, body: dict[str, object], points: list[str]
) -> None:
    desk = a_desk(store, kind, players=2)
    game = desk.open_round()[0]
    ids = game["playerIds"]

    def real(value: object) -> object:
        if isinstance(value, dict):
            return {str(ids[int(key)]): score for key, score in value.items()}
        return [ids[number] for number in value] if isinstance(value, list) else ids[int(str(value))]

    sent = {name: real(value) for name, value in body.items()}
    assert desk.ok("PUT", f"/games/{game['gameId']}/result", sent)["data"]["resultPoints"] == points


def test_invalid_results_are_refused_and_change_nothing(store: Store) -> None:
    desk = a_desk(store)
    game = desk.open_round()[0]
    first, second = game["playerIds"]
    path = f"/games/{game['gameId']}/result"
    for body, field in [
        ({}, "resultPositions"),
        ({"resultPositions": [first, second], "forfeit": first}, "resultPositions"),
        ({"resultPositions": [first, 99999]}, "resultPositions"),
        ({"resultPositions": [first]}, "resultPositions"),
        ({"resultPositions": [first, first]}, "resultPositions"),
        ({"resultScores": {first: 5, second: 5}}, "resultScores"),
        ({"resultScores": {first: 5}}, "resultScores"),
        ({"resultPositions": [first, second], "resultScores": {first: 5, 99999: 4}}, "resultScores"),
        ({"strikes": [first]}, "strikes"),
        ({"strokes": {first: 3, second: 3}}, "strokes"),
        ({"forfeit": 99999}, "forfeit"),
        ({"resultPositions": [first, second], "winner": first}, "winner"),
    ]:
        assert field in desk.expect_refusal(422, "PUT", path, body)["errors"], body
    desk.expect_refusal(404, "PUT", "/games/99999/result", result(game))


def test_who_may_record_a_result(store: Store) -> None:
    desk = a_desk(store)
    game = desk.open_round()[0]
    path = f"/games/{game['gameId']}/result"
    for who, status in [("nobody", 401), ("reader", 403), ("stranger", 403), ("other", 403), ("player", 403)]:
        desk.expect_refusal(status, "PUT", path, result(game), by=who)
    for who in ("owner", "keeper", "admin", "kiosk"):
        desk.do_and_undo("PUT", path, result(game), by=who)


def test_a_scorekeeper_cannot_replace_a_result_and_learns_its_author(store: Store) -> None:
    desk = a_desk(store)
    game = desk.open_round()[0]
    path = f"/games/{game['gameId']}/result"
    desk.ok("PUT", path, result(game), by="keeper")
    before = desk.stored_state()
    # Anyone may repeat the stored result.
    for who in ("keeper", "kiosk", "owner"):
        desk.ok("PUT", path, result(game), by=who)
    assert desk.stored_state() == before
    first, second = game["playerIds"]
    for who in ("keeper", "kiosk"):
        message = desk.expect_refusal(409, "PUT", path, result(game, flip=True), by=who)["message"]
        assert (
            f"Keeper entered players {first} and {second}, first to last at 2026-03-05 19:30:00Z" in message
        )
    desk.ok("PUT", path, result(game, flip=True), now=build.NOW + timedelta(minutes=3))
    message = desk.expect_refusal(409, "PUT", path, result(game), by="keeper")["message"]
    assert f"Olga Ramp entered players {second} and {first}, first to last at 2026-03-05 19:33:00Z" in message


def test_a_result_of_a_closed_round_can_be_repeated_but_not_changed(store: Store) -> None:
    desk = a_desk(store)
    games = desk.open_round()
    for game in games:
        desk.ok("PUT", f"/games/{game['gameId']}/result", result(game))
    desk.open_round()
    path = f"/games/{games[0]['gameId']}/result"
    assert desk.ok("PUT", path, result(games[0]), by="keeper")["data"]["status"] == "completed"
    assert "is over" in desk.expect_refusal(409, "PUT", path, result(games[0], flip=True))["message"]
    desk.expect_refusal(409, "DELETE", path)


def test_only_the_organizer_takes_a_result_away(store: Store) -> None:
    desk = a_desk(store)
    game = desk.open_round()[0]
    path = f"/games/{game['gameId']}/result"
    desk.expect_refusal(409, "DELETE", path)
    desk.ok("PUT", path, result(game))
    for who, status in [("nobody", 401), ("keeper", 403), ("kiosk", 403), ("other", 403), ("player", 403)]:
        desk.expect_refusal(status, "DELETE", path, by=who)
    assert desk.do_and_undo("DELETE", path)["data"]["status"] == "started"


@pytest.mark.both_databases
def test_order_arena_and_players_of_an_open_game_are_changed(store: Store) -> None:
    desk = a_desk(store)
    first, second = desk.open_round()
    path = f"/games/{first['gameId']}"
    ids = first["playerIds"]
    assert desk.do_and_undo("PATCH", path, {"playerIds": ids[::-1]})["data"]["playerIds"] == ids[::-1]
    free = set(desk.night.arena_ids) - {first["arenaId"], second["arenaId"]}
    assert desk.do_and_undo("PATCH", path, {"arenaId": min(free)})["data"]["arenaId"] in free
    assert desk.do_and_undo("POST", path + "/arena")["data"]["arenaId"] in free
    swap = {"playerId": ids[0], "withPlayerId": second["playerIds"][0]}
    assert second["playerIds"][0] in desk.do_and_undo("PATCH", path, {"swap": swap})["data"]["playerIds"]
    assert desk.do_and_undo("DELETE", f"{path}/players/{ids[0]}")["data"]["bye"] is True
    desk.expect_refusal(409, "PATCH", path, {"arenaId": second["arenaId"]})
    desk.expect_refusal(422, "PATCH", path, {"arenaId": 99999})
    desk.expect_refusal(422, "PATCH", path, {"playerIds": [ids[0]]})
    desk.expect_refusal(422, "PATCH", path, {})
    desk.expect_refusal(
        422, "PATCH", path, {"swap": {"playerId": second["playerIds"][0], "withPlayerId": ids[0]}}
    )
    desk.expect_refusal(422, "DELETE", f"{path}/players/{second['playerIds'][0]}")
    desk.expect_refusal(409, "DELETE", path)
    desk.expect_refusal(409, "POST", "/games", {"playerIds": ids})
    desk.ok("PUT", path + "/result", result(first))
    desk.expect_refusal(409, "PATCH", path, {"playerIds": ids[::-1]})


def test_players_change_the_order_where_it_is_open_to_them_and_nothing_else(store: Store) -> None:
    for way, status in (("players", 200), ("scorekeepers", 403)):
        desk = a_desk(store, playerOrderOpen=way)
        mine = next(game for game in desk.open_round() if desk.night.player_ids[0] in game["playerIds"])
        path = f"/games/{mine['gameId']}"
        for who, expected in [("player", status), ("keeper", 200), ("stranger", 403), ("other", 403)]:
            assert desk.do("PATCH", path, {"playerIds": mine["playerIds"]}, by=who)[0] == expected
        for who in ("player", "keeper", "kiosk"):
            desk.expect_refusal(403, "PATCH", path, {"arenaId": desk.night.arena_ids[0]}, by=who)


@pytest.mark.both_databases
def test_a_late_player_joins_the_player_with_a_bye(store: Store) -> None:
    desk = a_desk(store, players=3)
    bye = next(game for game in desk.open_round() if game["bye"])
    late = desk.ok("POST", "/players", {"name": "Late Comer"})["data"]["playerId"]
    seats = desk.do_and_undo("POST", f"/games/{bye['gameId']}/players", {"playerId": late})["data"]
    assert (seats["bye"], late in seats["playerIds"]) == (False, True)
    desk.expect_refusal(409, "POST", f"/games/{bye['gameId']}/players", {"playerId": 99999})


def test_the_organizer_makes_and_deletes_games_of_a_manual_match_play(store: Store) -> None:
    desk = a_desk(store, "manual_matchplay")
    body = {"playerIds": desk.night.player_ids[:3], "arenaId": desk.night.arena_ids[0]}
    desk.expect_refusal(403, "POST", "/games", body, by="keeper")
    game = desk.ok("POST", "/games", body)["data"]
    assert (game["playerIds"], game["arenaId"]) == (desk.night.player_ids[:3], desk.night.arena_ids[0])
    desk.expect_refusal(422, "POST", "/games", {"playerIds": desk.night.player_ids[:1]})
    assert desk.do_and_undo("DELETE", f"/games/{game['gameId']}")["data"] == game


def test_results_of_a_completed_tournament_stay(store: Store) -> None:
    desk: Desk = a_desk(store, "manual_matchplay")
    game = desk.ok("POST", "/games", {"playerIds": desk.night.player_ids[:2]})["data"]
    desk.ok("PUT", f"/games/{game['gameId']}/result", result(game))
    desk.ok("POST", "/complete")
    told = desk.expect_refusal(409, "PUT", f"/games/{game['gameId']}/result", result(game, flip=True))
    assert "Reopen" in told["message"]
