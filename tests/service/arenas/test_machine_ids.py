"""Machine ids of arenas and tips. Source: interface 2.8; interface.md 4; ratings.md C.2."""

from typing import Any

import pytest

import build
from silverball.store import tables
from silverball.store.database.engine import Store

NO_IDS = ["x", "M1", "G", "G4ODR-", "G4ODR-A1ZNY", "G4ODR-MLzY7-", "g4odr", "G4ODR MLzY7", "Hunknown"]


@pytest.fixture
def owner(store: Store) -> int:
    build.row(store, tables.machine, opdb_id="Hlantern", opdb_group="Hlantern", homebrew=True)
    return build.a_user(store, name="Olga Ramp", role="organizer")


def send(store: Store, owner: int, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    status, answer, _ = build.do(store, method, path, body, by=owner)
    return status, answer


@pytest.mark.parametrize("opdb_id", NO_IDS)
def test_an_arena_takes_only_what_can_be_a_machine(store: Store, owner: int, opdb_id: str) -> None:
    arena_id = build.an_arena(store, owner)
    for method, path in (("POST", "/api/arenas"), ("PATCH", f"/api/arenas/{arena_id}")):
        status, answer = send(store, owner, method, path, {"name": "Comet Rider", "opdbId": opdb_id})
        assert (status, list(answer["errors"])) == (422, ["opdbId"])


@pytest.mark.parametrize("opdb_id", ["G4ODR", "G4ODR-MLzY7", "G0l8P-M85d9-A1ZNY", "Hlantern", None])
def test_an_id_of_the_machine_database_or_a_stored_homebrew_is_taken(
    store: Store, owner: int, opdb_id: str | None
) -> None:
    status, answer = send(store, owner, "POST", "/api/arenas", {"name": "Comet Rider", "opdbId": opdb_id})
    assert (status, answer["data"]["opdbId"]) == (201, opdb_id)
    changed = send(store, owner, "PATCH", f"/api/arenas/{answer['data']['arenaId']}", {"opdbId": opdb_id})
    assert changed[0] == 200


@pytest.mark.parametrize(("opdb_id", "expected"), [("Hlantern", 200), ("Hunknown", 422), ("medieval", 422)])
def test_tips_are_asked_by_an_id_that_can_be_one(
    store: Store, owner: int, opdb_id: str, expected: int
) -> None:
    assert build.ask(store, f"/api/pintips?opdbId={opdb_id}", by=owner)[0] == expected
