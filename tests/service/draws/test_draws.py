"""GET .../draws and its page: how each round was drawn, in a person's words. Source: formats, section 2."""

from typing import Any

import build
from service.desk import Desk, a_desk
from silverball.store.database.engine import Store


def draws_of(desk: Desk) -> Any:
    return build.ask(desk.store, f"{desk.path}/draws", by=desk.callers["reader"])[1]["data"]


def play_round(desk: Desk) -> None:
    for game in desk.ok("GET", "/games?status=started")["data"]:
        desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})


def test_an_untouched_draw_says_so(store: Store) -> None:
    desk = a_desk(store, players=8)
    desk.open_round()
    (drawn,) = draws_of(desk)["rounds"]
    assert (drawn["dryRuns"], drawn["redraws"], drawn["swaps"], drawn["takes"]) == (0, 0, 0, 0)
    assert drawn["text"].startswith("8 players were drawn: ")
    assert drawn["text"].endswith(
        "Nobody looked at the draw before, asked for another one or changed it by hand."
    )


def test_dry_runs_redraws_swaps_and_rounds_taken_back_are_counted(store: Store) -> None:
    desk = a_desk(store, players=8)
    before = desk.stored_state()
    for _ in range(2):
        desk.ok("POST", "/rounds", {"dryRun": True})
    assert desk.stored_state() == before
    assert draws_of(desk)["rounds"] == []
    desk.open_round()
    desk.undo()
    desk.ok("POST", "/rounds", {"dryRun": True})
    first, second, *_ = desk.ok("POST", "/rounds", {"redraw": True})["games"]
    swap = {"playerId": first["playerIds"][0], "withPlayerId": second["playerIds"][0]}
    desk.ok("PATCH", f"/games/{first['gameId']}", {"swap": swap})
    (drawn,) = draws_of(desk)["rounds"]
    assert (drawn["dryRuns"], drawn["redraws"], drawn["swaps"], drawn["takes"]) == (3, 1, 1, 1)
    assert drawn["text"].endswith(
        "The draw was looked at 3 times before it was made, asked for with other dice once, "
        "taken back once and made again and changed by hand once: players were swapped."
    )
    play_round(desk)
    desk.open_round()
    assert [round_["swaps"] for round_ in draws_of(desk)["rounds"]] == [1, 0]


def test_a_tournament_without_a_commitment_says_so(store: Store) -> None:
    desk = a_desk(store)
    drawn = draws_of(desk)
    assert drawn["commitments"] == []
    assert "drawn before commitments" in drawn["text"]


def test_the_seed_is_shown_with_its_hash_once_the_tournament_is_completed(store: Store) -> None:
    organizer = build.caller(build.a_user(store, role="organizer"), role="organizer", ability="manage")
    body = {"name": "Thursday", "type": "matchplay"}
    made = build.do(store, "POST", "/api/tournaments", body, by=organizer)[1]["data"]
    path = f"/api/tournaments/{made['tournamentId']}"
    names = {"players": [{"name": f"Player {number}"} for number in range(4)]}
    for change, sent in (("players", names), ("start", {}), ("rounds", {})):
        assert build.do(store, "POST", f"{path}/{change}", sent, by=organizer)[0] < 300
    (hidden,) = build.ask(store, f"{path}/draws", by=organizer)[1]["data"]["commitments"]
    assert (hidden["seed"], hidden["actionId"]) == (None, 1)
    build.do(store, "POST", f"{path}/complete", {}, by=organizer)
    (shown,) = build.ask(store, f"{path}/draws", by=organizer)[1]["data"]["commitments"]
    assert (len(shown["seed"]), shown["commitment"]) == (32, hidden["commitment"])


def test_an_unknown_tournament_is_not_found(store: Store) -> None:
    reader = build.caller(build.a_user(store), ability="read")
    assert build.ask(store, "/api/tournaments/999/draws", by=reader)[0] == 404
