"""The arenas of a best game."""

from typing import Any

import pytest

import build
from silverball.store import tables
from silverball.store.database.engine import Store


@pytest.fixture
def night(store: Store) -> build.Night:
    night = build.a_tournament(store, type="best_game", arenas=3)
    here, there, _ = night.arena_ids
    ann, bob, *_ = night.player_ids

    def an_attempt(**values: Any) -> None:
        build.row(store, tables.single_player_game, tournament_id=night.tournament_id, **values)

    an_attempt(player_id=ann, arena_id=here, score=55_199_790_000, duration_seconds=320)
    an_attempt(player_id=bob, arena_id=here, score=5, duration_seconds=321)
    an_attempt(player_id=bob, arena_id=here, score=99_000_000_000, duration_seconds=9, voided=True)
    an_attempt(player_id=ann, arena_id=here, status="started")
    an_attempt(player_id=ann, arena_id=there, score=7)
    build.row(store, tables.queue_entry, tournament_id=night.tournament_id, arena_id=here, player_id=bob)
    return night


def test_each_arena_has_its_queue_its_mean_length_and_its_best_score(
    store: Store, night: build.Night
) -> None:
    status, body = build.ask(store, f"/api/tournaments/{night.tournament_id}/arenas/bgsummary", by=1)
    assert status == 200
    assert [row["arenaId"] for row in body] == night.arena_ids
    assert [row["gameDuration"] for row in body] == [321, None, None]
    assert [row["bestScore"] for row in body] == [55_199_790_000, 7, None]
    assert [len(row["gameQueue"]) for row in body] == [1, 0, 0]
    assert {row["highlightedScore"] for row in body} == {None}


@pytest.mark.both_databases
def test_one_arena_is_shown_with_its_games_and_its_queue(store: Store, night: build.Night) -> None:
    here = night.arena_ids[0]
    path = f"/api/tournaments/{night.tournament_id}/arenas/{here}/bgdetails"
    status, body = build.ask(store, path, by=1)
    assert status == 200
    assert body["arena"]["arenaId"] == here
    assert body["arena"]["tournamentArena"]["status"] == "active"
    assert body["voidedGameCount"] == 1
    assert [game["score"] for game in body["singlePlayerGames"]] == [55_199_790_000, 5, None]
    assert [entry["playerId"] for entry in body["queue"]] == [night.player_ids[1]]


def test_an_arena_outside_the_lineup_is_not_found(store: Store, night: build.Night) -> None:
    other = build.an_arena(store, night.organizer_id)
    for arena_id in (other, 99999999):
        path = f"/api/tournaments/{night.tournament_id}/arenas/{arena_id}/bgdetails"
        status, body = build.ask(store, path, by=1)
        assert (status, body["message"]) == (
            404,
            rf"No query results for model [App\Models\Arena] {arena_id}",
        )
