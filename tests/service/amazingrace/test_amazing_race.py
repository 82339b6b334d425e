"""The live view of an amazing race."""

import pytest

import build
from silverball.store import tables
from silverball.store.database.engine import Store


@pytest.mark.both_databases
def test_an_amazing_race_has_rounds_games_and_queues(store: Store) -> None:
    night = build.a_tournament(store, type="amazingrace")
    tournament_id, (ann, bob, *_) = night.tournament_id, night.player_ids
    round_id = build.a_round(store, tournament_id, arena_id=night.arena_ids[0], size=4, score=1000)
    common = {"tournament_id": tournament_id, "round_id": round_id}
    game_id = build.row(
        store, tables.single_player_game, **common, player_id=ann, arena_id=night.arena_ids[0], score=1000
    )
    build.row(store, tables.single_player_game, **common, player_id=bob, voided=True)
    queue_id = build.row(store, tables.queue_entry, **common, player_id=bob)
    status, body = build.ask(store, f"/api/tournaments/{tournament_id}/amazing-race", by=1)
    assert status == 200
    assert list(body) == ["rounds", "games", "queues"]
    assert [(round_["roundId"], round_["size"], round_["score"]) for round_ in body["rounds"]] == [
        (round_id, 4, 1000)
    ]
    assert [game["singlePlayerGameId"] for game in body["games"]] == [game_id]
    assert [(spot["queueId"], spot["roundId"]) for spot in body["queues"]] == [(queue_id, round_id)]


def test_a_race_that_has_not_begun_is_empty(store: Store) -> None:
    night = build.a_tournament(store, type="amazingrace", status="planned")
    _, body = build.ask(store, f"/api/tournaments/{night.tournament_id}/amazing-race", by=1)
    assert body == {"rounds": [], "games": [], "queues": []}
