"""The events of play at the machines: the rest of the feed's table.

Every request here is also mirrored (see `mirror.py`).
"""

from typing import Any

import pytest

import build
from service.desk import Desk, a_desk
from silverball.store import tables
from silverball.store.database.engine import Store

TOURNAMENT, PLAYERS, QUEUE = "TournamentUpdated", "PlayersChanged", "QueueChanged"
ROUND, GAME, SINGLE, CARD = (
    f"{model}CreatedOrUpdated" for model in ("Round", "Game", "SinglePlayerGame", "Card")
)


def announced_by(desk: Desk, method: str, path: str, body: Any = None) -> list[str]:
    """The names of the events that a successful request announces."""
    since = len(desk.mirror.seen)
    desk.ok(method, path, body)
    return [event.name for event in desk.mirror.seen[since:]]


def created(desk: Desk, path: str, body: Any) -> Any:
    return desk.ok("POST", path, body)["data"]


def test_a_reopened_earlier_round_is_announced_last(store: Store) -> None:
    desk = a_desk(store)
    first = desk.open_round()
    for game in first:
        desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})
    second = desk.open_round()
    announced = announced_by(desk, "DELETE", f"/rounds/{second[0]['roundId']}")
    assert announced == ["GamesDeleted", "RoundsDeleted", ROUND]
    assert announced_by(desk, "DELETE", f"/games/{first[0]['gameId']}/result") == [GAME]


@pytest.mark.both_databases
def test_changed_banks_announce_the_tournament(store: Store) -> None:
    desk = a_desk(store)
    bank = {"organizer_id": desk.night.organizer_id, "name": "Bank", "status": "active"}
    path = f"/banks/{build.row(store, tables.bank, **bank)}"
    assert [announced_by(desk, method, path) for method in ("PUT", "DELETE")] == [[TOURNAMENT]] * 2


@pytest.mark.both_databases
def test_the_clock_of_a_frenzy_announces_the_tournament(store: Store) -> None:
    desk = a_desk(store, "frenzy", players=7, arenas=2)
    assert announced_by(desk, "POST", "/frenzy/time", {"seconds": 300}) == [TOURNAMENT]
    assert announced_by(desk, "POST", "/frenzy/pause") == [TOURNAMENT]
    assert announced_by(desk, "POST", "/frenzy/resume")[0] == TOURNAMENT


def test_a_result_of_a_frenzy_is_announced_before_the_next_game_and_the_queue(store: Store) -> None:
    desk = a_desk(store, "frenzy", players=7, arenas=2)
    game = next(iter(desk.mirror.known["games"].values()))
    result = {"resultPositions": game["playerIds"]}
    assert announced_by(desk, "PUT", f"/games/{game['gameId']}/result", result) == [GAME, GAME, QUEUE]


def test_an_inactive_player_of_a_frenzy_announces_the_queue(store: Store) -> None:
    desk = a_desk(store, "frenzy", players=5)
    waiting = [spot["playerId"] for spot in desk.mirror.known["queue"]]
    assert QUEUE in announced_by(desk, "PATCH", f"/players/{waiting[0]}", {"status": "inactive"})


@pytest.mark.both_databases
def test_a_manual_order_announces_the_players(store: Store) -> None:
    desk = a_desk(store)
    for game in desk.open_round():
        desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})
    winners = [game.player_ids[0] for game in desk.stored_state()[0].games]
    assert PLAYERS in announced_by(desk, "POST", "/tiebreaks", {"order": winners})


@pytest.mark.both_databases
def test_a_changed_score_announces_every_score_that_it_moves(store: Store) -> None:
    desk = a_desk(store, "best_game", suggestions="disabled")
    arena_id = desk.night.arena_ids[0]
    scores = [
        created(
            desk, "/single-player-games", {"playerId": player_id, "arenaId": arena_id, "score": 100 * place}
        )
        for place, player_id in enumerate(desk.night.player_ids[:3], start=1)
    ]
    best = f"/single-player-games/{scores[-1]['singlePlayerGameId']}"
    # The two scores that it had moved down come up again, and go down again.
    assert announced_by(desk, "POST", f"{best}/void") == [SINGLE] * 3
    assert announced_by(desk, "POST", f"{best}/unvoid") == [SINGLE] * 3
    # Between the other two: the lowest of them keeps its place.
    assert announced_by(desk, "PATCH", best, {"score": 150}) == [SINGLE] * 2
    assert announced_by(desk, "DELETE", best) == ["SinglePlayerGamesDeleted", SINGLE]


def test_a_change_of_a_queue_announces_the_whole_queue(store: Store) -> None:
    desk = a_desk(store, "best_game", suggestions="disabled", useQueues=True)
    arena_id, (ann, bob) = desk.night.arena_ids[0], desk.night.player_ids[:2]
    spots = [
        created(desk, "/queues", {"playerId": player_id, "arenaId": arena_id})["queueId"]
        for player_id in (ann, bob)
    ]
    assert announced_by(desk, "POST", f"/queues/{spots[0]}/move") == [QUEUE]
    # The first player in line starts to play.
    assert announced_by(desk, "POST", f"/queues/{spots[1]}/start") == [SINGLE, QUEUE]
    assert announced_by(desk, "DELETE", f"/queues/{spots[0]}") == [QUEUE]


def test_bought_entries_announce_the_player(store: Store) -> None:
    desk = a_desk(store, "best_game", suggestions="disabled")
    path = f"/players/{desk.night.player_ids[0]}/entries"
    assert announced_by(desk, "POST", path, {"quantity": 5}) == [PLAYERS]
    assert announced_by(desk, "POST", path, {"type": "refund"}) == [PLAYERS]


@pytest.mark.both_databases
def test_a_card_is_announced_with_its_games(store: Store) -> None:
    desk = a_desk(store, "card_best_game", suggestions="disabled", cardBestGameGamesPerCard=2)
    first_arena, second_arena = desk.night.arena_ids[:2]
    first = {"playerId": desk.night.player_ids[0], "score": 100}
    assert announced_by(desk, "POST", "/single-player-games", {**first, "arenaId": first_arena}) == [
        CARD,
        SINGLE,
    ]
    # Its last game completes it, which ranks the one before.
    last = desk.ok("POST", "/single-player-games", {**first, "arenaId": second_arena})["data"]
    card = f"/cards/{last['cardId']}"
    assert sorted(announced_by(desk, "POST", f"{card}/void")) == [CARD, SINGLE, SINGLE]
    assert sorted(announced_by(desk, "POST", f"{card}/unvoid")) == [CARD, SINGLE, SINGLE]
    announced = announced_by(desk, "DELETE", f"/single-player-games/{last['singlePlayerGameId']}")
    assert announced == ["SinglePlayerGamesDeleted", CARD, SINGLE]
    assert announced_by(desk, "DELETE", card) == ["SinglePlayerGamesDeleted", "CardsDeleted"]


def test_an_approved_claim_announces_the_player(store: Store) -> None:
    desk = a_desk(store)
    player_id, claimant = desk.night.player_ids[2], desk.callers["keeper"]
    path = f"/api/players/{player_id}/claim"
    assert build.do(store, "POST", path, by=claimant)[0] < 300
    assert desk.mirror.follow() == []
    granted = {"userId": claimant.user_id}
    assert build.do(store, "PUT", path, granted, by=desk.callers["owner"])[0] == 200
    assert desk.mirror.follow() == [PLAYERS]
