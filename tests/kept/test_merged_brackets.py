"""Brackets of version 0.1.0, in the middle of matches, that 0.2.0 has brought to one game for each match.

The file holds a best of three in mid-match (1), a double elimination in best of five with no-shows (2),
brackets of single games (3, 5), a completed best of three (4) and a planned one (6). Their journals begin
anew with `MatchesMerged`.
"""

import lzma
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import text

import build
from silverball.exchange.bundle import file as bundle_file
from silverball.exchange.bundle.checks import BrokenBundle
from silverball.service.journal.reads import verification
from silverball.store.database import migrate
from silverball.store.database.engine import Store
from silverball.store.tournament import journal, snapshot

FILE = Path(__file__).parent / "brackets-0.2.0.db.xz"
UNMERGED_BUNDLE = Path(__file__).parent / "bracket-0.1.0.json.xz"
MID_MATCH, DOUBLE, SINGLE_GAMES, COMPLETED, DOUBLE_SINGLE_GAMES, PLANNED = range(1, 7)
BEGUN = (MID_MATCH, DOUBLE, SINGLE_GAMES, COMPLETED, DOUBLE_SINGLE_GAMES)


@pytest.fixture
def merged(tmp_path: Path) -> Iterator[Store]:
    path = tmp_path / "silverball.db"
    path.write_bytes(lzma.decompress(FILE.read_bytes()))
    store = Store(f"sqlite:///{path}")
    migrate.migrate(store)
    yield store
    store.close()


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


def test_every_bracket_verifies_clean(merged: Store) -> None:
    assert faults(merged) == {}


def test_undo_begins_after_the_merging(merged: Store) -> None:
    for number in BEGUN:
        with merged.read() as db:
            newest = journal.newest_actions(db, number, limit=1)[0]
        assert [name for name, _ in newest.entries] == [journal.MATCHES_MERGED]
        by = owner_of(merged, number)
        path = f"/api/tournaments/{number}"
        if number == COMPLETED:
            continue
        status, refusal, _ = build.do(merged, "POST", path + "/undo", {"action": newest.action_id}, by=by)
        assert (status, refusal["code"]) == (409, "nothing-to-undo")
        lines = build.ask(merged, path + "/journal", by=by)
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
def test_a_bracket_in_mid_match_is_played_to_the_end_and_taken_back(merged: Store, number: int) -> None:
    by, path = owner_of(merged, number), f"/api/tournaments/{number}"
    with merged.read() as db:
        beginning = snapshot.load(db, number)
    actions = play_to_the_end(merged, number)
    assert faults(merged) == {}
    with merged.read() as db:
        newest = journal.newest_actions(db, number, limit=1)[0].action_id
    for action_id in range(newest, newest - actions, -1):
        assert build.do(merged, "POST", path + "/undo", {"action": action_id}, by=by)[0] == 200
    assert faults(merged) == {}
    with merged.read() as db:
        assert snapshot.load(db, number) == beginning
    play_to_the_end(merged, number)
    status, answer, _ = build.do(merged, "POST", path + "/complete", {}, by=by)
    assert status == 200, answer
    assert faults(merged) == {}
    placed = {row["playerId"] for row in build.ask(merged, path + "/standings", by=by)[1]}
    assert placed == {entrant.player_id for entrant in beginning.entrants}


def test_a_bundle_with_a_game_for_each_single_game_is_refused_with_a_sentence(store: Store) -> None:
    content = lzma.decompress(UNMERGED_BUNDLE.read_bytes())
    file = bundle_file.parse(content, "bracket.json")
    with pytest.raises(BrokenBundle, match=r"Import the file with 0\.2\.0"), store.write() as transaction:
        bundle_file.import_bundle(transaction, file, now=build.NOW, dice=Random(1))
