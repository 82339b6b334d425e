"""Single player games, cards, queues and entries changed over HTTP."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

import build
from silverball.service.core.access import AuthenticatedCaller
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import snapshot

SETTINGS: dict[str, Any] = {"scorekeeping": "user", "suggestions": "disabled"}
LIMITED: dict[str, Any] = {
    "limited": True,
    "automaticEntries": 0,
    "price": None,
    "currency": None,
    "bundles": [],
}


@dataclass
class Evening:
    """A tournament with an organizer, a scorekeeper, a claimed player and strangers."""

    store: Store
    night: build.Night
    callers: dict[str, AuthenticatedCaller | None] = field(default_factory=dict)
    minutes: int = 0

    @property
    def path(self) -> str:
        return f"/api/tournaments/{self.night.tournament_id}"

    def send(self, method: str, tail: str, body: Any = None, who: str = "owner") -> tuple[int, Any]:
        self.minutes += 1
        status, got, _ = build.do(
            self.store,
            method,
            self.path + tail,
            body,
            by=self.callers[who],
            now=build.NOW + timedelta(minutes=self.minutes),
        )
        return status, got

    def expect_success(self, method: str, tail: str, body: Any = None) -> Any:
        status, got = self.send(method, tail, body)
        assert status in (200, 201), got
        return got["data"]

    def score(self, player: int, arena: int, score: int | None = None, **more: Any) -> Any:
        """Player and arena by their number in the tournament, from 0."""
        body = {"playerId": self.night.player_ids[player], "arenaId": self.night.arena_ids[arena], **more}
        return self.expect_success(
            "POST", "/single-player-games", {**body, **({} if score is None else {"score": score})}
        )

    def ask(self, tail: str) -> Any:
        status, got = build.ask(self.store, self.path + tail, by=1)
        assert status == 200, got
        return got

    def undo(self) -> None:
        with self.store.read() as db:
            own = tables.journal.c.tournament_id == self.night.tournament_id
            newest = tables.journal.c.action_id.desc()
            action = (
                db.execute(select(tables.journal.c.action_id).where(own).order_by(newest)).scalars().first()
            )
        status, got = self.send("POST", "/undo", {"action": action})
        assert status == 200, got

    def stored_state(self) -> Any:
        """All rows of the database."""
        with self.store.read() as db:
            return snapshot.load(db, self.night.tournament_id)


def an_evening(store: Store, kind: str, *, players: int = 4, start: bool = False, **values: Any) -> Evening:
    settings = {**SETTINGS, **values.pop("settings", {})}
    status = "planned" if start else "started"
    night = build.a_tournament(store, type=kind, players=players, settings=settings, status=status, **values)
    keeper = build.a_user(store, name="Kit Keeper")
    player = build.a_user(store, name="Pia Ball")
    build.row(store, tables.scorekeeper, tournament_id=night.tournament_id, user_id=keeper)
    with store.write() as transaction:
        mine = tables.player.c.player_id == night.player_ids[0]
        transaction.connection.execute(update(tables.player).where(mine).values(claimed_by=player))
    owner = night.organizer_id
    evening = Evening(store, night)
    evening.callers = {
        "nobody": None,
        "reader": build.caller(owner, role="organizer", ability="read"),
        "owner": build.caller(owner, role="organizer", ability="manage"),
        "other": build.caller(build.a_user(store, role="organizer"), role="organizer", ability="manage"),
        "keeper": build.caller(keeper, ability="score"),
        "player": build.caller(player, ability="score"),
        "admin": build.caller(build.a_user(store, role="admin"), role="admin", ability="admin"),
    }
    if start:
        evening.expect_success("POST", "/start")
    return evening


def test_a_score_loses_points_when_it_is_beaten(store: Store) -> None:
    night = an_evening(store, "best_game")
    first = night.score(0, 0, 1000)
    assert (first["points"], first["bestGame"], first["status"]) == ("100.00", True, "completed")
    second = night.score(1, 0, 2000)
    worse = night.score(0, 0, 900)
    shown = {game["singlePlayerGameId"]: game for game in night.ask("/single-player-games")["data"]}
    assert [
        (shown[game["singlePlayerGameId"]]["points"], shown[game["singlePlayerGameId"]]["bestGame"])
        for game in (first, second, worse)
    ] == [("99.00", True), ("100.00", True), ("0.00", False)]
    best = night.ask("/single-player-games?bestGame=true&limit=1&page=2")
    assert ([game["points"] for game in best["data"]], best["meta"]["total"]) == (["100.00"], 2)
    assert [game["points"] for game in night.ask("/single-player-games/top-scores")["data"]] == [
        "100.00",
        "99.00",
        "0.00",
    ]
    details = night.ask(f"/arenas/{night.night.arena_ids[0]}/bgdetails")
    assert [game["points"] for game in details["singlePlayerGames"]] == ["99.00", "100.00", "0.00"]
    assert build.ask(store, f"{night.path}/single-player-games/csv?bestGame=1", by=1)[1].count(",true,") == 2
    with store.read() as db:
        assert set(db.execute(select(tables.single_player_game.c.points)).scalars()) == {None}


@pytest.mark.both_databases
def test_points_are_stored_when_the_tournament_completes_and_shown_as_before(store: Store) -> None:
    night = an_evening(store, "best_game")
    night.score(0, 0, 1000)
    night.score(1, 0, 2000)
    before = night.ask("/single-player-games")
    night.expect_success("POST", "/complete")
    after = night.ask("/single-player-games")
    assert [(game["points"], game["bestGame"]) for game in after["data"]] == [
        (game["points"], game["bestGame"]) for game in before["data"]
    ]
    with store.read() as db:
        assert None not in set(db.execute(select(tables.single_player_game.c.points)).scalars())
    assert len(night.ask("/single-player-games?bestGame=true")["data"]) == 2


@pytest.mark.both_databases
def test_a_game_begins_is_recorded_corrected_voided_and_deleted(store: Store) -> None:
    night = an_evening(store, "best_game")
    game = night.score(0, 0)
    path = f"/single-player-games/{game['singlePlayerGameId']}"
    assert (game["status"], game["score"]) == ("started", None)
    again = {"playerId": night.night.player_ids[0], "arenaId": night.night.arena_ids[0]}
    assert night.send("POST", "/single-player-games", again)[0] == 409
    recorded = night.score(0, 0, 500)
    assert recorded["singlePlayerGameId"] == game["singlePlayerGameId"]
    assert recorded["duration"] == 120
    assert night.expect_success("PATCH", path, {"score": 600})["score"] == 600
    voided = night.expect_success("POST", f"{path}/void")
    assert (voided["voided"], voided["points"]) == (True, "0.00")
    assert night.send("PATCH", path, {"score": 700})[0] == 409
    assert night.expect_success("POST", f"{path}/unvoid")["points"] == "100.00"
    assert night.expect_success("DELETE", path)["score"] == 600
    assert night.send("DELETE", path)[0] == 404
    assert night.ask("/single-player-games")["data"] == []


@pytest.mark.both_databases
def test_every_write_is_undone_to_the_byte(store: Store) -> None:
    night = an_evening(store, "best_game", settings={"useQueues": True}, entry_configuration=LIMITED)
    player, arena = night.night.player_ids[1], night.night.arena_ids[0]
    night.expect_success("POST", f"/players/{player}/entries", {"quantity": 5})
    night.expect_success(
        "POST", f"/players/{night.night.player_ids[0]}/entries", {"type": "comped", "quantity": 5}
    )
    game = night.score(1, 0, 10)["singlePlayerGameId"]
    spot = night.expect_success("POST", "/queues", {"playerId": player, "arenaId": arena})["queueId"]
    night.expect_success("POST", "/queues", {"playerId": night.night.player_ids[0], "arenaId": arena})
    for method, tail, body in (
        (
            "POST",
            "/single-player-games",
            {"playerId": player, "arenaId": night.night.arena_ids[1], "score": 9},
        ),
        ("PATCH", f"/single-player-games/{game}", {"score": 11}),
        ("POST", f"/single-player-games/{game}/void", None),
        ("DELETE", f"/single-player-games/{game}", None),
        ("POST", f"/queues/{spot}/move", None),
        ("POST", f"/queues/{spot}/start", None),
        ("DELETE", f"/queues/{spot}", None),
        ("POST", f"/players/{player}/entries", {"type": "refund", "quantity": 2}),
    ):
        standings, before = night.ask("/standings"), night.stored_state()
        night.expect_success(method, tail, body)
        assert night.stored_state() != before
        night.undo()
        assert (night.ask("/standings"), night.stored_state()) == (standings, before), tail


@pytest.mark.both_databases
def test_permissions_by_role(store: Store) -> None:
    night = an_evening(store, "best_game", settings={"useQueues": True})
    players, arenas = night.night.player_ids, night.night.arena_ids
    known = [night.score(n, 0, 10)["singlePlayerGameId"] for n in range(3)]
    scoring = [
        ("POST", "/single-player-games", {"playerId": players[0], "arenaId": arenas[1], "score": 1}),
        ("PATCH", f"/single-player-games/{known[0]}", {"score": 11}),
        ("POST", f"/single-player-games/{known[1]}/void", None),
        ("POST", "/queues", {"playerId": players[0], "arenaId": arenas[0]}),
    ]
    managing = [
        ("POST", f"/single-player-games/{known[1]}/unvoid", None),
        ("DELETE", f"/single-player-games/{known[1]}", None),
        ("POST", f"/players/{players[0]}/entries", {"quantity": 1}),
    ]
    before = night.stored_state()
    for who, status in {"nobody": 401, "reader": 403, "other": 403, "player": 403}.items():
        assert {who: [night.send(*call, who=who)[0] for call in (*scoring, *managing)]} == {who: [status] * 7}
    assert night.stored_state() == before
    assert [night.send(*call, who="keeper")[0] for call in scoring] == [201, 200, 200, 201]
    assert [night.send(*call, who="keeper")[0] for call in managing] == [403] * 3
    assert [night.send(*call, who="admin")[0] for call in managing] == [200, 200, 201]
    with store.write() as transaction:
        transaction.connection.execute(
            update(tables.tournament).values(settings={**SETTINGS, "scorekeeping": "disabled"}, revision=99)
        )
    assert night.send(*scoring[0], who="keeper")[0] == 403


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 422, "playerId"),
        ({"playerId": 1, "score": 5}, 422, "arenaId"),
        ({"playerId": 1, "arenaId": 1, "score": -1}, 422, "score"),
        ({"playerId": 1, "arenaId": 1, "score": 5, "strokes": 3}, 422, "score"),
        ({"playerId": 1, "arenaId": 1, "strokes": 3}, 422, "score"),
        ({"playerId": 1, "arenaId": 1, "score": 5, "points": "100.00"}, 422, "points"),
        ({"playerId": 999, "arenaId": 1, "score": 5}, 404, None),
        ({"playerId": 1, "arenaId": 999, "score": 5}, 404, None),
    ],
)
def test_a_game_that_cannot_be_is_refused_and_nothing_changes(
    store: Store, body: dict[str, Any], status: int, field: str | None
) -> None:
    night = an_evening(store, "best_game")
    before = night.stored_state()
    got = night.send("POST", "/single-player-games", body)
    assert (got[0], next(iter(got[1].get("errors", {})), None)) == (status, field)
    assert night.stored_state() == before


def test_nothing_is_recorded_before_the_start_after_the_end_or_where_there_are_no_such_games(
    store: Store,
) -> None:
    body = {"playerId": 1, "arenaId": 1, "score": 5}
    for kind, state, status in (
        ("best_game", "planned", 409),
        ("best_game", "completed", 409),
        ("matchplay", "started", 400),
    ):
        night = build.a_tournament(store, type=kind, status=state, settings=SETTINGS)
        path = f"/api/tournaments/{night.tournament_id}"
        for tail, sent in (("/single-player-games", body), (f"/players/{night.player_ids[0]}/entries", {})):
            answer = build.do(store, "POST", path + tail, sent, by=night.organizer_id)
            assert answer[0] in ((status, 201) if state == "planned" and sent == {} else (status,)), answer


@pytest.mark.both_databases
def test_golf_is_recorded_hole_by_hole(store: Store) -> None:
    night = an_evening(store, "golf", players=2, start=True, settings={"golfDuration": 2})
    player = night.night.player_ids[0]
    first, second = [game for game in night.ask("/single-player-games")["data"] if game["playerId"] == player]
    body = {"playerId": player, "strokes": 4}
    status, got = night.send("POST", "/single-player-games", body)
    assert (status, list(got["errors"])) == (422, ["roundId"])
    done = night.expect_success("POST", "/single-player-games", {**body, "roundId": first["roundId"]})
    assert (done["points"], done["status"]) == ("4.00", "completed")
    assert done["singlePlayerGameId"] == first["singlePlayerGameId"]
    # Now only one is open.
    started = night.expect_success("POST", "/single-player-games", {"playerId": player})
    assert (started["singlePlayerGameId"], started["status"]) == (second["singlePlayerGameId"], "started")
    path = f"/single-player-games/{done['singlePlayerGameId']}"
    assert night.expect_success("PATCH", path, {"strokes": 5})["points"] == "5.00"
    # The format made the game, so only its result is deleted.
    assert night.expect_success("DELETE", path)["status"] == "pending"
    assert night.send("POST", f"{path}/void")[0] == 409


@pytest.mark.both_databases
def test_a_card_fills_and_is_voided_by_its_player(store: Store) -> None:
    night = an_evening(store, "card_best_game", settings={"cardBestGameGamesPerCard": 2})
    first = night.score(0, 0, 100)
    card = f"/cards/{first['cardId']}"
    night.score(1, 0, 90)
    night.score(1, 1, 90)
    assert night.ask(card)["data"]["status"] == "started"
    night.score(0, 1, 100)
    shown = night.ask(card)["data"]
    assert (shown["status"], shown["bestGame"], shown["pointsList"]) == ("completed", True, [100, 100])
    assert [card["cardId"] for card in night.ask("/cards?bestGame=true")["data"]] == [1, 2]
    for who, status in {"nobody": 401, "reader": 403, "other": 403}.items():
        assert night.send("POST", f"{card}/void", who=who)[0] == status
    assert night.send("POST", "/cards/2/void", who="player")[0] == 403
    standings, before = night.ask("/standings"), night.stored_state()
    status, got = night.send("POST", f"{card}/void", who="player")
    assert (status, got["data"]["voided"], got["data"]["bestGame"]) == (200, True, False)
    night.undo()
    assert (night.ask("/standings"), night.stored_state()) == (standings, before)
    night.expect_success("POST", f"{card}/void")
    for who in ("player", "keeper"):
        assert night.send("POST", f"{card}/unvoid", who=who)[0] == 403
        assert night.send("DELETE", card, who=who)[0] == 403
    assert night.expect_success("POST", f"{card}/unvoid")["voided"] is False
    assert night.send("POST", f"{card}/unvoid")[0] == 409
    assert len(night.expect_success("DELETE", card)["singlePlayerGames"]) == 2
    assert night.send("DELETE", card)[0] == 404
    night.expect_success("POST", "/complete")
    assert [game["bestGame"] for game in night.ask("/cards")["data"]] == [True]


def test_a_queue_is_joined_moved_left_and_played(store: Store) -> None:
    night = an_evening(store, "best_game", settings={"useQueues": True})
    ann, bob, cy, _ = night.night.player_ids
    here, there = night.night.arena_ids
    spots = [
        night.expect_success("POST", "/queues", {"playerId": player_id, "arenaId": here})
        for player_id in (ann, bob, cy)
    ]
    assert [spot["index"] for spot in spots] == [0, 1, 2]
    for body, status in (
        ({"playerId": ann, "arenaId": there}, 409),
        ({"playerId": 999, "arenaId": here}, 404),
        ({"playerId": ann}, 422),
    ):
        before = night.stored_state()
        assert night.send("POST", "/queues", body)[0] == status
        assert night.stored_state() == before
    first, second, third = (f"/queues/{spot['queueId']}" for spot in spots)
    assert night.send("POST", f"{second}/start")[0] == 409
    assert night.expect_success("POST", f"{first}/move")["index"] == 1
    game = night.expect_success("POST", f"{second}/start")
    assert (game["playerId"], game["status"], game["arenaId"]) == (bob, "started", here)
    assert night.expect_success("DELETE", third)["playerId"] == cy
    assert [spot["playerId"] for spot in night.ask("/queues")["data"][str(here)]] == [ann]
    assert night.send("DELETE", third)[0] == 404
    assert night.send("DELETE", second)[0] == 409


@pytest.mark.both_databases
def test_a_player_above_the_bar_advances_without_a_score(store: Store) -> None:
    night = an_evening(store, "amazingrace", start=True)
    first, second, *_ = [spot["playerId"] for spot in night.ask("/amazing-race")["queues"]]
    assert night.send("POST", f"/amazing-race/{first}/advance")[0] == 409
    night.expect_success("POST", "/single-player-games", {"playerId": first, "score": 100})
    standings, before = night.ask("/standings"), night.stored_state()
    for who, status in {"nobody": 401, "reader": 403, "other": 403, "player": 403}.items():
        assert night.send("POST", f"/amazing-race/{second}/advance", who=who)[0] == status
    status, got = night.send("POST", f"/amazing-race/{second}/advance", who="keeper")
    assert (status, got["data"]["playerId"], got["data"]["status"]) == (200, second, "completed")
    night.undo()
    assert (night.ask("/standings"), night.stored_state()) == (standings, before)
    assert night.send("POST", "/amazing-race/999/advance")[0] == 404


def test_entries_limit_the_number_of_games(store: Store) -> None:
    night = an_evening(store, "best_game", entry_configuration=LIMITED)
    player = night.night.player_ids[0]
    body = {"playerId": player, "arenaId": night.night.arena_ids[0], "score": 5}
    entries = f"/players/{player}/entries"
    assert night.send("POST", "/single-player-games", body)[0] == 409
    bought = night.expect_success("POST", entries, {"quantity": 2, "amount": 12.5, "currency": "SEK"})
    assert (bought["type"], bought["quantity"], bought["amount"]) == ("regular", 2, 12.5)
    night.expect_success("POST", "/single-player-games", body)
    status, got = night.send("POST", entries, {"type": "refund", "quantity": 2})
    assert (status, "has 1 unused entries" in got["message"]) == (409, True)
    assert night.expect_success("POST", entries, {"type": "refund"})["quantity"] == -1
    assert night.send("POST", "/single-player-games", body)[0] == 409
    assert build.ask(store, f"{night.path}/entries/csv", by=1)[1].count("\n") == 3
    for faulty, named in (
        ({"quantity": 0}, "quantity"),
        ({"type": "gift"}, "type"),
        ({"amount": -1}, "amount"),
        ({"currency": "crowns"}, "currency"),
    ):
        assert list(night.send("POST", entries, faulty)[1]["errors"]) == [named]
    assert night.send("POST", "/players/999/entries", {})[0] == 404
