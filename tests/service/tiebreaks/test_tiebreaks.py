"""Ties broken over HTTP, by a game and by hand. Source: formats, 13.4."""

import csv
import json
from collections import Counter

import pytest

import build
from exchange import bundles
from service.desk import Desk, a_desk
from silverball.service.journal.reads import verification
from silverball.store.database.engine import Store
from silverball.store.tournament import snapshot


def a_tied_night(store: Store) -> tuple[Desk, list[int]]:
    """A night of four after one round, and its two winners."""
    desk = a_desk(store)
    games = desk.open_round()
    for game in games:
        desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})
    return desk, [game["playerIds"][0] for game in games]


def place(desk: Desk, player_id: int) -> int:
    return int(json.loads(desk.standings()[player_id])["position"])


def test_a_tiebreak_game_separates_two_players(store: Store) -> None:
    desk, winners = a_tied_night(store)
    desk.do_and_undo("POST", "/tiebreaks", {"playerIds": winners})
    (game,) = desk.ok("POST", "/tiebreaks", {"playerIds": winners})["data"]
    desk.do_and_undo("PUT", f"/games/{game['gameId']}/result", {"resultPositions": winners[::-1]})
    desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": winners[::-1]})
    assert [place(desk, player_id) for player_id in winners] == [2, 1]
    desk.do_and_undo("DELETE", f"/games/{game['gameId']}")


@pytest.mark.both_databases
def test_a_tiebreak_game_is_marked_wherever_a_game_is_shown(store: Store) -> None:
    desk, winners = a_tied_night(store)
    (opened,) = desk.ok("POST", "/tiebreaks", {"playerIds": winners})["data"]
    game_id = opened["gameId"]
    desk.ok("PUT", f"/games/{game_id}/result", {"resultPositions": winners[::-1]})
    for query in ("", "?status=completed"):
        games = desk.ok("GET", f"/games{query}")["data"]
        assert [game["gameId"] for game in games if game.get("tiebreak")] == [game_id]
        assert all(game["tiebreak"] is True for game in games if "tiebreak" in game)
    assert desk.ok("GET", f"/games/{game_id}")["data"]["tiebreak"] is True
    everywhere = f"/api/games?tournaments={desk.night.tournament_id}"
    events = [json.loads(event.data) for event in desk.mirror.seen]
    for games in (
        build.ask(store, everywhere, by=1)[1]["data"],
        [game for game in events if "gameId" in game],
        bundles.export_bundle(store, desk.night.tournament_id)["games"],
    ):
        assert {game["gameId"] for game in games if game.get("tiebreak")} == {game_id}
        assert {game["gameId"] for game in games if "tiebreak" not in game}.isdisjoint({game_id})


@pytest.mark.parametrize("version", ["this one", "before 0.3.0", "the published interface"])
def test_a_tiebreak_game_comes_along_in_the_files_of_each_version(store: Store, version: str) -> None:
    desk, winners = a_tied_night(store)
    (game,) = desk.ok("POST", "/tiebreaks", {"playerIds": winners})["data"]
    file = bundles.export_bundle(store, desk.night.tournament_id)
    if version == "before 0.3.0":
        for each in file["games"]:
            each.pop("tiebreak", None)
        plain = {"forfeitedBy": None, "finishingOrder": None}
        file["engine"]["games"] = [{"gameId": game["gameId"], "isTiebreak": True, **plain}]
    elif version == "the published interface":
        del file["engine"]
    imported = bundles.import_bundle(store, file, new_ids=True)
    with store.read() as db:
        games = snapshot.load(db, imported.tournament_id).games
    assert [each.is_tiebreak for each in games] == [False, False, True]


def test_the_points_of_games_without_tiebreaks_sum_to_the_standings(store: Store) -> None:
    desk, winners = a_tied_night(store)
    (game,) = desk.ok("POST", "/tiebreaks", {"playerIds": winners})["data"]
    desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": winners})
    points: Counter[int] = Counter()
    text = build.ask(store, f"{desk.path}/games/csv", by=1)[1]
    rows = list(csv.DictReader(text.splitlines()))
    for row in rows:
        points[int(row["Player ID"])] += int(float(row["Points"])) if row["Tiebreak"] == "false" else 0
    assert points == {row["playerId"]: int(float(row["points"])) for row in desk.ok("GET", "/standings")}
    assert [row["Game ID"] for row in rows if row["Tiebreak"] == "true"] == [str(game["gameId"])] * 2
    assert list(rows[0])[-1] == "Tiebreak"


def test_tied_players_are_ordered_by_hand_and_share_again(store: Store) -> None:
    desk, winners = a_tied_night(store)
    desk.do_and_undo("POST", "/tiebreaks", {"order": winners[::-1]})
    rows = desk.ok("POST", "/tiebreaks", {"order": winners[::-1]})["data"]
    assert [row["playerId"] for row in rows[:2]] == winners[::-1]
    # Between an action and its opposite: otherwise the two count as taken back, and undo passes over them.
    desk.ok("PATCH", "", {"name": "Nobody is tied"})
    desk.do_and_undo("POST", "/tiebreaks", {"forget": winners})
    desk.ok("POST", "/tiebreaks", {"forget": winners})
    assert [place(desk, player_id) for player_id in winners] == [1, 1]


def test_players_who_are_not_tied_are_refused(store: Store) -> None:
    desk, winners = a_tied_night(store)
    losers = [player_id for player_id in desk.night.player_ids if player_id not in winners]
    desk.expect_refusal(409, "POST", "/tiebreaks", {"playerIds": [winners[0], losers[0]]})
    desk.expect_refusal(409, "POST", "/tiebreaks", {"order": desk.night.player_ids})
    desk.expect_refusal(422, "POST", "/tiebreaks", {"playerIds": [winners[0]]})
    desk.expect_refusal(422, "POST", "/tiebreaks", {"playerIds": [winners[0], winners[0]]})
    desk.expect_refusal(422, "POST", "/tiebreaks", {})
    desk.expect_refusal(422, "POST", "/tiebreaks", {"order": winners, "playerIds": winners})
    desk.expect_refusal(404, "POST", "/tiebreaks", {"order": [winners[0], 99999]})


def test_more_than_four_play_several_games_compared_by_score(store: Store) -> None:
    desk = a_desk(store, players=6)
    tied = desk.night.player_ids
    games = desk.ok("POST", "/tiebreaks", {"playerIds": tied})["data"]
    assert [len(game["playerIds"]) for game in games] == [3, 3]
    refused = {"resultPositions": games[0]["playerIds"]}
    desk.expect_refusal(422, "PUT", f"/games/{games[0]['gameId']}/result", refused)
    scores = {player_id: 1000 - place for place, player_id in enumerate(tied)}
    for game in games:
        own = {str(player_id): scores[player_id] for player_id in game["playerIds"]}
        desk.do_and_undo("PUT", f"/games/{game['gameId']}/result", {"resultScores": own})
        desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultScores": own})
    assert [place(desk, player_id) for player_id in tied] == [1, 2, 3, 4, 5, 6]
    with store.read() as db:
        assert not verification.verify_tournament(db, desk.night.tournament_id).faults


def test_tied_players_are_drawn_on_purpose(store: Store) -> None:
    desk, winners = a_tied_night(store)
    desk.do_and_undo("POST", "/tiebreaks", {"draw": winners})
    desk.ok("POST", "/tiebreaks", {"draw": winners})
    assert sorted(place(desk, player_id) for player_id in winners) == [1, 2]
    drawn = {row["playerId"] for row in desk.ok("GET", "/standings") if row.get("drawnByLot")}
    assert drawn == set(winners)
    (newest, *_) = desk.ok("GET", "/journal")["data"]
    assert all("was drawn by lot: " in line["text"] for line in newest["changes"])
    desk.expect_refusal(422, "POST", "/tiebreaks", {"draw": winners, "order": winners})
    with store.read() as db:
        assert not verification.verify_tournament(db, desk.night.tournament_id).faults


@pytest.mark.both_databases
def test_an_order_by_hand_takes_the_place_of_a_drawn_one(store: Store) -> None:
    desk, winners = a_tied_night(store)
    desk.ok("POST", "/tiebreaks", {"draw": winners})
    desk.do_and_undo("POST", "/tiebreaks", {"order": winners})
    rows = desk.ok("POST", "/tiebreaks", {"order": winners})["data"]
    assert not any("drawnByLot" in row for row in rows)
    desk.ok("POST", "/tiebreaks", {"draw": winners})
    rows = desk.ok("POST", "/tiebreaks", {"forget": winners})["data"]
    assert not any("drawnByLot" in row for row in rows)
