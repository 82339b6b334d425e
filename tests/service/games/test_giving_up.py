"""Giving up over the interface: an id or a list, games and single player games, leaving, not coming."""

from typing import Any

import pytest

import build
from service.desk import Desk, a_desk
from silverball.rules.ranking.standing import WinLossRule
from silverball.service.journal.reads import verification
from silverball.service.periods.reads import periods
from silverball.store.database.engine import Store


def games_of(desk: Desk, store: Store, path: str = "/games") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = build.ask(store, desk.path + path, by=desk.callers["owner"])[1]["data"]
    return found


def check(desk: Desk, store: Store) -> None:
    with store.read() as db:
        assert verification.verify_tournament(db, desk.night.tournament_id).faults == []


@pytest.mark.both_databases
def test_one_or_several_give_up_a_group_and_the_others_play_on(store: Store) -> None:
    desk = a_desk(store, "group_matchplay", scoring="ifpa")
    desk.open_round()
    (game,) = games_of(desk, store)
    path = f"/games/{game['gameId']}/result"
    first, second, third, fourth = game["playerIds"]
    noted = desk.do_and_undo("PUT", path, {"forfeit": fourth})["data"]
    assert (noted["status"], noted["resultPositions"]) == ("started", [None, None, None, fourth])
    desk.ok("PUT", path, {"forfeit": [third, fourth]})
    done = desk.do_and_undo("PUT", path, {"resultPositions": [second, first]})["data"]
    assert done["resultPoints"] == ["5.00", "7.00", "0.00", "0.00"]
    assert done["resultPositions"] == [second, first, None, None]
    check(desk, store)
    everybody = desk.do_and_undo("PUT", path, {"forfeit": [first, second]})["data"]
    assert everybody["resultPoints"] == ["0.00"] * 4
    check(desk, store)


@pytest.mark.parametrize(
    ("kind", "status", "points"), [("golf", "completed", "6.00"), ("bowling", "completed", "0.00")]
)
def test_a_single_player_game_is_given_up_by_its_player(
    store: Store, kind: str, status: str, points: str
) -> None:
    desk = a_desk(store, kind, golfDuration=1)
    attempt = games_of(desk, store, "/single-player-games")[0]
    path = f"/single-player-games/{attempt['singlePlayerGameId']}"
    other = next(each for each in desk.night.player_ids if each != attempt["playerId"])
    assert "forfeit" in desk.expect_refusal(422, "PATCH", path, {"forfeit": other})["errors"]
    desk.do_and_undo("PATCH", path, {"forfeit": attempt["playerId"]})
    desk.ok("PATCH", path, {"forfeit": [attempt["playerId"]]})
    after = next(
        each
        for each in games_of(desk, store, "/single-player-games")
        if each["singlePlayerGameId"] == attempt["singlePlayerGameId"]
    )
    assert (after["status"], after["points"]) == (status, points)
    check(desk, store)


def test_a_game_of_a_frenzy_that_both_give_up_is_answered_and_gone(store: Store) -> None:
    desk = a_desk(store, "frenzy", players=6)
    game = games_of(desk, store)[0]
    answer = desk.ok("PUT", f"/games/{game['gameId']}/result", {"forfeit": game["playerIds"]})
    assert answer["data"]["gameId"] == game["gameId"]
    assert game["gameId"] not in {each["gameId"] for each in games_of(desk, store)}
    check(desk, store)


@pytest.mark.both_databases
@pytest.mark.parametrize("kind", ["bracket", "round_robin", "group_bracket", "ladder"])
def test_who_leaves_a_fixed_schedule_is_inactive_and_comes_back_by_undo(store: Store, kind: str) -> None:
    desk = a_desk(store, kind)
    player = desk.night.player_ids[0]
    left = desk.do_and_undo("POST", f"/players/{player}/forfeit", {"what": "leaves"})["data"]
    assert left["tournamentPlayer"]["status"] == "inactive"
    left = desk.do_and_undo("PATCH", f"/players/{player}", {"status": "inactive"})["data"]
    assert left["tournamentPlayer"]["status"] == "inactive"
    desk.ok("PATCH", f"/players/{player}", {"status": "inactive"})
    check(desk, store)
    desk.ok("PATCH", f"/players/{player}", {"status": "active"})
    check(desk, store)


def test_who_did_not_come_is_answered_and_gone(store: Store) -> None:
    desk = a_desk(store, "matchplay", players=5)
    desk.open_round()
    player = games_of(desk, store)[0]["playerIds"][0]
    assert (
        desk.ok("POST", f"/players/{player}/forfeit", {"what": "did-not-come"})["data"]["playerId"] == player
    )
    assert all(player not in game["playerIds"] for game in games_of(desk, store))
    check(desk, store)
    desk.expect_refusal(422, "POST", f"/players/{player}/forfeit", {"what": "sulks"})
    desk.expect_refusal(404, "POST", f"/players/{player}/forfeit", {"what": "leaves"})


def test_who_gives_up_is_not_rated_and_the_others_are_among_themselves() -> None:
    # Tournament, game, slot, player, the player in this place of the order, points, full order, who gave up.
    seats = [
        (1, 7, 0, 11, 13, 500, None, "[12, 14]"),
        (1, 7, 1, 12, 11, 0, None, "[12, 14]"),
        (1, 7, 2, 13, 0, 700, None, "[12, 14]"),
        (1, 7, 3, 14, 0, 0, None, "[12, 14]"),
        # Three of four gave up: nobody is left to be rated against.
        (1, 8, 0, 11, 11, 700, None, "[12, 13, 14]"),
        (1, 8, 1, 12, 0, 0, None, "[12, 13, 14]"),
        (1, 8, 2, 13, 0, 0, None, "[12, 13, 14]"),
        (1, 8, 3, 14, 0, 0, None, "[12, 13, 14]"),
    ]
    found = periods.games_from_seats(seats, {1: WinLossRule.POSITIONS})
    assert (dict(zip(found[1].keys, found[1].places, strict=True)), found[1].seat_counts) == (
        {13: 0, 11: 1},
        [2],
    )
