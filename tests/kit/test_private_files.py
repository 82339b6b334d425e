"""Files that only the server's account may read."""

import stat
from pathlib import Path

import pytest

from silverball.kit import files
from silverball.store.database.engine import Store


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_private_from_its_first_moment(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    files.create_or_tighten(path)
    assert (mode(path), path.read_bytes()) == (0o600, b"")


@pytest.mark.parametrize(("before", "after"), [(0o644, 0o600), (0o660, 0o600), (0o400, 0o400)])
def test_an_existing_file_is_taken_away_from_others(tmp_path: Path, before: int, after: int) -> None:
    path = tmp_path / "secret"
    path.write_text("kept")
    path.chmod(before)
    files.create_or_tighten(path)
    assert mode(path) == after
    assert path.read_text() == "kept"


def test_a_folder_that_is_missing_is_left_to_whoever_opens_the_file(tmp_path: Path) -> None:
    files.create_or_tighten(tmp_path / "missing" / "secret")
    assert not (tmp_path / "missing").exists()


def test_the_files_of_a_database_are_private(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    path.touch(0o644)
    path.chmod(0o644)
    store = Store(f"sqlite:///{path}")
    with store.migration() as db:
        db.exec_driver_sql("CREATE TABLE x (y)")
    assert {found.name: mode(found) for found in tmp_path.iterdir()} == dict.fromkeys(
        ("old.db", "old.db-shm", "old.db-wal"), 0o600
    )
    store.close()
