"""The undo of a list that only filled the book: what it brought goes, where it is unused and unchanged."""

from typing import Any

import pytest
from sqlalchemy import select, update

import build
from service.desk import a_desk
from silverball.service.accounts.writes import accounts
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.people import book_actions


def imported(store: Store, kind: str, body: dict[str, Any], **who: Any) -> Any:
    """Read a list and store its rows; returns the answer."""
    path = f"/api/{kind}/import"
    _, answer, _ = build.do(store, "POST", path, body, **who)
    look = answer["data"]
    names = ("line", "name", "ifpaId", "seed") if kind == "players" else ("line", "name", "opdbId")
    rows = [{name: row[name] for name in names} for row in look["rows"]]
    sent = {**body, "rows": rows, "plan": look["plan"]}
    del sent["text"]
    status, answer, _ = build.do(store, "POST", path, sent, **who)
    assert status == 200, answer
    return answer["data"]


def undo(store: Store, action_id: int, **who: Any) -> tuple[int, Any]:
    status, answer, _ = build.do(store, "POST", f"/api/book/actions/{action_id}/undo", **who)
    return status, answer.get("data", answer)


def numbers_by_name(store: Store) -> dict[str, int | None]:
    with store.read() as db:
        return dict(db.execute(select(tables.player.c.name, tables.player.c.ifpa_id)).all())


def set_player(store: Store, player_id: int, **values: Any) -> None:
    with store.write() as transaction:
        own = update(tables.player).where(tables.player.c.player_id == player_id)
        transaction.connection.execute(own.values(**values))


@pytest.mark.both_databases
def test_players_and_numbers_of_a_list_are_taken_back(store: Store) -> None:
    organizer = build.a_user(store, role="organizer")
    ada = build.a_player(store, organizer, name="Ada Quill")
    text = "Name\tIFPA\nAda Quill\t345\nCleo Marsh\t12\nDi Vole\t"
    stored = imported(store, "players", {"text": text}, by=organizer)
    assert numbers_by_name(store) == {"Ada Quill": 345, "Cleo Marsh": 12, "Di Vole": None}
    (action,) = build.ask(store, "/api/book/actions", by=organizer)[1]["data"]
    new_ids = [row["playerId"] for row in stored["rows"][1:]]
    assert (action["kind"], action["bookActionId"]) == ("playersImported", stored["bookActionId"])
    assert (action["playerIds"], action["numberedPlayerIds"], action["undoneAt"]) == (new_ids, [ada], None)
    status, undone = undo(store, stored["bookActionId"], by=organizer)
    assert (status, undone["kept"], undone["undoneAt"] is None) == (200, [], False)
    assert numbers_by_name(store) == {"Ada Quill": None}
    assert undo(store, stored["bookActionId"], by=organizer)[1]["code"] == "book-action-undone"


@pytest.mark.both_databases
def test_rows_that_are_used_or_changed_stay_and_the_answer_says_why(store: Store) -> None:
    night = build.a_tournament(store, players=1, arenas=0)
    organizer = night.organizer_id
    known = build.a_player(store, organizer, name="Ada Quill")
    text = "Name\tIFPA\nAda Quill\t345\nBo Larkin\t\nCleo Marsh\t\nDi Vole\t\nEd Fern\t\nFlo Reed\t"
    stored = imported(store, "players", {"text": text}, by=organizer)
    _, bo, cleo, di, ed, flo = [row["playerId"] for row in stored["rows"]]
    build.row(store, tables.entrant, tournament_id=night.tournament_id, player_id=bo, place=9)
    build.do(store, "PATCH", f"/api/players/{cleo}", {"labels": ["left"]}, by=organizer)
    build.row(store, tables.claim, player_id=di, user_id=build.a_user(store), at=build.NOW)
    assert build.do(store, "DELETE", f"/api/players/{ed}", by=organizer)[0] == 200
    set_player(store, known, ifpa_id=346)
    status, undone = undo(store, stored["bookActionId"], by=organizer)
    assert status == 200
    assert [(kept["playerId"], kept["arenaId"], kept["reason"]) for kept in undone["kept"]] == [
        (bo, None, "It is used by now: in a tournament or a bank, or by an account."),
        (cleo, None, "It was changed since."),
        (di, None, "It is used by now: in a tournament or a bank, or by an account."),
        (known, None, "The federation number is another one by now."),
    ]
    with store.read() as db:
        left = set(db.execute(select(tables.player.c.player_id)).scalars())
    assert left == {*night.player_ids, known, bo, cleo, di}
    assert flo not in left
    assert build.ask(store, "/api/book/actions", by=organizer)[1]["data"][0]["kept"] == undone["kept"]


@pytest.mark.both_databases
def test_machines_of_a_list_are_taken_back_but_for_those_in_use(store: Store) -> None:
    night = build.a_tournament(store, arenas=1)
    organizer = night.organizer_id
    text = "Machine\nMachine 1\nComet\nDrain\nGarden\nOrbit"
    stored = imported(store, "arenas", {"text": text}, by=organizer)
    assert stored["newArenas"] == 4
    _, comet, drain, garden, orbit = [row["arenaId"] for row in stored["rows"]]
    build.row(store, tables.lineup_arena, tournament_id=night.tournament_id, arena_id=comet, place=9)
    bank = build.row(store, tables.bank, organizer_id=organizer)
    build.row(store, tables.bank_arena, bank_id=bank, place=0, arena_id=drain)
    build.do(store, "PATCH", f"/api/arenas/{garden}", {"status": "inactive"}, by=organizer)
    status, undone = undo(store, stored["bookActionId"], by=organizer)
    assert (status, undone["kind"]) == (200, "arenasImported")
    assert [kept["arenaId"] for kept in undone["kept"]] == [comet, drain, garden]
    with store.read() as db:
        left = set(db.execute(select(tables.arena.c.arena_id)).scalars())
    assert left == {*night.arena_ids, comet, drain, garden}
    assert orbit not in left


def test_a_list_for_a_tournament_is_undone_in_its_journal_alone(store: Store) -> None:
    desk = a_desk(store, starts=False)
    by, where = desk.callers["owner"], {"tournamentId": desk.night.tournament_id}
    stored = imported(store, "players", {"text": "Name;Number\nAda Quill;7001", **where}, by=by)
    assert stored["bookActionId"] is None
    assert build.ask(store, "/api/book/actions", by=by)[1]["data"] == []


def test_a_list_that_brings_nothing_is_no_action(store: Store) -> None:
    organizer = build.a_user(store, role="organizer")
    build.a_player(store, organizer, name="Ada Quill", ifpa_id=345)
    stored = imported(store, "players", {"text": "Name\tIFPA\nAda Quill\t345"}, by=organizer)
    assert stored["bookActionId"] is None
    assert build.ask(store, "/api/book/actions", by=organizer)[1]["data"] == []


def test_nobody_else_undoes_a_list(store: Store) -> None:
    organizer, other = (build.a_user(store, role="organizer") for _ in range(2))
    stored = imported(store, "players", {"text": "Name\tIFPA\nAda Quill\t345"}, by=organizer)
    assert undo(store, stored["bookActionId"], by=other)[0] == 403
    assert numbers_by_name(store) == {"Ada Quill": 345}


def test_an_erased_person_is_not_in_what_a_list_brought(store: Store) -> None:
    organizer, person = build.a_user(store, role="organizer"), build.a_user(store, name="Ada Quill")
    stored = imported(store, "players", {"text": "Name\tIFPA\nAda Quill\t345\nBo Larkin\t"}, by=organizer)
    ada, bo = [row["playerId"] for row in stored["rows"]]
    set_player(store, ada, claimed_by=person)
    with store.write() as transaction:
        accounts.erase_account(transaction, person)
    with store.read() as db:
        data = book_actions.find(db, stored["bookActionId"]).data
    assert [each["player_id"] for each in data["players"]] == [bo]
    assert "Quill" not in str(data)
    assert "345" not in str(data["numbers"])


def test_the_newest_fifty_actions_are_kept(store: Store) -> None:
    organizer, other = (build.a_user(store, role="organizer") for _ in range(2))
    with store.write() as transaction:
        ids = [
            book_actions.record(
                transaction.connection, user_id, book_actions.ARENAS_IMPORTED, {"arenas": []}, build.NOW
            )
            for user_id in [other, *[organizer] * 52]
        ]
    with store.read() as db:
        kept = [action.book_action_id for action in book_actions.newest(db, organizer, most=99)]
        assert kept == ids[:2:-1]
        assert len(book_actions.newest(db, other)) == 1
