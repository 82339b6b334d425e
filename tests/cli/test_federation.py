"""`silverball import federation` on real databases."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from silverball.cli import import_
from silverball.cli.main import silverball_group
from silverball.service.outlook.reads import estimates
from silverball.store.database.engine import Store


@pytest.fixture
def run(database_url: str) -> CliRunner:
    return CliRunner(env={"SILVERBALL_DATABASE_URL": database_url})


def import_file(run: CliRunner, file: Path) -> Result:
    return run.invoke(silverball_group, ["import", "federation", str(file)])


def a_file(folder: Path, *records: dict[str, Any]) -> Path:
    path = folder / "players.json"
    path.write_text(json.dumps(records))
    return path


def people(*ifpa_ids: int) -> list[dict[str, Any]]:
    return [{"ifpaId": ifpa_id, "name": f"Player {ifpa_id}", "rank": ifpa_id} for ifpa_id in ifpa_ids]


def count(database_url: str) -> int:
    store = Store(database_url)
    with store.read() as db:
        found = estimates.record_count(db)
    store.close()
    return found


def test_a_file_is_imported_and_replaces_stored_records(
    run: CliRunner, tmp_path: Path, database_url: str
) -> None:
    file = a_file(tmp_path, *people(1, 2, 3))
    done = import_file(run, file)
    assert (done.exit_code, done.stdout) == (0, f"{file}: 3 records, 3 of them new\n")
    assert done.stderr == ""
    file = a_file(tmp_path, *people(3, 4))
    assert import_file(run, file).stdout == f"{file}: 2 records, 1 of them new\n"
    assert count(database_url) == 4


def test_nothing_of_a_broken_file_is_stored_and_every_fault_is_reported(
    run: CliRunner, tmp_path: Path, database_url: str
) -> None:
    wrong: list[dict[str, Any]] = [
        {"ifpaId": 3, "name": "Player 3", "rank": "first"},
        {"name": "Player 4"},
        {"ifpaId": 1, "name": "Again"},
    ]
    file = a_file(tmp_path, *people(1, 2), *wrong)
    done = import_file(run, file)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        f"{file}: record 3, rank: The rank field must be an integer.",
        f"{file}: record 4, ifpaId: The ifpa id field is required.",
        f"{file}: record 5, ifpaId: 1 is in record 1 already.",
        "Error: Nothing was stored.",
    ]
    assert count(database_url) == 0


def test_a_missing_file_is_reported_in_a_sentence(run: CliRunner, tmp_path: Path) -> None:
    done = import_file(run, tmp_path / "no.csv")
    assert (done.exit_code, "no.csv cannot be read: No such file or directory." in done.stderr) == (1, True)
    assert "Is a directory" in import_file(run, tmp_path).stderr


def test_many_records_are_stored_together_or_not_at_all(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("silverball.exchange.federation.STORED_AT_ONCE", 3)
    file = a_file(tmp_path, *people(*range(1, 11)))
    steps: list[str] = []

    def watch(items: Any, what: str) -> Any:
        for item in items:
            steps.append(what)
            yield item

    import_.import_records(store, file, watch=watch)
    assert steps == ["Reading"] * 10 + ["Storing"] * 4

    def power_cut(items: Any, what: str) -> Any:
        for n, item in enumerate(items):
            if what == "Storing" and n == 2:
                raise OSError("the lights went out")
            yield item

    with pytest.raises(OSError, match="lights"):
        import_.import_records(store, a_file(tmp_path, *people(*range(20, 30))), watch=power_cut)
    with store.read() as db:
        assert estimates.record_count(db) == 10
