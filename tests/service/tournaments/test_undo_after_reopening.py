"""Undo after a reopening, and past what was put back by hand. Source: formats, section 2."""

from typing import Any

import pytest

import build
from exchange import bundles
from service.desk import Desk, a_desk
from silverball.kit.values import replace
from silverball.rules.commands import tournament as tournament_commands
from silverball.service.core import enact, loaded
from silverball.service.journal.reads import verification
from silverball.store.database.engine import Store
from silverball.store.tournament import journal, snapshot


def undoable(desk: Desk) -> int | None:
    """The action that undo would take back now."""
    number: int | None = desk.ok("GET", "/journal")["meta"]["undoable"]
    return number


def last_action(desk: Desk) -> int:
    number: int = desk.ok("GET", "/journal")["data"][0]["actionId"]
    return number


def record(desk: Desk, game: Any) -> int:
    desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})
    return last_action(desk)


def faults(desk: Desk) -> list[str]:
    with desk.store.read() as db:
        found = verification.verify_tournament(db, desk.night.tournament_id)
        drawn = verification.verify_draws(db, desk.night.tournament_id)
    return [*found.faults, *drawn.faults]


def complete_by_hand(desk: Desk) -> None:
    desk.ok("POST", "/complete")


def complete_by_the_clock(desk: Desk) -> None:
    now = build.NOW
    with desk.store.write(desk.night.tournament_id) as transaction:
        tournament = loaded.load_tournament(transaction.connection, desk.night.tournament_id)
        context = enact.ActionContext(actor_id=None, source="clock", now=now)
        changes = tournament_commands.complete(tournament, now)
        enact.enact(transaction, desk.night.tournament_id, changes, context)
    desk.mirror.follow()


@pytest.mark.both_databases
@pytest.mark.parametrize("complete", [complete_by_hand, complete_by_the_clock])
def test_undo_after_a_reopening_brings_back_what_completing_had_removed(store: Store, complete: Any) -> None:
    desk = a_desk(store)
    first, second = desk.open_round()
    recorded = record(desk, first)
    before = desk.stored_state()[0]
    for _ in range(2):
        complete(desk)
        assert [game["gameId"] for game in desk.ok("GET", "/games")["data"]] == [first["gameId"]]
        desk.ok("POST", "/reopen")
    assert undoable(desk) == recorded
    desk.expect_refusal(409, "POST", "/undo", {"action": last_action(desk)})
    desk.ok("POST", "/undo", {"action": recorded})
    games = desk.ok("GET", "/games")["data"]
    assert [(game["gameId"], game["status"]) for game in games] == [
        (first["gameId"], "started"),
        (second["gameId"], "started"),
    ]
    # The round that completing had closed is open again, and played on under its ids.
    record(desk, second)
    desk.undo()
    record(desk, first)
    after = desk.stored_state()[0]
    assert [round_.round_id for round_ in after.rounds] == [round_.round_id for round_ in before.rounds]
    assert faults(desk) == []
    shown = desk.ok("GET", "/journal")["data"]
    closings = {"TournamentCompleted", "TournamentReopened"}
    taken_back = [
        action["undone"] for action in shown if closings & {change["change"] for change in action["changes"]}
    ]
    assert taken_back == [True] * 4


def test_what_is_edited_while_it_is_completed_is_undone_on_its_own(store: Store) -> None:
    desk = a_desk(store)
    game = desk.open_round()[0]
    recorded = record(desk, game)
    desk.ok("POST", "/complete")
    desk.ok("PATCH", "", {"shortcut": "thursday"})
    named = last_action(desk)
    desk.ok("POST", "/reopen")
    assert undoable(desk) == named
    desk.ok("POST", "/undo", {"action": named})
    assert desk.stored_state()[0].details["shortcut"] is None
    assert (desk.ok("GET", "")["data"]["status"], undoable(desk)) == ("started", recorded)
    assert faults(desk) == []


def test_prizes_ticked_before_a_reopening_stay_until_the_prizes_go(store: Store) -> None:
    desk = a_desk(store)
    game = desk.open_round()[0]
    desk.ok("PUT", "/prizes", {"entryFee": 1_000, "shares": [10_000]})
    planned = last_action(desk)
    recorded = record(desk, game)
    desk.ok("POST", "/complete")
    winner = game["playerIds"][0]
    desk.ok("PUT", f"/prizes/players/{winner}", {"paid": True})
    kept = build.a_player(store, desk.night.organizer_id, name="Ann Ball")
    merged = build.do(
        store, "POST", f"/api/players/{winner}/merge", {"playerId": kept}, by=desk.callers["owner"]
    )
    assert merged[0] == 200
    desk.ok("POST", "/reopen")
    desk.ok("POST", "/undo", {"action": recorded})
    assert [payout.player_id for payout in desk.stored_state()[0].prizes.payouts] == [kept]
    desk.ok("POST", "/undo", {"action": planned})
    assert desk.stored_state()[0].prizes is None
    assert faults(desk) == []


def test_undo_of_an_imported_completed_tournament_ends_at_the_import_and_says_so(store: Store) -> None:
    imported = bundles.import_bundle(store, bundles.real_night("17"))
    path = f"/api/tournaments/{imported.tournament_id}"
    admin = build.caller(build.a_user(store, role="admin"), role="admin", ability="admin")

    def send(method: str, way: str, body: Any = None) -> tuple[int, Any]:
        status, answer, _ = build.do(store, method, path + way, body, by=admin)
        return status, answer

    assert send("POST", "/reopen")[0] == 200
    assert send("GET", "/journal")[1]["meta"]["undoable"] is None
    status, answer = send("POST", "/undo", {"action": 2})
    assert (status, answer["code"]) == (409, "nothing-to-undo")
    assert "imported" in answer["message"]
    with store.read() as db:
        assert verification.verify_tournament(db, imported.tournament_id).faults == []


def an_organizer(store: Store) -> Any:
    """Sends the requests of an organizer, which must succeed, and returns the answers."""
    organizer = build.caller(build.a_user(store, role="organizer"), role="organizer", ability="manage")

    def send(method: str, path: str, body: Any = None) -> Any:
        status, answer, _ = build.do(store, method, f"/api/tournaments{path}", body, by=organizer)
        assert status < 300, answer
        return answer

    return send


@pytest.mark.both_databases
def test_what_is_drawn_again_after_a_reopening_has_a_seed_that_nobody_saw(store: Store) -> None:
    send = an_organizer(store)
    tournament_id = send("POST", "", {"name": "May", "type": "matchplay"})["data"]["tournamentId"]
    path = f"/{tournament_id}"
    send("POST", path + "/players", {"players": [{"name": f"Player {number}"} for number in range(16)]})
    pairings = []
    for _ in range(2):
        send("POST", path + "/start")
        games = send("POST", path + "/rounds", {})["games"]
        pairings.append([game["playerIds"] for game in games])
        send("POST", path + "/complete")
        send("POST", path + "/reopen")
        while send("GET", path)["data"]["status"] != "planned":
            send("POST", path + "/undo", {"action": send("GET", path + "/journal")["meta"]["undoable"]})
    assert pairings[0] != pairings[1]
    with store.read() as db:
        drawn = verification.verify_draws(db, tournament_id)
    assert (drawn.faults, drawn.reason, drawn.not_remade) == ([], None, [])
    send("POST", path + "/start")
    send("POST", path + "/complete")
    lines = send("GET", path + "/journal")["data"]
    starts = [line["diceSeed"] for line in lines if (line["diceSeed"] or "").endswith("/start/0")]
    assert len(set(starts)) == 3
    with store.read() as db:
        assert verification.verify_tournament(db, tournament_id).faults == []


def test_a_draw_with_a_seed_that_was_shown_is_named(store: Store) -> None:
    send = an_organizer(store)
    tournament_id = send("POST", "", {"name": "May", "type": "matchplay"})["data"]["tournamentId"]
    path = f"/{tournament_id}"
    send("POST", path + "/players", {"players": [{"name": f"Player {number}"} for number in range(4)]})
    for way in ("/start", "/complete", "/reopen"):
        send("POST", path + way)
    with store.read() as db:
        reopened = snapshot.load(db, tournament_id)
        shown = next(
            action.dice_seed for action in journal.all_actions(db, tournament_id) if action.dice_seed
        )
    state = replace(reopened.state, dice_seed=shown.partition("/")[0])
    informed = replace(reopened, state=state)
    dice, used = tournament_commands.dice_for(informed, "round 0")
    changes = tournament_commands.open_round(informed, dice, build.NOW)
    context = enact.ActionContext(actor_id=None, source="test", now=build.NOW)
    with store.write(tournament_id) as transaction:
        enact.enact(transaction, tournament_id, changes, context, dice_seed=used)
    with store.read() as db:
        named = verification.verify_draws(db, tournament_id).faults
    assert any("had shown to everybody" in fault for fault in named), named


# What is put back by hand counts as taken back.


@pytest.mark.parametrize("part", ["players", "arenas"])
def test_away_and_back_are_passed_over(store: Store, part: str) -> None:
    desk = a_desk(store, players=6, arenas=4)
    desk.ok("PATCH", "", {"name": "Friday"})
    renamed = last_action(desk)
    item = desk.night.player_ids[0] if part == "players" else desk.night.arena_ids[0]
    desk.ok("PATCH", f"/{part}/{item}", {"status": "inactive"})
    away = last_action(desk)
    assert undoable(desk) == away
    before = desk.stored_state()
    desk.ok("PATCH", f"/{part}/{item}", {"status": "active"})
    assert undoable(desk) == renamed
    # Whoever goes away again is not back.
    desk.ok("PATCH", f"/{part}/{item}", {"status": "inactive"})
    assert (undoable(desk), desk.stored_state()) == (last_action(desk), before)
    desk.undo()
    desk.ok("POST", "/undo", {"action": renamed})
    assert faults(desk) == []


def test_a_deleted_result_still_comes_back_by_undo(store: Store) -> None:
    desk = a_desk(store)
    game = desk.open_round()[0]
    record(desk, game)
    desk.do_and_undo("DELETE", f"/games/{game['gameId']}/result")


@pytest.mark.both_databases
@pytest.mark.parametrize("is_last", [True, False])
def test_a_final_that_was_made_and_deleted_ends_no_undo(store: Store, is_last: bool) -> None:
    desk = a_desk(store)
    first = desk.open_round()[0]
    recorded = record(desk, first)
    final = desk.ok("POST", "/playoffs", {"type": "bracket", "players": desk.night.player_ids[:2]})["data"]
    assert undoable(desk) == last_action(desk)
    if not is_last:
        desk.ok("PATCH", "", {"name": "Friday"})
        desk.ok("POST", "/complete")
        desk.ok("POST", "/reopen")
    desk.ok("PATCH", "", {"links": []})
    path = f"/api/tournaments/{final['tournamentId']}"
    assert build.do(store, "DELETE", path, by=desk.callers["owner"])[0] == 200
    if not is_last:
        # Only the name is taken back, and not the link.
        desk.undo()
        assert desk.ok("GET", "")["data"]["name"] != "Friday"
    assert undoable(desk) == recorded
    desk.ok("POST", "/undo", {"action": recorded})
    assert desk.ok("GET", f"/games/{first['gameId']}")["data"]["status"] == "started"
    assert faults(desk) == []


def test_many_actions_back_the_journal_still_knows_what_is_in_force(store: Store) -> None:
    desk = a_desk(store)
    final = desk.ok("POST", "/playoffs", {"type": "bracket", "players": desk.night.player_ids[:2]})["data"]
    made = last_action(desk)
    newest_first = [record_and_undo(desk) for _ in range(30)]
    assert len(newest_first) == 30
    desk.ok("PATCH", "", {"links": []})
    path = f"/api/tournaments/{final['tournamentId']}"
    assert build.do(store, "DELETE", path, by=desk.callers["owner"])[0] == 200
    assert undoable(desk) == made - 1


def record_and_undo(desk: Desk) -> int:
    desk.ok("PATCH", f"/players/{desk.night.player_ids[0]}", {"pointsAdjustment": 3})
    number = last_action(desk)
    desk.undo()
    return number
