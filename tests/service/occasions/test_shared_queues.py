"""Queues of best game in a shared room: who plays in the other tournament keeps their place."""

import threading
from typing import Any

import pytest

import build
from silverball.service.journal.reads import verification
from silverball.store.database.engine import Store
from stories.hall import Hall, Json
from stories.room import Room


def a_room(store: Store, kind: str) -> Room:
    """A match play of six, four of whom also play a best game with queues; the match play's round is open."""
    settings = {"useQueues": True, "suggestions": "disabled"}
    room = Room(store, "matchplay", 6, kind, 6, shared=4, machines=6, other_settings=settings)
    room.start()
    room.main.open_round()
    room.follow()
    return room


@pytest.fixture(params=["best_game", "card_best_game"])
def room(request: pytest.FixtureRequest, store: Store) -> Room:
    return a_room(store, request.param)


def free_arena(room: Room) -> int:
    in_use = {game["arenaId"] for game in room.main.open_games()}
    return next(arena_id for arena_id in room.main.arenas if arena_id not in in_use)


def join_queue(room: Room, name: str, arena_id: int) -> int:
    joined = room.womens.post("/queues", {"playerId": room.womens.ids[name], "arenaId": arena_id})
    room.follow()
    return int(joined["data"]["queueId"])


def in_line(room: Room, arena_id: int) -> list[str]:
    spots: list[Json] = room.womens.get("/queues")["data"].get(str(arena_id), [])
    return [room.womens.name(spot["playerId"]) for spot in spots]


def start(room: Room, queue_id: int) -> Json:
    started: Json = room.womens.post(f"/queues/{queue_id}/start")["data"]
    room.follow()
    return started


def refusal(hall: Hall, method: str, path: str, body: Json | None = None) -> str:
    status, sentence = hall.refused(method, path, body)
    assert status == 409
    return sentence


def game_with(room: Room, name: str) -> Json:
    return next(game for game in room.main.open_games() if room.main.ids[name] in game["playerIds"])


def finish(room: Room, game: Json) -> None:
    room.main.finish(game, *room.main.players_of(game))
    room.follow()


def test_who_plays_elsewhere_is_passed_over_and_keeps_their_place(room: Room) -> None:
    arena_id = free_arena(room)
    busy, free = join_queue(room, "Ada0", arena_id), join_queue(room, "Bea0", arena_id)
    last = join_queue(room, "Bea1", arena_id)
    assert "plays in another tournament" in refusal(room.womens, "POST", f"/queues/{busy}/start")
    assert "is up" in refusal(room.womens, "POST", f"/queues/{last}/start")
    attempt = start(room, free)
    assert in_line(room, arena_id) == ["Ada0", "Bea1"]
    assert room.womens.get("/queues")["busyElsewhere"] == [room.womens.ids["Ada0"]]
    room.womens.correct(attempt, score=1000)
    finish(room, game_with(room, "Ada0"))
    assert "busyElsewhere" not in room.womens.get("/queues")
    # Free again, they are the first in line.
    assert "is up" in refusal(room.womens, "POST", f"/queues/{last}/start")
    assert start(room, busy)["playerId"] == room.womens.ids["Ada0"]
    room.require_clean()


def test_a_machine_in_use_elsewhere_is_not_given_to_the_queue(room: Room) -> None:
    game = game_with(room, "Ada0")
    first = join_queue(room, "Bea0", game["arenaId"])
    assert "is in use in another tournament" in refusal(room.womens, "POST", f"/queues/{first}/start")
    by_hand = {"playerId": room.womens.ids["Bea1"], "arenaId": game["arenaId"]}
    assert "is in use in another tournament" in refusal(room.womens, "POST", "/single-player-games", by_hand)
    finish(room, game)
    start(room, first)
    room.require_clean()


def test_who_plays_from_a_queue_is_waited_for_in_the_other_tournament(room: Room) -> None:
    for game in room.main.open_games():
        finish(room, game)
    attempt = start(room, join_queue(room, "Ada0", room.main.arenas[0]))
    room.main.open_round()
    room.follow()
    waiting = room.waiting(room.main)
    assert [room.main.ids["Ada0"] in game["playerIds"] for game in waiting] == [True]
    room.womens.correct(attempt, score=1000)
    room.follow()
    assert room.waiting(room.main) == []
    room.require_clean()


def test_an_undone_score_does_not_put_somebody_into_two_games(room: Room) -> None:
    for game in room.main.open_games():
        finish(room, game)
    attempt = start(room, join_queue(room, "Ada0", room.main.arenas[0]))
    room.womens.correct(attempt, score=1000)
    room.main.open_round()
    room.follow()
    newest = room.womens.get("/journal")["meta"]["undoable"]
    assert "in another tournament of this room" in refusal(room.womens, "POST", "/undo", {"action": newest})
    finish(room, game_with(room, "Ada0"))
    for game in room.main.open_games():
        finish(room, game)
    room.womens.undo()
    assert room.womens.get(f"/single-player-games/{attempt['singlePlayerGameId']}")["data"]["score"] is None
    room.require_clean()


def test_a_start_from_a_queue_and_a_round_at_the_same_moment_call_nobody_twice(store: Store) -> None:
    for _ in range(3):
        room = a_room(store, "best_game")
        for game in room.main.open_games():
            finish(room, game)
        arena_id = room.main.arenas[0]
        queue_id = join_queue(room, "Ada0", arena_id)
        gate = threading.Barrier(2)
        statuses: dict[str, int] = {}

        def send(hall: Hall, path: str, gate: threading.Barrier = gate, found: Any = statuses) -> None:
            gate.wait(60)
            found[path] = build.send(hall._api, "POST", hall.path + path, {}, by=hall.organizer)[0]

        threads = [
            threading.Thread(target=send, args=(room.womens, f"/queues/{queue_id}/start")),
            threading.Thread(target=send, args=(room.main, "/rounds")),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert statuses.pop("/rounds") == 201
        assert set(statuses.values()) <= {200, 409}
        room.follow()
        own_id = room.main.ids["Ada0"]
        attempts = room.womens.get("/single-player-games?status=started")["data"]
        alone = [(each["playerId"], each["arenaId"]) for each in attempts]
        together = room.playing(room.main)
        assert not (alone and any(own_id in game["playerIds"] for game in together))
        assert not (alone and any(game["arenaId"] == arena_id for game in together))
        assert bool(alone) is (set(statuses.values()) == {200})
        for hall in room.halls:
            with store.read() as db:
                assert verification.verify_tournament(db, hall.tournament_id).faults == []
