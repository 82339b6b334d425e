"""One map of ids for all files of a source: the same player stays the same, whatever their id is here."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

import build
from exchange import bundles
from silverball.exchange.bundle import id_map
from silverball.kit.errors import Conflict
from silverball.service.accounts.writes import accounts
from silverball.service.journal.reads import verification
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import imports

CLUB = "https://pinball.club.example"


def count(store: Store, table: Any) -> int:
    with store.read() as db:
        return int(db.execute(select(func.count()).select_from(table)).scalar_one())


def people(paths: tuple[Path, ...]) -> set[int]:
    """The players in these files."""
    nights = [bundles.read_bundle(path) for path in paths]
    return {player["playerId"] for night in nights for player in night["tournament"]["players"]}


def player_names(store: Store, tournament_id: int) -> dict[int, str]:
    exported = bundles.export_bundle(store, tournament_id)
    return {player["playerId"]: player["name"] for player in exported["tournament"]["players"]}


@pytest.fixture
def elsewhere(tmp_path: Path, empty_sqlite: Path) -> Iterator[Store]:
    """The database of another club."""
    path = tmp_path / "elsewhere.db"
    path.write_bytes(empty_sqlite.read_bytes())
    opened = Store(f"sqlite:///{path}")
    with opened.write() as transaction:
        name = tables.site_value.c.name
        transaction.connection.execute(
            tables.site_value.update().where(name == imports.SITE).values(value="another-club")
        )
    yield opened
    opened.close()


def test_the_same_person_in_several_renumbered_files_is_one_player(store: Store) -> None:
    build.a_tournament(store, players=3)
    before = count(store, tables.player)
    done = [bundles.import_bundle(store, path, source=CLUB, new_ids=True) for path in bundles.NIGHTS]
    assert {imported.outcome for imported in done} == {"new"}
    assert count(store, tables.player) - before == len(people(bundles.NIGHTS))
    assert count(store, tables.tournament) == len(bundles.NIGHTS) + 1
    for path, imported in zip(bundles.NIGHTS, done, strict=True):
        listed = bundles.read_bundle(path)["tournament"]["players"]
        names = player_names(store, imported.tournament_id)
        for player in listed:
            assert names[imported.ids["playerId"][player["playerId"]]], player
        with store.read() as db:
            assert verification.verify_tournament(db, imported.tournament_id).faults == []


@pytest.mark.both_databases
def test_a_later_import_goes_on_with_the_map_and_an_unchanged_file_changes_nothing(store: Store) -> None:
    first = bundles.import_bundle(store, bundles.NIGHTS[0], source=CLUB, new_ids=True)
    second = bundles.import_bundle(store, bundles.NIGHTS[1], source=CLUB, new_ids=True)
    both = set(first.ids["playerId"]) & set(second.ids["playerId"])
    assert both
    assert {first.ids["playerId"][id_] for id_ in both} == {second.ids["playerId"][id_] for id_ in both}
    again = bundles.import_bundle(store, bundles.NIGHTS[0], source=CLUB, new_ids=True)
    assert (again.outcome, again.tournament_id, again.ids) == ("unchanged", first.tournament_id, first.ids)


@pytest.mark.both_databases
def test_a_changed_file_replaces_the_tournament_that_its_map_names(store: Store) -> None:
    night = bundles.full_bundle()
    build.a_tournament(store, tournament_id=700)
    first = bundles.import_bundle(store, night, source=CLUB)
    removed = night["games"].pop()
    assert bundles.import_bundle(store, night, source=CLUB).outcome == "replaced"
    night["games"].append(removed)
    back = bundles.import_bundle(store, night, source=CLUB)
    assert (back.outcome, back.tournament_id) == ("replaced", first.tournament_id)
    assert first.tournament_id != 700


@pytest.mark.both_databases
def test_of_another_silverball_free_ids_are_kept_and_taken_ones_are_mapped(
    store: Store, elsewhere: Store
) -> None:
    admin_id = build.a_user(store, user_id=501, name="The admin of this club", role="admin")
    build.row(store, tables.player, player_id=901, organizer_id=admin_id, name="Somebody here")
    bundles.import_bundle(elsewhere, bundles.full_bundle())
    exported = bundles.export_bundle(elsewhere, 700)
    assert exported["source"] == "another-club"
    imported = bundles.import_bundle(store, exported, source=exported["source"])
    assert imported.outcome == "new"
    assert imported.tournament_id == 700
    assert imported.ids["userId"][501] > 503
    assert imported.ids["playerId"] == {901: 904, 902: 902, 903: 903}
    with store.read() as db:
        columns = select(tables.user.c.user_id, tables.user.c.name)
        names = {user.user_id: user.name for user in db.execute(columns)}
    assert names[501] == "The admin of this club"
    assert names[imported.ids["userId"][501]] == "Olga Ramp"
    assert bundles.import_bundle(store, exported, source=exported["source"]).outcome == "unchanged"


def test_two_sources_never_share_a_player(store: Store) -> None:
    one_club = bundles.import_bundle(store, bundles.NIGHTS[0], source="a", new_ids=True)
    other_club = bundles.import_bundle(store, bundles.NIGHTS[0], source="b", new_ids=True)
    assert set(one_club.ids["playerId"].values()).isdisjoint(other_club.ids["playerId"].values())


def test_the_source_of_a_file_is_what_it_says_and_our_own_files_keep_their_ids(
    store: Store, elsewhere: Store
) -> None:
    night = bundles.full_bundle()
    sources = []
    bundles.import_bundle(store, night)
    bundles.import_bundle(elsewhere, night)
    for content in (night, bundles.export_bundle(store, 700), bundles.export_bundle(elsewhere, 700)):
        parsed = bundles.parse_bundle(content)
        with store.read() as db:
            sources.append([id_map.source_of(db, parsed.bundle, new_ids=new) for new in (False, True)])
            own = imports.site_name(db)
    assert sources == [[None, "files"], [None, own], ["another-club", "another-club"]]


def test_the_owner_of_the_first_file_gets_the_later_ones_too(store: Store) -> None:
    owner_id = build.a_user(store, name="Demo", role="organizer")
    bundles.import_bundle(store, bundles.NIGHTS[0], source=CLUB, new_ids=True, owner_id=owner_id)
    later = bundles.import_bundle(store, bundles.NIGHTS[1], source=CLUB, new_ids=True)
    exported = bundles.export_bundle(store, later.tournament_id)["tournament"]
    assert exported["organizerId"] == owner_id
    assert {player["organizerId"] for player in exported["players"]} == {owner_id}


def test_a_mapped_tournament_that_was_changed_here_is_not_overwritten(store: Store) -> None:
    night = bundles.full_bundle()
    done = bundles.import_bundle(store, night, source=CLUB, new_ids=True)
    with store.write() as transaction:
        line = {"tournament_id": done.tournament_id, "action_id": 2, "change": "GameCompleted", "data": {}}
        transaction.connection.execute(tables.journal.insert().values(**line, source="api", at=bundles.NOW))
    with pytest.raises(Conflict, match=r"has changed since its import. To have both, .*--source NAME"):
        bundles.import_bundle(store, night, source=CLUB, new_ids=True)
    assert bundles.import_bundle(store, night, source="again", new_ids=True).outcome == "new"


def test_ids_that_scripts_cannot_hold_are_not_kept(store: Store) -> None:
    night = json.loads(json.dumps(bundles.full_bundle()).replace("901", f"{2**63 - 1}"))
    done = bundles.import_bundle(store, night, source=CLUB)
    assert done.ids["playerId"] == {902: 902, 903: 903, 2**63 - 1: 904}


def test_a_merged_player_stays_merged_in_later_files(store: Store) -> None:
    done = bundles.import_bundle(store, bundles.NIGHTS[0], source=CLUB, new_ids=True)
    organizer_id = bundles.export_bundle(store, done.tournament_id)["tournament"]["organizerId"]
    shared_id = min(people(bundles.NIGHTS[:1]) & people(bundles.NIGHTS[1:2]))
    remaining_id = build.a_player(store, organizer_id, name="The same person")
    path = f"/api/players/{done.ids['playerId'][shared_id]}/merge"
    status, _, _ = build.do(store, "POST", path, {"playerId": remaining_id}, by=organizer_id)
    assert status == 200
    later = bundles.import_bundle(store, bundles.NIGHTS[1], source=CLUB, new_ids=True)
    assert later.ids["playerId"][shared_id] == remaining_id
    assert remaining_id in player_names(store, later.tournament_id)


def test_a_merged_machine_stays_merged_in_later_files(store: Store) -> None:
    done = bundles.import_bundle(store, bundles.NIGHTS[0], source=CLUB, new_ids=True)
    night = bundles.export_bundle(store, done.tournament_id)["tournament"]
    gone = night["arenas"][0]
    remote_id = next(remote for remote, local in done.ids["arenaId"].items() if local == gone["arenaId"])
    same = {"name": gone["name"], "opdb_id": gone["opdbId"], "category_id": gone["categoryId"]}
    kept_id = build.an_arena(store, night["organizerId"], **same)
    path, by = f"/api/arenas/{gone['arenaId']}/merge", night["organizerId"]
    assert build.do(store, "POST", path, {"arenaId": kept_id}, by=by)[0] == 200
    again = bundles.import_bundle(store, bundles.NIGHTS[0], source=CLUB, new_ids=True)
    assert again.ids["arenaId"][remote_id] == kept_id
    arenas = bundles.export_bundle(store, again.tournament_id)["tournament"]["arenas"]
    assert kept_id in [arena["arenaId"] for arena in arenas]
    with store.read() as db:
        assert verification.verify_tournament(db, again.tournament_id).faults == []


def test_who_was_erased_is_a_new_player_in_later_files(store: Store) -> None:
    done = bundles.import_bundle(store, bundles.full_bundle(), source=CLUB, new_ids=True)
    player_id, user_id = done.ids["playerId"][901], done.ids["userId"][502]
    with store.write() as transaction:
        accounts.erase_account(transaction, user_id)
    with store.read() as db:
        known = imports.known_ids(db, CLUB, {"playerId": [901, 902], "userId": [502]})
    assert known == {"playerId": {902: done.ids["playerId"][902]}, "userId": {}}
    assert player_names(store, done.tournament_id)[player_id] == f"Player {player_id}"
