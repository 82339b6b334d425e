"""The machine database is imported from four shapes, all or nothing. Source: ratings C.2."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import select

import build
from exchange import opdb_files as files
from silverball.exchange import machine_files, opdb
from silverball.exchange.bundle.checks import BrokenFile
from silverball.service.machines import reads
from silverball.service.machines.reads import EntryQuery
from silverball.service.machines.writes import ImportCounts, TooFewRows
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball_wire.machines import OpdbEntry

WHOLE = EntryQuery(include_people=True, include_images=True)


def import_machines(store: Store, raw: Any, *, is_forced: bool = False) -> ImportCounts:
    with store.write() as transaction:
        return opdb.import_machines(transaction, opdb.parse_machines(raw), is_forced=is_forced)[0]


def entries(store: Store) -> dict[str, OpdbEntry]:
    with store.read() as db:
        return {opdb_id: reads.find_entry(db, opdb_id, WHOLE) for opdb_id in sorted(reads.entry_ids(db))}


def rows(store: Store) -> list[Any]:
    with store.read() as db:
        return list(db.execute(select(tables.machine).order_by(tables.machine.c.opdb_id)))


@pytest.mark.parametrize("shape", ["export", "first"])
def test_every_full_shape_gives_the_same_entries(store: Store, shape: str) -> None:
    assert import_machines(store, files.second_shape()) == ImportCounts(
        entries=6, new=6, changed=0, removed=0
    )
    expected = entries(store)
    again = import_machines(store, files.SHAPES[shape]())
    assert again == ImportCounts(entries=6, new=0, changed=0, removed=0)
    assert entries(store) == expected


def test_missing_groups_are_derived_from_their_machines(store: Store) -> None:
    assert import_machines(store, files.export_file()) == ImportCounts(entries=6, new=6, changed=0, removed=0)
    machines = entries(store)
    assert list(machines) == [
        "G4ODR",
        "G4ODR-MLzY7",
        "G4ODR-MLzY7-A1B7O",
        "G4ODR-Mzly7",
        "G4odR",
        "G4odR-MLzY7",
    ]
    assert (machines["G4ODR"].name, machines["G4odR"].name) == ("Comet Rider", "Harbor Lights")
    assert machines["G4ODR"].entry_type == "machineGroup"
    assert (machines["G4ODR"].opdb_machine, machines["G4ODR"].physical_machine) == (None, False)


def test_a_derived_group_follows_its_machines_until_a_file_names_it(store: Store) -> None:
    raw = files.export_file()
    import_machines(store, raw)
    raw[2]["name"] = "Harbour"
    import_machines(store, raw)
    assert entries(store)["G4odR"].name == "Harbour"
    named = files.second_shape()
    named["entries"][1]["name"] = "Lights of the Harbour"
    import_machines(store, named)
    import_machines(store, raw)
    assert entries(store)["G4odR"].name == "Lights of the Harbour"


def test_a_row_has_the_fields_of_its_file(store: Store) -> None:
    import_machines(store, files.export_file())
    machines = entries(store)
    machine, alias = machines["G4ODR-MLzY7"], machines["G4ODR-MLzY7-A1B7O"]
    assert (machine.opdb_group, machine.opdb_machine) == ("G4ODR", "G4ODR-MLzY7")
    assert (machine.name, machine.name_sort) == ("The Comet Rider (Pro)", "Comet Rider (Pro), The")
    assert (machine.short_name, machine.ipdb_id, machine.year) == ("TCR", 21, 1994)
    assert machine.manufacturer is not None
    assert (machine.manufacturer.name, machine.manufacturer_id) == ("Nebula", 7)
    assert [feature.name for feature in machine.features] == ["Widebody"]
    assert json.loads(msgspec.json.encode(machine.images))[0] == {**files.IMAGE, "group": None}
    assert (alias.entry_type, alias.opdb_machine) == ("alias", "G4ODR-MLzY7")
    assert machines["G4ODR-Mzly7"].physical_machine is False
    assert (machines["G4ODR-Mzly7"].year, machines["G4ODR-Mzly7"].manufacture_date) == (None, None)


def test_ids_that_differ_by_case_only_are_different_machines(store: Store) -> None:
    import_machines(store, files.second_shape())
    machines = entries(store)
    assert machines["G4ODR-MLzY7"].name == "The Comet Rider (Pro)"
    assert machines["G4ODR-Mzly7"].name == "The Comet Rider (Umbrella)"
    assert machines["G4odR-MLzY7"].name == "Harbor Lights"


@pytest.mark.both_databases
def test_a_slim_file_changes_its_own_fields_and_keeps_the_rest(store: Store) -> None:
    import_machines(store, files.second_shape())
    expected = entries(store)
    assert import_machines(store, files.slim_shape()).changed == 0
    renamed = files.slim_shape()
    renamed["entries"][2]["name"] = "The Comet Rider"
    assert import_machines(store, renamed).changed == 1
    before, after = expected["G4ODR-MLzY7"], entries(store)["G4ODR-MLzY7"]
    named = msgspec.structs.replace(before, name="The Comet Rider", name_sort="Comet Rider, The")
    assert after == named


def test_a_slim_file_alone_is_a_machine_database_too(store: Store) -> None:
    assert import_machines(store, files.slim_shape()).new == 6
    machine = entries(store)["G4ODR-MLzY7"]
    assert (machine.year, machine.manufacturer_id, machine.type) == (1994, 7, None)
    assert machine.manufacturer is not None
    assert (machine.manufacturer.name, machine.manufacturer.full_name) == ("Nebula", None)


def test_details_of_a_manufacturer_are_added_and_never_dropped(store: Store) -> None:
    raw = {"entries": [{"opdbId": "G1-M1", "name": "Comet", "manufacturerName": "Harbor"}]}
    import_machines(store, raw)
    for maker, known in (
        ({"manufacturerId": 9, "name": "Harbor", "fullName": None}, (9, None)),
        ({"manufacturerId": 9, "name": "Harbor", "fullName": "Harbor & Sons"}, (9, "Harbor & Sons")),
        ({"name": "Harbor"}, (9, "Harbor & Sons")),
        ({"manufacturerId": 8, "name": "Harbor"}, (8, None)),
    ):
        import_machines(store, {"entries": [{"opdbId": "G1-M1", "name": "Comet", "manufacturer": maker}]})
        machine = entries(store)["G1-M1"]
        assert machine.manufacturer is not None
        assert (machine.manufacturer.manufacturer_id, machine.manufacturer.full_name) == known
        assert machine.manufacturer_id == known[0]


def test_people_stay_when_a_later_file_has_none(store: Store) -> None:
    raw = files.second_shape()
    raw["entries"][2]["people"] = [{"opdbPersonId": 3, "name": "Vera Solder", "role": "design", "index": 0}]
    import_machines(store, raw)
    import_machines(store, files.export_file())
    people = entries(store)["G4ODR-MLzY7"].people
    assert json.loads(msgspec.json.encode(people)) == raw["entries"][2]["people"]


def test_a_text_that_is_not_a_link_is_left_out(store: Store) -> None:
    raw = files.second_shape()
    raw["entries"][2] |= {
        "pinballRulesUrl": "javascript:alert(1)",
        "pinballPrimerUrl": "",
        "bobsGuideUrl": "https://guides.example/comet",
    }
    raw["entries"][2]["images"][0] = {"urls": {"small": "data:text/html,x"}, "primary": 1}
    import_machines(store, raw)
    machine = entries(store)["G4ODR-MLzY7"]
    assert (machine.pinball_rules_url, machine.pinball_primer_url) == (None, None)
    assert machine.bobs_guide_url == "https://guides.example/comet"
    assert json.loads(msgspec.json.encode(machine.images))[0]["urls"]["small"] is None


def test_entries_missing_from_the_file_are_deleted(store: Store) -> None:
    raw = files.second_shape()
    import_machines(store, raw)
    less = {"entries": raw["entries"][:5]}
    assert import_machines(store, less) == ImportCounts(entries=5, new=0, changed=0, removed=1)
    assert "G4ODR-MLzY7-A1B7O" not in entries(store)


@pytest.mark.both_databases
@pytest.mark.parametrize(("kept_count", "is_refused"), [(8, False), (7, True)])
def test_a_file_with_less_than_four_fifths_of_the_stored_entries_is_refused(
    store: Store, kept_count: int, is_refused: bool
) -> None:
    whole = {"entries": [{"opdbId": f"G{n}", "name": f"Title {n}"} for n in range(10)]}
    import_machines(store, whole)
    before = rows(store)
    part = {"entries": whole["entries"][:kept_count]}
    if not is_refused:
        assert import_machines(store, part).removed == 2
        return
    with pytest.raises(TooFewRows, match="7 entries and 10 are stored"):
        import_machines(store, part)
    assert rows(store) == before
    assert import_machines(store, part, is_forced=True).removed == 3


def test_machines_of_this_site_stay_and_are_not_counted(store: Store) -> None:
    own = {"entries": [{"opdbId": "Hclub-M1", "name": "Club Special", "year": 2024}]}
    assert import_machines(store, own) == ImportCounts(entries=2, new=2, changed=0, removed=0)
    import_machines(store, files.second_shape())
    assert import_machines(store, own).removed == 0
    assert import_machines(store, files.export_file()).removed == 0
    assert entries(store)["Hclub-M1"].name == "Club Special"
    assert len(entries(store)) == 8


@pytest.mark.both_databases
def test_our_own_file_can_be_imported_again_and_elsewhere(store: Store, tmp_path: Path) -> None:
    raw = files.export_file()
    raw.append({"opdb_id": "Hclub-M1", "name": "Club “Special” \u2028", "is_machine": True})
    import_machines(store, raw)
    expected = entries(store)
    with store.read() as db:
        own = "".join(reads.machine_json_lines(db))
    assert import_machines(store, json.loads(own)) == ImportCounts(entries=8, new=0, changed=0, removed=0)
    file = tmp_path / "own.json"
    file.write_text(own, encoding="utf-8")
    with store.write() as transaction:
        transaction.connection.execute(tables.machine.delete())
    with store.write() as transaction:
        opdb.import_machines(transaction, opdb.read_machines(file))
    assert entries(store) == expected


def _change_at(path: str, **fields: Any) -> Callable[[Any], None]:
    """Change the row at a path like `machines.0`."""

    def change(raw: Any) -> None:
        for step in path.split("."):
            raw = raw[int(step) if step.isdigit() else step]
        raw.update(fields)

    return change


@pytest.mark.parametrize(
    ("shape", "change", "sentence"),
    [
        (
            "export",
            _change_at("1", opdb_id="4ODR"),
            "$[1].opdb_id: '4ODR' is not an id of the machine database.",
        ),
        ("export", _change_at("0", name=7), "$[0].name: Expected `str`, got `int`."),
        ("export", _change_at("0", physical_machine=2), "$[0].physical_machine: Invalid enum value 2."),
        (
            "export",
            _change_at("2", manufacture_date="soon"),
            "$[2].manufacture_date: Expected `str` matching regex",
        ),
        (
            "export",
            _change_at("2", opdb_id="G4ODR-MLzY7"),
            "$[2]: G4ODR-MLzY7 is in the file twice, first at $[0].",
        ),
        (
            "export",
            _change_at("3", opdb_id="G4ODR-MLzY8"),
            "$[3]: G4ODR-MLzY8 is the id of a machine; the file says alias.",
        ),
        (
            "first",
            _change_at("machines.2", playerCount="2"),
            "$.machines[2].playerCount: Expected `int | null`",
        ),
        ("first", _change_at("aliases.0", opdbId="G4ODR"), "$.aliases[0]: G4ODR is the id of a machineGroup"),
        (
            "first",
            _change_at("aliases.0", opdbId="G4ODR-A1B7O"),
            "$.aliases[0].opdbId: 'G4ODR-A1B7O' is not an id",
        ),
        (
            "second",
            _change_at("entries.1", entryType="alias"),
            "$.entries[1]: G4odR is the id of a machineGroup",
        ),
        ("second", _change_at("entries.3", opdbId="G4ODR\n"), "$.entries[3].opdbId: 'G4ODR\\n' is not an id"),
        ("second", _change_at("entries.2", name="a\x00b"), "$.entries[2].name: The text holds a zero byte"),
        (
            "second",
            _change_at("entries.2", ipdbId=2**63),
            "$.entries[2].ipdbId: 9223372036854775808 is not a 64-bit",
        ),
        ("slim", _change_at("entries.4", name=""), "$.entries[4].name: Expected `str` of length >= 1."),
    ],
)
def test_a_fault_is_reported_with_its_row_and_field_and_nothing_is_stored(
    store: Store, shape: str, change: Callable[[Any], None], sentence: str
) -> None:
    import_machines(store, files.second_shape())
    before = rows(store)
    raw = copy.deepcopy(files.SHAPES[shape]())
    change(raw)
    with pytest.raises(BrokenFile) as error:
        import_machines(store, machine_files.decode(json.dumps(raw).encode()))
    assert sentence in error.value.message
    assert rows(store) == before


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            json.dumps(files.second_shape()).encode()[:-40],
            "$: The file is not JSON in UTF-8 (Input data was truncated).",
        ),
        (b'{"entries":[{"opdbId":"G1","name":"\xff"}]}', "$: The file is not JSON in UTF-8"),
        (b"", "$: The file is not JSON in UTF-8"),
        (b"[1]", "$: This is not a machine database."),
        (b'[{"tipId":1,"opdbId":"G4ODR"}]', "$: This is not a machine database."),
        (b'{"tournament":{}}', "$: This is not a machine database."),
        (b"[]", "$: The file has no entries."),
        (b'{"entries":[]}', "$: The file has no entries."),
        (b'{"entries":[7]}', "$.entries[0]: Expected `object`, got `int`."),
        (b'{"machines":[],"aliases":7}', "$.aliases: Expected `array`, got `int`."),
    ],
)
def test_a_file_that_is_not_a_machine_database_is_refused(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    file = tmp_path / "opdb.json"
    file.write_bytes(content)
    with pytest.raises(BrokenFile) as error:
        opdb.read_machines(file)
    assert sentence in error.value.message


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "opdb.json"
    file.write_text(json.dumps(files.slim_shape()))
    monkeypatch.setattr(machine_files, "BYTES_MAX", 100)
    with pytest.raises(BrokenFile, match="100 are read at most"):
        opdb.read_machines(file)


@pytest.mark.both_databases
def test_arenas_without_an_entry_are_left_alone(store: Store) -> None:
    arena_id = build.an_arena(store, build.a_user(store), opdb_id="Gnone-M1")
    import_machines(store, files.second_shape())
    with store.read() as db:
        query = select(tables.arena.c.opdb_id).where(tables.arena.c.arena_id == arena_id)
        assert db.execute(query).scalar_one() == "Gnone-M1"
