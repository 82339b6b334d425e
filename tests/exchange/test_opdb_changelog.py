"""References to a machine follow it when its id changes, in one transaction. Source: ratings C.3."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import select

import build
from exchange import opdb_files as files
from silverball.exchange import machine_files, opdb
from silverball.exchange.bundle.checks import BrokenFile
from silverball.service.machines import reads
from silverball.service.machines.writes import MachineMoves
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.revisions import revisions

AT = "2018-10-19T15:06:20.000000Z"


def a_move(number: int, old: str, new: str | None) -> dict[str, Any]:
    """A line of the list; without a new id the machine was deleted."""
    return {
        "changelog_id": number,
        "opdb_id_deleted": old,
        "action": "delete" if new is None else "move",
        "opdb_id_replacement": new,
        "created_at": AT,
        "updated_at": AT,
    }


def import_lines(store: Store, *lines: dict[str, Any]) -> MachineMoves:
    with store.write() as transaction:
        return opdb.import_changes(transaction, opdb.parse_changelog(list(lines)))[1]


def machines(store: Store, *opdb_ids: str) -> MachineMoves:
    raw = {"entries": [{"opdbId": opdb_id, "name": opdb_id} for opdb_id in opdb_ids]}
    with store.write() as transaction:
        return opdb.import_machines(transaction, opdb.parse_machines(raw), is_forced=True)[1]


def arena_ids(store: Store) -> list[str | None]:
    with store.read() as db:
        return list(db.execute(select(tables.arena.c.opdb_id).order_by(tables.arena.c.arena_id)).scalars())


def revision(store: Store, tournament_id: int) -> int:
    with store.read() as db:
        found = revisions.current_revision(db, tournament_id)
    return 0 if found is None else found.number


@dataclass(frozen=True)
class MachineWorld:
    """A completed night on two machines, another night without them, a tip and a video."""

    store: Store
    night: build.Night
    other: build.Night
    # The arena whose machine moves.
    arena_id: int


@pytest.fixture
def world(store: Store) -> MachineWorld:
    night = build.a_tournament(store, status="completed", arenas=0)
    other = build.a_tournament(store, organizer_id=night.organizer_id)
    moved = build.an_arena(store, night.organizer_id, name="Old Friend", opdb_id="GrdNZ-MQo1e")
    unmoved = build.an_arena(store, night.organizer_id, name="New Friend", opdb_id="GrdNZ-Mqo1e")
    tournament = {"tournament_id": night.tournament_id}
    for place, arena_id in enumerate((moved, unmoved)):
        build.row(store, tables.lineup_arena, **tournament, arena_id=arena_id, place=place)
    counts = {"games": 1, "opdb_id": "GrdNZ-MQo1e", "arena_id": moved}
    first, second = night.player_ids[:2]
    build.row(store, tables.arena_summary, **tournament, **counts, single_player_games=0)
    won = {**counts, "wins": 1, "losses": 0, "player_id": first}
    build.row(store, tables.player_arena_summary, **tournament, **won, single_player_games=0)
    build.row(store, tables.match_summary, **tournament, **won, opponent_id=second)
    film = {"opdbId": "GrdNZ-MQo1e", "title": "How to nudge", "url": "https://films.example/1"}
    with store.write() as transaction:
        machine_files.import_tips(
            transaction, machine_files.parse_pintips([files.a_tip(opdb_id="GrdNZ", text="Nudge.")])
        )
        machine_files.import_videos(transaction, machine_files.parse_videos([film]))
    return MachineWorld(store, night, other, moved)


@pytest.mark.both_databases
def test_arenas_summaries_and_videos_follow_and_their_tournaments_get_a_new_revision(
    world: MachineWorld,
) -> None:
    store, night, other = world.store, world.night, world.other
    running = build.a_tournament(store, organizer_id=night.organizer_id, arenas=0)
    lineup = {"tournament_id": running.tournament_id, "arena_id": world.arena_id}
    build.row(store, tables.lineup_arena, **lineup)
    before = [revision(store, each.tournament_id) for each in (night, other)]
    done = import_lines(store, a_move(1, "GrdNZ-MQo1e", "GRveZ-MNE38"))
    assert done == MachineMoves(1, {"GrdNZ-MQo1e": "GRveZ-MNE38"})
    # The other arena's id differs by case only.
    assert arena_ids(store)[-2:] == ["GRveZ-MNE38", "GrdNZ-Mqo1e"]
    path = f"/api/tournaments/{night.tournament_id}/summary"
    for name in ("arenas", "player-arenas", "matches"):
        (row,) = build.ask(store, f"{path}/{name}", by=1)[1]["data"]
        assert (row["opdbId"], row["opdbGroup"]) == ("GRveZ-MNE38", "GRveZ")
    with store.read() as db:
        assert db.execute(select(tables.machine_video.c.opdb_id)).scalar_one() == "GRveZ-MNE38"
    after = [revision(store, each.tournament_id) for each in (night, other)]
    assert (after[0] > before[0], after[1]) == (True, before[1])
    with store.read() as db:
        rows = select(tables.announcement.c.tournament_id, tables.announcement.c.name)
        assert [tuple(row) for row in db.execute(rows)] == [(running.tournament_id, "ArenasChanged")]


def all_rows(store: Store) -> list[list[tuple[Any, ...]]]:
    """Every row that a change of ids can affect."""
    kinds = (tables.arena, tables.arena_summary, tables.player_arena_summary, tables.match_summary)
    more = (tables.tip, tables.machine_video, tables.machine_change, tables.announcement, tables.tournament)
    with store.read() as db:
        return [[tuple(row) for row in db.execute(select(table))] for table in (*kinds, *more)]


@pytest.mark.both_databases
def test_all_references_follow_or_none(world: MachineWorld) -> None:
    store, before = world.store, all_rows(world.store)
    lines = [a_move(1, "GrdNZ-MQo1e", "GRveZ-MNE38"), a_move(2, "GrdNZ", "GRveZ")]

    class PowerCut(Exception):
        pass

    with pytest.raises(PowerCut), store.write() as transaction:
        assert opdb.import_changes(transaction, opdb.parse_changelog(lines))[1].arenas == 1
        raise PowerCut
    assert all_rows(store) == before
    assert import_lines(store, *lines).arenas == 1
    assert all(was != now for was, now in zip(before[:7], all_rows(store)[:7], strict=True))


def test_tips_follow_their_title(world: MachineWorld) -> None:
    import_lines(world.store, a_move(1, "GrdNZ", "GRveZ"))
    answer = build.ask(world.store, "/api/pintips?opdbId=GRveZ-MNE38", by=1)[1]
    assert [tip["text"] for tip in answer["pintips"]] == ["Nudge."]


def test_an_id_that_moved_more_than_once_leads_to_its_last_one(world: MachineWorld) -> None:
    machines(world.store, "GC-M3")
    done = import_lines(world.store, a_move(1, "GrdNZ-MQo1e", "GB-M2"), a_move(2, "GB-M2", "GC-M3"))
    assert done.moved == {"GrdNZ-MQo1e": "GC-M3"}
    assert arena_ids(world.store)[-2] == "GC-M3"
    # Again: nothing is left to do, and no revision is raised.
    before = revision(world.store, world.night.tournament_id)
    assert import_lines(world.store, a_move(1, "GrdNZ-MQo1e", "GB-M2")) == MachineMoves()
    assert revision(world.store, world.night.tournament_id) == before


@pytest.mark.both_databases
def test_many_ids_follow_at_once(store: Store) -> None:
    organizer = build.a_user(store)
    for opdb_id in ("GA", "GB", "GC", "Ga", None):
        build.an_arena(store, organizer, opdb_id=opdb_id)
    done = import_lines(store, a_move(1, "GA", "GX"), a_move(2, "GB", None), a_move(3, "GC", "GA"))
    assert (done.arenas, done.moved) == (3, {"GA": "GX", "GB": None, "GC": "GX"})
    assert arena_ids(store) == ["GX", None, "GX", "Ga", None]


def test_ids_in_a_circle_stay(world: MachineWorld) -> None:
    machines(world.store, "GrdNZ-MQo1e", "GB-M2")
    import_lines(world.store, a_move(1, "GrdNZ-MQo1e", "GB-M2"), a_move(2, "GB-M2", "GrdNZ-MQo1e"))
    assert arena_ids(world.store)[-2] == "GrdNZ-MQo1e"


@pytest.mark.both_databases
def test_a_deleted_machine_leaves_the_arena_its_name(world: MachineWorld) -> None:
    done = import_lines(world.store, a_move(1, "GrdNZ-MQo1e", "GB-M2"), a_move(2, "GB-M2", None))
    assert done.moved == {"GrdNZ-MQo1e": None}
    with world.store.read() as db:
        row = select(tables.arena).where(tables.arena.c.name == "Old Friend")
        assert db.execute(row).one().opdb_id is None
    path = f"/api/tournaments/{world.night.tournament_id}/summary/arenas"
    (row,) = build.ask(world.store, path, by=1)[1]["data"]
    assert (row["opdbId"], row["opdbGroup"]) == (None, None)


def test_an_id_without_a_known_successor_is_kept_and_reported_until_the_entry_comes(
    world: MachineWorld,
) -> None:
    machines(world.store, "GX-M1")
    done = import_lines(world.store, a_move(1, "GrdNZ-MQo1e", "GB-M2"))
    assert (done.moved, done.lost) == ({}, ("GrdNZ-MQo1e",))
    assert arena_ids(world.store)[-2] == "GrdNZ-MQo1e"
    assert machines(world.store, "GX-M1", "GB-M2").moved == {"GrdNZ-MQo1e": "GB-M2"}
    assert arena_ids(world.store)[-2] == "GB-M2"


@pytest.mark.both_databases
def test_summaries_from_before_the_change_of_an_arena_follow_too(world: MachineWorld) -> None:
    night = world.night
    with world.store.write() as transaction:
        transaction.connection.execute(tables.arena.update().values(opdb_id="Gother-M1"))
        transaction.connection.execute(tables.lineup_arena.delete())
    before = revision(world.store, night.tournament_id)
    assert import_lines(world.store, a_move(1, "GrdNZ-MQo1e", "GB-M2")).arenas == 0
    path = f"/api/tournaments/{night.tournament_id}/summary/arenas"
    assert build.ask(world.store, path, by=1)[1]["data"][0]["opdbId"] == "GB-M2"
    assert revision(world.store, night.tournament_id) > before


@pytest.mark.both_databases
def test_a_repeated_line_replaces_the_old_one(store: Store) -> None:
    import_lines(store, a_move(1, "GA", "GB"), a_move(2, "GC", None))
    import_lines(store, a_move(2, "GC", "GD"))
    changes = build.ask(store, "/api/opdb/changelog", by=1)[1]["data"]
    assert [(change["changelogId"], change["opdbIdReplacement"]) for change in changes] == [
        (1, "GB"),
        (2, "GD"),
    ]


def test_the_published_list_can_be_imported_too(store: Store) -> None:
    import_lines(store, a_move(1, "GrdNZ-MQo1e", "GRveZ-MNE38"), a_move(2, "GC", None))
    page = build.ask(store, "/api/opdb/changelog", by=1)[1]
    assert page["data"][0] == {
        "changelogId": 1,
        "action": "move",
        "opdbIdDeleted": "GrdNZ-MQo1e",
        "opdbIdReplacement": "GRveZ-MNE38",
        "createdAt": AT,
    }
    with store.read() as db:
        assert tuple(opdb.parse_changelog(page)) == reads.changelog(db)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"action": "rename"}, "$[1].action: Invalid enum value 'rename'."),
        ({"action": "delete"}, "$[1]: A line with the action 'delete' names none."),
        ({"opdb_id_replacement": None}, "$[1]: A line with the action 'move' names its replacement."),
        ({"opdb_id_deleted": "4ODR"}, "$[1]: '4ODR' is not an id of the machine database."),
        ({"opdb_id_replacement": "Hclub"}, "$[1]: 'Hclub' is not an id of the machine database."),
        ({"created_at": "yesterday"}, "$[1]: 'yesterday' is not a date and time."),
        ({"created_at": "0001-01-01"}, "$[1]: '0001-01-01' is before 1990."),
        ({"changelog_id": 1}, "$[1]: 1 is in the file twice, first at $[0]."),
        ({"changelog_id": 0}, "$[1].changelog_id: Expected `int` >= 1."),
    ],
)
def test_a_fault_is_reported_with_its_row_and_nothing_is_stored(
    store: Store, changed: dict[str, Any], sentence: str
) -> None:
    lines = [a_move(1, "GA", "GB"), a_move(2, "GB", "GC") | changed]
    with pytest.raises(BrokenFile) as refused:
        import_lines(store, *machine_files.decode(json.dumps(lines).encode()))
    assert sentence in refused.value.message
    assert build.ask(store, "/api/opdb/changelog", by=1)[1] == {"data": []}


@pytest.mark.parametrize("raw", [{"entries": []}, [{"opdb_id": "GA"}], 7, None, {"data": {}}])
def test_a_file_that_is_not_a_list_of_changes_is_refused(raw: Any) -> None:
    with pytest.raises(BrokenFile, match="This is not a list of changed ids"):
        opdb.parse_changelog(raw)
