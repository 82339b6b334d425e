"""A call does not hide a result from undo. Source: pages, 2 ("The undo line")."""

from service.desk import Desk, a_desk
from silverball.service.journal.reads import journal
from silverball.store.database.engine import Store


def last_action_id(desk: Desk) -> int:
    """The action that the console offers to undo."""
    query = journal.JournalQuery()
    with desk.store.read() as db:
        last = journal.journal_page(db, desk.night.tournament_id, query, desk.callers["owner"]).last
    assert last is not None
    return last.action.action_id


def test_a_result_is_undone_below_a_later_call(store: Store) -> None:
    desk = a_desk(store, "matchplay", players=8, arenas=4)
    desk.ok("POST", "/rounds", {})
    first, second, *_ = desk.ok("GET", "/games")["data"]
    desk.ok("PUT", f"/games/{first['gameId']}/result", {"resultPositions": first["playerIds"]})
    recorded = last_action_id(desk)
    called = desk.ok("POST", f"/games/{second['gameId']}/call")["data"]["calledGames"]
    assert last_action_id(desk) == recorded
    desk.ok("POST", "/undo", {"action": recorded})
    assert desk.ok("GET", "/timer")["data"]["calledGames"] == called
    assert desk.ok("GET", f"/games/{first['gameId']}")["data"]["status"] == "started"


def test_an_opened_round_is_not_undone_below_a_call_in_it(store: Store) -> None:
    desk = a_desk(store, "matchplay", players=8, arenas=4)
    desk.ok("POST", "/rounds", {})
    game, *_ = desk.ok("GET", "/games")["data"]
    desk.ok("POST", f"/games/{game['gameId']}/call")
    called = last_action_id(desk)
    desk.expect_refusal(409, "POST", "/undo", {"action": called - 1})
    desk.ok("POST", "/undo", {"action": called})
    assert desk.ok("GET", "/timer")["data"]["calledGames"] == []
