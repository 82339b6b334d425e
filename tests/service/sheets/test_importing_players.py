"""POST /api/players/import: a list is looked at, and its decided rows are stored as one action."""

import base64
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import func, select, update

import build
from service.desk import Desk, a_desk
from service.sheets.spreadsheets import an_xlsx
from silverball import app
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.journal.reads import verification
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store

PATH = "/api/players/import"


def send(store: Store, body: Any, *, by: AuthenticatedCaller | int, status: int = 200) -> Any:
    got, answer, _ = build.do(store, "POST", PATH, body, by=by)
    assert got == status, (got, answer)
    return answer["data"] if status == 200 else answer


def decided(look: Any, **decisions: Any) -> list[dict[str, Any]]:
    """The rows of a look as they are sent back; `r3="new"` decides row 3, also with a pair of ids."""
    rows = []
    for row in look["rows"]:
        sent = {key: row[key] for key in ("line", "name", "ifpaId", "seed")}
        choice = decisions.get(f"r{row['row']}")
        rows.append({**sent, **({"decision": choice} if isinstance(choice, str) else choice or {})})
    return rows


def names_in_book(store: Store, organizer: int) -> list[str]:
    with store.read() as db:
        rows = select(tables.player.c.name).where(tables.player.c.organizer_id == organizer)
        return sorted(db.execute(rows).scalars())


def outcome(look: Any) -> list[tuple[Any, ...]]:
    return [(row["name"], row["decision"], row["playerId"], row["sameAs"]) for row in look["rows"]]


@pytest.mark.both_databases
def test_a_list_is_shown_as_it_will_be_and_then_stored(store: Store) -> None:
    organizer = build.a_user(store, role="organizer")
    ada = build.a_player(store, organizer, name="Ada Quill")
    bo = build.a_player(store, organizer, name="Bo Larkin", ifpa_id=12, status="inactive")
    look = send(store, {"text": "Name\tIFPA\nada  quill\t345\nB. Larkin\t12\nCleo Marsh\t"}, by=organizer)
    assert outcome(look) == [
        ("ada quill", "player", ada, None),
        ("B. Larkin", "player", bo, None),
        ("Cleo Marsh", "new", None, None),
    ]
    assert look["rows"][0]["notes"] == ["Your book writes Ada Quill.", "Your book gets number 345."]
    assert "Your book has them as not in use any more." in look["rows"][1]["notes"]
    assert names_in_book(store, organizer) == ["Ada Quill", "Bo Larkin"]
    stored = send(store, {"rows": decided(look), "plan": look["plan"]}, by=organizer)
    assert (stored["stored"], stored["plan"], stored["newPlayers"]) == (True, None, 1)
    assert names_in_book(store, organizer) == ["Ada Quill", "Bo Larkin", "Cleo Marsh"]
    with store.read() as db:
        rows = select(tables.player.c.ifpa_id).where(tables.player.c.player_id == ada)
        assert db.execute(rows).scalar_one() == 345
    # Sent again it is another list: Cleo is in the book by now.
    again = send(store, {"rows": decided(look), "plan": look["plan"]}, by=organizer, status=409)
    assert again["code"] == "import-changed"


@pytest.mark.both_databases
def test_people_enter_a_tournament_as_one_action_with_one_undo(store: Store) -> None:
    desk = a_desk(store, starts=False)
    by = desk.callers["owner"]
    tournament_id = desk.night.tournament_id
    present = desk.night.player_ids[0]
    renamed = build.do(store, "PATCH", f"/api/players/{present}", {"name": "Ida Kron"}, by=by)
    assert renamed[0] == 200
    desk.mirror.follow()
    text = "Name;Number;Seed\nAda Quill;7001;2\nIda Kron;;\nBo Larkin;;1"
    look = send(store, {"text": text, "tournamentId": tournament_id}, by=by)
    assert look["rows"][1]["notes"] == ["They are in the tournament already."]
    before = desk.stored_state()
    body = {"rows": decided(look), "plan": look["plan"], "tournamentId": tournament_id}
    stored = send(store, body, by=by)
    desk.mirror.follow()
    entered = desk.ok("GET", "/players")["data"]
    assert len(entered) == len(desk.night.player_ids) + 2
    assert {row["playerId"] for row in stored["rows"]} <= {player["playerId"] for player in entered}
    desk.undo()
    assert desk.stored_state()[0].entrants == before[0].entrants


def test_people_come_late_into_a_running_tournament_and_the_journal_holds(store: Store) -> None:
    desk = a_desk(store, "group_matchplay", players=8)
    desk.open_round()
    by, where = desk.callers["owner"], {"tournamentId": desk.night.tournament_id}
    build.a_player(store, desk.night.organizer_id, name="Ada Quill")
    look = send(store, {"text": "Name;IFPA\nAda Quill;7001\nBo Larkin;7002\nCleo Marsh;", **where}, by=by)
    desk.mirror.follow()
    stored = send(store, {"rows": decided(look), "plan": look["plan"], **where}, by=by)
    desk.mirror.follow()
    assert (stored["newPlayers"], len(desk.stored_state()[0].entrants)) == (2, 11)
    with store.read() as db:
        assert list(verification.verify_tournament(db, desk.night.tournament_id).faults) == []
    desk.undo()
    assert len(desk.stored_state()[0].entrants) == 8


def test_who_comes_twice_is_asked_and_a_number_is_one_person(store: Store) -> None:
    organizer = build.a_user(store, role="organizer")
    text = "\n".join(
        [
            "Name\tIFPA",
            "Ada Quill\t7001",
            "Ada Quill\t7002",
            "Bo Larkin\t",
            "bo larkin\t",
            "Cleo Marsh\t7003",
            "C. Marsh\t7003",
            "Dov Levi\t7003",
            "Bo Larkn\t",
            "Quill\t",
        ]
    )
    look = send(store, {"text": text}, by=organizer)
    assert [row["question"] is not None for row in look["rows"]] == [
        *(False, False, False, True, False, False, True, True, False)
    ]
    # Equal names with two numbers are two people; one surname is nobody's double.
    assert [row["decision"] for row in look["rows"][:2]] == ["new", "new"]
    assert (look["rows"][5]["decision"], look["rows"][5]["sameAs"]) == ("same", 5)
    open_rows = send(store, {"rows": decided(look), "plan": look["plan"]}, by=organizer, status=422)
    assert list(open_rows["errors"]) == ["rows.3.decision", "rows.6.decision", "rows.7.decision"]
    assert names_in_book(store, organizer) == []
    rows = decided(look, r4="new", r7="leaveOut", r8={"decision": "same", "sameAs": 3})
    stored = send(store, {"rows": rows, "plan": look["plan"]}, by=organizer)
    assert names_in_book(store, organizer) == [
        *("Ada Quill", "Ada Quill", "Bo Larkin", "Cleo Marsh", "Quill", "bo larkin")
    ]
    ids = [row["playerId"] for row in stored["rows"]]
    assert (ids[5], ids[6], ids[7]) == (ids[4], None, ids[2])


def test_names_of_numbers_come_from_book_or_file_and_are_asked_otherwise(store: Store) -> None:
    organizer = build.a_user(store, role="organizer")
    hidden = build.a_user_with_number(store, ifpa_id=11, profile_opt_out=True)
    ida = build.a_player(store, organizer, name="Ida Kron", claimed_by=hidden)
    build.a_federation_record(store, 22, "Bo Larkin")
    look = send(store, {"text": "Player\n11\n22\n33"}, by=organizer)
    assert outcome(look)[:2] == [("Ida Kron", "player", ida, None), ("Bo Larkin", "new", None, None)]
    assert (
        look["rows"][2]["fault"]
        == "Neither your book nor the federation's file has number 33. Write the name."
    )
    refused = send(store, {"rows": decided(look), "plan": look["plan"]}, by=organizer, status=422)
    assert list(refused["errors"]) == ["rows.2.name"]
    rows = decided(look)
    rows[2]["name"] = "Cleo Marsh"
    # A name that nobody has looked at yet is looked at first.
    changed = send(store, {"rows": rows, "plan": look["plan"]}, by=organizer, status=409)
    assert changed["preview"]["rows"][2]["decision"] == "new"
    send(store, {"rows": rows, "plan": changed["preview"]["plan"]}, by=organizer)
    assert names_in_book(store, organizer) == ["Bo Larkin", "Cleo Marsh", "Ida Kron"]


def test_a_number_of_somebody_else_or_of_two_is_asked(store: Store) -> None:
    organizer = build.a_user(store, role="organizer")
    ada = build.a_player(store, organizer, name="Ada Quill", ifpa_id=7)
    for name in ("Bo Larkin", "Cleo Marsh"):
        build.a_player(store, organizer, name=name, ifpa_id=8)
    look = send(store, {"text": "Name\tIFPA\nDov Levi\t7\nBo\t8"}, by=organizer)
    assert [len(row["choices"]) for row in look["rows"]] == [2, 3]
    rows = decided(look, r1={"decision": "player", "playerId": ada}, r2="leaveOut")
    stored = send(store, {"rows": rows, "plan": look["plan"]}, by=organizer)
    assert [row["playerId"] for row in stored["rows"]] == [ada, None]
    wrong = decided(look, r1={"decision": "player", "playerId": 10**6}, r2="leaveOut")
    assert list(send(store, {"rows": wrong, "plan": look["plan"]}, by=organizer, status=422)["errors"]) == [
        "rows.0.decision"
    ]


def test_erased_people_match_nothing(store: Store) -> None:
    organizer = build.a_user(store, role="organizer")
    erased = build.a_player(store, organizer, name="?", status="inactive")
    with store.write() as transaction:
        transaction.connection.execute(
            update(tables.player).where(tables.player.c.player_id == erased).values(name=f"Player {erased}")
        )
    look = send(store, {"text": f"Name\nPlayer {erased}"}, by=organizer)
    assert look["rows"][0]["decision"] == "new"


CHANGES: dict[str, Callable[[Desk], Any]] = {
    "a match is another": lambda desk: build.a_player(desk.store, desk.night.organizer_id, name="Bo Larkin"),
    "a name is another": lambda desk: rename(desk, "Ada Quilter"),
    "a player has entered": lambda desk: (
        desk.ok("POST", "/players", {"name": "Zoe Zephyr"})
        and desk.ok("POST", "/players", {"playerId": ada_of(desk)})
    ),
}


def ada_of(desk: Desk) -> int:
    with desk.store.read() as db:
        rows = select(tables.player.c.player_id).where(tables.player.c.name == "Ada Quill")
        return int(db.execute(rows).scalar_one())


def rename(desk: Desk, name: str) -> None:
    with desk.store.write() as transaction:
        rows = update(tables.player).where(tables.player.c.name == "Ada Quill").values(name=name)
        transaction.connection.execute(rows)


@pytest.mark.parametrize("change", CHANGES)
def test_what_has_changed_since_is_looked_at_again_with_the_decisions(store: Store, change: str) -> None:
    desk = a_desk(store, starts=False)
    by = desk.callers["owner"]
    build.a_player(store, desk.night.organizer_id, name="Ada Quill")
    where = {"tournamentId": desk.night.tournament_id}
    look = send(store, {"text": "Ada Quill\nBo Larkin\nCleo Marsh\nCleo Marsh", **where}, by=by)
    rows = decided(look, r3="leaveOut", r4="new")
    CHANGES[change](desk)
    before = desk.stored_state()
    answer = send(store, {"rows": rows, "plan": look["plan"], **where}, by=by, status=409)
    assert answer["code"] == "import-changed"
    assert [row["decision"] for row in answer["preview"]["rows"]][2:] == ["leaveOut", "new"]
    assert answer["preview"]["plan"] != look["plan"]
    assert desk.stored_state() == before
    send(store, {"rows": rows, "plan": answer["preview"]["plan"], **where}, by=by)


def test_a_file_is_read_like_a_text_and_its_sheets_are_asked(store: Store) -> None:
    organizer = build.a_user(store, role="organizer")
    file = base64.b64encode(an_xlsx({"A": [["Name"], ["Ada"]], "B": [["Name"], ["Bo"]]})).decode()
    look = send(store, {"file": file}, by=organizer)
    assert (look["plan"], [sheet["name"] for sheet in look["sheets"]]) == (None, ["A", "B"])
    assert outcome(send(store, {"file": file, "sheet": "B"}, by=organizer)) == [("Bo", "new", None, None)]
    names = send(store, {"text": "Quill, Ada\nLarkin, Bo"}, by=organizer)
    assert (names["plan"], len(names["nameOrders"]), names["rows"]) == (None, 2, [])
    latin = base64.b64encode("Jörg Müller".encode("cp1252")).decode()
    look = send(store, {"file": latin, "encoding": "utf-8"}, by=organizer)
    assert "letter of the name" in look["rows"][0]["fault"]
    refused = send(store, {"rows": decided(look), "plan": look["plan"]}, by=organizer, status=422)
    assert list(refused["errors"]) == ["rows.0.name"]


def test_the_room_of_a_book_is_said_before_and_kept_after(store: Store) -> None:
    organizer = build.a_user(store, role="organizer")
    build.a_player(store, organizer, name="Zoe Zephyr")
    api = app.build_api(store, Settings(base_url=build.BASE_URL, players_per_account=2))
    who = build.caller(organizer, role="organizer", ability="manage")
    _, look, _ = build.send(api, "POST", PATH, {"text": "Ada Quill\nBo Larkin"}, by=who)
    assert look["data"]["notes"] == ["The book has room for 1 more, and 2 of these are new."]
    body = {"rows": decided(look["data"]), "plan": look["data"]["plan"]}
    status, refused, _ = build.send(api, "POST", PATH, body, by=who)
    assert (status, refused["code"]) == (409, "account-quota-reached")
    assert names_in_book(store, organizer) == ["Zoe Zephyr"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": "Ada", "rows": [{"name": "Ada"}]}, "text"),
        ({"text": "Ada", "plan": "x"}, "plan"),
        ({"text": " "}, "text"),
        ({"text": "Ada", "columns": ["nonsense"]}, "columns.0"),
        ({"text": "Ada", "encoding": "klingon"}, "encoding"),
        ({"rows": [{"name": "Ada", "ifpaId": 12345678}]}, "rows.0.ifpaId"),
        ({"rows": []}, "rows"),
        ({"file": "no base64!"}, "file"),
        ({"file": base64.b64encode(b"Ada\n" * 5_001).decode()}, "text"),
    ],
)
def test_a_faulty_request_is_refused_by_field(store: Store, body: Any, field: str) -> None:
    organizer = build.a_user(store, role="organizer")
    answer = send(store, body, by=organizer, status=422)
    assert list(answer["errors"]) == [field]
    with store.read() as db:
        assert db.execute(select(func.count()).select_from(tables.player)).scalar_one() == 0


def test_only_the_organizer_fills_a_tournament(store: Store) -> None:
    desk = a_desk(store, starts=False)
    body = {"text": "Ada Quill", "tournamentId": desk.night.tournament_id}
    for who in ("other", "reader", "keeper"):
        status, _, _ = build.do(store, "POST", PATH, body, by=desk.callers[who])
        assert status == 403, who
    status, _, _ = build.do(store, "POST", PATH, {**body, "tournamentId": 10**6}, by=desk.callers["owner"])
    assert status == 404
