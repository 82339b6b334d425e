"""The imports of machine data, and `silverball export nightly`, on real databases."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import build
from exchange import opdb_files as files
from silverball.cli.main import silverball_group
from silverball.store.database.engine import Store

TIP = files.a_tip()
FILM = {"opdbId": "G4ODR", "title": "How to nudge", "url": "https://films.example/1"}


@pytest.fixture
def run(store: Store) -> CliRunner:
    url = store.url.render_as_string(hide_password=False)
    return CliRunner(env={"SILVERBALL_DATABASE_URL": url})


def run_command(run: CliRunner, *words: object) -> Result:
    return run.invoke(silverball_group, [str(word) for word in words])


def a_file(folder: Path, name: str, raw: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps(raw))
    return path


def a_move(old: str, new: str | None) -> dict[str, Any]:
    return {
        "changelogId": 1,
        "action": "move" if new else "delete",
        "opdbIdDeleted": old,
        "opdbIdReplacement": new,
        "createdAt": files.MOMENT,
    }


def test_the_counts_of_a_file_are_printed(run: CliRunner, tmp_path: Path) -> None:
    machines = a_file(tmp_path, "opdb.json", files.export_file())
    done = run_command(run, "import", "opdb", machines)
    assert (done.exit_code, done.stdout) == (0, f"{machines}: 6 entries, 6 new, 0 changed, 0 removed\n")
    assert run_command(run, "import", "opdb", machines).stdout.endswith(
        "6 entries, 0 new, 0 changed, 0 removed\n"
    )
    tips = a_file(tmp_path, "tips.json", [TIP])
    films = a_file(tmp_path, "films.json", [FILM, {**FILM, "opdbId": "G1"}])
    assert run_command(run, "import", "pintips", tips).stdout == f"{tips}: 1 tip, 0 before\n"
    assert run_command(run, "import", "videos", films).stdout == f"{films}: 2 videos\n"


def test_the_effects_of_a_list_of_changes_are_printed(run: CliRunner, store: Store, tmp_path: Path) -> None:
    run_command(run, "import", "opdb", a_file(tmp_path, "opdb.json", files.export_file()))
    organizer = build.a_user(store)
    build.an_arena(store, organizer, opdb_id="Gold-M1")
    build.an_arena(store, organizer, opdb_id="Gold-M1")
    changes = a_file(tmp_path, "changes.json", {"data": [a_move("Gold-M1", "G4ODR-MLzY7")]})
    done = run_command(run, "import", "opdb-changelog", changes)
    assert done.stdout == (
        f"{changes}: 1 change, 1 new\n  1 id followed, 2 arenas changed:\n    Gold-M1 -> G4ODR-MLzY7\n"
    )
    build.an_arena(store, organizer, opdb_id="Glost-M1")
    lost = a_file(tmp_path, "lost.json", {"data": [a_move("Glost-M1", "Gnowhere")]})
    done = run_command(run, "import", "opdb-changelog", lost)
    assert (done.exit_code, done.stderr) == (
        0,
        "  Glost-M1 was replaced by an unknown entry and is kept.\n",
    )
    gone = a_file(tmp_path, "gone.json", {"data": [a_move("G4ODR-MLzY7", None)]})
    assert "    G4ODR-MLzY7 -> deleted\n" in run_command(run, "import", "opdb-changelog", gone).stdout


@pytest.mark.parametrize("command", ["opdb", "opdb-changelog", "pintips", "videos"])
def test_a_broken_file_is_reported_with_its_name_and_the_place_of_its_fault(
    run: CliRunner, tmp_path: Path, command: str
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"entries": [')
    done = run_command(run, "import", command, broken)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Error: {broken}: $: The file is not JSON in UTF-8")
    done = run_command(run, "import", command, tmp_path / "nothing.json")
    assert done.stderr.endswith("nothing.json: The file cannot be read: No such file or directory.\n")
    assert run_command(run, "import", command, tmp_path).stderr.endswith(
        "The file cannot be read: Is a directory.\n"
    )


def test_a_file_that_would_remove_most_data_needs_force(run: CliRunner, tmp_path: Path) -> None:
    run_command(run, "import", "opdb", a_file(tmp_path, "opdb.json", files.export_file()))
    short = a_file(tmp_path, "short.json", files.export_file()[:1])
    done = run_command(run, "import", "opdb", short)
    assert done.exit_code == 1
    assert done.stderr == (
        f"Error: {short}: The file has 2 entries and 6 are stored: fewer than 80 %. "
        "Nothing was changed. If that is intended, import it with --force.\n"
    )
    forced = run_command(run, "import", "opdb", "--force", short)
    assert forced.stdout.endswith("2 entries, 0 new, 0 changed, 4 removed\n")


def test_the_bulk_files_are_written_and_read_again(run: CliRunner, tmp_path: Path) -> None:
    run_command(run, "import", "opdb", a_file(tmp_path, "opdb.json", files.export_file()))
    run_command(run, "import", "pintips", a_file(tmp_path, "tips.json", [TIP]))
    folder = tmp_path / "exports"
    done = run_command(run, "export", "nightly", folder)
    machines, tips = folder / "latest-opdb.json", folder / "latest-pintips.json"
    assert done.exit_code == 0
    *listed, all_tables, manifest = done.stdout.splitlines()
    assert listed == [
        f"{machines}: 6 rows, {machines.stat().st_size} bytes",
        f"{tips}: 1 row, {tips.stat().st_size} bytes",
        # No ratings exist.
        f"{folder / 'latest-ratings.csv'}: nothing to write yet",
        f"{folder / 'latest-rating-revisions.csv'}: nothing to write yet",
    ]
    assert all_tables.startswith(f"{folder}: tables of all: 0 rows, ")
    assert manifest == f"{folder / 'tables.manifest.json'}: the list of these files"
    assert json.loads(tips.read_bytes()) == [TIP]
    assert run_command(run, "import", "opdb", machines).stdout.endswith(
        "6 entries, 0 new, 0 changed, 0 removed\n"
    )
    assert run_command(run, "import", "pintips", tips).stdout == f"{tips}: 1 tip, 1 before\n"


def test_an_unwritable_folder_is_reported(run: CliRunner, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run_command(run, "export", "nightly", tmp_path / "file" / "exports")
    assert (done.exit_code, "cannot be written: Not a directory." in done.stderr) == (1, True)
