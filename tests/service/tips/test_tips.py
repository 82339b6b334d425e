"""GET /api/pintips. Source: interface 4.9, ratings C.3."""

import json
from typing import Any

import msgspec
import pytest

import build
from exchange import opdb_files as files
from silverball.exchange import machine_files, opdb
from silverball.store.database.engine import Store
from silverball_wire.machines import PinTipsBundle

INFO = {
    "name": "The Comet Rider (Pro)",
    "supplementary": "Nebula, 1994",
    "hasRuleset": True,
    "pinballPrimerUrl": None,
    "bobsGuideUrl": None,
    "pinballRulesUrl": "https://rules.example/comet",
    "pinballCardsUrl": None,
}


def a_tip(number: int, group: str, votes: int) -> dict[str, Any]:
    return files.a_tip(number, group, category="multiball", voteTotal=votes)


@pytest.fixture
def tip_store(store: Store) -> Store:
    raw = files.second_shape()
    raw["entries"][0]["pinballRulesUrl"] = "https://rules.example/comet"
    tips = [a_tip(1, "G4ODR", 3), a_tip(2, "G4ODR", 9), a_tip(3, "G4ODR", 3), a_tip(4, "Gunknown", 1)]
    with store.write() as transaction:
        opdb.import_machines(transaction, opdb.parse_machines(raw))
        machine_files.import_tips(transaction, machine_files.parse_pintips(tips))
    return store


def get(store: Store, query: str) -> tuple[int, Any]:
    return build.ask(store, f"/api/pintips?{query}", by=1)


def test_tips_of_a_title_are_shown_for_each_of_its_models_most_votes_first(tip_store: Store) -> None:
    status, body = get(tip_store, "opdbId=G4ODR-MLzY7")
    assert status == 200
    assert [tip["tipId"] for tip in body["pintips"]] == [2, 1, 3]
    assert body["pintips"][0] == {
        "tipId": 2,
        "text": "Tip 2.",
        "category": "multiball",
        "voteTotal": 9,
        "ownVote": None,
    }
    assert body["opdbInfo"] == INFO
    shown = msgspec.json.decode(json.dumps(body), type=PinTipsBundle, strict=True)
    assert json.loads(msgspec.json.encode(shown)) == body
    for opdb_id in ("G4ODR", "G4ODR-Mzly7", "G4ODR-MLzY7-A1B7O"):
        assert get(tip_store, f"opdbId={opdb_id}")[1]["pintips"] == body["pintips"]


def test_a_group_is_described_by_its_oldest_machine(tip_store: Store) -> None:
    info = get(tip_store, "opdbId=G4ODR")[1]["opdbInfo"]
    assert info == {**INFO, "name": "Comet Rider"}
    assert get(tip_store, "opdbId=G4odR")[1] == {
        "pintips": [],
        "opdbInfo": {
            **INFO,
            "name": "Harbor Lights",
            "supplementary": "Harbor, 1961",
            "hasRuleset": False,
            "pinballRulesUrl": None,
        },
    }


def test_tips_without_an_entry_are_shown_all_the_same(tip_store: Store) -> None:
    body = get(tip_store, "opdbId=Gunknown-M1")[1]
    assert ([tip["tipId"] for tip in body["pintips"]], body["opdbInfo"]) == ([4], None)
    assert get(tip_store, "opdbId=Gnothing")[1] == {"pintips": [], "opdbInfo": None}


@pytest.mark.parametrize(
    ("opdb_id", "tip_ids"),
    [("G4ODR-MLzY7", [2, 1, 3]), ("G4odR-MLzY7", []), (None, None), ("no-id", None), ("Gbye-M1", None)],
)
def test_an_arena_has_the_tips_of_its_machine(
    tip_store: Store, opdb_id: str | None, tip_ids: list[int] | None
) -> None:
    deleted = {"changelogId": 1, "action": "delete", "opdbIdDeleted": "Gbye-M1", "createdAt": files.MOMENT}
    with tip_store.write() as transaction:
        opdb.import_changes(transaction, opdb.parse_changelog({"data": [deleted]}))
    arena_id = build.an_arena(tip_store, build.a_user(tip_store), opdb_id=opdb_id)
    status, body = get(tip_store, f"arenaId={arena_id}")
    assert status == 200
    assert [tip["tipId"] for tip in body["pintips"]] == (tip_ids or [])
    assert (body["opdbInfo"] is None) == (tip_ids is None)


def test_an_old_id_leads_to_the_tips_of_the_new_one(tip_store: Store) -> None:
    moved = {
        "changelogId": 1,
        "action": "move",
        "opdbIdDeleted": "Gold-M1",
        "opdbIdReplacement": "G4ODR-MLzY7",
        "createdAt": files.MOMENT,
    }
    with tip_store.write() as transaction:
        opdb.import_changes(transaction, opdb.parse_changelog({"data": [moved]}))
    assert get(tip_store, "opdbId=Gold-M1") == get(tip_store, "opdbId=G4ODR-MLzY7")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "opdbId"),
        ("opdbId=&arenaId=", "opdbId"),
        ("opdbId=4ODR", "opdbId"),
        ("opdbId=G4ODR&arenaId=1", "arenaId"),
        ("arenaId=x", "arenaId"),
        ("arenaId=0", "arenaId"),
        ("arenaId=7", "arenaId"),
    ],
)
def test_a_query_with_no_machine_or_two_is_refused(tip_store: Store, query: str, field: str) -> None:
    status, body = get(tip_store, query)
    assert (status, list(body["errors"])) == (422, [field])
