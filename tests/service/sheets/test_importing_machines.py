"""POST /api/arenas/import: a list of machines is looked at, and stored in the book and the lineup."""

import base64
from typing import Any

import pytest
from sqlalchemy import select

import build
from service.desk import a_desk
from service.sheets.spreadsheets import an_xlsx
from silverball.exchange import opdb
from silverball.service.core.access import AuthenticatedCaller
from silverball.store import tables
from silverball.store.database.engine import Store

PATH = "/api/arenas/import"


def send(store: Store, body: Any, *, by: AuthenticatedCaller | int, status: int = 200) -> Any:
    got, answer, _ = build.do(store, "POST", PATH, body, by=by)
    assert got == status, (got, answer)
    return answer["data"] if status == 200 else answer


def decided(look: Any, **decisions: str) -> list[dict[str, Any]]:
    return [
        {
            **{key: row[key] for key in ("line", "name", "opdbId")},
            **({"decision": decisions[f"r{row['row']}"]} if f"r{row['row']}" in decisions else {}),
        }
        for row in look["rows"]
    ]


def outcome(look: Any) -> list[tuple[Any, ...]]:
    return [(row["name"], row["opdbId"], row["decision"], row["arenaId"]) for row in look["rows"]]


def names(store: Store) -> list[str]:
    with store.read() as db:
        return list(db.execute(select(tables.arena.c.name).order_by(tables.arena.c.arena_id)).scalars())


@pytest.fixture
def titles(store: Store) -> None:
    raw = {
        "entries": [
            {"opdbId": "G4ODR-MLzY7", "name": "Comet Rider", "shortName": "CR"},
            {"opdbId": "G1abc-Mxyz1", "name": "Static Garden", "shortName": "SG"},
        ]
    }
    with store.write() as transaction:
        opdb.import_machines(transaction, opdb.parse_machines(raw))


@pytest.mark.both_databases
@pytest.mark.usefixtures("titles")
def test_a_list_of_machines_takes_those_of_the_book_and_writes_the_others(store: Store) -> None:
    organizer = build.a_user(store, role="organizer")
    comet = build.an_arena(store, organizer, name="The Comet", opdb_id="G4ODR-MLzY7")
    godzilla = build.an_arena(store, organizer, name="Godzilla")
    text = "Machine;Short name;OPDB id\n;;G4ODR-MLzY7\ngodzilla;;\n;sg;\nNight Ferry;NF;\n;;nonsense\n"
    look = send(store, {"text": text}, by=organizer)
    assert outcome(look) == [
        ("Comet Rider", "G4ODR-MLzY7", "arena", comet),
        ("godzilla", None, "arena", godzilla),
        ("Static Garden", "G1abc-Mxyz1", "new", None),
        ("Night Ferry", None, "new", None),
        (None, "nonsense", None, None),
    ]
    assert look["rows"][4]["fault"] == "nonsense is no id of the machine database."
    refused = send(store, {"rows": decided(look), "plan": look["plan"]}, by=organizer, status=422)
    assert list(refused["errors"]) == ["rows.4.name"]
    stored = send(store, {"rows": decided(look, r5="leaveOut"), "plan": look["plan"]}, by=organizer)
    assert (stored["stored"], stored["newArenas"]) == (True, 2)
    assert names(store) == ["The Comet", "Godzilla", "Static Garden", "Night Ferry"]


def test_machines_come_into_the_lineup_and_a_second_one_is_asked(store: Store) -> None:
    desk = a_desk(store, arenas=0, starts=False)
    by, where = desk.callers["owner"], {"tournamentId": desk.night.tournament_id}
    build.an_arena(store, desk.night.organizer_id, name="Godzilla")
    file = base64.b64encode(an_xlsx({"Machines": [["Game"], ["Godzilla"], ["Godzilla"], ["Comet"]]})).decode()
    look = send(store, {"file": file, **where}, by=by)
    assert [row["question"] for row in look["rows"]] == [
        *(None, "Godzilla is in the lineup or the list already. A second one?", None)
    ]
    asked = send(store, {"rows": decided(look), "plan": look["plan"], **where}, by=by, status=422)
    assert list(asked["errors"]) == ["rows.1.decision"]
    before = desk.stored_state()
    send(store, {"rows": decided(look, r2="new"), "plan": look["plan"], **where}, by=by)
    desk.mirror.follow()
    assert names(store) == ["Godzilla", "Godzilla", "Comet"]
    assert len(desk.stored_state()[0].lineup) == 3
    desk.undo()
    assert desk.stored_state()[0].lineup == before[0].lineup
    changed = send(store, {"rows": decided(look, r2="new"), "plan": look["plan"], **where}, by=by, status=409)
    assert changed["code"] == "import-changed"
    assert send(store, {"text": "Comet", **where}, by=desk.callers["owner"])["rows"][0]["decision"] == "arena"
    status, _, _ = build.do(store, "POST", PATH, {"text": "Comet", **where}, by=desk.callers["other"])
    assert status == 403


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": "Comet", "plan": "x"}, "plan"),
        ({"text": "\n".join(f"Machine {number}x" for number in range(501))}, "text"),
        ({"text": "Comet", "columns": ["name", "number"]}, "columns"),
        ({"rows": [{"name": "Comet", "decision": "player"}]}, "rows.0.decision"),
    ],
)
def test_a_faulty_list_of_machines_is_refused_by_field(store: Store, body: Any, field: str) -> None:
    organizer = build.a_user(store, role="organizer")
    assert list(send(store, body, by=organizer, status=422)["errors"]) == [field]
    assert names(store) == []
