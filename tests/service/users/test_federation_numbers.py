"""Administrators see which federation numbers wait, confirm them and withdraw them, over the interface."""

from typing import Any

import pytest
from sqlalchemy import select

import build
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.people import rating_days
from silverball.store.tables import audit_entry

PATH = "/api/federation-numbers"


@pytest.fixture
def admin(store: Store) -> Any:
    return build.caller(build.a_user(store, name="Ada Min", role="admin"), role="admin", ability="admin")


def listed(store: Store, admin: Any, status: str = "waiting") -> list[dict[str, Any]]:
    answer = build.ask(store, f"{PATH}?status={status}", by=admin)
    assert answer[0] == 200
    data: list[dict[str, Any]] = answer[1]["data"]
    assert answer[1]["meta"]["total"] == len(data)
    return data


def test_numbers_of_profiles_and_of_claimed_players_wait(store: Store, admin: Any) -> None:
    vic = build.a_user(store, name="Vic Tor", ifpa_id=38773)
    mel = build.a_user(store, name="Mel Ody")
    organizer = build.a_user(store, role="organizer")
    build.a_user(store, name="Only a name", ifpa_id=5, placeholder=True)
    for number, claimed_by in ((38773, vic), (44444, mel), (44444, mel), (777, None), (None, mel)):
        player = {"name": "Player", "organizer_id": organizer}
        build.row(store, tables.player, **player, ifpa_id=number, claimed_by=claimed_by)
    common = {"confirmedAt": None, "confirmedFor": None, "batchId": None}
    given = {"userId": vic, "name": "Vic Tor", "ifpaId": 38773, "inProfile": True, "claimedPlayers": 1}
    claimed = {"userId": mel, "name": "Mel Ody", "ifpaId": 44444, "inProfile": False, "claimedPlayers": 2}
    waiting = [
        {key: value for key, value in number.items() if key not in ("evidence", "obstacles")}
        for number in listed(store, admin)
    ]
    assert waiting == [{**given, **common}, {**claimed, **common}]
    assert listed(store, admin, "confirmed") == []


@pytest.mark.both_databases
def test_a_number_is_confirmed_and_withdrawn_with_a_line_in_the_log(store: Store, admin: Any) -> None:
    vic = build.a_user(store, name="Vic Tor", ifpa_id=38773)
    thief = build.a_user(store, name="Thi Ef", ifpa_id=38773)
    path = f"/api/users/{vic}/federation-number"
    status, done, _ = build.do(store, "PUT", path, {"ifpaId": 38773}, by=admin)
    assert (status, done["data"]["confirmedFor"], done["data"]["confirmedAt"] is None) == (200, vic, False)
    assert listed(store, admin, "confirmed") == [done["data"]]
    waiting = listed(store, admin)
    assert [(item["userId"], item["confirmedFor"]) for item in waiting] == [(thief, vic)]
    other = build.do(store, "PUT", f"/api/users/{thief}/federation-number", {"ifpaId": 38773}, by=admin)
    assert (other[0], other[1]["code"]) == (409, "number-already-confirmed")
    status, gone, _ = build.do(store, "DELETE", path, by=admin)
    assert (status, gone["data"]["confirmedFor"], gone["data"]["inProfile"]) == (200, None, True)
    assert build.do(store, "DELETE", path, by=admin)[0] == 404
    with store.read() as db:
        assert rating_days.all_confirmed(db).user_by_number == {}
        entries = db.execute(select(audit_entry.c.event, audit_entry.c.user_id, audit_entry.c.detail)).all()
    assert [tuple(entry) for entry in entries] == [
        ("number-confirmed", vic, f"38773 by {admin.user_id}"),
        ("number-withdrawn", vic, f"38773 by {admin.user_id}"),
    ]


def test_a_number_that_nobody_gave_can_be_confirmed_too(store: Store, admin: Any) -> None:
    vic = build.a_user(store, name="Vic Tor")
    path = f"/api/users/{vic}/federation-number"
    done = build.do(store, "PUT", path, {"ifpaId": 38773}, by=admin)[1]["data"]
    assert (done["inProfile"], done["claimedPlayers"], done["confirmedFor"]) == (False, 0, vic)
    assert listed(store, admin, "confirmed") == [done]
    gone = build.do(store, "DELETE", path, by=admin)[1]["data"]
    assert gone == {
        **done,
        "confirmedAt": None,
        "confirmedFor": None,
        "obstacles": ["not-claimed", "not-in-file"],
    }


def test_what_is_no_number_is_refused(store: Store, admin: Any) -> None:
    vic = build.a_user(store)
    bodies: list[Any] = [{}, {"ifpaId": 0}, {"ifpaId": "38773x"}, {"ifpaId": None}, {"number": 7}]
    for body in bodies:
        assert build.do(store, "PUT", f"/api/users/{vic}/federation-number", body, by=admin)[0] == 422
    assert build.do(store, "PUT", "/api/users/999/federation-number", {"ifpaId": 7}, by=admin)[0] == 404
    assert listed(store, admin, "confirmed") == []


def test_an_administrators_weaker_token_sees_and_changes_nothing(store: Store, admin: Any) -> None:
    weak = build.caller(admin.user_id, role="admin", ability="manage")
    assert build.ask(store, PATH, by=weak)[0] == 403
    path = f"/api/users/{admin.user_id}/federation-number"
    assert build.do(store, "PUT", path, {"ifpaId": 7}, by=weak)[0] == 403
