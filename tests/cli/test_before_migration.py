"""Before a migration changes tables, the database is copied, once; without room nothing is changed."""

import os
import sqlite3
import time
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conftest import PostgreSQL
from kept import opening
from silverball.cli.main import silverball_group
from silverball.store.database import backups, migrate
from silverball.store.database.backups import AGE_DAYS_MAX

OLDER = migrate.BASELINE
PASSPHRASE = "seven brass bumpers"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A database of version 0.2.0."""
    return opening.unpack(tmp_path) / opening.DATABASE


def run(file: Path, *words: str, **given: str) -> Result:
    environment = {"SILVERBALL_DATABASE_URL": f"sqlite:///{file}", **given}
    return CliRunner(env=environment).invoke(silverball_group, list(words))


def schema(file: Path) -> str:
    with closing(sqlite3.connect(file)) as db:
        return str(db.execute("SELECT version_num FROM alembic_version").fetchone()[0])


def kept_name(ending: str = "tar") -> str:
    return f"before-{migrate.newest_schema()}.{ending}"


def test_the_first_command_of_a_new_version_keeps_a_copy_that_can_be_restored(file: Path) -> None:
    done = run(file, "migrate", SILVERBALL_BACKUP_PASSPHRASE=PASSPHRASE)
    assert done.exit_code == 0, done.output
    kept = file.parent / "backups" / kept_name("tar.age")
    assert f"the database is copied to {kept}" in done.stderr
    assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert schema(file) == migrate.newest_schema() != OLDER
    made_at = kept.stat().st_mtime_ns
    again = run(file, "migrate", SILVERBALL_BACKUP_PASSPHRASE=PASSPHRASE)
    assert (again.exit_code, kept.stat().st_mtime_ns) == (0, made_at)
    with closing(sqlite3.connect(file)) as db:
        before = db.execute("SELECT count(*) FROM user").fetchone()
        db.execute("CREATE TABLE lost (it TEXT)")
    restored = run(file, "restore", str(kept), SILVERBALL_BACKUP_PASSPHRASE=PASSPHRASE)
    assert restored.exit_code == 0, restored.output
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("SELECT count(*) FROM user").fetchone() == before
        assert db.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'lost'").fetchone() == (0,)


def test_a_new_site_needs_no_copy(tmp_path: Path) -> None:
    assert run(tmp_path / "new.db", "migrate").exit_code == 0
    assert not (tmp_path / "backups").exists()


@pytest.mark.parametrize("fault", ["no folder", "short passphrase", "no room"])
def test_where_no_copy_can_be_made_nothing_is_changed(
    file: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"SILVERBALL_BACKUP_PASSPHRASE": PASSPHRASE}
    if fault == "no folder":
        given["SILVERBALL_BACKUP_FOLDER"] = str(file / "below")
    elif fault == "short passphrase":
        given["SILVERBALL_BACKUP_PASSPHRASE"] = "short"
    else:
        monkeypatch.setattr(backups, "FREE_BYTES_KEPT", 10**18)
    words = {"no folder": "cannot be made", "short passphrase": "12 characters", "no room": "MB are free"}
    done = run(file, "migrate", **given)
    assert done.exit_code == 1
    assert words[fault] in done.stderr
    assert "Nothing was changed. Without a backup: silverball migrate --no-backup" in done.stderr
    assert schema(file) == OLDER
    assert list(file.parent.glob("backups/*")) == []
    assert run(file, "migrate", "--no-backup", **given).exit_code == 0
    assert schema(file) == migrate.newest_schema()


def test_a_copy_is_gone_when_people_who_were_deleted_must_be(file: Path) -> None:
    run(file, "migrate")
    folder = file.parent / "backups"
    kept, other = folder / kept_name(), folder / "before-the-cup.tar"
    other.touch()
    old = time.time() - timedelta(days=AGE_DAYS_MAX).total_seconds() - 60
    for path in (kept, other):
        os.utime(path, (old, old))
    done = run(file, "backup")
    assert done.exit_code == 0, done.output
    assert f"Removed {kept}." in done.stderr
    assert (kept.exists(), other.exists()) == (False, True)


def test_a_postgresql_is_dumped_before_it_is_migrated(postgresql: PostgreSQL, tmp_path: Path) -> None:
    url = opening.load_dump(postgresql, opening.unpack(tmp_path))
    given = {"SILVERBALL_DATABASE_URL": url, "SILVERBALL_BACKUP_FOLDER": str(tmp_path / "backups")}
    done = CliRunner(env=given).invoke(silverball_group, ["migrate"])
    assert done.exit_code == 0, done.output
    (kept,) = (tmp_path / "backups").iterdir()
    assert kept.name == kept_name()
    empty = {**given, "SILVERBALL_DATABASE_URL": postgresql.empty_database()}
    restored = CliRunner(env=empty).invoke(silverball_group, ["restore", str(kept)])
    assert restored.exit_code == 0, restored.output
