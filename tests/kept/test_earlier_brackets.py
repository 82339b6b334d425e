"""Brackets that version 0.1.0 left in the middle of matches: upgraded, clean, and played to the end.

That version stored each single game of a match as a game. The file holds a best of three in mid-match (1), a
double elimination in best of five with no-shows (2), brackets of single games (3, 5), a completed best of
three (4) and a planned one (6), all verified clean by the version that wrote them.
"""

import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

import build
from silverball.service.verify import reads as verification
from silverball.store import journal, migrate, snapshot
from silverball.store.engine import Store

FILE = Path(__file__).parent / "brackets-0.1.0.db.xz"
MID_MATCH, DOUBLE, SINGLE_GAMES, COMPLETED, DOUBLE_SINGLE_GAMES, PLANNED = range(1, 7)
BEGUN = (MID_MATCH, DOUBLE, SINGLE_GAMES, COMPLETED, DOUBLE_SINGLE_GAMES)


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("brackets") / "earlier.db"
    path.write_bytes(lzma.decompress(FILE.read_bytes()))
    return path


@pytest.fixture
def unmigrated(earlier: Path, tmp_path: Path) -> Iterator[Store]:
    path = tmp_path / "silverball.db"
    path.write_bytes(earlier.read_bytes())
    store = Store(f"sqlite:///{path}")
    yield store
    store.close()


@pytest.fixture
def upgraded(unmigrated: Store) -> Store:
    migrate.migrate(unmigrated)
    return unmigrated


def faults(store: Store) -> dict[int, Any]:
    with store.read() as db:
        reports = [verification.verify_tournament(db, number) for number in range(1, 7)]
    return {report.tournament_id: report.faults for report in reports if report.faults}


def rows(store: Store, statement: str, tournament_id: int) -> list[Any]:
    with store.read() as db:
        return list(db.execute(text(statement), {"id": tournament_id}).mappings())


def owner_of(store: Store, tournament_id: int) -> Any:
    (row,) = rows(store, "SELECT organizer_id FROM tournament WHERE tournament_id = :id", tournament_id)
    return build.caller(row["organizer_id"], role="organizer", ability="manage")


def games_of(store: Store, tournament_id: int) -> list[dict[str, Any]]:
    by = owner_of(store, tournament_id)
    status, answer = build.ask(store, f"/api/tournaments/{tournament_id}/games", by=by)
    assert status == 200
    games: list[dict[str, Any]] = answer["data"]
    return games


def test_every_bracket_verifies_clean_after_the_upgrade(upgraded: Store) -> None:
    assert faults(upgraded) == {}


def test_each_match_is_one_game_with_the_games_that_were_played(unmigrated: Store) -> None:
    played = """
        SELECT game.round_id, game.set_number, seat.result_position AS winner, game.game_id, game.arena_id
        FROM game JOIN game_player AS seat ON seat.game_id = game.game_id AND seat.slot = 0
        WHERE game.tournament_id = :id AND NOT game.bye AND game.status = 'completed'
        AND (SELECT count(*) FROM game_player WHERE game_player.game_id = game.game_id) = 2
        ORDER BY game.game_id
    """
    before = rows(unmigrated, played, MID_MATCH)
    migrate.migrate(unmigrated)
    by = owner_of(unmigrated, MID_MATCH)
    games = {game["gameId"]: game for game in games_of(unmigrated, MID_MATCH)}
    numbers = [game["index"] for game in games.values()]
    assert len(set(numbers)) == len(numbers)
    # 11 players in a bracket of 16: seeds 12 to 16 are missing, so 1 to 5 have byes.
    byes = {game["index"] for game in games.values() if game["bye"]}
    assert byes == {8, 10, 11, 12, 14}
    first = [
        game for game in games.values() if game["roundId"] == min(each["roundId"] for each in games.values())
    ]
    assert {game["index"] for game in first if not game["bye"]} == {9, 13, 15}
    matches: dict[Any, list[Any]] = {}
    for row in before:
        matches.setdefault((row["round_id"], row["set_number"]), []).append(row)
    assert any(len(single_games) == 2 for single_games in matches.values())
    for single_games in matches.values():
        match = games[single_games[0]["game_id"]]
        path = f"/api/tournaments/{MID_MATCH}/games"
        legs = build.ask(unmigrated, f"{path}/{match['gameId']}/legs", by=by)[1]["data"]
        assert [(leg["resultPositions"][0], leg["arenaId"]) for leg in legs] == [
            (row["winner"], row["arena_id"]) for row in single_games
        ]
        won = [leg["resultPositions"][0] for leg in legs]
        counted = [f"{won.count(player_id)}.00" for player_id in match["playerIds"]]
        assert match["resultPoints"] == counted
        assert match["status"] == ("completed" if "2.00" in counted else "started")
        for row in single_games[1:]:
            assert build.ask(unmigrated, f"{path}/{row['game_id']}", by=by)[0] == 404


def test_standings_stay_and_followers_read_again(unmigrated: Store) -> None:
    channels = "SELECT tournament_id, epoch, revision FROM tournament WHERE tournament_id = :id"
    before = {number: rows(unmigrated, channels, number)[0] for number in range(1, 7)}
    places = "SELECT player_id, position, points FROM standing WHERE tournament_id = :id ORDER BY player_id"
    completed = rows(unmigrated, places, COMPLETED)
    migrate.migrate(unmigrated)
    assert rows(unmigrated, places, COMPLETED) == completed != []
    for number in range(1, 7):
        after = rows(unmigrated, channels, number)[0]
        assert (after["epoch"] != before[number]["epoch"]) is (number in BEGUN)
        assert (after["revision"] > before[number]["revision"]) is (number in BEGUN)


def test_undo_begins_after_the_upgrade(upgraded: Store) -> None:
    for number in BEGUN:
        with upgraded.read() as db:
            newest = journal.newest_actions(db, number, limit=1)[0]
        assert [name for name, _ in newest.entries] == [journal.MATCHES_MERGED]
        by = owner_of(upgraded, number)
        path = f"/api/tournaments/{number}"
        if number == COMPLETED:
            continue
        status, refusal, _ = build.do(upgraded, "POST", path + "/undo", {"action": newest.action_id}, by=by)
        assert (status, refusal["code"]) == (409, "nothing-to-undo")
        lines = build.ask(upgraded, path + "/journal", by=by)
        assert lines[0] == 200


def play_to_the_end(store: Store, number: int) -> int:
    """Play all open matches and return the number of requests; matches that were begun go on game by game."""
    by, path = owner_of(store, number), f"/api/tournaments/{number}/games"
    for actions in range(80):
        game = next((game for game in games_of(store, number) if game["status"] == "started"), None)
        if game is None:
            return actions
        method, end = ("POST", "legs") if any(game["resultPoints"]) else ("PUT", "result")
        body = {"resultPositions": game["playerIds"]}
        status, answer, _ = build.do(store, method, f"{path}/{game['gameId']}/{end}", body, by=by)
        assert status in {200, 201}, answer
    raise AssertionError("the bracket does not end")


@pytest.mark.parametrize("number", [MID_MATCH, DOUBLE, SINGLE_GAMES, DOUBLE_SINGLE_GAMES])
def test_a_bracket_in_mid_match_is_played_to_the_end_and_taken_back(upgraded: Store, number: int) -> None:
    by, path = owner_of(upgraded, number), f"/api/tournaments/{number}"
    with upgraded.read() as db:
        beginning = snapshot.load(db, number)
    actions = play_to_the_end(upgraded, number)
    assert faults(upgraded) == {}
    with upgraded.read() as db:
        newest = journal.newest_actions(db, number, limit=1)[0].action_id
    for action_id in range(newest, newest - actions, -1):
        assert build.do(upgraded, "POST", path + "/undo", {"action": action_id}, by=by)[0] == 200
    assert faults(upgraded) == {}
    with upgraded.read() as db:
        assert snapshot.load(db, number) == beginning
    play_to_the_end(upgraded, number)
    status, answer, _ = build.do(upgraded, "POST", path + "/complete", {}, by=by)
    assert status == 200, answer
    assert faults(upgraded) == {}
    placed = {row["playerId"] for row in build.ask(upgraded, path + "/standings", by=by)[1]}
    assert placed == {entrant.player_id for entrant in beginning.entrants}
