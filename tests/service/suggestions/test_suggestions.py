"""Results that players report over HTTP. Source: formats, 10."""

from typing import Any

import pytest

from service.desk import Desk, a_desk
from silverball.service.journal.reads import verification
from silverball.store.database.engine import Store


def my_game(desk: Desk) -> dict[str, Any]:
    """The game of the player who has an account."""
    return next(game for game in desk.open_round() if desk.night.player_ids[0] in game["playerIds"])


def positions(game: dict[str, Any], *, flip: bool = False) -> dict[str, Any]:
    return {"resultPositions": game["playerIds"][::-1] if flip else game["playerIds"]}


def test_a_suggestion_waits_for_approval(store: Store) -> None:
    desk = a_desk(store, suggestions="restricted")
    game = my_game(desk)
    path = f"/games/{game['gameId']}/suggestions"
    desk.do_and_undo("POST", path, positions(game), by="player")
    shown = desk.ok("POST", path, positions(game, flip=True), by="player")["data"]
    (suggestion,) = shown["suggestions"]
    assert (shown["status"], suggestion["results"]) == ("started", game["playerIds"][::-1])
    assert (suggestion["playerId"], suggestion["userId"]) == (
        desk.night.player_ids[0],
        desk.callers["player"].user_id,
    )
    approve = f"/suggestions/{suggestion['suggestionId']}/approve"
    for who, status in [("nobody", 401), ("reader", 403), ("player", 403), ("other", 403)]:
        desk.expect_refusal(status, "POST", approve, by=who)
    done = desk.do_and_undo("POST", approve, by="keeper")["data"]
    assert (done["status"], done["resultPositions"], done["suggestions"]) == (
        "completed",
        game["playerIds"][::-1],
        [],
    )


def test_a_suggestion_is_declined_or_withdrawn(store: Store) -> None:
    desk = a_desk(store, suggestions="restricted")
    game = my_game(desk)
    shown = desk.ok("POST", f"/games/{game['gameId']}/suggestions", positions(game), by="player")["data"]
    path = f"/suggestions/{shown['suggestions'][0]['suggestionId']}"
    desk.expect_refusal(403, "DELETE", path, by="stranger")
    for who in ("player", "keeper", "owner"):
        assert desk.do_and_undo("DELETE", path, by=who)["data"]["suggestions"] == []
    desk.expect_refusal(404, "DELETE", "/suggestions/99999")
    desk.expect_refusal(404, "POST", "/suggestions/99999/approve")


@pytest.mark.both_databases
def test_the_first_automatic_suggestion_is_the_result_and_the_next_one_a_mismatch(store: Store) -> None:
    desk = a_desk(store, suggestions="automatic")
    game = my_game(desk)
    path = f"/games/{game['gameId']}/suggestions"
    done = desk.do_and_undo("POST", path, positions(game), by="player")["data"]
    assert (done["status"], done["resultCountMismatch"]) == ("completed", False)
    desk.ok("POST", path, positions(game), by="player")
    before = desk.stored_state()
    desk.ok("POST", path, positions(game), by="player")
    assert desk.stored_state() == before
    late = desk.do_and_undo("POST", path, positions(game, flip=True), by="player")["data"]
    assert (late["resultCountMismatch"], late["resultPositions"]) == (True, game["playerIds"])
    suggestion = desk.ok("POST", path, positions(game, flip=True), by="player")["data"]["suggestions"][0]
    approve = f"/suggestions/{suggestion['suggestionId']}/approve"
    assert "Player entered" in desk.expect_refusal(409, "POST", approve, by="keeper")["message"]
    changed = desk.do_and_undo("POST", approve)["data"]
    assert (changed["resultCountMismatch"], changed["resultPositions"]) == (False, game["playerIds"][::-1])
    assert (
        desk.do_and_undo("DELETE", f"/suggestions/{suggestion['suggestionId']}")["data"][
            "resultCountMismatch"
        ]
        is False
    )
    # Entering the result again settles the reports.
    settled = desk.ok("PUT", f"/games/{game['gameId']}/result", positions(game, flip=True))["data"]
    assert (settled["resultCountMismatch"], settled["suggestions"]) == (False, [])


def test_suggestions_that_are_refused(store: Store) -> None:
    desk = a_desk(store, suggestions="restricted")
    game = my_game(desk)
    path = f"/games/{game['gameId']}/suggestions"
    for who, status in [("nobody", 401), ("reader", 403), ("stranger", 403), ("keeper", 403), ("owner", 403)]:
        desk.expect_refusal(status, "POST", path, positions(game), by=who)
    for body in ({}, {"resultPositions": game["playerIds"][:1]}, {"forfeit": game["playerIds"][0]}):
        desk.expect_refusal(422, "POST", path, body, by="player")
    desk.expect_refusal(404, "POST", "/games/99999/suggestions", positions(game), by="player")
    off = a_desk(store)
    own = my_game(off)
    told = off.expect_refusal(409, "POST", f"/games/{own['gameId']}/suggestions", positions(own), by="player")
    assert "no suggested results" in told["message"]


def test_a_game_takes_twenty_suggestions(store: Store) -> None:
    desk = a_desk(store, suggestions="restricted")
    game = my_game(desk)
    path = f"/games/{game['gameId']}/suggestions"
    for _ in range(20):
        desk.ok("POST", path, positions(game), by="player")
    assert "20 suggestions" in desk.expect_refusal(409, "POST", path, positions(game), by="player")["message"]


def test_a_report_does_not_hide_the_organizers_own_last_action(store: Store) -> None:
    desk = a_desk(store, suggestions="restricted")
    game = my_game(desk)
    opened = desk.ok("GET", "/journal")["data"][0]
    assert "RoundOpened" in {change["change"] for change in opened["changes"]}
    desk.ok("POST", f"/games/{game['gameId']}/suggestions", positions(game), by="player")
    report = desk.ok("GET", "/journal")["data"][0]
    assert report["canUndo"]
    # Undo passes over the report: the round goes, and with its game the report.
    desk.ok("POST", "/undo", {"action": opened["actionId"]})
    assert desk.ok("GET", "/rounds")["data"] == []
    desk.expect_refusal(409, "POST", "/undo", {"action": report["actionId"]})
    assert_valid(store, desk)


def assert_valid(store: Store, desk: Desk) -> None:
    with store.read() as db:
        assert list(verification.verify_tournament(db, desk.night.tournament_id).faults) == []


def test_a_report_alone_can_still_be_undone(store: Store) -> None:
    desk = a_desk(store, suggestions="restricted")
    game = my_game(desk)
    desk.ok("POST", f"/games/{game['gameId']}/suggestions", positions(game), by="player")
    report = desk.ok("GET", "/journal")["data"][0]["actionId"]
    desk.ok("POST", "/undo", {"action": report})
    assert desk.ok("GET", f"/games/{game['gameId']}")["data"]["suggestions"] == []
