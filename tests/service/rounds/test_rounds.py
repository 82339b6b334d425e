"""Rounds of a tournament."""

from datetime import timedelta

import pytest

import build
from silverball.store.database.engine import Store


def test_rounds_are_listed_newest_first(store: Store) -> None:
    night = build.a_tournament(store)
    round_ids = [build.a_round(store, night.tournament_id, index) for index in range(3)]
    status, body = build.ask(store, f"/api/tournaments/{night.tournament_id}/rounds", by=1)
    assert status == 200
    assert [round_["roundId"] for round_ in body["data"]] == round_ids[::-1]
    assert [spot["index"] for spot in body["data"]] == [2, 1, 0]


@pytest.mark.both_databases
def test_a_round_is_shown_with_every_field(store: Store) -> None:
    night = build.a_tournament(store, type="golf")
    round_id = build.a_round(
        store,
        night.tournament_id,
        arena_id=night.arena_ids[0],
        score=10_000_000,
        size=7,
        description="Hålet på hörnet ⛳",
        status="completed",
        duration_seconds=682,
        completed_at=build.NOW + timedelta(seconds=682),
    )
    _, body = build.ask(store, f"/api/tournaments/{night.tournament_id}/rounds", by=1)
    assert body["data"] == [
        {
            "roundId": round_id,
            "tournamentId": night.tournament_id,
            "arenaId": night.arena_ids[0],
            "score": 10_000_000,
            "size": 7,
            "description": "Hålet på hörnet ⛳",
            "index": 0,
            "name": "Round 1",
            "status": "completed",
            "duration": 682,
            "createdAt": "2026-03-05 19:30:00Z",
            "completedAt": "2026-03-05 19:41:22Z",
        }
    ]


def test_a_tournament_without_rounds_has_an_empty_list(store: Store) -> None:
    night = build.a_tournament(store)
    assert build.ask(store, f"/api/tournaments/{night.tournament_id}/rounds", by=1) == (200, {"data": []})


@pytest.mark.parametrize("word", ["99999999", "0", "x", "9223372036854775808"])
def test_rounds_of_a_tournament_that_does_not_exist_are_not_found(store: Store, word: str) -> None:
    status, body = build.ask(store, f"/api/tournaments/{word}/rounds", by=1)
    assert (status, body["message"]) == (404, rf"No query results for model [App\Models\Tournament] {word}")
