"""Many federation numbers are confirmed together, looked at again, and taken back together."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from sqlalchemy import select

import build
from service.ratings.circuit import FIRST, Circuit
from silverball.service.numbers import writes as number_writes
from silverball.service.numbers.writes import Actor
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.people import rating_days

PATH = "/api/federation-numbers"
BATCHES = f"{PATH}/batches"
BY_HAND = Actor(build.NOW, "command line")


@pytest.fixture
def admin(store: Store) -> Any:
    return build.caller(build.a_user(store, name="Ada Min", role="admin"), role="admin", ability="admin")


def waiting(store: Store, admin: Any) -> dict[int, dict[str, Any]]:
    """Account -> the first number that waits for it."""
    answer = build.ask(store, f"{PATH}?limit=100", by=admin)[1]
    return {number["userId"]: number for number in reversed(answer["data"])}


def confirmed(store: Store) -> dict[int, int]:
    with store.read() as db:
        return rating_days.all_confirmed(db).user_by_number


def body(*pairs: tuple[int, int]) -> dict[str, Any]:
    return {"numbers": [{"userId": user_id, "ifpaId": number} for user_id, number in pairs]}


def test_each_number_is_listed_with_what_speaks_for_it_and_who_says_so(store: Store, admin: Any) -> None:
    organizer = build.a_user(store, name="Olga Ramp", role="organizer")
    vic = build.a_user(store, name="Víc Tor", ifpa_id=38773)
    player_id = build.a_player(store, organizer, name="Vic T.", ifpa_id=38773, claimed_by=vic)
    origin = {"source": "elsewhere.test", "kind": "playerId", "remote_id": 5, "local_id": player_id}
    build.row(store, tables.remote_id, **origin)
    build.a_federation_record(store, 38773, "VIC  TOR")
    blank = {"playerId": None, "organizerId": None, "importedFrom": None}
    number = waiting(store, admin)[vic]
    assert number["evidence"] == [
        {"kind": "profile", "source": "Víc Tor", "name": "Víc Tor", **blank},
        {
            "kind": "player",
            "source": "Olga Ramp",
            "name": "Vic T.",
            "playerId": player_id,
            "organizerId": organizer,
            "importedFrom": "elsewhere.test",
        },
        {"kind": "federation", "source": "federation", "name": "VIC  TOR", **blank},
    ]
    assert number["obstacles"] == []


@pytest.mark.both_databases
def test_only_what_nothing_stands_in_the_way_of_is_confirmed(store: Store, admin: Any) -> None:
    organizer = build.a_user(store, name="Olga Ramp", role="organizer")
    listed = {1: "Ann Ace", 2: "Bo Bumper", 4: "Someone Else", 5: "Eve Ero", 7: "Gil Gobble"}
    for number, name in listed.items():
        build.a_federation_record(store, number, name)
    ann = build.a_user(store, name="ANN ACÉ", ifpa_id=1)
    bo, thief = build.a_user(store, name="Bo Bumper", ifpa_id=2), build.a_user(store, name="Thi Ef")
    asked = build.a_player(store, organizer, name="Bo", ifpa_id=2)
    build.row(store, tables.claim, player_id=asked, user_id=thief, at=build.NOW)
    cy = build.a_user(store, name="Cy Chute", ifpa_id=3)
    dee = build.a_user(store, name="Dee Drain", ifpa_id=4)
    eve = build.a_user(store, name="Eve Ero", ifpa_id=5)
    build.a_player(store, organizer, name="Eve", ifpa_id=6, claimed_by=eve)
    gil = build.a_user(store, name="Gil Gobble", ifpa_id=7, suspended_at=build.NOW)
    obstacles = {user_id: number["obstacles"] for user_id, number in waiting(store, admin).items()}
    assert obstacles == {
        ann: [],
        bo: ["other-account"],
        cy: ["not-in-file"],
        dee: ["other-name"],
        eve: ["other-number"],
        gil: ["suspended"],
    }
    pairs = [(ann, 1), (bo, 2), (cy, 3), (dee, 4), (eve, 5), (eve, 6), (gil, 7), (ann, 99)]
    status, done, _ = build.do(store, "POST", BATCHES, body(*pairs), by=admin)
    assert (status, confirmed(store)) == (200, {1: ann})
    assert [number["userId"] for number in done["data"]["numbers"]] == [ann]
    assert [(left["userId"], left["ifpaId"]) for left in done["data"]["leftOut"]] == pairs[1:]


@pytest.mark.both_databases
def test_a_batch_is_taken_back_with_a_line_in_the_log_for_each(store: Store, admin: Any) -> None:
    pairs = people(store, 3)
    alone = build.a_user(store, name="Al One")
    build.do(store, "PUT", f"/api/users/{alone}/federation-number", {"ifpaId": 999}, by=admin)
    done = build.do(store, "POST", BATCHES, body(*pairs), by=admin)[1]["data"]
    batch_id, path = done["batchId"], f"{BATCHES}/{done['batchId']}"
    assert [number["batchId"] for number in done["numbers"]] == [batch_id] * 3
    listed = build.ask(store, f"{PATH}?batchId={batch_id}", by=admin)[1]
    assert (listed["data"], listed["meta"]["total"]) == (done["numbers"], 3)
    status, gone, _ = build.do(store, "DELETE", path, by=admin)
    assert (status, [number["confirmedAt"] for number in gone["data"]["numbers"]]) == (200, [None] * 3)
    assert confirmed(store) == {999: alone}
    assert build.do(store, "DELETE", path, by=admin)[0] == 404
    again = build.do(store, "POST", BATCHES, body(*pairs), by=admin)[1]["data"]
    assert again["batchId"] != batch_id
    entry = tables.audit_entry.c
    with store.read() as db:
        rows = db.execute(
            select(entry.event, entry.user_id, entry.detail).order_by(entry.audit_entry_id)
        ).all()
    by = f"by {admin.user_id} in batch {batch_id}"
    assert [tuple(row) for row in rows[1:7]] == [
        (event, user_id, f"{number} {by}")
        for event in ("number-confirmed", "number-withdrawn")
        for user_id, number in pairs
    ]


def people(store: Store, count: int) -> list[tuple[int, int]]:
    """Accounts with their numbers, which the federation's file has under their names."""
    pairs = []
    for number in range(1, count + 1):
        build.a_federation_record(store, 1_000 + number, f"Person {number}")
        pairs.append((build.a_user(store, name=f"Person {number}", ifpa_id=1_000 + number), 1_000 + number))
    return pairs


def test_what_changed_since_it_was_shown_is_left_out(store: Store, admin: Any) -> None:
    (ann, first), (bo, second) = people(store, 2)
    build.a_user(store, name="Thi Ef", ifpa_id=second)
    done = build.do(store, "POST", BATCHES, body((ann, first), (bo, second)), by=admin)[1]["data"]
    assert confirmed(store) == {first: ann}
    assert done["leftOut"][0]["obstacles"] == ["other-account"]
    status, nothing, _ = build.do(store, "POST", BATCHES, body((ann, first), (bo, second)), by=admin)
    assert (status, nothing["data"]["batchId"], nothing["data"]["numbers"]) == (200, None, [])


def test_a_body_that_is_no_list_of_numbers_is_refused(store: Store, admin: Any) -> None:
    many = [{"userId": 1, "ifpaId": number} for number in range(1, 502)]
    bodies: list[Any] = [{}, {"numbers": []}, {"numbers": [{"userId": 1}]}, {"numbers": [[1, 2]]}]
    for wrong in (*bodies, {"numbers": many}):
        assert build.do(store, "POST", BATCHES, wrong, by=admin)[0] == 422
    weak = build.caller(admin.user_id, role="admin", ability="manage")
    assert build.do(store, "POST", BATCHES, body((1, 1)), by=weak)[0] == 403
    assert build.do(store, "DELETE", f"{BATCHES}/1", by=weak)[0] == 403
    assert confirmed(store) == {}


def play(circuit: Circuit, pairs: Sequence[tuple[int, int]], dice: Random) -> None:
    """Days on which each person plays under their account, and others under their number only."""
    for number, (user_id, ifpa_id) in enumerate(pairs):
        claimed = circuit.player(f"Account {number}")
        with circuit.store.write() as transaction:
            own = tables.player.c.player_id == claimed
            transaction.connection.execute(tables.player.update().where(own).values(claimed_by=user_id))
        circuit.player(f"Number {number}", ifpa_id=ifpa_id)
    for day in range(1, 11):
        names = [f"{'Number' if day in (2, 5) else 'Account'} {number}" for number in range(len(pairs))]
        dice.shuffle(names)
        circuit.night(day, *(names[start : start + 4] for start in range(0, len(names), 4)))


@pytest.mark.both_databases
def test_a_batch_of_a_hundred_numbers_is_one_rating_run(store: Store) -> None:
    circuit, pairs = Circuit(store), people(store, 100)
    play(circuit, pairs, Random(7))
    assert circuit.rate(10) == 10
    # What one run of these days costs.
    assert circuit.rate(10, rerate_from=FIRST) == 10
    with store.write() as transaction:
        done = number_writes.confirm_ready_numbers(transaction, pairs, BY_HAND)
    assert (len(done.confirmed), done.left_out) == (100, [])
    assert circuit.rate(10) == 10
    assert circuit.rate(10) == 0
    joined = circuit.numbers()
    assert len(circuit.ratings()) == 100
    circuit.rate(10, rerate_from=FIRST)
    assert circuit.numbers() == pytest.approx(joined)
    rating = tables.rating.c
    with store.read() as db:
        rows = db.execute(select(rating.user_id, rating.ifpa_id).where(rating.last_period.is_not(None))).all()
    assert sorted((row.user_id, row.ifpa_id) for row in rows) == pairs


def test_a_batch_that_is_taken_back_gives_everybody_their_own_rating_again(store: Store) -> None:
    circuit, pairs = Circuit(store), people(store, 8)
    play(circuit, pairs, Random(11))
    circuit.rate(10)
    apart = circuit.numbers()
    with store.write() as transaction:
        done = number_writes.confirm_ready_numbers(transaction, pairs, BY_HAND)
    circuit.rate(10)
    assert circuit.numbers() != apart
    with store.write() as transaction:
        assert done.batch_id is not None
        assert number_writes.withdraw_batch(transaction, done.batch_id, BY_HAND) == pairs
    assert circuit.rate(10) == 10
    assert circuit.numbers() == pytest.approx(apart)
