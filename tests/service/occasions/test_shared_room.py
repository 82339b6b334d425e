"""Tournaments of an occasion share their room: what waits, what is called, undone and written down."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

import build
from silverball.jobs.call_waiting import RoomCaller
from silverball.service.journal.reads import verification
from silverball.store import tables
from silverball.store.database.engine import Store
from stories.hall import Hall, Json
from stories.room import Room


def a_room(store: Store, *, machines: int = 8, **settings: Any) -> Room:
    room = Room(store, "matchplay", 8, "matchplay", 6, shared=4, machines=machines, **settings)
    room.start()
    return room


def actions_of(hall: Hall) -> list[Json]:
    """The actions of the journal, newest first."""
    found: list[Json] = hall.get("/journal")["data"]
    return found


def finish_first(hall: Hall, game: Json) -> None:
    hall.finish(game, *hall.players_of(game))


def test_games_of_busy_players_wait_and_are_called_as_they_come_free(store: Store) -> None:
    room = a_room(store)
    in_main = room.main.open_round()
    assert room.waiting(room.main) == []
    room.womens.open_round()
    room.follow()
    shared = set(room.main.ids.values()) & set(room.womens.ids.values())
    waiting = room.waiting(room.womens)
    assert {game["gameId"] for game in waiting} == {
        game["gameId"] for game in room.womens.open_games() if shared & set(game["playerIds"])
    }
    assert room.called(room.womens) == set()
    for game in in_main:
        finish_first(room.main, game)
        room.follow()
    assert room.waiting(room.womens) == []
    assert room.called(room.womens) == {game["gameId"] for game in waiting}
    newest = actions_of(room.womens)[0]
    assert (newest["actorId"], newest["source"], newest["canUndo"]) == (None, "room", False)
    room.require_clean()


@pytest.mark.both_databases
def test_a_game_that_is_called_within_a_second_ends_when_the_journal_says(store: Store) -> None:
    room = a_room(store)
    room.caller = RoomCaller(store, lambda: room.main.now + timedelta(microseconds=692_947))
    in_main = room.main.open_round()
    room.womens.open_round()
    for game in in_main:
        finish_first(room.main, game)
        room.follow()
    for game in room.playing(room.womens):
        finish_first(room.womens, game)
    room.require_clean()


def test_busy_machines_are_passed_over_and_the_draw_says_so(store: Store) -> None:
    room = a_room(store)
    in_main = {game["arenaId"] for game in room.main.open_round()}
    in_womens = {game["arenaId"] for game in room.womens.open_round()}
    assert len(in_main) == 4
    assert not in_main & in_womens
    drawn = next(action for action in actions_of(room.womens) if action["source"] != "room")
    assert "DrawFacts" in {change["change"] for change in drawn["changes"]}
    room.require_clean()


def test_undo_takes_back_what_a_person_did_with_what_followed_from_it(store: Store) -> None:
    room = a_room(store)
    room.womens.open_round()
    room.main.open_round()
    room.follow()
    assert room.waiting(room.main)
    # The newest action of the main tournament is the room's own: undo names the round below it.
    undoable = room.main.get("/journal")["meta"]["undoable"]
    assert actions_of(room.main)[0]["source"] == "room"
    assert undoable < actions_of(room.main)[0]["actionId"]
    room.main.undo()
    assert room.main.open_games() == []
    room.follow()
    again = room.main.open_round()
    room.follow()
    assert again
    room.require_clean()


def test_an_undone_result_does_not_put_somebody_into_two_games(store: Store) -> None:
    room = a_room(store)
    in_main = room.main.open_round()
    room.womens.open_round()
    room.follow()
    before = {game["gameId"] for game in room.waiting(room.womens)}
    called: set[int] = set()
    # As many results as it takes: the draw decides who waits for whom.
    for game in in_main:
        finish_first(room.main, game)
        room.follow()
        called = before - {game["gameId"] for game in room.waiting(room.womens)}
        if called:
            break
    assert called
    room.main.undo()
    room.follow()
    room.require_clean()


def test_a_game_moved_to_a_busy_machine_waits_for_it(store: Store) -> None:
    room = a_room(store)
    busy = room.main.open_round()[0]["arenaId"]
    games = room.womens.open_round()
    room.follow()
    shared = set(room.main.ids.values())
    free = next((game for game in games if not shared & set(game["playerIds"])), None)
    moved = free or games[0]
    room.womens.send("PATCH", f"{room.womens.path}/games/{moved['gameId']}", {"arenaId": busy})
    room.follow()
    assert moved["gameId"] in {game["gameId"] for game in room.waiting(room.womens)}
    room.require_clean()


def test_a_game_that_starts_over_and_then_waits_has_its_note_at_its_own_action(store: Store) -> None:
    room = a_room(store)
    room.main.open_round()
    room.womens.open_round()
    room.follow()
    for game in room.waiting(room.womens):
        room.womens.patch(f"/arenas/{game['arenaId']}", {"status": "inactive"})
        room.womens.post(f"/games/{game['gameId']}/ruling", {"ruling": "startOver"})
        assert [note["text"] for note in room.womens.get(f"/games/{game['gameId']}/notes")["data"]] != []
    room.require_clean()


def test_a_frenzy_passes_over_who_plays_elsewhere_and_calls_them_when_they_are_free(store: Store) -> None:
    room = Room(
        store, "matchplay", 8, "frenzy", 10, shared=4, machines=8, other_settings={"frenzyQueueSize": 2}
    )
    room.main.start()
    in_main = room.main.open_round()
    room.womens.start()
    room.follow()
    shared = set(room.main.ids.values())
    playing = room.womens.open_games()
    assert playing
    assert all(not shared & set(game["playerIds"]) for game in playing)
    assert not {game["arenaId"] for game in playing} & {game["arenaId"] for game in in_main}
    for game in in_main:
        finish_first(room.main, game)
        room.follow()
    seated = {player_id for game in room.womens.open_games() for player_id in game["playerIds"]}
    assert seated & shared
    room.require_clean()


def test_nothing_is_shared_once_a_tournament_is_out_of_the_occasion_or_over(store: Store) -> None:
    room = a_room(store)
    room.main.open_round()
    path = f"/api/events/{room.occasion_id}"
    room.main.send("PATCH", path, {"tournaments": [{"tournamentId": room.main.tournament_id}]})
    room.womens.open_round()
    assert room.waiting(room.womens) == []


@pytest.mark.both_databases
def test_a_tournament_without_an_occasion_has_no_key_and_no_line_more(store: Store) -> None:
    hall = Hall(store, "matchplay", "Ann Bea Cid Dot", arenas=2)
    hall.start()
    for game in hall.open_round():
        assert "waitingSince" not in game
        finish_first(hall, game)
    with store.read() as db:
        lines = db.execute(
            select(tables.journal.c.change, tables.journal.c.data, tables.journal.c.source)
        ).all()
        engine = db.execute(select(tables.tournament.c.engine)).scalar_one()
    assert "DrawFacts" not in {line.change for line in lines}
    assert "room" not in {line.source for line in lines}
    assert not {"players_elsewhere", "arenas_elsewhere"} & set(engine)
    assert "elsewhere" not in str([line.data for line in lines])


def test_two_rounds_opened_at_the_same_moment_call_nobody_twice(store: Store) -> None:
    for _ in range(3):
        room = a_room(store)
        gate = threading.Barrier(2)
        faults: list[BaseException] = []

        def open_round(hall: Hall, gate: threading.Barrier = gate, faults: Any = faults) -> None:
            try:
                gate.wait(60)
                hall.mirror = None
                hall.post("/rounds", {})
            except (AssertionError, threading.BrokenBarrierError) as fault:
                faults.append(fault)

        threads = [threading.Thread(target=open_round, args=(hall,)) for hall in room.halls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert faults == []
        room.follow()
        for hall in room.halls:
            with store.read() as db:
                assert verification.verify_tournament(db, hall.tournament_id).faults == []


@pytest.mark.both_databases
@pytest.mark.parametrize("by", ["create", "change"])
def test_a_womens_tournament_says_so_and_is_estimated_so(store: Store, by: str) -> None:
    flagged = {"womens": True} if by == "create" else {}
    hall = Hall(store, "matchplay", "Ann Bea Cid Dot", arenas=2, **flagged)
    if by == "change":
        assert "womens" not in hall.get()["data"]
        assert "womens" not in hall.get("/estimate")
        hall.patch("", {"womens": True})
    assert hall.get()["data"]["womens"] is True
    estimate = hall.get("/estimate")
    assert estimate["womens"] is True
    assert any("women's ranking" in note for note in estimate["notes"])
    query = f"/api/ifpa/wppr-estimator?tournamentId={hall.tournament_id}"
    assert hall.send("POST", query)["womens"] is True
    hall.patch("", {"womens": False})
    assert "womens" not in hall.get()["data"]
    assert "womens" not in hall.send("POST", query)
    assert hall.refused("PATCH", "", {"womens": "perhaps"})[0] == 422
    hall.undo()
    assert hall.get()["data"]["womens"] is True


def test_a_mirror_in_a_room_keeps_others_waiting_and_is_called_where_it_is_run(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    room = a_room(store)
    in_main = room.main.open_round()
    room.womens.open_round()
    room.follow()
    waiting = room.waiting(room.womens)
    build.row(store, tables.mirror, tournament_id=room.womens.tournament_id, host="r.example", remote_id=4)
    for game in in_main:
        finish_first(room.main, game)
        room.follow()
    assert room.waiting(room.womens) == waiting != []
    room.main.open_round()
    room.follow()
    assert caplog.records == []
    room.require_clean()
