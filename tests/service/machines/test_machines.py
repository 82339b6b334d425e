"""The machine database over HTTP. Source: interface 4.9, ratings C.3."""

import json
from typing import Any

import msgspec
import pytest
from sqlalchemy import Connection

import build
from exchange import opdb_files as files
from silverball.exchange import machine_files, opdb
from silverball.service.machines import reads
from silverball.store.database.engine import Store
from silverball_wire.machines import OpdbEntry, OpdbEntryBundle

FILM = {"opdbId": "G4ODR-MLzY7-A1B7O", "title": "Riding comets", "url": "https://films.example/comet"}
# All fields of an entry as clients know it, without the two optional ones.
FIELDS = [
    "opdbId",
    "opdbGroup",
    "opdbMachine",
    "name",
    "shortName",
    "commonName",
    "nameSort",
    "year",
    "manufactureDate",
    "description",
    "type",
    "display",
    "playerCount",
    "physicalMachine",
    "manufacturerId",
    "ipdbId",
    "pinballPrimerUrl",
    "pinballRulesUrl",
    "pinballCardsUrl",
    "bobsGuideUrl",
    "competitionSetupUrl",
    "competitionNotesUrl",
    "createdAt",
    "updatedAt",
    "entryType",
    "manufacturer",
    "features",
    "keywords",
]


@pytest.fixture
def machine_store(store: Store) -> Store:
    raw = files.second_shape()
    raw["entries"][2]["people"] = [{"opdbPersonId": 3, "name": "Vera Solder", "role": "design", "index": 0}]
    with store.write() as transaction:
        opdb.import_machines(transaction, opdb.parse_machines(raw))
        machine_files.import_videos(transaction, machine_files.parse_videos([FILM]))
    return store


def get(store: Store, path: str) -> tuple[int, Any]:
    return build.ask(store, path, by=1)


def test_an_entry_has_all_fields_except_the_optional_ones(machine_store: Store) -> None:
    status, body = get(machine_store, "/api/opdb/entry/G4ODR-MLzY7")
    assert status == 200
    entry = body["data"]
    assert sorted(entry) == sorted(FIELDS)
    assert (entry["opdbGroup"], entry["shortName"], entry["ipdbId"], entry["year"]) == (
        "G4ODR",
        "TCR",
        21,
        1994,
    )
    assert entry["manufacturer"] == files.MAKERS["Nebula"]
    assert entry["entryType"] == "machine"
    assert msgspec.convert(entry, OpdbEntry).opdb_id == "G4ODR-MLzY7"


@pytest.mark.parametrize(
    ("query", "extra"),
    [
        ("?includePeople=true", {"people"}),
        ("?includeImages=1", {"images"}),
        ("?includeImages=yes&includePeople=on", {"people", "images"}),
        ("?includeImages=False&includePeople=0", set()),
    ],
)
def test_people_and_images_come_on_request(machine_store: Store, query: str, extra: set[str]) -> None:
    for path in ("entry", "entries"):
        body = get(machine_store, f"/api/opdb/{path}/G4ODR-MLzY7{query}")[1]
        entry = body["data"] if path == "entry" else body["entry"]
        assert set(entry) - set(FIELDS) == extra
        if "people" in extra:
            assert [person["name"] for person in entry["people"]] == ["Vera Solder"]
        if "images" in extra:
            assert entry["images"] == [{**files.IMAGE, "group": None}]


@pytest.mark.parametrize(
    ("opdb_id", "kind", "machine"),
    [
        ("G4ODR", "machineGroup", None),
        ("G4ODR-Mzly7", "machine", "G4ODR-Mzly7"),
        ("G4ODR-MLzY7-A1B7O", "alias", "G4ODR-MLzY7"),
    ],
)
def test_the_other_form_of_the_path_has_the_videos_of_the_title(
    machine_store: Store, opdb_id: str, kind: str, machine: str | None
) -> None:
    status, body = get(machine_store, f"/api/opdb/entries/{opdb_id}")
    assert (status, body["type"], body["entry"]["opdbMachine"]) == (200, kind, machine)
    assert body["videos"] == [{**FILM, "provider": None, "author": None, "durationSeconds": None}]
    assert msgspec.json.decode(json.dumps(body), type=OpdbEntryBundle, strict=True).type == kind


@pytest.mark.both_databases
def test_ids_of_videos_are_case_sensitive(machine_store: Store) -> None:
    assert get(machine_store, "/api/opdb/entries/G4odR-MLzY7")[1]["videos"] == []


@pytest.mark.parametrize("path", ["entry", "entries"])
@pytest.mark.parametrize(
    "opdb_id", ["G4OdR", "G4ODR-MLzY8", "4ODR", "G4ODR-A1B7O", "G4ODR\n", "7", "G" + "x" * 200]
)
def test_an_unknown_entry_is_not_found(machine_store: Store, path: str, opdb_id: str) -> None:
    status, body = get(machine_store, f"/api/opdb/{path}/{opdb_id}")
    assert status == 404
    assert set(body) == {"message", "code"}


def test_the_answer_for_an_old_id_names_the_new_one(machine_store: Store) -> None:
    lines = [("Gold-M1", "Gold-M2"), ("Gold-M2", "G4odR-MLzY7"), ("Gbye-M1", None), ("Glost-M1", "Glost-M2")]
    raw = [
        {
            "changelogId": n,
            "action": "move" if new else "delete",
            "opdbIdDeleted": old,
            "opdbIdReplacement": new,
            "createdAt": "2018-10-19T15:06:20.000000Z",
        }
        for n, (old, new) in enumerate(lines, start=1)
    ]
    with machine_store.write() as transaction:
        opdb.import_changes(transaction, opdb.parse_changelog({"data": raw}))
    for path in ("entry", "entries"):
        status, body = get(machine_store, f"/api/opdb/{path}/Gold-M1")
        assert (status, body["movedTo"]) == (404, "G4odR-MLzY7")
        assert body["message"] == "No query results for model [App\\Models\\OpdbEntry] Gold-M1"
        for gone in ("Gbye-M1", "Glost-M1"):
            status, body = get(machine_store, f"/api/opdb/{path}/{gone}")
            assert (status, set(body)) == (404, {"message", "code"})


def test_the_list_of_changes_is_empty_at_first(store: Store) -> None:
    assert get(store, "/api/opdb/changelog") == (200, {"data": []})


def found_ids(db: Connection, words: str) -> list[str]:
    return [entry.opdb_id for entry in reads.search_machines(db, words)]


@pytest.mark.both_databases
def test_machines_are_found_by_any_of_their_names(machine_store: Store) -> None:
    with machine_store.read() as db:
        riders = ["G4ODR-MLzY7-A1B7O", "G4ODR-MLzY7", "G4ODR-Mzly7"]
        assert found_ids(db, "COMÉT rider") == riders
        assert found_ids(db, "tcr") == ["G4ODR-MLzY7"]
        assert found_ids(db, "harbor") == ["G4odR-MLzY7"]
        assert found_ids(db, "%") == found_ids(db, "nothing") == []


def test_a_search_has_no_more_than_twenty_five_hits(store: Store) -> None:
    raw = {"entries": [{"opdbId": f"G1-M{n:03}", "name": f"Comet {n:03}"} for n in range(40)]}
    with store.write() as transaction:
        opdb.import_machines(transaction, opdb.parse_machines(raw))
    with store.read() as db:
        assert found_ids(db, "comet") == [f"G1-M{n:03}" for n in range(25)]
