"""Corrections over HTTP: any result, with a reason and a preview. Source: formats, section 2."""

from typing import Any

import pytest

import build
from service.desk import Desk, a_desk
from silverball.service.journal.reads import verification
from silverball.store.database.engine import Store

REASON = {"reason": "The cards were swapped."}


def _play_round(desk: Desk) -> list[dict[str, Any]]:
    """The games of a new round, won by the first of each."""
    games = desk.open_round()
    for game in games:
        if not game["bye"]:
            desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})
    return games


def _verified(desk: Desk) -> Any:
    with desk.store.read() as db:
        return verification.verify_tournament(db, desk.night.tournament_id).faults


def _flipped(game: dict[str, Any]) -> dict[str, Any]:
    return {"resultPositions": game["playerIds"][::-1]}


def test_a_result_of_an_earlier_round_is_corrected_with_a_reason(store: Store) -> None:
    desk = a_desk(store, "matchplay", players=4)
    game = _play_round(desk)[0]
    later = [shown["playerIds"] for shown in _play_round(desk)]
    desk.open_round()
    path = f"/games/{game['gameId']}/result"
    refusal = desk.expect_refusal(409, "PUT", path, _flipped(game))
    assert refusal["code"] == "round-is-over"
    assert "with a reason" in refusal["message"]
    answer = desk.do_and_undo("PUT", path, {**_flipped(game), "correction": REASON})
    assert answer["data"]["resultPoints"] == ["0.00", "1.00"]
    correction = answer["correction"]
    assert (correction["dryRun"], correction["out"], correction["backIn"]) == (False, [], [])
    moved = {
        row["playerId"]: (row["before"]["points"], row["after"]["points"]) for row in correction["standings"]
    }
    winner, loser = game["playerIds"]
    assert float(moved[winner][0]) - 1 == float(moved[winner][1])
    assert float(moved[loser][0]) + 1 == float(moved[loser][1])
    desk.ok("PUT", path, {**_flipped(game), "correction": REASON})
    second_round = build.ask(store, f"{desk.path}/games", by=desk.callers["owner"])[1]["data"]
    assert all(players in [shown["playerIds"] for shown in second_round] for players in later)
    assert _verified(desk) == []


@pytest.mark.both_databases
def test_the_journal_keeps_the_reason(store: Store) -> None:
    desk = a_desk(store, "matchplay", players=4)
    game = _play_round(desk)[0]
    _play_round(desk)
    desk.ok("PUT", f"/games/{game['gameId']}/result", {**_flipped(game), "correction": REASON})
    newest = desk.ok("GET", "/journal")["data"][0]
    assert newest["changes"][0]["text"] == "A result was corrected. Reason: The cards were swapped."
    assert newest["canUndo"]
    logs = build.ask(
        store,
        f"/api/activity-logs?tournament={desk.night.tournament_id}&action=ResultCorrected",
        by=desk.callers["owner"],
    )
    assert len(logs[1]["data"]) == 1


def test_a_preview_stores_nothing_and_says_who_is_back_in(store: Store) -> None:
    desk = a_desk(store, "knockout", players=4, knockoutStrikeCount=1)
    game = _play_round(desk)[0]
    desk.open_round()
    path = f"/games/{game['gameId']}/result"
    before = desk.stored_state()
    preview = desk.ok("PUT", path, {**_flipped(game), "dryRun": True})
    assert desk.stored_state() == before
    assert preview["data"]["resultPositions"] == game["playerIds"]
    winner, loser = game["playerIds"]
    assert (preview["correction"]["out"], preview["correction"]["backIn"]) == ([winner], [loser])
    assert preview["correction"]["dryRun"]
    stored = desk.ok("PUT", path, {**_flipped(game), "correction": REASON})
    assert stored["correction"] == {**preview["correction"], "dryRun": False}
    assert _verified(desk) == []


def test_players_are_given_missed_rounds_and_taken_out_of_open_games(store: Store) -> None:
    desk = a_desk(store, "group_knockout", players=4, knockoutStrikeCount=1, knockoutFourPlayerStrikes=1)
    game = _play_round(desk)[0]
    opened = desk.open_round()[0]
    first, *middle, last = game["playerIds"]
    path = f"/games/{game['gameId']}/result"
    corrected = {"resultPositions": [last, *middle, first]}
    for wanted, field in (({"missedRounds": {first: 1}}, "missedRounds"), ({"takeOut": [last]}, "takeOut")):
        body = {**corrected, "correction": {**REASON, **wanted}}
        refusal = desk.expect_refusal(422, "PUT", path, body)
        assert list(refusal["errors"]) == [f"correction.{field}"]
    # A strike for the missed round puts them out again.
    struck = {**corrected, "dryRun": True, "correction": {"missedRounds": {last: 1}}}
    assert desk.ok("PUT", path, struck)["correction"]["backIn"] == []
    answer = desk.ok("PUT", path, {**corrected, "correction": {**REASON, "takeOut": [first]}})
    assert (answer["correction"]["out"], answer["correction"]["backIn"]) == ([first], [last])
    left = desk.ok("GET", f"/games/{opened['gameId']}")["data"]["playerIds"]
    assert sorted(left) == sorted(middle)
    assert _verified(desk) == []


def test_corrections_that_cannot_be_made_are_refused_in_a_sentence(store: Store) -> None:
    desk = a_desk(store, "matchplay", players=5)
    games = _play_round(desk)
    game = next(shown for shown in games if not shown["bye"])
    bye = next(shown for shown in games if shown["bye"])
    opened = next(shown for shown in desk.open_round() if not shown["bye"])
    path = f"/games/{game['gameId']}/result"
    for reason in ({}, {"reason": ""}, {"reason": "  "}, {"reason": None}):
        refusal = desk.expect_refusal(422, "PUT", path, {**_flipped(game), "correction": reason})
        assert list(refusal["errors"]) == ["correction.reason"]
    too_long = {**_flipped(game), "correction": {"reason": "x" * 501}}
    assert "correction.reason" in desk.expect_refusal(422, "PUT", path, too_long)["errors"]
    same = {"resultPositions": game["playerIds"], "correction": REASON}
    assert desk.expect_refusal(409, "PUT", path, same)["code"] == "correction-changes-nothing"
    new = {**_flipped(opened), "correction": REASON}
    assert (
        desk.expect_refusal(409, "PUT", f"/games/{opened['gameId']}/result", new)["code"]
        == "nothing-to-correct"
    )
    of_a_bye = {"resultPositions": bye["playerIds"], "correction": REASON}
    desk.expect_refusal(409, "PUT", f"/games/{bye['gameId']}/result", of_a_bye)
    desk.expect_refusal(404, "PUT", "/games/999999/result", new)
    for by, status in (("keeper", 403), ("player", 403), ("kiosk", 403), ("other", 403)):
        desk.expect_refusal(status, "PUT", path, {**_flipped(game), "correction": REASON}, by=by)
        desk.expect_refusal(status, "PUT", path, {**_flipped(game), "dryRun": True}, by=by)
    desk.ok("POST", "/complete")
    refusal = desk.expect_refusal(409, "PUT", path, {**_flipped(game), "correction": REASON})
    assert refusal["code"] == "tournament-is-completed"


@pytest.mark.both_databases
@pytest.mark.parametrize(("kind", "first", "second"), [("best_game", 500, 700), ("golf", 3, 5)])
def test_single_player_games_are_corrected_too(store: Store, kind: str, first: int, second: int) -> None:
    desk = a_desk(store, kind, players=2, suggestions="disabled")
    name = "score" if kind == "best_game" else "strokes"
    ids: list[int] = []
    for player_id in desk.night.player_ids:
        body: dict[str, Any] = {"playerId": player_id, name: first}
        if kind == "best_game":
            body["arenaId"] = desk.night.arena_ids[0]
        else:
            games = desk.ok("GET", "/single-player-games")["data"]
            body["roundId"] = min(game["roundId"] for game in games)
        ids.append(desk.ok("POST", "/single-player-games", body)["data"]["singlePlayerGameId"])
    path = f"/single-player-games/{ids[0]}"
    preview = desk.ok("PATCH", path, {name: second, "dryRun": True})
    assert preview["correction"]["standings"]
    answer = desk.do_and_undo("PATCH", path, {name: second, "correction": REASON})
    assert answer["correction"]["standings"] == preview["correction"]["standings"]
    assert (
        "correction.reason"
        in desk.expect_refusal(422, "PATCH", path, {name: second, "correction": {}})["errors"]
    )
    desk.expect_refusal(403, "PATCH", path, {name: second, "correction": REASON}, by="keeper")
    same = desk.expect_refusal(409, "PATCH", path, {name: first, "correction": REASON})
    assert same["code"] == "correction-changes-nothing"
    assert "correction" not in desk.ok("PATCH", path, {name: second})
    assert _verified(desk) == []
