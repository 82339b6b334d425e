"""The live view of a max match play."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

import build
from silverball.store import tables
from silverball.store.database.engine import Store

SETTINGS = {"scorekeeping": "user", "playoffsCutoffs": [], "maxMatchplayDuration": 2}


@pytest.fixture
def night(store: Store) -> build.Night:
    return build.a_tournament(store, type="max_matchplay", settings=SETTINGS)


def add_played_game(
    store: Store, night: build.Night, players: tuple[int, int], minute: int, arena: int
) -> int:
    return build.a_game(
        store,
        night.tournament_id,
        [night.player_ids[index] for index in players],
        arena_id=night.arena_ids[arena],
        status="completed",
        started_at=build.NOW + timedelta(minutes=minute),
        duration_seconds=500 + minute,
    )


def state(store: Store, night: build.Night) -> Any:
    status, body = build.ask(store, f"/api/tournaments/{night.tournament_id}/max-matchplay", by=1)
    assert status == 200
    return body


@pytest.mark.both_databases
def test_players_have_their_opponents_and_arenas(store: Store, night: build.Night) -> None:
    ann, bob, cy, dee = night.player_ids
    # Entered out of order, because the order of play counts.
    add_played_game(store, night, (0, 2), minute=20, arena=0)
    add_played_game(store, night, (1, 0), minute=0, arena=0)
    running = build.a_game(store, night.tournament_id, [cy, dee])
    body = state(store, night)
    assert [game["gameId"] for game in body["games"]] == [running]
    assert [player["playerId"] for player in body["players"]] == [ann, bob, cy, dee]
    ended = build.NOW + timedelta(minutes=20, seconds=520)
    assert body["players"][0] == {
        "playerId": ann,
        "gameCount": 2,
        "completedTime": int(ended.timestamp()),
        "arenaCounts": {str(night.arena_ids[0]): 2},
        "opponentCounts": {str(bob): 1, str(cy): 1},
        "allOpponents": [bob, cy],
    }
    assert body["players"][3] == {
        "playerId": dee,
        "gameCount": 0,
        "completedTime": None,
        "arenaCounts": {},
        "opponentCounts": {},
        "allOpponents": [],
    }
    # Bob and Cy miss one, Dee two.
    assert body["remainingGames"] == 2
    assert body["avgGameDuration"] == 510


@pytest.mark.both_databases
def test_games_with_dropped_players_are_not_expected(store: Store, night: build.Night) -> None:
    with store.write() as transaction:
        entrant = tables.entrant
        gone = entrant.c.player_id == night.player_ids[3]
        transaction.connection.execute(update(entrant).where(gone).values(status="inactive"))
    body = state(store, night)
    assert body["remainingGames"] == 3
    assert len(body["players"]) == 4
    assert body["avgGameDuration"] is None
