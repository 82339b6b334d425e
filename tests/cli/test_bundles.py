"""`silverball import bundle` and `silverball export bundle` on real databases."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import func, select

import build
from exchange import bundles
from silverball.cli.main import silverball_group
from silverball.store import tables
from silverball.store.database.engine import Store


@pytest.fixture
def run(database_url: str) -> CliRunner:
    return CliRunner(env={"SILVERBALL_DATABASE_URL": database_url})


def run_command(run: CliRunner, *words: object) -> Result:
    return run.invoke(silverball_group, [str(word) for word in words])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "thursday.json"
    path.write_text(json.dumps(bundles.full_bundle()))
    return path


def test_a_file_is_imported_once_and_then_exists_already(run: CliRunner, file: Path) -> None:
    first = run_command(run, "import", "bundle", file)
    assert (first.exit_code, first.stdout) == (0, f"{file}: tournament 700 'Thursday Strikes' imported\n")
    assert "exists already" in run_command(run, "import", "bundle", file).stdout
    assert first.stderr == ""


def test_a_broken_file_is_reported_with_its_place_and_the_others_are_imported(
    run: CliRunner, file: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.json"
    raw = bundles.real_night("00")
    del raw["games"][3]["playerIds"]
    broken.write_text(json.dumps(raw))
    nothing = tmp_path / "nothing.json"
    done = run_command(run, "import", "bundle", broken, nothing, tmp_path, file)
    assert done.exit_code == 1
    assert f"{broken}: $.games[3]: Object missing required field `playerIds`." in done.stderr
    assert f"{nothing}: The file cannot be read: No such file or directory." in done.stderr
    assert f"{tmp_path}: The file cannot be read: Is a directory." in done.stderr
    assert done.stdout == f"{file}: tournament 700 'Thursday Strikes' imported\n"


def test_a_number_that_the_book_has_already_is_listed(store: Store, run: CliRunner, file: Path) -> None:
    owner = build.a_user(store, role="organizer")
    raw = json.loads(file.read_text())
    number = raw["tournament"]["players"][0]["ifpaId"] = 12345
    file.write_text(json.dumps(raw))
    build.a_player(store, owner, name="Ada Twice", ifpa_id=number)
    done = run_command(run, "import", "bundle", "--owner", owner, "--renumber", file)
    assert done.exit_code == 0, done.stderr
    assert "have one federation number: merge them in the book if they are one person." in done.stdout
    with store.read() as db:
        held = select(func.count()).select_from(tables.player).where(tables.player.c.ifpa_id == number)
        assert db.execute(held).scalar_one() == 2


def test_progress_is_printed_for_many_files(run: CliRunner) -> None:
    files = bundles.NIGHTS[:5]
    done = run_command(run, "import", "bundle", *files)
    assert done.exit_code == 0
    assert [line.split(" ")[0] for line in done.stderr.splitlines()] == [f"[{n}/5]" for n in range(1, 6)]


def test_new_ids_are_printed(run: CliRunner, file: Path) -> None:
    run_command(run, "import", "bundle", file)
    done = run_command(run, "import", "bundle", "--renumber", file)
    assert done.exit_code == 0
    assert "  tournamentId 700 -> 701\n" in done.stdout
    assert "  playerId 901 -> 904\n" in done.stdout


@pytest.mark.both_databases
def test_many_renumbered_files_have_each_person_once_and_a_second_run_changes_nothing(run: CliRunner) -> None:
    files = bundles.NIGHTS[:4]
    command = ("import", "bundle", "--renumber", *files)
    done = run_command(run, *command)
    assert done.exit_code == 0
    people = {
        player["playerId"] for file in files for player in bundles.read_bundle(file)["tournament"]["players"]
    }
    assert len({line for line in done.stdout.splitlines() if line.startswith("  playerId ")}) == len(people)
    again = run_command(run, *command).stdout.splitlines()
    assert [line.endswith("exists already") for line in again] == [True] * 4


def test_a_source_that_is_named_replaces_what_the_file_says(run: CliRunner, file: Path) -> None:
    command = ("import", "bundle", "--renumber", file)
    assert "exists already" in (run_command(run, *command), run_command(run, *command))[1].stdout
    assert "tournamentId 700 -> 2\n" in run_command(run, *command, "--source", " club ").stdout
    refused = run_command(run, *command, "--source", "a\nb")
    assert (refused.exit_code, "'a\\nb' is not a name of 1 to 200 characters." in refused.stderr) == (2, True)


def test_an_owner_who_does_not_exist_is_refused(run: CliRunner, file: Path) -> None:
    done = run_command(run, "import", "bundle", "--owner", 12, file)
    assert (done.exit_code, done.stderr) == (1, "Error: There is no user 12.\n")


def test_the_owner_is_set(run: CliRunner, file: Path) -> None:
    words = ("user", "create", "--name", "Ada", "--email", "ada@silverball.test", "--role", "organizer")
    owner_id = json.loads(run_command(run, *words, "--json").stdout)["userId"]
    assert run_command(run, "import", "bundle", "--owner", owner_id, file).exit_code == 0
    exported = json.loads(run_command(run, "export", "bundle", 700).stdout)
    assert exported["tournament"]["organizer"]["name"] == "Ada"


def test_a_bundle_goes_to_a_file_or_to_standard_output(run: CliRunner, file: Path, tmp_path: Path) -> None:
    run_command(run, "import", "bundle", file)
    out = tmp_path / "out.json"
    assert run_command(run, "export", "bundle", 700, "-o", out).exit_code == 0
    assert out.read_bytes() == run_command(run, "export", "bundle", 700).stdout_bytes
    assert bundles.find_losses(bundles.full_bundle(), json.loads(out.read_bytes())) == []
    assert "exists already" not in run_command(run, "import", "bundle", out).stdout


def test_a_failed_export_is_reported_in_a_sentence(run: CliRunner, file: Path, tmp_path: Path) -> None:
    done = run_command(run, "export", "bundle", 5)
    assert (done.exit_code, done.stderr) == (1, "Error: There is no tournament 5.\n")
    run_command(run, "import", "bundle", file)
    done = run_command(run, "export", "bundle", 700, "-o", tmp_path / "no" / "out.json")
    assert (done.exit_code, "cannot be written" in done.stderr) == (1, True)


def test_a_journal_is_written_on_request_and_its_leaving_behind_is_said(run: CliRunner, file: Path) -> None:
    run_command(run, "import", "bundle", file)
    assert "journal" not in json.loads(run_command(run, "export", "bundle", 700).stdout)
    with_journal = run_command(run, "export", "bundle", 700, "--with-journal").stdout
    assert [line["change"] for line in json.loads(with_journal)["journal"]] == ["TournamentImported"]
    file.write_text(with_journal)
    done = run_command(run, "import", "bundle", "--renumber", file)
    assert "  without its journal, which belongs to the ids and the organizer in the file\n" in done.stdout
