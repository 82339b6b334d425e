"""The live view of a frenzy."""

from datetime import timedelta

import pytest

import build
from silverball.store import tables
from silverball.store.database.engine import Store


@pytest.mark.both_databases
def test_a_frenzy_shows_its_games_its_queue_and_how_long_people_waited(store: Store) -> None:
    night = build.a_tournament(store, type="frenzy")
    tournament_id, (ann, bob, cy, dee) = night.tournament_id, night.player_ids
    build.a_game(store, tournament_id, [ann, cy], status="completed")
    running = build.a_game(store, tournament_id, [ann, bob], game_index=None)
    common = {"tournament_id": tournament_id}
    last = build.row(store, tables.queue_entry, **common, player_id=dee, queue_index=1)
    head = build.row(store, tables.queue_entry, **common, player_id=cy, queue_index=0)
    for waited in (100, 161):
        called = build.NOW + timedelta(seconds=waited)
        build.row(store, tables.queue_entry, **common, player_id=ann, completed_at=called)
    status, body = build.ask(store, f"/api/tournaments/{tournament_id}/frenzy", by=1)
    assert status == 200
    assert [game["gameId"] for game in body["games"]] == [running]
    assert body["games"][0]["roundId"] == 0
    assert [entry["queueId"] for entry in body["queue"]] == [head, last]
    # 130.5 seconds, halves up.
    assert body["avgQueueDuration"] == 131


def test_a_frenzy_has_no_average_wait_before_the_first_call(store: Store) -> None:
    night = build.a_tournament(store, type="frenzy")
    _, body = build.ask(store, f"/api/tournaments/{night.tournament_id}/frenzy", by=1)
    assert body == {"games": [], "queue": [], "avgQueueDuration": None}


@pytest.mark.parametrize(
    ("path", "spoken"),
    [
        ("frenzy", "Frenzy"),
        ("max-matchplay", "Max Match Play"),
        ("amazing-race", "Amazing Race"),
        ("arenas/bgsummary", "Best Game"),
        ("arenas/1/bgdetails", "Best Game"),
        ("stats/bestgame", "Best Game"),
    ],
)
def test_a_tournament_of_another_format_has_no_such_view(store: Store, path: str, spoken: str) -> None:
    night = build.a_tournament(store, type="knockout")
    status, body = build.ask(store, f"/api/tournaments/{night.tournament_id}/{path}", by=1)
    assert (status, body["message"]) == (400, f"Tournament is not {spoken}")
    status, body = build.ask(store, f"/api/tournaments/99999999/{path}", by=1)
    assert status == 404
    assert body["message"].endswith("[App\\Models\\Tournament] 99999999")
