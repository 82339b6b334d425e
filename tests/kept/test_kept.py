"""Data that version 0.2.0 wrote: it opens, answers to the byte as it did, verifies, and comes in again."""

import json
import lzma
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

import build
from conftest import PostgreSQL
from house.schema_changes import schema_details
from kept import opening
from silverball.cli.main import silverball_group
from silverball.exchange.bundle import file as bundle_file
from silverball.service.journal.reads import verification
from silverball.store.database import migrate
from silverball.store.database.engine import Store
from silverball.store.people import unfinished_changes

# Of the answers on PostgreSQL: each statement is asked often enough on SQLite.
POSTGRESQL_SHARE = 7


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return opening.unpack(tmp_path_factory.mktemp("kept"))


@pytest.fixture
def store(unpacked: Path) -> Iterator[Store]:
    with opening.open_sqlite(unpacked) as opened:
        migrate.migrate(opened)
        yield opened


@pytest.fixture
def loaded_dump(postgresql: PostgreSQL, unpacked: Path) -> Iterator[Store]:
    url = opening.load_dump(postgresql, unpacked)
    opened = Store(url)
    migrate.migrate(opened)
    yield opened
    opened.close()
    postgresql.drop(url)


def kept_answers(who: str) -> dict[str, str]:
    answers: dict[str, str] = json.loads(lzma.decompress(opening.ANSWERS.read_bytes()))[who]
    return answers


def heads(unpacked: Path) -> dict[int, str]:
    return {int(number): head for number, head in json.loads((unpacked / opening.HEADS).read_text()).items()}


def assert_journals_proven(store: Store, heads: dict[int, str]) -> None:
    for tournament_id in opening.tournament_ids(store):
        with store.read() as db:
            report = verification.verify_tournament(db, tournament_id, heads[tournament_id])
        assert report.faults == [], tournament_id
        assert report.proven_action_id is not None


@pytest.mark.parametrize("file", opening.documents())
def test_the_documents_of_the_interface_are_as_kept(file: Path) -> None:
    assert opening.documents()[file].decode() == lzma.decompress(file.read_bytes()).decode()


@pytest.mark.parametrize("who", opening.CALLERS)
def test_every_read_answers_to_the_byte_as_kept(store: Store, who: str) -> None:
    kept, asked = kept_answers(who), dict(opening.answers(store, who))
    assert {path: body for path, body in asked.items() if kept.get(path) != body} == {}
    assert asked.keys() == kept.keys()


def test_the_dump_of_postgresql_answers_as_the_file_does(loaded_dump: Store) -> None:
    kept = kept_answers("owner")
    asked = dict(opening.answers(loaded_dump, "owner", POSTGRESQL_SHARE))
    assert {path: body for path, body in asked.items() if kept.get(path) != body} == {}


def test_a_new_database_has_the_tables_of_one_that_came_through_all_steps(
    store: Store, tmp_path: Path
) -> None:
    assert_same_schema(store, f"sqlite:///{tmp_path / 'new.db'}")


def test_a_new_database_of_postgresql_has_them_too(loaded_dump: Store, postgresql: PostgreSQL) -> None:
    assert_same_schema(loaded_dump, postgresql.empty_database())


def assert_same_schema(kept: Store, url: str) -> None:
    # A new database is made contracted.
    migrate.contract(kept)
    new = Store(url)
    migrate.migrate(new)
    with kept.read() as db, new.read() as there:
        assert schema_details(there) == schema_details(db)
    new.close()


def test_the_contraction_changes_no_answer(store: Store) -> None:
    migrate.contract(store)
    kept, asked = kept_answers("owner"), dict(opening.answers(store, "owner", POSTGRESQL_SHARE))
    assert {path: body for path, body in asked.items() if kept.get(path) != body} == {}
    with store.read() as db:
        assert db.exec_driver_sql("PRAGMA foreign_key_check").all() == []


def test_kept_heads_prove_every_journal(store: Store, unpacked: Path) -> None:
    assert_journals_proven(store, heads(unpacked))


def test_migrate_ends_what_had_begun_to_be_erased_or_hidden(store: Store, unpacked: Path) -> None:
    with store.read() as db:
        assert unfinished_changes.unfinished_changes(db) != []
    runner = CliRunner(env={"SILVERBALL_DATABASE_URL": str(store.url)})
    result = runner.invoke(silverball_group, ["migrate"])
    assert result.exit_code == 0, result.output
    with store.read() as db:
        assert unfinished_changes.unfinished_changes(db) == []
    assert_journals_proven(store, heads(unpacked))
    for _, body in opening.answers(store, "stranger"):
        assert opening.ERASED not in body
        assert "Erased Town" not in body
        assert "Hidden Town" not in body


def bundle_files(folder: Path, ending: str) -> list[Path]:
    files = sorted((folder / opening.BUNDLES).glob("*.json"))
    return [file for file in files if file.name.endswith(".journal.json") == (ending == ".journal.json")]


@pytest.mark.parametrize("ending", [".json", ".journal.json"])
def test_kept_bundles_come_in_rank_the_same_and_go_out_equal(
    unpacked: Path, store: Store, tmp_path: Path, empty_sqlite: Path, ending: str
) -> None:
    target = Store(f"sqlite:///{shutil.copy(empty_sqlite, tmp_path / 'target.db')}")
    kept = kept_answers("owner")
    owner_id = opening.user_named(store, "Olga Ramp")
    for file in bundle_files(unpacked, ending):
        with target.write() as transaction:
            imported = bundle_file.import_bundle(
                transaction, bundle_file.read(file), source="import", now=build.NOW, dice=Random(1)
            )
        tournament_id = imported.tournament_id
        path = f"/api/tournaments/{tournament_id}/standings"
        status, standings = build.ask(target, path, by=build.caller(owner_id, role="organizer"))
        assert (status, ranked(standings)) == (200, ranked(json.loads(kept[path].partition(" ")[2])))
        with target.read() as db:
            assert verification.verify_tournament(db, tournament_id).faults == []
            exported = bundle_file.export_bundle(db, tournament_id, with_journal=ending == ".journal.json")
        assert carried(exported, file) == carried(file.read_bytes(), file)
    target.close()


def ranked(standings: Any) -> list[tuple[Any, ...]]:
    return [(row["playerId"], row["position"], row["points"]) for row in standings]


def carried(bundle: bytes, file: Path) -> dict[str, Any]:
    """All of a bundle but what is about the export; a head is the same only where its journal comes along."""
    about_export = {"exportedAt", "source"} | ({"journalHead"} if ".journal" not in file.name else set())
    return {name: value for name, value in json.loads(bundle).items() if name not in about_export}


def test_the_sealed_backup_opens(unpacked: Path, tmp_path: Path) -> None:
    passphrase, target = tmp_path / "passphrase", tmp_path / "restored.db"
    passphrase.write_text(opening.PASSPHRASE)
    words = ["restore", str(unpacked / opening.SEALED), "--passphrase-file", str(passphrase)]
    runner = CliRunner(env={"SILVERBALL_DATABASE_URL": f"sqlite:///{target}"})
    result = runner.invoke(silverball_group, words)
    assert result.exit_code == 0, result.output
    restored = Store(f"sqlite:///{target}")
    assert opening.tournament_ids(restored) == [1]
    restored.close()
