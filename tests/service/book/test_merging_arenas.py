"""Merging two entries of a book that are the same machine, and undoing it."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import delete, select, update

import build
from service import stored_nights
from service.desk import Desk, a_desk
from silverball.demo import nights as demo_nights
from silverball.service.journal.reads import verification
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.people import arena_merging
from silverball.store.tournament import snapshot


def merge(store: Store, gone_id: int, kept_id: object, **who: Any) -> tuple[int, Any]:
    body = {"arenaId": kept_id}
    status, got, _ = build.do(store, "POST", f"/api/arenas/{gone_id}/merge", body, **who)
    return status, got


def newest_action(store: Store, **who: Any) -> Any:
    return build.ask(store, "/api/book/actions", **who)[1]["data"][0]


def undo(store: Store, **who: Any) -> tuple[int, Any]:
    """Undo the newest action of the book."""
    action_id = newest_action(store, **who)["bookActionId"]
    status, got, _ = build.do(store, "POST", f"/api/book/actions/{action_id}/undo", **who)
    return status, got


def faults(store: Store, tournament_id: int) -> list[str]:
    with store.read() as db:
        return list(verification.verify_tournament(db, tournament_id).faults)


def draw_faults(store: Store, tournament_id: int) -> list[str]:
    with store.read() as db:
        return list(verification.verify_draws(db, tournament_id).faults)


def places_of(store: Store, arena_id: int) -> set[str]:
    """The columns of all tables of play that contain the arena's id."""
    found = set()
    with store.read() as db:
        for table in tables.metadata.sorted_tables:
            if table.name in ("arena", "book_action"):
                continue
            for row in db.execute(select(table)).mappings():
                found |= {
                    f"{table.name}.{name}" for name, value in row.items() if _names(name, value, arena_id)
                }
    return found


def _names(column: str, value: Any, arena_id: int) -> bool:
    if isinstance(value, int) and not isinstance(value, bool):
        return value == arena_id and "arena" in column
    return str(arena_id) in str(value) if isinstance(value, dict | list) else False


# Ids that nothing else has, so that they are found in any text.
GONE, KEPT = 700_000_001, 800_000_002
NAME, OPDB_ID = next(iter(demo_nights.MACHINES.items()))


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory, empty_sqlite: Path) -> tuple[Path, int]:
    """A finished night of every format on the same machines: its file and its organizer."""
    path = tmp_path_factory.mktemp("season") / "season.db"
    shutil.copy(empty_sqlite, path)
    store = Store(f"sqlite:///{path}")
    stored_nights.skip_disk_sync(store)
    organizer_id = build.a_user(store, name="Olga Ramp", role="organizer")
    build.an_arena(store, organizer_id, name=NAME, opdb_id=OPDB_ID, arena_id=GONE)
    demo_nights.play_nights(store, Settings(base_url=build.BASE_URL), organizer_id, Random(1))
    with store.engine.connect() as db:
        db.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    return path, organizer_id


@pytest.fixture
def played(season: tuple[Path, int], tmp_path: Path) -> Iterator[tuple[Store, int]]:
    path, organizer_id = season
    shutil.copy(path, tmp_path / "season.db")
    opened = Store(f"sqlite:///{tmp_path / 'season.db'}")
    stored_nights.skip_disk_sync(opened)
    yield opened, organizer_id
    opened.close()


def test_a_night_of_every_format_still_matches_its_journal_and_its_draws(played: tuple[Store, int]) -> None:
    store, organizer_id = played
    build.an_arena(store, organizer_id, name="The same", opdb_id=OPDB_ID, arena_id=KEPT)
    with store.read() as db:
        nights = verification.tournament_ids(db)
        before = {tournament_id: str(snapshot.load(db, tournament_id)) for tournament_id in nights}
    faulty = {night: (faults(store, night), draw_faults(store, night)) for night in nights}
    named = places_of(store, GONE)
    assert {"lineup_arena.arena_id", "game.arena_id", "round.arena_id", "arena_summary.arena_id"} <= named
    status, got = merge(store, GONE, KEPT, by=organizer_id)
    assert (status, got["data"]["arenaId"], got["data"]["name"]) == (200, KEPT, "The same")
    # The lines of the journal stay as they were written.
    assert places_of(store, GONE) == {"journal.data"}
    assert places_of(store, KEPT) == named
    with store.read() as db:
        after = {tournament_id: str(snapshot.load(db, tournament_id)) for tournament_id in nights}
    assert after == {night: text.replace(str(GONE), str(KEPT)) for night, text in before.items()}
    assert {night: (faults(store, night), draw_faults(store, night)) for night in nights} == faulty
    assert not any(all_faults for pair in faulty.values() for all_faults in pair)

    assert undo(store, by=organizer_id)[0] == 200
    assert places_of(store, KEPT) == {"journal.data"}
    with store.read() as db:
        assert {night: str(snapshot.load(db, night)) for night in nights} == before
    assert {night: (faults(store, night), draw_faults(store, night)) for night in nights} == faulty


def a_running_desk(store: Store) -> tuple[Desk, int]:
    """Two rounds of a running match play, and another entry of its first machine."""
    desk = a_desk(store, "matchplay", players=4)
    for game in desk.open_round():
        desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})
    desk.open_round()
    return desk, build.an_arena(store, desk.night.organizer_id, name="MÁCHINE  1")


def arenas_of(desk: Desk) -> list[int]:
    """The lineup, and the machines of all games."""
    lineup = desk.ok("GET", "?includeArenas=1")["data"]["arenas"]
    games = desk.ok("GET", "/games")["data"]
    return sorted({each["arenaId"] for each in [*lineup, *games]} - {None})


@pytest.mark.both_databases
def test_a_running_night_continues_with_the_other_entry_and_gets_its_own_back(store: Store) -> None:
    desk, kept_id = a_running_desk(store)
    gone_id, *others = desk.night.arena_ids
    owner = desk.callers["owner"]
    status, _ = merge(store, gone_id, kept_id, by=owner)
    assert (status, arenas_of(desk), faults(store, desk.night.tournament_id)) == (200, [*others, kept_id], [])
    desk.mirror.follow()
    shown = {
        arena["arenaId"]: arena["status"] for arena in build.ask(store, "/api/arenas", by=owner)[1]["data"]
    }
    assert (shown[gone_id], shown[kept_id]) == ("inactive", "active")
    (line,) = desk.ok("GET", "/journal")["data"][0]["changes"]
    assert line == {"change": "ArenasMerged", "text": "Two machines of the book were merged into MÁCHINE  1."}
    for game in desk.ok("GET", "/games?status=started")["data"]:
        desk.ok("PUT", f"/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]})

    status, got = undo(store, by=owner)
    assert (status, got["data"]["kind"], got["data"]["arenaIds"]) == (200, "arenasMerged", [gone_id, kept_id])
    assert got["data"]["undoneAt"] is not None
    desk.mirror.follow()
    assert (arenas_of(desk), faults(store, desk.night.tournament_id)) == ([gone_id, *others], [])
    shown = {
        arena["arenaId"]: arena["status"] for arena in build.ask(store, "/api/arenas", by=owner)[1]["data"]
    }
    assert (shown[gone_id], shown[kept_id]) == ("active", "active")
    (line,) = desk.ok("GET", "/journal")["data"][0]["changes"]
    assert line["text"] == "The merge into another machine of the book was undone: Machine 1."
    # The undo of the night passes over both, down to its first round.
    for _ in range(4):
        desk.undo()
    assert faults(store, desk.night.tournament_id) == []
    assert undo(store, by=owner)[1]["code"] == "book-action-undone"


def test_followers_read_a_running_night_again(store: Store) -> None:
    desk, kept_id = a_running_desk(store)
    columns = select(tables.tournament.c.epoch, tables.tournament.c.revision)
    with store.read() as db:
        before = db.execute(columns).one()
    merge(store, desk.night.arena_ids[0], kept_id, by=desk.callers["owner"])
    with store.read() as db:
        after = db.execute(columns).one()
    assert after.epoch != before.epoch
    assert after.revision > before.revision


@pytest.mark.both_databases
def test_banks_and_names_of_other_services_follow_and_come_back(store: Store) -> None:
    organizer_id = build.a_user(store, role="organizer")
    gone, kept = (build.an_arena(store, organizer_id, opdb_id="GX") for _ in range(2))
    bank = build.row(store, tables.bank, organizer_id=organizer_id)
    build.row(store, tables.bank_arena, bank_id=bank, place=0, arena_id=gone)
    for remote_id, local_id in ((5, gone), (6, kept)):
        build.row(store, tables.remote_id, source="a", kind="arenaId", remote_id=remote_id, local_id=local_id)

    def ids_now() -> tuple[list[int], dict[int, int]]:
        with store.read() as db:
            mapped = select(tables.remote_id.c.remote_id, tables.remote_id.c.local_id)
            return list(db.execute(select(tables.bank_arena.c.arena_id)).scalars()), dict(
                db.execute(mapped).all()
            )

    assert merge(store, gone, kept, by=organizer_id)[0] == 200
    assert ids_now() == ([kept], {5: kept, 6: kept})
    assert undo(store, by=organizer_id)[0] == 200
    assert ids_now() == ([gone], {5: gone, 6: kept})


@pytest.mark.both_databases
def test_single_games_of_a_match_follow(store: Store) -> None:
    desk, kept_id = a_running_desk(store)
    gone_id = desk.night.arena_ids[0]
    legs = [{"finishing_order": desk.night.player_ids[:2], "arena_id": gone_id}]
    with store.write() as transaction:
        transaction.connection.execute(update(tables.game).values(legs=legs))
    merge(store, gone_id, kept_id, by=desk.callers["owner"])
    with store.read() as db:
        stored = db.execute(select(tables.game.c.legs)).scalars().all()
    assert stored == [[{**legs[0], "arena_id": kept_id}]] * len(stored)


def test_a_machine_that_was_not_in_use_stays_so_after_the_undo(store: Store) -> None:
    organizer_id = build.a_user(store, role="organizer")
    gone = build.an_arena(store, organizer_id, status="inactive")
    kept = build.an_arena(store, organizer_id)
    assert merge(store, gone, kept, by=organizer_id)[0] == 200
    assert undo(store, by=organizer_id)[0] == 200
    shown = build.ask(store, "/api/arenas", by=organizer_id)[1]["data"]
    assert [arena["status"] for arena in shown] == ["inactive", "active"]


# --- Refusals ---------------------------------------------------------------------------------------------


def all_rows(store: Store) -> list[Any]:
    with store.read() as db:
        return [
            list(db.execute(select(table)))
            for table in tables.metadata.sorted_tables
            if table.name != "world"
        ]


def refused(store: Store, status: int, gone_id: int, kept_id: object, sentence: str, **who: Any) -> None:
    before = all_rows(store)
    got, body = merge(store, gone_id, kept_id, **who)
    assert (got, sentence in str(body)) == (status, True), body
    assert all_rows(store) == before


def undo_refused(store: Store, code: str, **who: Any) -> None:
    before = all_rows(store)
    status, body = undo(store, **who)
    assert (status, body["code"]) == (409, code)
    assert all_rows(store) == before


def test_machines_of_one_lineup_cannot_be_merged(store: Store) -> None:
    night = build.a_tournament(store)
    first, second = night.arena_ids
    with store.write() as transaction:
        transaction.connection.execute(update(tables.arena).values(name="Godzilla"))
    refused(store, 409, first, second, f"Tournament {night.tournament_id} had both", by=night.organizer_id)


def test_machines_that_were_in_one_lineup_once_cannot_be_merged(store: Store) -> None:
    desk, kept_id = a_running_desk(store)
    assert desk.ok("POST", "/arenas", {"arenaId": kept_id})
    desk.undo()
    refused(store, 409, desk.night.arena_ids[0], kept_id, "had both", by=desk.callers["owner"])
    refused(store, 409, kept_id, desk.night.arena_ids[0], "had both", by=desk.callers["owner"])


def test_machines_that_a_lineup_has_through_a_bank_cannot_be_merged(store: Store) -> None:
    night = build.a_tournament(store, arenas=1)
    same = build.an_arena(store, night.organizer_id, name="Machine 1")
    bank = build.row(store, tables.bank, organizer_id=night.organizer_id)
    build.row(store, tables.bank_arena, bank_id=bank, place=0, arena_id=same)
    build.row(store, tables.lineup_bank, tournament_id=night.tournament_id, bank_id=bank, place=0)
    refused(store, 409, same, night.arena_ids[0], "had both", by=night.organizer_id)


def test_machines_of_one_bank_cannot_be_merged(store: Store) -> None:
    organizer_id = build.a_user(store, role="organizer")
    first, second = (build.an_arena(store, organizer_id) for _ in range(2))
    bank = build.row(store, tables.bank, organizer_id=organizer_id)
    for place, arena_id in enumerate((first, second)):
        build.row(store, tables.bank_arena, bank_id=bank, place=place, arena_id=arena_id)
    refused(store, 409, first, second, f"Bank {bank} has both", by=organizer_id)


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ({"opdb_id": "GA"}, {"opdb_id": "GB"}, "different OPDB ids: GA and GB"),
        ({"opdb_id": "GA"}, {"opdb_id": None}, "different OPDB ids: GA and none"),
        ({"name": "Comet"}, {"name": "Comet II"}, "different names: Comet and Comet II"),
        ({"category_id": 1}, {"category_id": 2}, "different classes: 1 and 2"),
    ],
)
def test_different_machines_cannot_be_merged(
    store: Store, first: dict[str, Any], second: dict[str, Any], words: str
) -> None:
    organizer_id = build.a_user(store, role="organizer")
    gone, kept = (build.an_arena(store, organizer_id, **values) for values in (first, second))
    refused(store, 409, gone, kept, words, by=organizer_id)


def test_only_machines_of_ones_own_book_can_be_merged(store: Store) -> None:
    organizer_id, other_id = (build.a_user(store, role="organizer") for _ in range(2))
    mine, foreign = build.an_arena(store, organizer_id), build.an_arena(store, other_id)
    refused(store, 422, mine, foreign, "belongs to another organizer", by=organizer_id)
    refused(store, 403, foreign, mine, "unauthorized", by=organizer_id)
    refused(store, 404, 999_999, mine, "No query results", by=organizer_id)
    refused(store, 422, mine, 999_999, "There is no arena 999999", by=organizer_id)
    refused(store, 422, mine, mine, "into itself", by=organizer_id)
    for odd in (None, "x", 0, -1, 2**63, [1]):
        refused(store, 422, mine, odd, "arena id", by=organizer_id)


def test_only_the_book_s_owner_undoes(store: Store) -> None:
    organizer_id, other_id = (build.a_user(store, role="organizer") for _ in range(2))
    gone, kept = (build.an_arena(store, organizer_id) for _ in range(2))
    merge(store, gone, kept, by=organizer_id)
    action_id = newest_action(store, by=organizer_id)["bookActionId"]
    before = all_rows(store)
    path = f"/api/book/actions/{action_id}/undo"
    assert build.do(store, "POST", path, by=other_id)[0] == 403
    assert build.do(store, "POST", "/api/book/actions/999999/undo", by=organizer_id)[0] == 404
    assert build.ask(store, "/api/book/actions", by=other_id)[1]["data"] == []
    assert all_rows(store) == before


def test_a_merge_stays_while_a_later_one_stands_on_it(store: Store) -> None:
    organizer_id = build.a_user(store, role="organizer")
    first, second, third = (build.an_arena(store, organizer_id) for _ in range(3))
    merge(store, first, second, by=organizer_id)
    first_id = newest_action(store, by=organizer_id)["bookActionId"]
    merge(store, second, third, by=organizer_id)
    status, got, _ = build.do(store, "POST", f"/api/book/actions/{first_id}/undo", by=organizer_id)
    assert (status, got["code"]) == (409, "later-merge")
    assert undo(store, by=organizer_id)[0] == 200
    assert build.do(store, "POST", f"/api/book/actions/{first_id}/undo", by=organizer_id)[0] == 200


def test_a_merge_stays_when_the_removed_machine_came_back_into_the_lineup(store: Store) -> None:
    desk, kept_id = a_running_desk(store)
    gone_id, owner = desk.night.arena_ids[0], desk.callers["owner"]
    merge(store, gone_id, kept_id, by=owner)
    desk.ok("POST", "/arenas", {"arenaId": gone_id})
    undo_refused(store, "arenas-met-in-tournament", by=owner)
    # The journal knows that both were in it, whatever the lineup says now.
    desk.undo()
    undo_refused(store, "arenas-met-in-tournament", by=owner)
    assert faults(store, desk.night.tournament_id) == []


def test_a_merge_stays_without_one_of_the_machines(store: Store) -> None:
    organizer_id = build.a_user(store, role="organizer")
    gone, kept = (build.an_arena(store, organizer_id) for _ in range(2))
    merge(store, gone, kept, by=organizer_id)
    with store.write() as transaction:
        transaction.connection.execute(delete(tables.arena).where(tables.arena.c.arena_id == gone))
    undo_refused(store, "merged-arena-gone", by=organizer_id)


def test_a_bank_that_another_night_is_played_with_stays(store: Store) -> None:
    night = build.a_tournament(store, arenas=0)
    gone, kept = (build.an_arena(store, night.organizer_id) for _ in range(2))
    bank = build.row(store, tables.bank, organizer_id=night.organizer_id)
    build.row(store, tables.bank_arena, bank_id=bank, place=0, arena_id=gone)
    merge(store, gone, kept, by=night.organizer_id)
    build.row(store, tables.lineup_bank, tournament_id=night.tournament_id, bank_id=bank, place=0)
    undo_refused(store, "bank-played-meanwhile", by=night.organizer_id)


# --- What a line of the journal names ---------------------------------------------------------------------


def test_two_machines_change_places_in_a_line_and_back() -> None:
    line = {
        "thing": {"arena_id": 1, "legs": [{"arena_id": 2}], "player_ids": [1, 2], "game_id": 1},
        "arena": 2,
        "arenas_elsewhere": [2, 3],
        "arena_limits": {"1": 2, "3": 1},
        "series_plays": {"1": {"1": 4, "2": 5}},
    }
    expected = {
        "thing": {"arena_id": 2, "legs": [{"arena_id": 1}], "player_ids": [1, 2], "game_id": 1},
        "arena": 1,
        "arenas_elsewhere": [1, 3],
        "arena_limits": {"2": 2, "3": 1},
        "series_plays": {"1": {"2": 4, "1": 5}},
    }
    assert arena_merging.swap_ids(line, 1, 2)
    assert line == expected
    assert arena_merging.swap_ids(line, 2, 1)
    assert line["series_plays"] == {"1": {"1": 4, "2": 5}}
    assert not arena_merging.swap_ids({"player_id": 1, "arena_id": None}, 1, 2)
