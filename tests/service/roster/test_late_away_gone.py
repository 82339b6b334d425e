"""Players who come late, are away for rounds, or go, over HTTP. Source: formats, section 20."""

from typing import Any

import pytest

import build
from service.desk import Desk, a_desk
from silverball.service.journal.reads import verification
from silverball.store.database.engine import Store


def faults(desk: Desk) -> Any:
    with desk.store.read() as db:
        found = list(verification.verify_tournament(db, desk.night.tournament_id).faults)
        return [*found, *verification.verify_draws(db, desk.night.tournament_id).faults]


def play_round(desk: Desk) -> list[dict[str, Any]]:
    """The games of a new round, each in the order of play."""
    games = desk.open_round()
    finish(desk, games)
    return games


def finish(desk: Desk, games: list[dict[str, Any]]) -> None:
    for game in games:
        if not game["bye"]:
            desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})


def drawn(games: list[dict[str, Any]]) -> set[int]:
    return {player_id for game in games for player_id in game["playerIds"]}


def entry(desk: Desk, player_id: int) -> dict[str, Any]:
    players = desk.ok("GET", "?includePlayers=1")["data"]["players"]
    found = next(each for each in players if each["playerId"] == player_id)
    part: dict[str, Any] = found["tournamentPlayer"]
    return part


def newest_line(desk: Desk) -> str:
    text: str = desk.ok("GET", "/journal")["data"][0]["changes"][0]["text"]
    return text


@pytest.mark.both_databases
def test_a_player_away_for_two_rounds_comes_back_without_a_tap(store: Store) -> None:
    desk = a_desk(store, "group_matchplay", players=9)
    away = desk.night.player_ids[0]
    play_round(desk)
    shown = desk.do_and_undo("PATCH", f"/players/{away}", {"awayRounds": 2})["data"]["tournamentPlayer"]
    assert (shown["status"], shown["awayRounds"]) == ("inactive", 2)
    desk.ok("PATCH", f"/players/{away}", {"awayRounds": 2})
    assert newest_line(desk).endswith("is away for the next 2 rounds.")
    assert away not in drawn(play_round(desk))
    assert entry(desk, away)["awayRounds"] == 1
    missed = desk.open_round()
    assert away not in drawn(missed)
    assert (entry(desk, away)["status"], entry(desk, away)["awayRounds"]) == ("active", 0)
    finish(desk, missed)
    games = play_round(desk)
    assert away in drawn(games)
    assert "awayRounds" not in entry(desk, away)
    assert faults(desk) == []
    # A draw that counted a round is taken back with it.
    for _ in range(len(games) + 1):
        desk.undo()
    assert (entry(desk, away)["status"], entry(desk, away)["awayRounds"]) == ("active", 0)
    assert faults(desk) == []


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_who_leaves_the_open_game_for_this_round_is_in_the_next_one(store: Store) -> None:
    desk = a_desk(store, "group_matchplay", players=8, arenas=4)
    (game, *others) = desk.open_round()
    gone = game["playerIds"][1]
    body = {"awayRounds": 1, "openGame": "fewer"}
    desk.do_and_undo("PATCH", f"/players/{gone}", body)
    shown = desk.ok("PATCH", f"/players/{gone}", body)["data"]["tournamentPlayer"]
    assert (shown["status"], shown["awayRounds"]) == ("active", 0)
    left = desk.ok("GET", f"/games/{game['gameId']}")["data"]
    assert left["playerIds"] == [player_id for player_id in game["playerIds"] if player_id != gone]
    finish(desk, [left, *others])
    assert gone in drawn(play_round(desk))
    assert faults(desk) == []


def test_who_is_dropped_from_a_running_game_has_its_last_place(store: Store) -> None:
    desk = a_desk(store, "group_matchplay", players=8, arenas=4)
    (game, *_) = desk.open_round()
    first, second, third, fourth = game["playerIds"]
    body = {"status": "inactive", "openGame": "last"}
    desk.do_and_undo("PATCH", f"/players/{second}", body)
    desk.ok("PATCH", f"/players/{second}", body)
    assert "left and is last" in newest_line(desk)
    path = f"/games/{game['gameId']}"
    assert desk.ok("GET", path)["data"]["resultPositions"] == [None, None, None, second]
    # The one who goes next is the last of those who are left, and then two play for the first place.
    desk.ok("PATCH", f"/players/{fourth}", body)
    assert desk.ok("GET", path)["data"]["resultPositions"] == [None, None, fourth, second]
    desk.ok("PATCH", f"/players/{first}", body)
    over = desk.ok("GET", path)["data"]
    assert (over["status"], over["resultPositions"]) == ("completed", [third, first, fourth, second])
    assert faults(desk) == []


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_pair_goes_on_as_a_win_or_as_a_bye(store: Store) -> None:
    desk = a_desk(store, "matchplay", players=4)
    won, left = (game for game in desk.open_round() if not game["bye"])
    stays, gone = won["playerIds"]
    desk.ok("PATCH", f"/players/{gone}", {"status": "inactive", "openGame": "last"})
    over = desk.ok("GET", f"/games/{won['gameId']}")["data"]
    assert (over["status"], over["resultPositions"]) == ("completed", [stays, gone])
    stays, gone = left["playerIds"]
    desk.ok("PATCH", f"/players/{gone}", {"awayRounds": 1, "openGame": "fewer"})
    over = desk.ok("GET", f"/games/{left['gameId']}")["data"]
    assert (over["bye"], over["playerIds"]) == (True, [stays])
    assert faults(desk) == []


def test_a_late_player_gets_what_the_night_gives_for_missed_rounds(store: Store) -> None:
    desk = a_desk(store, "group_knockout", players=7, arenas=4, latePoints=1, knockoutStrikeCount=9)
    play_round(desk)
    games = desk.open_round()
    three = next(game for game in games if len(game["playerIds"]) == 3)
    body = {"name": "Late Lou", "gameId": three["gameId"]}
    shown = desk.do_and_undo("POST", "/players", body)["data"]["tournamentPlayer"]
    # One round was missed; the open one is played.
    assert shown["pointsAdjustment"] == 1
    late = desk.ok("POST", "/players", body)["data"]["playerId"]
    seated = desk.ok("GET", f"/games/{three['gameId']}")["data"]["playerIds"]
    assert seated == [*three["playerIds"], late]
    later = desk.ok("POST", "/players", {"name": "Later Lee"})["data"]
    assert later["tournamentPlayer"]["pointsAdjustment"] == 2
    given = desk.ok("POST", "/players", {"name": "Free Fay", "strikes": 0})["data"]
    assert given["tournamentPlayer"]["pointsAdjustment"] == 0
    finish(desk, desk.ok("GET", "/games?status=started")["data"])
    assert {late, later["playerId"]} <= drawn(play_round(desk))
    assert faults(desk) == []
    # The night's number may still change, and 0 is none.
    path = f"/api/tournaments/{desk.night.tournament_id}"
    assert build.do(store, "PATCH", path, {"latePoints": 0}, by=desk.callers["owner"])[0] == 200
    assert "latePoints" not in desk.ok("GET", "")["data"]
    free = desk.ok("POST", "/players", {"name": "Fred"})["data"]
    assert free["tournamentPlayer"]["pointsAdjustment"] == 0


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_what_cannot_be_is_refused_with_the_field_and_stores_nothing(store: Store) -> None:
    desk = a_desk(store, "matchplay", players=4)
    own = desk.night.player_ids[0]
    game = desk.open_round()[0]
    before = desk.stored_state()
    for body, field in [
        ({"awayRounds": 21}, "awayRounds"),
        ({"awayRounds": -1}, "awayRounds"),
        ({"awayRounds": 1, "status": "inactive"}, "awayRounds"),
        ({"openGame": "last"}, "openGame"),
        ({"awayRounds": 0, "openGame": "last"}, "openGame"),
        ({"awayRounds": 1, "openGame": "won"}, "openGame"),
    ]:
        refusal = desk.expect_refusal(422, "PATCH", f"/players/{own}", body)
        assert list(refusal["errors"]) == [field]
    desk.expect_refusal(404, "PATCH", "/players/999999", {"awayRounds": 1})
    # The game is full.
    desk.expect_refusal(409, "POST", "/players", {"name": "Late", "gameId": game["gameId"]})
    desk.expect_refusal(404, "POST", "/players", {"name": "Late", "gameId": 999999})
    assert desk.stored_state() == before
    planned = a_desk(store, starts=False)
    planned.expect_refusal(409, "PATCH", f"/players/{planned.night.player_ids[0]}", {"awayRounds": 1})
    planned.expect_refusal(409, "POST", "/players", {"name": "Late", "gameId": game["gameId"]})


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_formats_without_rounds_of_their_own_have_nobody_away_for_one(store: Store) -> None:
    for type_, sentence in (("frenzy", "drawn one by one"), ("bracket", "drawn one by one")):
        desk = a_desk(store, type_)
        own = desk.night.player_ids[0]
        refusal = desk.expect_refusal(409, "PATCH", f"/players/{own}", {"awayRounds": 1})
        assert sentence in refusal["message"]
