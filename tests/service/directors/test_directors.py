"""Directors: several people run a night, one owns it. Source: interface.md 3, pages.md 2."""

import pytest

import build
from service.desk import Desk, a_desk
from silverball.store.database.engine import Store


def directed_by_other(desk: Desk) -> str:
    """Make `other` a director; returns the path of their row."""
    path = f"/directors/{desk.callers['other'].user_id}"
    desk.ok("PUT", path)
    return path


def directors_of(desk: Desk) -> list[str]:
    answer = build.ask(desk.store, f"{desk.path}?includeDirectors=1", by=desk.callers["owner"])[1]["data"]
    return [user["name"] for user in answer["directors"]]


def test_a_director_does_all_that_the_organizer_does(store: Store) -> None:
    desk = a_desk(store, "matchplay", players=8, arenas=4)
    desk.expect_refusal(403, "POST", "/rounds", {}, by="other")
    path = f"/directors/{desk.callers['other'].user_id}"
    desk.do_and_undo("PUT", path)
    assert directors_of(desk) == []
    desk.ok("PUT", path)
    assert directors_of(desk) == ["Otto Tilt"]
    games = desk.ok("POST", "/rounds", {}, by="other")["games"]
    result = {"resultPositions": games[0]["playerIds"]}
    desk.ok("PUT", f"/games/{games[0]['gameId']}/result", result, by="other")
    desk.ok("PATCH", "", {"name": "Renamed by two"}, by="other")
    lines = build.ask(store, f"{desk.path}/journal", by=desk.callers["other"])[1]["data"]
    assert lines[0]["actorId"] == desk.callers["other"].user_id


def test_only_the_owner_deletes_and_chooses_directors_and_directors_may_resign(store: Store) -> None:
    desk = a_desk(store, "matchplay", starts=False)
    path = directed_by_other(desk)
    desk.expect_refusal(403, "DELETE", "", by="other")
    desk.expect_refusal(403, "PUT", f"/directors/{desk.callers['keeper'].user_id}", by="other")
    desk.expect_refusal(403, "DELETE", f"/directors/{desk.callers['owner'].user_id}", by="other")
    # Between an action and its opposite: otherwise the two count as taken back, and undo passes over them.
    desk.ok("PATCH", "", {"name": "Directed by two"})
    desk.do_and_undo("DELETE", path)
    desk.ok("DELETE", path, by="other")
    assert directors_of(desk) == []
    desk.expect_refusal(403, "POST", "/start", by="other")
    desk.expect_refusal(404, "DELETE", path)


def test_a_players_account_cannot_direct_and_the_organizer_does_already(store: Store) -> None:
    desk = a_desk(store, "matchplay")
    refusal = desk.expect_refusal(409, "PUT", f"/directors/{desk.callers['keeper'].user_id}")
    assert refusal["message"] == (
        "Keeper is not an organizer on this server, so they cannot direct. An administrator can change that."
    )
    refusal = desk.expect_refusal(409, "PUT", f"/directors/{desk.callers['owner'].user_id}")
    assert refusal["message"] == "The organizer of the tournament directs it already."
    desk.expect_refusal(404, "PUT", "/directors/999999")


@pytest.mark.both_databases
def test_a_scorekeeper_becomes_a_director_and_is_no_scorekeeper_to_take_out(store: Store) -> None:
    desk = a_desk(store, "matchplay")
    keeper = f"/scorekeepers/{desk.callers['other'].user_id}"
    desk.ok("PUT", keeper)
    directed_by_other(desk)
    desk.expect_refusal(404, "DELETE", keeper)
    assert directors_of(desk) == ["Otto Tilt"]


def test_two_directors_who_open_a_round_at_once_open_one(store: Store) -> None:
    desk = a_desk(store, "matchplay", players=8, arenas=4)
    directed_by_other(desk)
    desk.ok("POST", "/rounds", {})
    refusal = desk.expect_refusal(409, "POST", "/rounds", {}, by="other")
    assert "Round 1" in refusal["message"]
