"""The sign-up list over HTTP: who waits moves up, who is here, who paid. Sums are made by hand."""

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pytest

import build
from service.desk import Desk, a_desk
from silverball.service.journal.reads import verification
from silverball.service.money import reads as money_reads
from silverball.service.tables import sheet
from silverball.store.database.engine import Store
from silverball.store.tournament import snapshot

CASH = {"cents": 1_000, "how": "cash"}


def a_full_desk(store: Store, *, waiting: tuple[str, ...] = ("Wim", "Xi", "Yo")) -> tuple[Desk, list[int]]:
    """A planned tournament of four with no place left, and the ids of those who wait."""
    desk = a_desk(store, starts=False)
    set_limit(desk, 4)
    ids = [build.a_player(store, desk.callers["owner"].user_id, name=name) for name in waiting]
    for player_id in ids:
        desk.ok("POST", "/sign-ups/waiting", {"playerId": player_id})
    return desk, ids


def set_limit(desk: Desk, limit: int | None) -> None:
    configuration = {"status": "active", "playerLimit": limit, "hasWaitlist": True}
    desk.ok("PATCH", "", {"rsvpConfiguration": configuration})


def people(desk: Desk, place: str) -> list[int]:
    """The ids of those with this place, in their order."""
    listed = desk.ok("GET", "/sign-ups")["data"]["people"]
    return [person["playerId"] for person in listed if person["place"] == place]


def faults(desk: Desk) -> list[str]:
    with desk.store.read() as db:
        return list(verification.verify_tournament(db, desk.night.tournament_id).faults)


def remove_one(desk: Desk) -> None:
    desk.ok("DELETE", f"/players/{desk.night.player_ids[0]}")


def drop_one(desk: Desk) -> None:
    desk.ok("PATCH", f"/players/{desk.night.player_ids[0]}", {"status": "inactive"})


def raise_limit(desk: Desk) -> None:
    set_limit(desk, 5)


def close_the_check_in(desk: Desk) -> None:
    for player_id in desk.night.player_ids[1:]:
        desk.ok("PUT", f"/sign-ups/players/{player_id}", {"here": True})
    desk.ok("POST", "/sign-ups/absent", {})


@pytest.mark.parametrize("free_a_place", [remove_one, drop_one, raise_limit, close_the_check_in])
def test_a_place_that_becomes_free_goes_to_the_first_who_waits(store: Store, free_a_place: Any) -> None:
    desk, (first, second, third) = a_full_desk(store)
    assert people(desk, "waiting") == [first, second, third]
    free_a_place(desk)
    assert first in people(desk, "in")
    assert people(desk, "waiting") == [second, third]
    assert faults(desk) == []
    desk.undo()
    assert people(desk, "waiting") == [first, second, third]
    assert faults(desk) == []


def test_without_a_limit_everybody_moves_up_in_order(store: Store) -> None:
    desk, waiting = a_full_desk(store)
    set_limit(desk, None)
    assert people(desk, "in")[-3:] == waiting
    assert people(desk, "waiting") == []


def test_who_is_added_by_hand_waits_no_longer(store: Store) -> None:
    desk, (first, second, third) = a_full_desk(store)
    desk.ok("POST", "/players", {"playerId": second})
    assert (people(desk, "in")[-1], people(desk, "waiting")) == (second, [first, third])
    assert faults(desk) == []


def test_a_director_moves_people_on_the_waiting_list(store: Store) -> None:
    desk, (first, second, third) = a_full_desk(store)
    desk.do_and_undo("PUT", f"/sign-ups/waiting/{third}", {"position": 1})
    desk.ok("PUT", f"/sign-ups/waiting/{third}", {"position": 1})
    assert people(desk, "waiting") == [third, first, second]
    desk.do_and_undo("PUT", f"/sign-ups/waiting/{second}", {"position": 0})
    desk.ok("PUT", f"/sign-ups/waiting/{second}", {"position": 0})
    assert (people(desk, "in")[-1], people(desk, "waiting")) == (second, [third, first])
    desk.do_and_undo("DELETE", f"/sign-ups/waiting/{third}")
    desk.ok("DELETE", f"/sign-ups/waiting/{third}")
    assert people(desk, "waiting") == [first]
    assert faults(desk) == []


def test_what_cannot_be_moved_is_refused(store: Store) -> None:
    desk, (first, *_) = a_full_desk(store)
    inside = desk.night.player_ids[0]
    answer = desk.expect_refusal(422, "PUT", f"/sign-ups/waiting/{first}", {"position": 4})
    assert answer["errors"] == {"position": ["The waiting list has 3 positions."]}
    desk.expect_refusal(404, "PUT", f"/sign-ups/waiting/{inside}", {"position": 1})
    desk.expect_refusal(404, "DELETE", f"/sign-ups/waiting/{inside}")
    desk.expect_refusal(409, "POST", "/sign-ups/waiting", {"playerId": inside})
    desk.expect_refusal(409, "POST", "/sign-ups/waiting", {"playerId": first})
    desk.expect_refusal(422, "POST", "/sign-ups/waiting", {"playerId": 99_999})
    desk.expect_refusal(422, "PUT", f"/sign-ups/waiting/{first}", {"position": -1})


def test_payments_are_recorded_summed_and_taken_back(store: Store) -> None:
    desk, (first, *_) = a_full_desk(store)
    desk.ok("PATCH", "/sign-ups", {"fee": 1_000})
    inside = desk.night.player_ids[0]
    desk.do_and_undo("PUT", f"/sign-ups/players/{inside}", {"payment": CASH})
    desk.ok("PUT", f"/sign-ups/players/{inside}", {"payment": CASH})
    listed = desk.ok("PUT", f"/sign-ups/players/{first}", {"payment": {"cents": 500, "how": "card"}})["data"]
    assert (listed["paidTotal"], listed["unpaidPlayers"]) == (1_500, 3)
    (paid,) = [person["payment"] for person in listed["people"] if person["playerId"] == inside]
    assert (paid["cents"], paid["how"], paid["userId"]) == (1_000, "cash", desk.callers["owner"].user_id)
    answer = desk.expect_refusal(409, "PUT", f"/sign-ups/players/{inside}", {"payment": CASH | {"cents": 1}})
    assert "has paid already" in answer["message"]
    again = desk.ok("PUT", f"/sign-ups/players/{inside}", {"payment": CASH})["data"]
    assert again["paidTotal"] == 1_500
    listed = desk.ok("PUT", f"/sign-ups/players/{inside}", {"payment": None})["data"]
    assert (listed["paidTotal"], listed["unpaidPlayers"]) == (500, 4)
    assert faults(desk) == []


def test_who_leaves_after_paying_stays_on_the_list_until_they_have_it_back(store: Store) -> None:
    desk, _ = a_full_desk(store)
    inside = desk.night.player_ids[0]
    desk.ok("PUT", f"/sign-ups/players/{inside}", {"payment": CASH})
    remove_one(desk)
    assert people(desk, "out") == [inside]
    assert faults(desk) == []
    listed = desk.ok("PUT", f"/sign-ups/players/{inside}", {"payment": None})["data"]
    assert listed["paidTotal"] == 0
    assert people(desk, "out") == []


def test_a_payment_of_a_stranger_is_refused(store: Store) -> None:
    desk, _ = a_full_desk(store)
    stranger = build.a_player(store, desk.callers["owner"].user_id, name="Zed")
    for body in ({"payment": CASH}, {"payment": None}, {"here": True}):
        answer = desk.expect_refusal(409, "PUT", f"/sign-ups/players/{stranger}", body)
        assert answer["message"].endswith(
            "is neither in the tournament nor on the waiting list. Add them first."
        )


BAD_MONEY: dict[str, Any] = {
    "payment.cents": {"payment": {"cents": 0, "how": "cash"}},
    "payment.how": {"payment": {"cents": 5, "how": "x" * 41}},
    "here": {},
}


@pytest.mark.parametrize("field", sorted(BAD_MONEY))
def test_what_no_payment_can_be_is_refused_with_its_field(store: Store, field: str) -> None:
    desk = a_desk(store)
    player_id = desk.night.player_ids[0]
    answer = desk.expect_refusal(422, "PUT", f"/sign-ups/players/{player_id}", BAD_MONEY[field])
    assert list(answer["errors"]) == [field]
    for cents in (1.5, "5", -1, 10**12, None, True):
        body = {"payment": {"cents": cents, "how": "cash"}}
        desk.expect_refusal(422, "PUT", f"/sign-ups/players/{player_id}", body)
    for how in ("", "a\nb", None, 7):
        desk.expect_refusal(
            422, "PUT", f"/sign-ups/players/{player_id}", {"payment": {"cents": 5, "how": how}}
        )


def test_who_signs_up_late_owes_the_late_fee(store: Store) -> None:
    desk, (first, *_) = a_full_desk(store)
    moment = build.NOW + timedelta(days=36_500)
    terms = {"fee": 1_000, "lateFee": 500, "lateFrom": moment.isoformat()}
    desk.do_and_undo("PATCH", "/sign-ups", terms)
    desk.ok("PATCH", "/sign-ups", terms)
    in_time = desk.ok("POST", "/players", {"name": "In Time"})["data"]["playerId"]
    desk.ok("PATCH", "/sign-ups", {"lateFrom": build.NOW.isoformat()})
    late = desk.ok("POST", "/players", {"name": "Late"})["data"]["playerId"]
    desk.ok("PATCH", "/sign-ups", {"lateFrom": None})
    desk.ok("POST", "/start")
    later = desk.ok("POST", "/players", {"name": "Later"})["data"]["playerId"]
    desk.ok("PUT", f"/sign-ups/waiting/{first}", {"position": 0})
    listed = desk.ok("GET", "/sign-ups")["data"]["people"]
    due = {person["playerId"]: person["due"] for person in listed}
    assert [due[player_id] for player_id in (in_time, late, later, first)] == [1_000, 1_500, 1_500, 1_000]
    assert faults(desk) == []


@pytest.mark.both_databases
def test_a_new_code_takes_the_place_of_the_old_one(store: Store) -> None:
    desk, _ = a_full_desk(store)
    first = desk.ok("GET", "/sign-ups")["data"]["code"]
    second = desk.ok("PATCH", "/sign-ups", {"newCode": True})["data"]["code"]
    third = desk.ok("PATCH", "/sign-ups", {"newCode": True})["data"]["code"]
    assert len({first, second, third}) == 3
    assert {len(code) for code in (first, second, third)} == {money_reads.CODE_LETTERS}
    desk.undo()
    assert desk.ok("GET", "/sign-ups")["data"]["code"] == second


def test_the_list_is_for_who_runs_the_tournament(store: Store) -> None:
    desk, (first, *_) = a_full_desk(store)
    inside = desk.night.player_ids[0]
    desk.ok("PUT", f"/sign-ups/players/{inside}", {"payment": CASH})
    for caller in ("keeper", "player", "reader", "other", "kiosk"):
        desk.expect_refusal(403, "GET", "/sign-ups", by=caller)
        desk.expect_refusal(403, "GET", "/sign-ups/csv", by=caller)
        desk.expect_refusal(403, "PUT", f"/sign-ups/players/{inside}", {"here": True}, by=caller)
        desk.expect_refusal(403, "DELETE", f"/sign-ups/waiting/{first}", by=caller)
    shown = desk.ok("GET", "?includePlayers=true&includeRsvpConfiguration=true", by="reader")
    assert "cash" not in json.dumps(shown)


@pytest.mark.both_databases
def test_nobody_is_told_of_payments_and_of_who_waits_but_of_who_moves_up(store: Store) -> None:
    desk, (first, *_) = a_full_desk(store)
    before = desk.mirror.seq
    desk.ok("PUT", f"/sign-ups/players/{desk.night.player_ids[0]}", {"payment": CASH, "here": True})
    assert desk.mirror.seq == before
    desk.ok("DELETE", f"/sign-ups/waiting/{first}")
    assert desk.mirror.seq == before
    desk.ok("DELETE", f"/players/{desk.night.player_ids[1]}")
    assert desk.mirror.seq > before


def test_absent_players_go_only_before_the_start_and_not_all_of_them(store: Store) -> None:
    desk, _ = a_full_desk(store)
    desk.expect_refusal(409, "POST", "/sign-ups/absent", {})
    desk.ok("PUT", f"/sign-ups/players/{desk.night.player_ids[0]}", {"here": True})
    desk.ok("POST", "/start")
    desk.expect_refusal(409, "POST", "/sign-ups/absent", {})


HOSTILE = ["=HYPERLINK(1)", "+1", "-1", "@SUM", "\u202eAda", "Zoë 🎱", 'a;b,c"d', "<b>Bo</b>", "' OR 1=1"]


def test_the_file_has_a_row_for_each_person_and_no_formula(store: Store) -> None:
    desk, ids = a_full_desk(store, waiting=tuple(HOSTILE))
    for player_id in ids:
        desk.ok("PUT", f"/sign-ups/players/{player_id}", {"payment": {"cents": 750, "how": "=1+1"}})
    with store.read() as db:
        owner = desk.callers["owner"]
        listed = money_reads.load_list(db, desk.night.tournament_id, owner)
        cells = money_reads.list_rows(listed, money_reads.receiver_names(db, listed, owner))
    text = sheet.csv_file("list.csv", money_reads.SIGN_UP_HEADER, cells).body.decode()
    rows = list(csv.reader(io.StringIO(text)))
    assert tuple(rows[0]) == money_reads.SIGN_UP_HEADER
    assert len(rows) == 1 + len(listed.people)
    waiting = rows[5:]
    assert [row[1].removeprefix("'") for row in waiting] == [name.removeprefix("'") for name in HOSTILE]
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    assert {(row[2], row[7], row[8], row[9]) for row in waiting} == {
        ("waiting", "7.50", "'=1+1", "Olga Ramp")
    }


@pytest.mark.both_databases
def test_a_deleted_player_leaves_no_gap_and_a_merged_one_keeps_the_place(store: Store) -> None:
    desk, (first, second, third) = a_full_desk(store)
    owner = desk.callers["owner"]
    status, _, _ = build.do(store, "DELETE", f"/api/players/{first}", by=owner)
    assert status == 409
    kept = build.a_player(store, owner.user_id, name="Kit Farrow")
    status, answer, _ = build.do(store, "POST", f"/api/players/{second}/merge", {"playerId": kept}, by=owner)
    assert status == 200, answer
    assert people(desk, "waiting") == [first, kept, third]
    assert faults(desk) == []


def test_two_on_one_list_are_two_people(store: Store) -> None:
    desk, (first, second, _) = a_full_desk(store)
    owner = desk.callers["owner"]
    for other in (second, desk.night.player_ids[0]):
        status, _, _ = build.do(store, "POST", f"/api/players/{first}/merge", {"playerId": other}, by=owner)
        assert status == 409
    with store.read() as db:
        assert len(snapshot.load(db, desk.night.tournament_id).sign_ups) == 3
