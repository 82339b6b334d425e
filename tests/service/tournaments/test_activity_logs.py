"""GET /api/activity-logs. Source: interface.md 1."""

from typing import Any

import pytest

import build
from service.desk import Desk, a_desk
from silverball.store.database.engine import Store

LIST = "/api/activity-logs"


@pytest.fixture
def desk(store: Store) -> Desk:
    return a_desk(store)


def ask(desk: Desk, query: str = "", *, by: str = "owner") -> Any:
    status, body, _ = build.do(desk.store, "GET", LIST + query, by=desk.callers[by])
    return status, body


def lines(desk: Desk, query: str = "", *, by: str = "owner") -> list[dict[str, Any]]:
    status, body = ask(desk, query, by=by)
    assert status == 200, body
    found: list[dict[str, Any]] = body["data"]
    return found


def test_a_result_is_a_line_with_its_players_newest_first(desk: Desk) -> None:
    game = desk.open_round()[0]
    desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})
    tournament_id = desk.night.tournament_id
    newest, *older = lines(desk, f"?tournament={tournament_id}")
    assert newest == {
        "activityLogId": newest["activityLogId"],
        "tournamentId": tournament_id,
        "action": "GameCompleted",
        "playerIds": game["playerIds"],
        "createdAt": "2026-03-05T19:30:00.000000Z",
    }
    numbers = [line["activityLogId"] for line in (newest, *older)]
    assert numbers == sorted(numbers, reverse=True)
    assert {"TournamentStarted", "RoundOpened", "GameOpened"} <= {line["action"] for line in older}


def test_a_change_of_the_tournament_itself_is_about_no_player(desk: Desk) -> None:
    desk.ok("PATCH", "", {"name": "Friday"})
    newest = lines(desk)[0]
    assert (newest["action"], newest["playerIds"]) == ("TournamentEdited", [])


@pytest.mark.both_databases
def test_lines_are_filtered_by_the_name_of_the_change(desk: Desk) -> None:
    desk.open_round()
    assert {line["action"] for line in lines(desk, "?action=GameOpened")} == {"GameOpened"}
    status, body = ask(desk, "?action=Nonsense")
    assert (status, list(body["errors"])) == (422, ["action"])


def test_without_a_tournament_the_lines_of_all_own_tournaments_are_listed(desk: Desk) -> None:
    organizer_id = desk.night.organizer_id
    other = build.a_tournament(desk.store, status="planned", organizer_id=organizer_id)
    path = f"/api/tournaments/{other.tournament_id}"
    assert build.do(desk.store, "PATCH", path, {"name": "Second"}, by=desk.callers["owner"])[0] == 200
    assert {line["tournamentId"] for line in lines(desk)} == {desk.night.tournament_id, other.tournament_id}
    assert lines(desk, by="other") == []


def test_twenty_five_lines_are_on_a_page(desk: Desk) -> None:
    for number in range(26):
        desk.ok("PATCH", "", {"name": f"Friday {number}"})
    _, body = ask(desk, "?action=TournamentEdited")
    assert (len(body["data"]), body["meta"]["total"], body["meta"]["per_page"]) == (25, 26, 25)
    _, body = ask(desk, "?action=TournamentEdited&page=2")
    assert (len(body["data"]), body["links"]["next"]) == (1, None)


@pytest.mark.both_databases
def test_only_the_organizer_and_admins_see_the_lines_of_a_tournament(desk: Desk) -> None:
    query = f"?tournament={desk.night.tournament_id}"
    expected = {"owner": 200, "admin": 200, "keeper": 403, "reader": 403, "other": 403}
    assert {by: ask(desk, query, by=by)[0] for by in expected} == expected
    assert ask(desk, "?tournament=99999999")[0] == 422
