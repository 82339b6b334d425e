"""What follows from play at the machines, event by event: the rest of the feed's table.

Every request here is also mirrored (see `mirror.py`).
"""

from typing import Any

import build
from service.desk import Desk, a_desk
from silverball.store import tables
from silverball.store.engine import Store

TOURNAMENT, PLAYERS, QUEUE = "TournamentUpdated", "PlayersChanged", "QueueChanged"
ROUND, GAME, SINGLE, CARD = (
    f"{one}CreatedOrUpdated" for one in ("Round", "Game", "SinglePlayerGame", "Card")
)


def announced_by(desk: Desk, method: str, path: str, body: Any = None) -> list[str]:
    """The names of what a good request announces."""
    since = len(desk.mirror.seen)
    desk.ok(method, path, body)
    return [one.name for one in desk.mirror.seen[since:]]


def created(desk: Desk, path: str, body: Any) -> Any:
    return desk.ok("POST", path, body)["data"]


def test_a_round_before_that_is_open_again_is_told_last(store: Store) -> None:
    desk = a_desk(store)
    first = desk.open_round()
    for game in first:
        desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})
    second = desk.open_round()
    told = announced_by(desk, "DELETE", f"/rounds/{second[0]['roundId']}")
    assert told == ["GamesDeleted", "RoundsDeleted", ROUND]
    assert announced_by(desk, "DELETE", f"/games/{first[0]['gameId']}/result") == [GAME]


def test_banks_are_told_with_the_tournament(store: Store) -> None:
    desk = a_desk(store)
    bank = {"organizer_id": desk.night.organizer_id, "name": "Bank", "status": "active"}
    path = f"/banks/{build.row(store, tables.bank, **bank)}"
    assert [announced_by(desk, method, path) for method in ("PUT", "DELETE")] == [[TOURNAMENT]] * 2


def test_the_clock_of_a_frenzy_is_told_with_the_tournament(store: Store) -> None:
    desk = a_desk(store, "frenzy", players=7, arenas=2)
    assert announced_by(desk, "POST", "/frenzy/time", {"seconds": 300}) == [TOURNAMENT]
    assert announced_by(desk, "POST", "/frenzy/pause") == [TOURNAMENT]
    assert announced_by(desk, "POST", "/frenzy/resume")[0] == TOURNAMENT


def test_a_result_of_a_frenzy_is_told_before_the_next_game_and_the_queue(store: Store) -> None:
    desk = a_desk(store, "frenzy", players=7, arenas=2)
    game = next(iter(desk.mirror.known["games"].values()))
    result = {"resultPositions": game["playerIds"]}
    assert announced_by(desk, "PUT", f"/games/{game['gameId']}/result", result) == [GAME, GAME, QUEUE]


def test_a_player_who_goes_into_the_queue_of_a_frenzy_is_told_with_it(store: Store) -> None:
    desk = a_desk(store, "frenzy", players=5)
    waiting = [one["playerId"] for one in desk.mirror.known["queue"]]
    assert QUEUE in announced_by(desk, "PATCH", f"/players/{waiting[0]}", {"status": "inactive"})


def test_an_order_by_hand_is_told_with_the_players(store: Store) -> None:
    desk = a_desk(store)
    for game in desk.open_round():
        desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})
    winners = [one.player_ids[0] for one in desk.stored_state()[0].games]
    assert PLAYERS in announced_by(desk, "POST", "/tiebreaks", {"order": winners})


def test_what_becomes_of_a_score_is_told_with_everybody_whom_it_moves(store: Store) -> None:
    desk = a_desk(store, "best_game", suggestions="disabled")
    arena_id = desk.night.arena_ids[0]
    scores = [
        created(desk, "/single-player-games", {"playerId": one, "arenaId": arena_id, "score": 100 * place})
        for place, one in enumerate(desk.night.player_ids[:3], start=1)
    ]
    best = f"/single-player-games/{scores[-1]['singlePlayerGameId']}"
    # The two whom it had pushed down come up again, and go down again.
    assert announced_by(desk, "POST", f"{best}/void") == [SINGLE] * 3
    assert announced_by(desk, "POST", f"{best}/unvoid") == [SINGLE] * 3
    # Between the others: the worst of them stays where he is.
    assert announced_by(desk, "PATCH", best, {"score": 150}) == [SINGLE] * 2
    assert announced_by(desk, "DELETE", best) == ["SinglePlayerGamesDeleted", SINGLE]


def test_what_happens_in_a_queue_is_told_with_all_who_wait(store: Store) -> None:
    desk = a_desk(store, "best_game", suggestions="disabled", useQueues=True)
    arena_id, (ann, bob) = desk.night.arena_ids[0], desk.night.player_ids[:2]
    spots = [
        created(desk, "/queues", {"playerId": one, "arenaId": arena_id})["queueId"] for one in (ann, bob)
    ]
    assert announced_by(desk, "POST", f"/queues/{spots[0]}/move") == [QUEUE]
    # Who is up plays now.
    assert announced_by(desk, "POST", f"/queues/{spots[1]}/start") == [SINGLE, QUEUE]
    assert announced_by(desk, "DELETE", f"/queues/{spots[0]}") == [QUEUE]


def test_entries_are_told_with_the_player(store: Store) -> None:
    desk = a_desk(store, "best_game", suggestions="disabled")
    path = f"/players/{desk.night.player_ids[0]}/entries"
    assert announced_by(desk, "POST", path, {"quantity": 5}) == [PLAYERS]
    assert announced_by(desk, "POST", path, {"type": "refund"}) == [PLAYERS]


def test_a_card_is_told_with_its_games(store: Store) -> None:
    desk = a_desk(store, "card_best_game", suggestions="disabled", cardBestGameGamesPerCard=2)
    here, there = desk.night.arena_ids[:2]
    first = {"playerId": desk.night.player_ids[0], "score": 100}
    assert announced_by(desk, "POST", "/single-player-games", {**first, "arenaId": here}) == [CARD, SINGLE]
    # Its last game completes it, which ranks the one before.
    last = desk.ok("POST", "/single-player-games", {**first, "arenaId": there})["data"]
    card = f"/cards/{last['cardId']}"
    assert sorted(announced_by(desk, "POST", f"{card}/void")) == [CARD, SINGLE, SINGLE]
    assert sorted(announced_by(desk, "POST", f"{card}/unvoid")) == [CARD, SINGLE, SINGLE]
    taken = announced_by(desk, "DELETE", f"/single-player-games/{last['singlePlayerGameId']}")
    assert taken == ["SinglePlayerGamesDeleted", CARD, SINGLE]
    assert announced_by(desk, "DELETE", card) == ["SinglePlayerGamesDeleted", "CardsDeleted"]


def test_a_claim_that_is_granted_is_told_with_the_player(store: Store) -> None:
    desk = a_desk(store)
    player_id, claimant = desk.night.player_ids[2], desk.callers["keeper"]
    path = f"/api/players/{player_id}/claim"
    assert build.do(store, "POST", path, by=claimant)[0] < 300
    assert desk.mirror.follow() == []
    granted = {"userId": claimant.user_id}
    assert build.do(store, "PUT", path, granted, by=desk.callers["owner"])[0] == 200
    assert desk.mirror.follow() == [PLAYERS]
