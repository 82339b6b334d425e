"""Games whose machine is out of order, and notes on games, over HTTP. Source: pages, section 2."""

from datetime import timedelta
from typing import Any

import pytest

import build
from service.desk import Desk, a_desk
from silverball.rules.model.tournament import Game, Tournament
from silverball.service.core import loaded
from silverball.service.journal.reads import verification
from silverball.store.database.engine import Store


def tournament_of(desk: Desk) -> Tournament:
    with desk.store.read() as db:
        return loaded.load_tournament(db, desk.night.tournament_id)


def game_of(desk: Desk, game_id: int) -> Game:
    return next(game for game in tournament_of(desk).games if game.game_id == game_id)


def faults(desk: Desk) -> Any:
    with desk.store.read() as db:
        found = list(verification.verify_tournament(db, desk.night.tournament_id).faults)
        return [*found, *verification.verify_draws(db, desk.night.tournament_id).faults]


def notes(desk: Desk, game_id: int, *, by: str = "owner") -> list[tuple[str, str]]:
    found = desk.ok("GET", f"/games/{game_id}/notes", by=by)["data"]
    return [(note["kind"], note["text"]) for note in found]


def broken(desk: Desk) -> dict[str, Any]:
    """The first game of a new round, whose machine is out of order."""
    game: dict[str, Any] = desk.open_round()[0]
    desk.do_and_undo("PATCH", f"/arenas/{game['arenaId']}", {"status": "inactive"})
    desk.ok("PATCH", f"/arenas/{game['arenaId']}", {"status": "inactive"})
    return game


def test_the_clock_of_a_game_stands_until_its_machine_is_back(store: Store) -> None:
    desk = a_desk(store, "group_matchplay", players=8, arenas=4)
    game = broken(desk)
    game_id, path = game["gameId"], f"/games/{game['gameId']}"
    began_at = game_of(desk, game_id).started_at
    waits = desk.do_and_undo("POST", path + "/ruling", {"ruling": "wait"})["data"]
    assert waits["waitingSince"]
    assert notes(desk, game_id) == []
    desk.ok("POST", path + "/ruling", {"ruling": "wait"})
    # A second tap changes nothing and notes nothing.
    desk.ok("POST", path + "/ruling", {"ruling": "wait"})
    assert len(notes(desk, game_id)) == 1
    # Between an action and its opposite: otherwise the two count as taken back, and undo passes over them.
    desk.ok("PATCH", "", {"name": "A machine waits"})
    desk.do_and_undo("POST", path + "/ruling", {"ruling": "resume"})
    desk.ok("PATCH", f"/arenas/{game['arenaId']}", {"status": "active"})
    shown = desk.ok("GET", path)["data"]
    assert "waitingSince" not in shown
    now = game_of(desk, game_id).started_at
    assert began_at is not None
    assert now is not None
    assert now >= began_at
    desk.ok("PUT", path + "/result", {"resultPositions": game["playerIds"]})
    assert faults(desk) == []


@pytest.mark.both_databases
def test_a_game_starts_over_on_a_machine_that_is_drawn_or_chosen(store: Store) -> None:
    desk = a_desk(store, "group_matchplay", players=8, arenas=4)
    game = broken(desk)
    path, old = f"/games/{game['gameId']}", game["arenaId"]
    shown = desk.do_and_undo("POST", path + "/ruling", {"ruling": "startOver"})["data"]
    taken = {other.arena_id for other in tournament_of(desk).open_games}
    assert shown["arenaId"] not in taken
    assert shown["arenaId"] != old
    desk.ok("POST", path + "/ruling", {"ruling": "wait"})
    moved = desk.ok("POST", path + "/ruling", {"ruling": "startOver"})["data"]
    assert "waitingSince" not in moved
    assert (
        f"Arena {moved['arenaId']}" in notes(desk, game["gameId"])[-1][1]
        or "starts over on" in (notes(desk, game["gameId"])[-1][1])
    )
    desk.expect_refusal(409, "POST", path + "/ruling", {"ruling": "startOver", "arenaId": old})
    assert faults(desk) == []


@pytest.mark.both_databases
def test_a_game_is_settled_by_the_order_of_now(store: Store) -> None:
    desk = a_desk(store, "group_matchplay", players=8, arenas=4)
    game = broken(desk)
    path, order = f"/games/{game['gameId']}", game["playerIds"][::-1]
    body = {"ruling": "settle", "resultPositions": order}
    desk.do_and_undo("POST", path + "/ruling", body)
    desk.ok("POST", path + "/ruling", {"ruling": "wait"})
    since = game_of(desk, game["gameId"]).waiting_since
    shown = desk.ok("POST", path + "/ruling", body)["data"]
    assert (shown["status"], shown["resultPositions"]) == ("completed", order)
    # The time that it waited is no time of play.
    assert game_of(desk, game["gameId"]).completed_at <= since  # type: ignore[operator]
    assert [kind for kind, _ in notes(desk, game["gameId"])] == ["malfunction", "malfunction"]
    desk.expect_refusal(409, "POST", path + "/ruling", body)
    assert faults(desk) == []


@pytest.mark.both_databases
def test_directors_and_scorekeepers_write_and_read_notes_and_nobody_else(store: Store) -> None:
    desk = a_desk(store, "matchplay", players=4, scorekeeping="user")
    game = desk.open_round()[0]
    path, player_id = f"/games/{game['gameId']}/notes", game["playerIds"][0]
    desk.ok("POST", path, {"kind": "yellow", "text": "Shook the machine.", "playerId": player_id})
    note = desk.ok("POST", path, {"kind": "slow", "text": "Ten minutes late."}, by="keeper")["data"]
    assert (note["playerId"], note["kind"], note["gameId"]) == (None, "slow", game["gameId"])
    assert notes(desk, game["gameId"], by="keeper") == [
        ("yellow", "Shook the machine."),
        ("slow", "Ten minutes late."),
    ]
    # The journal that everybody reads tells of them without what they say.
    assert "Shook" not in str(desk.ok("GET", "/journal"))
    for name in ("reader", "stranger"):
        desk.expect_refusal(403, "POST", path, {"kind": "slow", "text": "Late."}, by=name)
        desk.expect_refusal(403, "GET", path, by=name)
    desk.undo()
    assert notes(desk, game["gameId"]) == [("yellow", "Shook the machine.")]


def test_a_zero_puts_its_player_last_and_the_others_play_on(store: Store) -> None:
    desk = a_desk(store, "group_matchplay", players=4, arenas=4)
    game = desk.open_round()[0]
    path, players = f"/games/{game['gameId']}", game["playerIds"]
    zero = {"kind": "zero", "text": "Did not plunge.", "playerId": players[1]}
    desk.do_and_undo("POST", path + "/notes", zero, by="keeper")
    desk.ok("POST", path + "/notes", zero, by="keeper")
    assert list(game_of(desk, game["gameId"]).result_positions) == [None, None, None, players[1]]
    # Noted twice, the place stays.
    desk.ok("POST", path + "/notes", zero)
    order = [players[0], players[2], players[3], players[1]]
    assert desk.ok("PUT", path + "/result", {"resultPositions": order})["data"]["status"] == "completed"
    # A zero that is noted afterwards is a note; a correction needs its reason.
    late = {"kind": "zero", "text": "Seen later.", "playerId": players[0]}
    desk.ok("POST", path + "/notes", late)
    assert list(game_of(desk, game["gameId"]).result_positions) == order
    assert faults(desk) == []


def test_a_zero_among_two_ends_the_game(store: Store) -> None:
    desk = a_desk(store, "matchplay", players=4)
    game = desk.open_round()[0]
    loser, winner = game["playerIds"]
    zero = {"kind": "zero", "text": "Did not plunge.", "playerId": loser}
    desk.ok("POST", f"/games/{game['gameId']}/notes", zero)
    ended = game_of(desk, game["gameId"])
    assert (ended.status, list(ended.result_positions)) == ("completed", [winner, loser])
    assert faults(desk) == []


def test_who_is_disqualified_plays_on_is_last_or_leaves(store: Store) -> None:
    desk = a_desk(store, "group_matchplay", players=8, arenas=4)
    game = desk.open_round()[0]
    path, player_id = f"/games/{game['gameId']}/notes", game["playerIds"][0]
    note = {"kind": "disqualified", "text": "Threw a chair.", "playerId": player_id}
    desk.ok("POST", path, note)
    assert set(game_of(desk, game["gameId"]).result_positions) == {None}
    desk.do_and_undo("POST", path, {**note, "leaves": "game"})
    desk.expect_refusal(403, "POST", path, {**note, "leaves": "tournament"}, by="keeper")
    desk.do_and_undo("POST", path, {**note, "leaves": "tournament"})
    desk.ok("POST", path, {**note, "leaves": "tournament"})
    entrant = tournament_of(desk).entrant_by_id[player_id]
    assert not entrant.is_active
    assert game_of(desk, game["gameId"]).result_positions[-1] == player_id
    assert faults(desk) == []
    bracket = a_desk(store, "bracket", players=4)
    match = next(each for each in tournament_of(bracket).games if each.status == "started")
    refused = {**note, "playerId": match.player_ids[0], "leaves": "tournament"}
    bracket.expect_refusal(409, "POST", f"/games/{match.game_id}/notes", refused)


def test_the_card_of_last_week_is_shown_when_the_same_person_plays_again(store: Store) -> None:
    desk = a_desk(store, "matchplay", players=4)
    player_ids = tuple(desk.night.player_ids)
    first = desk.open_round()[0]
    carded = first["playerIds"][0]
    for kind, text in (("yellow", "Shook the machine."), ("slow", "Late.")):
        note = {"kind": kind, "text": text, "playerId": carded}
        desk.ok("POST", f"/games/{first['gameId']}/notes", note)
    # A card that was undone is none.
    desk.ok(
        "POST", f"/games/{first['gameId']}/notes", {"kind": "red", "text": "By mistake.", "playerId": carded}
    )
    desk.undo()
    owner = desk.callers["owner"]
    created = build.do(
        store, "POST", "/api/tournaments", {"name": "Next week", "type": "matchplay"}, by=owner
    )
    tournament_id = created[1]["data"]["tournamentId"]
    at = f"/api/tournaments/{tournament_id}"

    def send(method: str, path: str, body: Any, *, days: int = 7) -> Any:
        later = build.NOW + timedelta(days=days)
        status, answer, _ = build.do(store, method, at + path, body, by=owner, now=later)
        assert status in (200, 201), answer
        return answer

    send("POST", "/players", {"players": [{"playerId": player_id} for player_id in player_ids]})
    send("POST", "/start", None)
    games = send("POST", "/rounds", {})["games"]
    game_id = next(game["gameId"] for game in games if carded in game["playerIds"])
    other_id = next(game["gameId"] for game in games if carded not in game["playerIds"])
    (card,) = send("GET", f"/games/{game_id}/earlier-cards", None)["data"]
    assert (card["kind"], card["text"], card["tournamentId"]) == (
        "yellow",
        "Shook the machine.",
        desk.night.tournament_id,
    )
    assert send("GET", f"/games/{other_id}/earlier-cards", None)["data"] == []
    assert send("GET", f"/games/{game_id}/earlier-cards", None, days=366)["data"] == []


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("end", "body", "field"),
    [
        ("ruling", {"ruling": "explode"}, "ruling"),
        ("ruling", {"ruling": "wait", "arenaId": 1}, "arenaId"),
        ("ruling", {"ruling": "wait", "resultPositions": [1, 2]}, "resultPositions"),
        ("ruling", {"ruling": "settle"}, "resultPositions"),
        ("ruling", {"ruling": "settle", "resultPositions": [1, 1]}, "resultPositions"),
        ("ruling", {"ruling": "startOver", "arenaId": 999999}, "arenaId"),
        ("notes", {"kind": "slow", "text": ""}, "text"),
        ("notes", {"kind": "slow", "text": "x" * 501}, "text"),
        ("notes", {"kind": "purple", "text": "x"}, "kind"),
        ("notes", {"kind": "slow", "text": "x", "playerId": 999999}, "playerId"),
        ("notes", {"kind": "zero", "text": "x"}, "playerId"),
        ("notes", {"kind": "disqualified", "text": "x", "leaves": "game"}, "playerId"),
        ("notes", {"kind": "red", "text": "x", "playerId": 1, "leaves": "game"}, "leaves"),
    ],
)
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_what_is_no_ruling_and_no_note_is_refused(
    store: Store, end: str, body: dict[str, Any], field: str
) -> None:
    desk = a_desk(store, "matchplay", players=4)
    game = desk.open_round()[0]
    before = desk.stored_state()
    refusal = desk.expect_refusal(422, "POST", f"/games/{game['gameId']}/{end}", body)
    assert list(refusal["errors"]) == [field]
    desk.expect_refusal(404, "POST", "/games/999999/ruling", {"ruling": "wait"})
    assert desk.stored_state() == before
