"""Answers about played tournaments have the keys of the observed ones. Source: tests/golden/samples."""

import json

import msgspec
import pytest

import build
from golden.keys import keys_of
from golden.shapes import sample
from silverball.service.core import enact
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball_wire.games import GameSummary
from silverball_wire.standings import Standing

# Sample -> the format that it was observed in, and the request for an answer of that kind.
PATHS = {
    "bgsummary": ("best_game", "arenas/bgsummary"),
    "card-single": ("card_best_game", "cards/{card}"),
    "cards": ("card_best_game", "cards?limit=1"),
    "frenzy": ("frenzy", "frenzy"),
    "game-single": ("knockout", "games/{game}"),
    "games-edge-cases": ("knockout", "games"),
    "games-tournament-scoped": ("knockout", "games"),
    "max-matchplay": ("max_matchplay", "max-matchplay"),
    "queues": ("best_game", "queues"),
    "rounds": ("knockout", "rounds"),
    "single-player-game-single": ("golf", "single-player-games/{attempt}"),
    "single-player-games": ("golf", "single-player-games?limit=1"),
    "single-player-top-scores": ("card_best_game", "single-player-games/top-scores"),
    "standings": ("knockout", "standings"),
    "stats-arenas": ("knockout", "stats/arenas"),
    "stats-bestgame": ("card_best_game", "stats/bestgame"),
    "stats-matchplay": ("knockout", "stats/matchplay"),
    "stats-players": ("knockout", "stats/players"),
    "stats-rounds": ("knockout", "stats/rounds"),
    "summary-arenas": ("knockout", "summary/arenas"),
    "summary-matches": ("knockout", "summary/matches"),
    "summary-player-arenas": ("knockout", "summary/player-arenas"),
}


def a_whole_tournament(store: Store, kind: str) -> dict[str, int]:
    """A completed tournament with one of everything that its format has."""
    night = build.a_tournament(store, type=kind, status="completed", players=2)
    tournament_id, (ann, bob), arena_id = night.tournament_id, night.player_ids, night.arena_ids[0]
    has_cards = kind == "card_best_game"
    round_id = None if has_cards else build.a_round(store, tournament_id)
    common = {"tournament_id": tournament_id, "player_id": ann}
    card_id = build.row(store, tables.card, **common) if has_cards else None
    attempt_id = 0
    if kind in ("golf", "card_best_game"):
        parts = {"round_id": round_id, "card_id": card_id, "arena_id": arena_id, "score": 7}
        attempt_id = build.row(store, tables.single_player_game, **common, **parts)
    result = {"points": ["1.00", "0.00"], "positions": [ann, bob], "arena_id": arena_id}
    game_id = build.a_game(
        store, tournament_id, [ann, bob], status="completed", duration_seconds=7, round_id=round_id, **result
    )
    build.a_game(store, tournament_id, [ann, bob])
    build.row(
        store,
        tables.suggestion,
        tournament_id=tournament_id,
        game_id=game_id,
        results=[ann, bob],
        scores={str(ann): None, str(bob): None},
    )
    row = msgspec.convert({**json.loads(sample("standings"))[0], "playerId": ann}, Standing)
    with store.write(tournament_id) as transaction:
        enact.replace_standings(transaction.connection, tournament_id, [row])
        enact.store_summaries(transaction.connection, tournament_id)
    return {"tournament": tournament_id, "game": game_id, "card": card_id or 0, "attempt": attempt_id}


@pytest.mark.parametrize("name", sorted(PATHS))
def test_an_answer_has_the_keys_of_its_sample(store: Store, name: str) -> None:
    kind, path = PATHS[name]
    ids = a_whole_tournament(store, kind)
    status, body = build.ask(store, f"/api/tournaments/{ids['tournament']}/{path.format(**ids)}", by=1)
    assert status == 200, body
    observed = json.loads(sample(name))
    if name == "games-edge-cases":
        # The observed game has no suggestions; ours has one.
        body["data"] = body["data"][1:]
    if name == "max-matchplay":
        # The observed night was over; ours has an open game.
        body["games"] = []
    assert keys_of(body) == keys_of(observed)


@pytest.mark.both_databases
def test_the_global_list_of_games_has_the_observed_keys_and_those_of_a_whole_game(store: Store) -> None:
    ids = a_whole_tournament(store, "knockout")
    _, listed = build.ask(store, f"/api/games?tournaments={ids['tournament']}", by=1)
    _, whole = build.ask(store, f"/api/tournaments/{ids['tournament']}/games", by=1)
    observed = json.loads(sample("games-global"))
    assert keys_of(observed) <= keys_of(listed)
    added = keys_of(listed) - keys_of(observed)
    assert added == keys_of(whole) - {f"data[].{key}" for key in GameSummary.__struct_encode_fields__} - {
        "data"
    }
