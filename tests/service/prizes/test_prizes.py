"""Prize money over HTTP: set, refused, paid out, published, undone. Sums are made by hand."""

import json
from typing import Any

import pytest

import build
from service.desk import Desk, a_desk
from silverball.service.journal.reads import verification
from silverball.service.money import reads as money_reads
from silverball.store.database.engine import Store

# Four players at 10.00 and 5.00 from a raffle, 1.00 each to the federation, 10 % to the house.
SETTINGS: dict[str, Any] = {
    "entryFee": 1_000,
    "extras": 500,
    "federationFee": 100,
    "houseShare": 1_000,
    "shares": [6_000, 3_000, 1_000],
    "rounding": 100,
    "currency": "EUR",
}


def a_finished_desk(store: Store) -> tuple[Desk, list[int]]:
    """A completed night of four after one round with two winners, and the players by place."""
    desk = a_desk(store)
    games = desk.open_round()
    for game in games:
        desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})
    desk.ok("PUT", "/prizes", SETTINGS)
    desk.ok("POST", "/complete")
    return desk, [game["playerIds"][0] for game in games]


def test_the_money_adds_up_and_is_undone(store: Store) -> None:
    desk = a_desk(store)
    money = desk.do_and_undo("PUT", "/prizes", SETTINGS)["data"]
    assert (money["pot"], money["federationFees"], money["house"]) == (4_500, 400, 410)
    # All share the first place before a game: 36.90 are 9.00 for each of four.
    assert [(prize["position"], prize["lastPosition"], prize["cents"]) for prize in money["prizes"]] == [
        (1, 4, 900)
    ]
    assert (money["prizesTotal"], money["remainder"]) == (3_600, 90)
    assert desk.expect_refusal(404, "GET", "/prizes")


def test_winners_who_tie_divide_their_shares_and_are_paid(store: Store) -> None:
    desk, winners = a_finished_desk(store)
    # 60 % and 30 % of 36.90 are 33.21, 16.00 for each of two; the losers divide 3.69.
    paid = desk.ok("PUT", f"/prizes/players/{winners[0]}", {"paid": True})["data"]
    assert [prize["cents"] for prize in paid["prizes"]] == [1_600, 100]
    (payout,) = paid["payouts"]
    assert (payout["playerId"], payout["cents"], paid["paidTotal"]) == (winners[0], 1_600, 1_600)
    assert payout["userId"] == desk.callers["owner"].user_id
    again = desk.ok("PUT", f"/prizes/players/{winners[0]}", {"paid": True})["data"]
    assert again["payouts"] == [payout]
    with store.read() as db:
        assert not verification.verify_tournament(db, desk.night.tournament_id).faults
    assert not desk.ok("PUT", f"/prizes/players/{winners[0]}", {"paid": False})["data"]["payouts"]
    with store.read() as db:
        assert not verification.verify_tournament(db, desk.night.tournament_id).faults


FAULTS: dict[str, tuple[dict[str, Any], str | None]] = {
    "shares": ({"shares": [5_000, 3_000, 2_100]}, "The shares sum to 101 %. They must sum to 100 %."),
    "federationFee": ({"federationFee": 2_000}, "The federation's fees are more than the pot."),
    "rounding": ({"rounding": 0}, None),
    "currency": ({"currency": "eur"}, None),
    "entryFee": ({"entryFee": 10.5}, None),
    "shares.0": ({"shares": [-1, 10_001]}, None),
}


def test_money_that_cannot_be_is_refused_with_its_field(store: Store) -> None:
    desk = a_desk(store)
    for field, (change, sentence) in FAULTS.items():
        answer = desk.expect_refusal(422, "PUT", "/prizes", SETTINGS | change)
        assert list(answer["errors"]) == [field]
        assert sentence is None or answer["errors"][field] == [sentence]
    (refused,) = desk.expect_refusal(422, "PUT", "/prizes", {"entryFee": 5})["errors"]["shares"]
    assert refused == "Send the shares, or the number of places for the usual ones."


def test_the_usual_shares_come_by_the_number_of_places(store: Store) -> None:
    desk = a_desk(store)
    money = desk.ok("PUT", "/prizes", {"entryFee": 500, "places": 2})["data"]
    assert (money["shares"], money["currency"], money["playersPaid"]) == ([6_000, 4_000], None, None)


def test_prizes_are_paid_after_the_end_and_to_those_who_have_one(store: Store) -> None:
    desk = a_desk(store)
    player_id = desk.night.player_ids[0]
    desk.expect_refusal(404, "PUT", f"/prizes/players/{player_id}", {"paid": True})
    desk.ok("PUT", "/prizes", SETTINGS)
    desk.expect_refusal(409, "PUT", f"/prizes/players/{player_id}", {"paid": True})
    desk.expect_refusal(404, "PUT", "/prizes/players/99999", {"paid": True})


def test_what_was_paid_holds_the_money_as_it_is(store: Store) -> None:
    desk, winners = a_finished_desk(store)
    desk.ok("PUT", f"/prizes/players/{winners[0]}", {"paid": True})
    answer = desk.expect_refusal(409, "PUT", "/prizes", SETTINGS | {"extras": 600})
    assert answer["message"] == "Prizes are paid out (1). Take that back before you change the prize money."
    assert desk.ok("PUT", "/prizes", SETTINGS | {"published": True})["data"]["published"]


def test_payments_are_the_organizers_and_the_table_is_everybodys_once_published(store: Store) -> None:
    desk, winners = a_finished_desk(store)
    for path in ("/prizes", "/prizes/csv"):
        desk.expect_refusal(403, "GET", path, by="player")
    desk.expect_refusal(403, "PUT", "/prizes", SETTINGS, by="player")
    desk.expect_refusal(403, "PUT", f"/prizes/players/{winners[0]}", {"paid": True}, by="player")
    refused = desk.expect_refusal(403, "GET", "/prize-table", by="player")
    assert refused["message"] == "The organizer has not published the prize money."
    desk.ok("PUT", f"/prizes/players/{winners[0]}", {"paid": True})
    desk.ok("PUT", "/prizes", SETTINGS | {"published": True})
    table = desk.ok("GET", "/prize-table", by="player")["data"]
    assert [prize["cents"] for prize in table["prizes"]] == [1_600, 100]
    assert "payouts" not in json.dumps(table)


@pytest.mark.both_databases
def test_a_payout_follows_a_player_who_is_merged_with_another(store: Store) -> None:
    desk, winners = a_finished_desk(store)
    desk.ok("PUT", f"/prizes/players/{winners[0]}", {"paid": True})
    owner = desk.callers["owner"]
    kept = build.a_player(store, owner.user_id, name="Kit Farrow")
    path = f"/api/players/{winners[0]}/merge"
    status, answer, _ = build.do(store, "POST", path, {"playerId": kept}, by=owner)
    assert status == 200, answer
    (payout,) = desk.ok("GET", "/prizes")["data"]["payouts"]
    assert payout["playerId"] == kept
    with store.read() as db:
        assert not verification.verify_tournament(db, desk.night.tournament_id).faults


def test_the_file_has_a_line_for_each_player_with_a_prize(store: Store) -> None:
    desk, winners = a_finished_desk(store)
    desk.ok("PUT", f"/prizes/players/{winners[0]}", {"paid": True})
    with store.read() as db:
        sheet = money_reads.load_sheet(db, desk.night.tournament_id, desk.callers["owner"])
        rows = money_reads.payout_rows(sheet, money_reads.names_in(db, sheet, None))
    assert [row[4] for row in rows] == ["16.00", "16.00", "1.00", "1.00"]
    assert sorted(row[6] or "" for row in rows) == ["", "", "", "16.00"]


def test_a_payout_says_what_it_would_be_once_places_are_corrected(store: Store) -> None:
    desk, winners = a_finished_desk(store)
    paid = desk.ok("PUT", f"/prizes/players/{winners[0]}", {"paid": True})["data"]
    assert "due" not in paid["payouts"][0]
    # Reopened, their game is won by the other, and it is closed again: 3.69 are 1.00 for each of two losers.
    desk.ok("POST", "/reopen")
    (game,) = [game for game in desk.ok("GET", "/games")["data"] if winners[0] in game["playerIds"]]
    order = [game["playerIds"][1], game["playerIds"][0]]
    corrected = {"resultPositions": order, "correction": {"reason": "Read the wrong way round."}}
    desk.ok("PUT", f"/games/{game['gameId']}/result", corrected)
    assert desk.ok("GET", "/prizes")["data"]["payouts"][0]["due"] == 100
    desk.ok("POST", "/complete")
    money = desk.ok("GET", "/prizes")["data"]
    assert [(each["cents"], each["due"]) for each in money["payouts"]] == [(1_600, 100)]
    assert money["prizes"][0]["playerIds"] == sorted([order[0], winners[1]])
    # Taken back and ticked again, it is the prize of now.
    desk.ok("PUT", f"/prizes/players/{winners[0]}", {"paid": False})
    (payout,) = desk.ok("PUT", f"/prizes/players/{winners[0]}", {"paid": True})["data"]["payouts"]
    assert (payout["cents"], "due" in payout) == (100, False)
