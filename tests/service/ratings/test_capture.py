"""Nobody captures somebody's rating with their federation number. Source: ratings.md A.5."""

from datetime import date
from typing import Any

import pytest
from sqlalchemy import select

import build
from service.ratings.circuit import NOW, Circuit
from silverball.service.numbers import writes as number_writes
from silverball.service.players import writes as players
from silverball.store import tables
from silverball.store.database.engine import Store

NUMBER = 4711


def rating_of_number(circuit: Circuit) -> dict[str, Any] | None:
    found: list[dict[str, Any]] = circuit.get_json(f"/api/ratings/ifpa?ifpaIds={NUMBER}")["data"]
    return found[0] if found else None


def known_values(circuit: Circuit) -> tuple[Any, ...] | None:
    found = rating_of_number(circuit)
    return None if found is None else (found["userId"], found["rating"], found["rd"], found["gameCount"])


@pytest.fixture
def world(store: Store) -> Circuit:
    """Vic plays under a federation number and has no account."""
    circuit = Circuit(store)
    circuit.player("Vic", ifpa_id=NUMBER)
    circuit.night(2, ["Vic", "Bo"], ["Vic", "Cy"])
    circuit.rate(10)
    return circuit


def capture(world: Circuit) -> tuple[Circuit, int, int]:
    """Another organizer types Vic's number for a player of theirs and claims the player; returns them."""
    other = Circuit(world.store)
    player_id = other.player("Mallory")
    other.night(1, ["Di", "Mallory"])
    by = build.caller(other.organizer_id, ability="manage")
    changed = build.do(world.store, "PATCH", f"/api/players/{player_id}", {"ifpaId": NUMBER}, by=by)
    assert changed[0] == 200
    status, *_ = build.do(world.store, "POST", f"/api/players/{player_id}/claim", {}, by=by)
    assert status in (200, 201)
    return other, player_id, other.organizer_id


def test_a_claim_does_not_carry_a_typed_number_over(world: Circuit) -> None:
    before = known_values(world)
    _, _, attacker_id = capture(world)
    world.rate(10, rerate_from=date(2026, 3, 1))
    assert before is not None
    assert known_values(world) == before
    assert world.get_json(f"/api/ratings/users/{attacker_id}/summary")["data"]["ifpaId"] is None


@pytest.mark.both_databases
def test_whoever_claims_a_player_with_somebodys_number_cannot_hide_them(world: Circuit) -> None:
    _, _, attacker_id = capture(world)
    world.rate(10, rerate_from=date(2026, 3, 1))
    by = build.caller(attacker_id, ability="score")
    hidden = {"ratingsOptOut": True, "profileOptOut": True, "ifpaId": NUMBER}
    assert build.do(world.store, "PATCH", "/api/users/profile", hidden, by=by)[0] == 200
    found = rating_of_number(world)
    assert found is not None
    assert found["name"] == "Vic"


@pytest.mark.both_databases
def test_a_removed_number_and_a_rebuild_undo_what_was_typed(world: Circuit) -> None:
    other = Circuit(world.store)
    player_id = other.player("Mallory")
    other.night(1, ["Di", "Mallory"])
    world.rate(10, rerate_from=date(2026, 3, 1))
    before, ids = world.ratings(), stored_ids(world)
    by = build.caller(other.organizer_id, ability="manage")
    for number in (NUMBER, None):
        sent = {"ifpaId": number}
        assert build.do(world.store, "PATCH", f"/api/players/{player_id}", sent, by=by)[0] == 200
        world.rate(10, rerate_from=date(2026, 3, 1))
        assert (world.ratings() == before) is (number is None)
    assert stored_ids(world) == ids


def stored_ids(circuit: Circuit) -> dict[str, int]:
    own = tables.rating.c
    rows = select(own.name, own.rating_id).where(own.last_period.is_not(None))
    with circuit.store.read() as db:
        return {row.name: row.rating_id for row in db.execute(rows)}


def test_a_confirmed_number_joins_the_account_and_withdrawing_it_parts_them(world: Circuit) -> None:
    other = Circuit(world.store)
    other.night(3, ["Victor", "Di"])
    user_id = other.claim("Victor")
    world.rate(10, rerate_from=date(2026, 3, 1))
    before = world.numbers()
    apart = known_values(world)
    assert apart is not None
    assert (apart[0], apart[3]) == (None, 2)
    world.confirm(user_id, NUMBER)
    world.rate(10)
    joined = known_values(world)
    assert joined is not None
    assert (joined[0], joined[3]) == (user_id, 3)
    with world.store.write() as transaction:
        assert number_writes.withdraw_number(transaction, user_id, now=NOW, source="command line") == NUMBER
    world.rate(10)
    assert known_values(world) == apart
    assert world.numbers() == before


def test_the_opt_out_of_whom_a_number_is_confirmed_for_holds_at_once(world: Circuit) -> None:
    user_id = build.a_user(world.store, name="Vic", ratings_opt_out=True)
    assert rating_of_number(world) is not None
    world.confirm(user_id, NUMBER)
    assert rating_of_number(world) is None


@pytest.mark.both_databases
def test_a_number_is_confirmed_for_one_account_and_an_account_has_one(world: Circuit) -> None:
    first, second = (build.a_user(world.store, name=name) for name in ("Vic", "Mallory"))
    world.confirm(first, NUMBER)
    with pytest.raises(number_writes.NumberAlreadyConfirmed):
        world.confirm(second, NUMBER)
    with pytest.raises(number_writes.AccountHasNumber):
        world.confirm(first, NUMBER + 1)


def test_claims_that_wait_are_limited(world: Circuit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(players, "CLAIMS_MAX", 2)
    user_id = build.a_user(world.store, name="Mallory")
    by = build.caller(user_id, ability="score")
    answers = [
        build.do(world.store, "POST", f"/api/players/{world.player(name)}/claim", {}, by=by)
        for name in ("Vic", "Bo", "Cy")
    ]
    assert [status < 300 for status, *_ in answers] == [True, True, False]
    assert answers[2][1]["code"] == "too-many-claims"
