"""The messages that a chat gets during a night, from the first event to the text."""

from typing import Any

import pytest

import build
from service.desk import Desk, a_desk
from service.webhooks.receiver import (
    Outbox,
    a_webhook,
    arena_name,
    rename,
)
from silverball.store.database.engine import Store


@pytest.fixture
def desk(store: Store) -> Desk:
    return a_desk(store)


@pytest.mark.both_databases
def test_a_chat_gets_sentences(desk: Desk) -> None:
    a_webhook(desk, form="text")
    post = Outbox(desk.store)
    (game, *_) = desk.open_round()
    post.run()
    first, second = game["playerIds"]
    desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": [first, second]})
    for _ in range(2):
        desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": [second, first]})
    desk.ok("PATCH", "", {"motdText": "Food at @8"})
    desk.ok("PATCH", "", {"name": "Friday Strikes"})
    desk.ok("POST", "/complete")
    names = {player_id: f"Player {n + 1}" for n, player_id in enumerate(desk.night.player_ids)}
    arena = game["arena"]["name"] if game.get("arena") else None
    on = f" on {arena or arena_name(desk, game['arenaId'])}"
    post.run()
    sent = post.sent
    texts = [message.payload["text"].partition(" \u00b7 ")[2] for message in sent]
    assert texts[:4] == [
        "Round 1 is drawn: 2 games.",
        f"{names[first]} beat {names[second]}{on}.",
        f"Corrected: {names[second]} beat {names[first]}{on}.",
        "Food at \uff208",
    ]
    assert texts[4].startswith("Completed. 1. ")
    assert texts[4].endswith(f"{build.BASE_URL}/t/{desk.night.tournament_id}")
    assert len(texts) == 5
    for message in sent:
        text = message.payload["text"]
        assert message.payload == {"text": text, "content": text, "allowed_mentions": {"parse": []}}


def test_a_start_is_reported(store: Store) -> None:
    desk = a_desk(store, starts=False)
    a_webhook(desk, form="text")
    desk.ok("PATCH", "", {"name": "Friday"})
    desk.ok("POST", "/start")
    (sent,) = Outbox(store).run()
    assert sent.payload["text"].startswith("Friday \u00b7 Started with 4 players.")


@pytest.mark.parametrize("type_", ["matchplay", "group_matchplay", "knockout", "bracket", "ladder"])
def test_a_chat_gets_the_results_of_games_of_any_size(store: Store, type_: Any) -> None:
    desk = a_desk(store, type_, players=8)
    a_webhook(desk, form="text")
    games = desk.mirror.known["games"] or {game["gameId"]: game for game in desk.open_round()}
    game = next(
        candidate for candidate in games.values() if len(candidate["playerIds"]) > 1 and not candidate["bye"]
    )
    order = sorted(game["playerIds"], reverse=True)
    desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": order})
    names = {player_id: f"Player {n + 1}" for n, player_id in enumerate(desk.night.player_ids)}
    on = f" on {arena_name(desk, game['arenaId'])}" if game["arenaId"] else ""
    ranks = ", ".join(f"{place}. {names[player_id]}" for place, player_id in enumerate(order, start=1))
    pair = f"{names[order[0]]} beat {names[order[1]]}{on}."
    texts = [message.payload["text"].partition(" \u00b7 ")[2] for message in Outbox(store).run()]
    assert (pair if len(order) == 2 else f"Result{on}: {ranks}.") in texts


@pytest.mark.both_databases
def test_a_chat_gets_the_winner_of_a_match_that_is_counted_by_games(store: Store) -> None:
    desk = a_desk(store, "bracket", players=4, gamesPerRound=3)
    a_webhook(desk, form="text")
    game = next(each for each in desk.ok("GET", "/games")["data"] if not each["bye"])
    first, second = game["playerIds"]
    path = f"/games/{game['gameId']}/result"
    desk.ok("PUT", path, {"games": {first: 1, second: 1}})
    assert Outbox(store).run() == []
    desk.ok("PUT", path, {"games": {first: 1, second: 2}})
    names = {player_id: f"Player {n + 1}" for n, player_id in enumerate(desk.night.player_ids)}
    texts = [message.payload["text"] for message in Outbox(store).run()]
    assert any(f"{names[second]} beat {names[first]}" in text for text in texts)


def test_a_chat_gets_the_strikes_where_a_format_has_no_order(store: Store) -> None:
    desk = a_desk(store, "group_knockout", players=8)
    a_webhook(desk, form="text")
    game = next(candidate for candidate in desk.open_round() if len(candidate["playerIds"]) == 4)
    desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})
    names = {player_id: f"Player {n + 1}" for n, player_id in enumerate(desk.night.player_ids)}
    third, last = (names[player_id] for player_id in game["playerIds"][2:])
    text = Outbox(store).run()[-1].payload["text"]
    assert text.endswith(f"Strikes on {arena_name(desk, game['arenaId'])}: {third}, {last}.")


@pytest.mark.parametrize("type_", ["best_game", "golf", "frenzy"])
def test_a_chat_gets_start_and_completion_of_other_formats(store: Store, type_: Any) -> None:
    desk = a_desk(store, type_, starts=False)
    a_webhook(desk, form="text")
    desk.ok("POST", "/start")
    desk.ok("POST", "/complete")
    texts = [message.payload["text"] for message in Outbox(store).run()]
    assert "Started with 4 players." in texts[0]
    assert "Completed." in texts[-1]


@pytest.mark.both_databases
def test_a_webhook_that_becomes_a_chat_gets_sentences_from_then_on(desk: Desk) -> None:
    a_webhook(desk)
    desk.open_round()
    desk.ok("PATCH", "/webhooks/1", {"form": "text"})
    rename(desk, "Friday Strikes")
    assert Outbox(desk.store).run() == []
