"""The game in an event and in an answer is the game that a fresh read shows. Each `desk` follows the feed."""

from typing import Any

import pytest
from sqlalchemy import update

import build
from service.desk import Desk, a_desk
from silverball.store import tables
from silverball.store.database.engine import Store


def read_game(desk: Desk, game: dict[str, Any]) -> dict[str, Any]:
    status, answer = build.ask(desk.store, f"{desk.path}/games/{game['gameId']}", by=desk.callers["owner"])[
        :2
    ]
    assert status == 200, answer
    shown: dict[str, Any] = answer["data"]
    return shown


@pytest.mark.both_databases
def test_a_result_keeps_what_another_service_knows_of_the_game(store: Store) -> None:
    desk = a_desk(store)
    game, other = desk.open_round()
    with store.write() as transaction:
        row = tables.game.c.game_id == game["gameId"]
        known = {"scorbit_id": "77", "scorbit_verified": True}
        transaction.connection.execute(update(tables.game).where(row).values(**known))
    store.forget()
    for played in (game, other):
        body = {"resultPositions": played["playerIds"]}
        shown = desk.ok("PUT", f"/games/{played['gameId']}/result", body)["data"]
        assert shown == read_game(desk, played)
        assert (shown["scorbitId"], shown["scorbitVerified"]) == (
            ("77", True) if played is game else (None, False)
        )
    # It is known after a result as before.
    shown = desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"][::-1]})[
        "data"
    ]
    assert (shown["scorbitId"], shown) == ("77", read_game(desk, game))


def test_a_corrected_game_shows_the_accounts_that_have_claimed_its_players(store: Store) -> None:
    desk = a_desk(store, "group_matchplay", players=4)
    (game,) = desk.open_round()
    claimed, claimant = desk.night.player_ids[2], desk.callers["keeper"]
    others = [player_id for player_id in game["playerIds"] if player_id != claimed]
    path = f"/games/{game['gameId']}/result"
    shown = desk.ok("PUT", path, {"resultPositions": [claimed, *others]})["data"]
    assert account_of(shown, claimed) is None
    for method, body, caller in (
        ("POST", None, claimant),
        ("PUT", {"userId": claimant.user_id}, desk.callers["owner"]),
    ):
        assert build.do(store, method, f"/api/players/{claimed}/claim", body, by=caller)[0] < 300
    corrected = desk.ok("PUT", path, {"resultPositions": [claimed, *others[::-1]]})["data"]
    assert account_of(corrected, claimed) == claimant.user_id
    assert corrected == read_game(desk, game)
    moved = desk.ok("PUT", path, {"resultPositions": [*others[::-1], claimed]})["data"]
    assert account_of(moved, claimed) == claimant.user_id
    assert moved == read_game(desk, game)


def account_of(game: dict[str, Any], player_id: int) -> int | None:
    account: int | None = game["userIds"][game["playerIds"].index(player_id)]
    return account


def test_a_game_is_shown_without_the_report_that_its_result_settles(store: Store) -> None:
    desk = a_desk(store, suggestions="restricted")
    games = desk.open_round()
    (own,) = [game for game in games if desk.night.player_ids[0] in game["playerIds"]]
    result = {"resultPositions": own["playerIds"]}
    reported = desk.ok("POST", f"/games/{own['gameId']}/suggestions", result, by="player")["data"]
    assert len(reported["suggestions"]) == 1
    for game in sorted(games, key=lambda each: each is own):
        body = {"resultPositions": game["playerIds"]}
        shown = desk.ok("PUT", f"/games/{game['gameId']}/result", body)["data"]
        assert (shown, shown["suggestions"]) == (read_game(desk, game), [])
