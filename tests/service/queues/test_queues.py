"""Queues of a best game."""

import pytest

import build
from silverball.store import tables
from silverball.store.database.engine import Store


@pytest.mark.both_databases
@pytest.mark.parametrize("kind", ["best_game", "card_best_game"])
def test_queues_are_listed_under_their_arena_in_order(store: Store, kind: str) -> None:
    night = build.a_tournament(store, type=kind)
    here, there = night.arena_ids
    ann, bob, cy, dee = night.player_ids
    common = {"tournament_id": night.tournament_id}
    build.row(store, tables.queue_entry, **common, arena_id=there, player_id=cy, queue_index=0)
    second = build.row(store, tables.queue_entry, **common, arena_id=here, player_id=bob, queue_index=1)
    first = build.row(store, tables.queue_entry, **common, arena_id=here, player_id=ann, queue_index=0)
    # Called up already, so no longer waiting.
    build.row(store, tables.queue_entry, **common, arena_id=here, player_id=dee, completed_at=build.NOW)
    status, body = build.ask(store, f"/api/tournaments/{night.tournament_id}/queues", by=1)
    assert status == 200
    assert list(body["data"]) == [str(here), str(there)]
    assert [entry["queueId"] for entry in body["data"][str(here)]] == [first, second]
    assert body["data"][str(here)][0] == {
        "queueId": first,
        "tournamentId": night.tournament_id,
        "arenaId": here,
        "roundId": None,
        "playerId": ann,
        "index": 0,
        "createdAt": "2026-03-05T19:30:00.000000Z",
        "completedAt": None,
    }


def test_empty_queues_are_an_empty_list(store: Store) -> None:
    night = build.a_tournament(store, type="best_game")
    assert build.ask(store, f"/api/tournaments/{night.tournament_id}/queues", by=1) == (200, {"data": []})


@pytest.mark.parametrize("kind", ["group_knockout", "frenzy", "golf", "amazingrace"])
def test_other_formats_have_no_such_queues(store: Store, kind: str) -> None:
    night = build.a_tournament(store, type=kind)
    status, body = build.ask(store, f"/api/tournaments/{night.tournament_id}/queues", by=1)
    assert (status, body["message"]) == (403, "Tournament is not Best Game.")


def test_queues_of_an_unknown_tournament_are_not_found(store: Store) -> None:
    assert build.ask(store, "/api/tournaments/7/queues", by=1)[0] == 404
