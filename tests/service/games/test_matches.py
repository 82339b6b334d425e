"""Matches of a bracket over HTTP: their numbers, games won, single games. Source: formats, 14.10."""

from typing import Any

import pytest
from sqlalchemy import select

import build
from service.desk import Desk, a_desk
from silverball.store import tables
from silverball.store.database.engine import Store


def games_by_number(desk: Desk) -> dict[int, dict[str, Any]]:
    """Number in the bracket -> game."""
    return {game["index"]: game for game in desk.ok("GET", "/games")["data"]}


def first_match(desk: Desk) -> tuple[dict[str, Any], str]:
    """The match of seeds 1 and 4, and its path."""
    game = games_by_number(desk)[2]
    return game, f"/games/{game['gameId']}"


def test_twenty_four_players_have_the_first_round_that_clients_expect(store: Store) -> None:
    desk = a_desk(store, "bracket", players=24)
    # Seeds count from 1.
    seed = {player_id: number for number, player_id in enumerate(desk.night.player_ids, start=1)}
    games = games_by_number(desk)
    assert {
        number: tuple(sorted(seed[player_id] for player_id in game["playerIds"]))
        for number, game in games.items()
        if not game["bye"]
    } == {
        17: (16, 17),
        18: (9, 24),
        21: (13, 20),
        22: (12, 21),
        25: (15, 18),
        26: (10, 23),
        29: (14, 19),
        30: (11, 22),
    }
    assert {number for number, game in games.items() if game["bye"]} == {16, 19, 20, 23, 24, 27, 28, 31}


@pytest.mark.both_databases
def test_games_won_are_the_points_of_a_match_until_it_is_decided(store: Store) -> None:
    desk = a_desk(store, "bracket", gamesPerRound=7)
    match, path = first_match(desk)
    first, second = match["playerIds"]
    body = {"games": {str(first): 2, str(second): 1}}
    counted = desk.do_and_undo("PUT", path + "/result", body, by="keeper")["data"]
    shown = ("status", "resultPoints", "resultPositions")
    assert [counted[name] for name in shown] == ["started", ["2.00", "1.00"], [None, None]]
    desk.ok("PUT", path + "/result", body, by="keeper")
    # A count goes on, whoever entered it.
    decided = desk.ok("PUT", path + "/result", {"games": {str(first): 4, str(second): 2}}, by="kiosk")["data"]
    assert [decided[name] for name in shown] == ["completed", ["4.00", "2.00"], [None, None]]
    desk.ok("PUT", path + "/result", {"games": {str(first): 4, str(second): 2}}, by="keeper")
    refusal = desk.expect_refusal(409, "PUT", path + "/result", {"games": {str(second): 4}}, by="keeper")
    assert refusal["code"] == "result-already-entered"
    given = desk.ok("PUT", path + "/result", {"resultPositions": [second, first]})["data"]
    assert [given[name] for name in shown] == ["completed", ["0.00", "1.00"], [second, first]]


def test_impossible_counts_are_refused_and_change_nothing(store: Store) -> None:
    desk = a_desk(store, "bracket", gamesPerRound=5)
    match, path = first_match(desk)
    first, second = match["playerIds"]
    for games in ({first: 4}, {first: 3, second: 3}, {99999: 1}, {first: -1}, {first: "two"}, [first]):
        errors = desk.expect_refusal(422, "PUT", path + "/result", {"games": games})["errors"]
        assert any(field.startswith("games") for field in errors), errors
    both = {"games": {first: 1}, "resultPositions": [first, second]}
    assert "resultPositions" in desk.expect_refusal(422, "PUT", path + "/result", both)["errors"]
    pair = a_desk(store)
    other = pair.open_round()[0]
    pair.expect_refusal(422, "PUT", f"/games/{other['gameId']}/result", {"games": {other["playerIds"][0]: 1}})


@pytest.mark.both_databases
def test_single_games_are_listed_recorded_corrected_and_deleted_below_their_match(store: Store) -> None:
    desk = a_desk(store, "bracket", gamesPerRound=3)
    match, path = first_match(desk)
    first, second = match["playerIds"]
    assert desk.ok("GET", path + "/legs")["data"] == []
    arena_id = desk.night.arena_ids[1]
    body = {"resultPositions": [second, first], "arenaId": arena_id}
    leg = desk.do_and_undo("POST", path + "/legs", body, by="keeper")["data"]
    assert (leg["leg"], leg["gameId"], leg["arenaId"]) == (1, match["gameId"], arena_id)
    assert leg["resultPositions"] == [second, first]
    desk.ok("POST", path + "/legs", body, by="keeper")
    assert desk.ok("GET", path)["data"]["resultPoints"] == ["0.00", "1.00"]
    # The match stays on its own arena.
    assert desk.ok("GET", path)["data"]["arenaId"] == match["arenaId"]
    desk.do_and_undo("PATCH", path + "/legs/1", {"arenaId": None}, by="keeper")
    desk.do_and_undo("DELETE", path + "/legs/1", by="keeper")
    desk.ok("POST", path + "/legs", {"resultPositions": [second, first]})
    legs = desk.ok("GET", path + "/legs")["data"]
    assert [(each["leg"], each["arenaId"]) for each in legs] == [(1, arena_id), (2, None)]
    decided = desk.ok("GET", path)["data"]
    assert (decided["status"], decided["resultPositions"]) == ("completed", [None, None])
    # Only the organizer changes a decided match.
    desk.expect_refusal(409, "PATCH", path + "/legs/1", {"resultPositions": [first, second]}, by="keeper")
    desk.ok("PATCH", path + "/legs/1", {"resultPositions": [first, second]})
    assert desk.ok("GET", path)["data"]["resultPoints"] == ["1.00", "1.00"]
    assert desk.ok("DELETE", path + "/legs/2")["data"]["leg"] == 2
    # Single games are never games of their own.
    assert len(desk.ok("GET", "/games")["data"]) == 2


def test_single_games_that_cannot_be_are_refused_with_a_sentence(store: Store) -> None:
    desk = a_desk(store, "bracket", gamesPerRound=3)
    match, path = first_match(desk)
    first, second = match["playerIds"]
    won = {"resultPositions": [first, second]}
    stranger = {"resultPositions": [first, desk.night.player_ids[1]]}
    assert "resultPositions" in desk.expect_refusal(422, "POST", path + "/legs", stranger)["errors"]
    assert "resultPositions" in desk.expect_refusal(422, "POST", path + "/legs", {})["errors"]
    assert "arenaId" in desk.expect_refusal(422, "POST", path + "/legs", {**won, "arenaId": 99999})["errors"]
    assert "winner" in desk.expect_refusal(422, "POST", path + "/legs", {**won, "winner": 1})["errors"]
    desk.ok("POST", path + "/legs", won)
    assert "resultPositions" in desk.expect_refusal(422, "PATCH", path + "/legs/1", {})["errors"]
    desk.expect_refusal(404, "PATCH", path + "/legs/2", won)
    desk.expect_refusal(404, "DELETE", path + "/legs/2")
    desk.expect_refusal(404, "GET", "/games/99999/legs")
    refusal = desk.expect_refusal(409, "PUT", path + "/result", {"games": {first: 2}})
    assert refusal["code"] == "counted-by-legs"
    desk.ok("POST", path + "/legs", won)
    assert desk.expect_refusal(409, "POST", path + "/legs", won)["code"] == "match-decided"
    for who, status in (("nobody", 401), ("reader", 403), ("stranger", 403), ("other", 403), ("player", 403)):
        desk.expect_refusal(status, "POST", path + "/legs", won, by=who)
    desk.ok("DELETE", path + "/result")
    desk.ok("PUT", path + "/result", {"games": {first: 1}})
    assert desk.expect_refusal(409, "POST", path + "/legs", won)["code"] == "counted-without-legs"
    short = a_desk(store, "bracket")
    _match, short_path = first_match(short)
    short_won = {"resultPositions": _match["playerIds"]}
    assert short.expect_refusal(409, "POST", short_path + "/legs", short_won)["code"] == "not-played-in-legs"
    desk.expect_refusal(400, "GET", f"/games/{_match['gameId']}/legs")


@pytest.mark.both_databases
@pytest.mark.parametrize("kind", ["bracket", "double_bracket"])
def test_summaries_and_csv_are_the_same_however_a_match_was_entered(store: Store, kind: str) -> None:
    answers = []
    for way in ("winner", "total", "legs"):
        desk = a_desk(store, kind, gamesPerRound=3, arenaAssignment="manual")
        _play(desk, way)
        desk.ok("POST", "/complete", {})
        answers.append(_sums(store, desk))
    assert answers[0] == answers[1] == answers[2]
    assert ",1.00," in answers[0][0]


def _play(desk: Desk, way: str) -> None:
    """Play to the end; the player who was added first wins each match by two games to one."""
    for number in range(20):
        open_games = [game for game in desk.ok("GET", "/games")["data"] if game["status"] == "started"]
        if not open_games:
            return
        game = open_games[0]
        path, (first, second) = f"/games/{game['gameId']}", sorted(game["playerIds"])
        free = [
            arena_id
            for arena_id in desk.night.arena_ids
            if arena_id not in {each["arenaId"] for each in open_games}
        ]
        desk.ok("PATCH", path, {"arenaId": free[number % len(free)]})
        if way == "winner":
            desk.ok("PUT", path + "/result", {"resultPositions": [first, second]})
        elif way == "total":
            desk.ok("PUT", path + "/result", {"games": {first: 2, second: 1}})
        else:
            for winner, loser in ((first, second), (second, first), (first, second)):
                desk.ok("POST", path + "/legs", {"resultPositions": [winner, loser]})


def _sums(store: Store, desk: Desk) -> tuple[Any, ...]:
    """The games CSV without ids and times, and all summaries, with ids from the first of each kind."""
    by, first_player, first_arena = desk.callers["owner"], desk.night.player_ids[0], desk.night.arena_ids[0]
    _status, csv = build.ask(store, f"{desk.path}/games/csv", by=by)
    lines = [line.split(",") for line in csv.splitlines()[1:]]
    sheet = "\n".join(",".join([*line[3:4], *line[5:6], *line[7:13]]) for line in lines)
    with store.read() as db:
        summaries = [
            sorted(
                (
                    values["arena_id"] - first_arena,
                    values.get("player_id", first_player) - first_player,
                    values.get("opponent_id", first_player) - first_player,
                    values["games"],
                    values.get("wins"),
                    values.get("losses"),
                )
                for values in db.execute(
                    select(table).where(table.c.tournament_id == desk.night.tournament_id)
                ).mappings()
            )
            for table in (tables.arena_summary, tables.player_arena_summary, tables.match_summary)
        ]
    standings = [
        (row["playerId"] - first_player, row["position"], row["points"])
        for row in build.ask(store, f"{desk.path}/standings", by=by)[1]
    ]
    return sheet, summaries, standings
