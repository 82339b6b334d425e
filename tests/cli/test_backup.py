"""`silverball backup` and `silverball restore`. Source: issue 14, item 8, and reliability 3, T19."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select

import build
from cli.test_serve import serving
from conftest import PostgreSQL
from rules.night import a_night
from service import stored_nights
from silverball.cli.main import silverball_group
from silverball.kit.security import sealed_files
from silverball.kit.security.encryption import KeyFile
from silverball.service.accounts import erasing
from silverball.service.accounts.writes import accounts
from silverball.store import tables
from silverball.store.database import backups
from silverball.store.database.engine import Store
from silverball.store.people import encryption, erased_accounts
from silverball.store.revisions import stamps

PASSPHRASE = "seven brass bumpers"
NAME = "Canary Quill"
KILLS = 4
KEPT = Path(__file__).parents[1] / "kept"


@dataclass
class Site:
    """The SQLite database of a site, and a folder for its backups."""

    file: Path
    backups: Path

    @property
    def url(self) -> str:
        return f"sqlite:///{self.file}"

    def run(self, *words: object, **settings: str) -> Result:
        environment = {"SILVERBALL_DATABASE_URL": self.url, **settings}
        return CliRunner(env=environment).invoke(silverball_group, [str(word) for word in words])

    def back_up(self, *words: object) -> Path:
        """Back up into the folder, and return the new file."""
        before = set(self.backups.iterdir())
        if before:
            # Names have seconds.
            time.sleep(1)
        done = self.run("backup", self.backups, *words)
        assert (done.exit_code, done.exception) == (0, None), done.output
        (new,) = {file for file in self.backups.iterdir() if backups.NAME.fullmatch(file.name)} - before
        return new

    @contextmanager
    def opened(self) -> Iterator[Store]:
        store = Store(self.url)
        yield store
        store.close()

    def count_users(self) -> int:
        with closing(sqlite3.connect(self.file)) as db:
            return int(db.execute("SELECT count(*) FROM user").fetchone()[0])


@pytest.fixture
def site(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    # A real guess costs half a second.
    monkeypatch.setattr(sealed_files.SealingWriter.__init__, "__kwdefaults__", {"cost": 10})
    folder = tmp_path / "backups"
    folder.mkdir()
    made = Site(Path(sqlite_url.removeprefix("sqlite:///")), folder)
    made.file.chmod(0o600)
    with made.opened() as store:
        build.a_user(store, name=NAME, email="canary@silverball.test")
    return made


def mode_of(file: Path) -> int:
    return file.stat().st_mode & 0o777


def refused(done: Result, *words: str) -> None:
    assert done.exit_code == 1, done.output
    assert len(done.stderr.splitlines()) == 1
    for word in words:
        assert word in done.stderr


# Backups


def test_a_backup_has_the_name_of_its_moment_and_is_for_its_owner_alone(site: Site, tmp_path: Path) -> None:
    file = site.back_up()
    assert file.name.endswith("Z.tar")
    assert mode_of(file) == 0o600
    assert list(site.backups.iterdir()) == [file]
    with tarfile.open(file) as archive:
        assert archive.getnames() == ["database.db"]
        archive.extractall(tmp_path, filter="data")
    with closing(sqlite3.connect(tmp_path / "database.db")) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert db.execute("SELECT name FROM user").fetchone() == (NAME,)


def test_a_named_file_is_never_overwritten(site: Site, tmp_path: Path) -> None:
    file = tmp_path / "copy.db"
    assert site.run("backup", file).exit_code == 0
    content = file.read_bytes()
    refused(site.run("backup", file), f"There is a file at {file} already.")
    refused(site.run("backup", tmp_path / "none" / "copy.db"), "There is no folder at")
    assert file.read_bytes() == content


def test_only_the_newest_of_its_own_backups_are_kept(site: Site) -> None:
    moments = [datetime.now(UTC) - timedelta(days=days) for days in (1, 2, 3)]
    older = [site.backups / backups.backup_name(at, "db") for at in moments]
    others = [site.backups / name for name in ("silverball-before-the-cup.db", "notes.txt")]
    for file in (*older, *others):
        file.touch()
    new = site.back_up("--keep", 2)
    assert set(site.backups.iterdir()) == {new, older[0], *others}


def test_backups_that_outlive_erasures_are_warned_of_and_removed_on_request(site: Site) -> None:
    old = site.backups / backups.backup_name(datetime.now(UTC) - timedelta(days=36), "db")
    old.touch()
    warned = site.run("backup", site.backups)
    assert "1 backups" in warned.stderr
    assert "older than 35 days" in warned.stderr
    assert old.exists()
    time.sleep(1)
    assert site.run("backup", site.backups, "--max-age", "35").exit_code == 0
    assert not old.exists()


def test_a_damaged_database_gives_no_backup_and_removes_none(site: Site) -> None:
    old = site.back_up()
    with closing(sqlite3.connect(site.file)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("PRAGMA journal_mode=DELETE")
    content = bytearray(site.file.read_bytes())
    content[4096 * 3 : 4096 * 30] = b"\xff" * (4096 * 27)
    site.file.write_bytes(content)
    time.sleep(1)
    refused(site.run("backup", site.backups, "--keep", "1"))
    assert list(site.backups.iterdir()) == [old]


def test_a_backup_whose_results_differ_is_kept_and_reported(site: Site) -> None:
    with site.opened() as store:
        night = stored_nights.a_stored_night(store, a_night("knockout", players=4))
        night.start()
    with closing(sqlite3.connect(site.file)) as db:
        db.execute("UPDATE entrant SET seed = seed + 5")
        db.commit()
    done = site.run("backup", site.backups)
    refused(done, "The backup is complete, but 1 tournaments in it differ")
    assert len(list(site.backups.iterdir())) == 1
    time.sleep(1)
    assert site.run("backup", site.backups, "--no-verify").exit_code == 0


def test_what_a_killed_backup_has_left_is_deleted_after_a_day(site: Site) -> None:
    left = [site.backups / ".silverball-x.db.0a1b2c3d.part", site.file.parent / ".site.db.0a1b2c3d.part-wal"]
    fresh, other = site.backups / ".silverball-y.db.0a1b2c3d.part", site.backups / ".notes.0a1b2c3d.part"
    for file in (*left, fresh, other):
        file.touch()
    day_ago = time.time() - 25 * 3600
    for file in (*left, other):
        os.utime(file, (day_ago, day_ago))
    new = site.back_up()
    assert set(site.backups.iterdir()) == {new, fresh, other}
    assert not left[1].exists()


# Encryption


def a_passphrase_file(site: Site, text: str = PASSPHRASE) -> Path:
    file = site.file.parent / "passphrase"
    file.write_text(f"{text}\n")
    return file


def test_an_encrypted_backup_reveals_nothing_and_is_restored_with_its_passphrase(site: Site) -> None:
    words = ("--passphrase-file", a_passphrase_file(site))
    file = site.back_up(*words)
    assert (file.name.endswith("Z.tar.age"), mode_of(file)) == (True, 0o600)
    assert NAME.encode() not in file.read_bytes()
    refused(site.run("restore", file), "give --passphrase-file")
    other = ("--passphrase-file", a_passphrase_file(site, "seven brass bumpers."))
    refused(site.run("restore", file, *other), "the passphrase is wrong, or the file was changed or cut off")
    a_passphrase_file(site)
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    refused(site.run("restore", file, *words), "cut off")
    file.write_bytes(whole)
    assert site.run("restore", file, *words, "--check").exit_code == 0
    done = site.run("restore", file, *words)
    assert done.exit_code == 0, done.output
    assert site.count_users() == 1


def test_a_passphrase_that_is_soon_guessed_is_refused(site: Site) -> None:
    refused(site.run("backup", site.backups, "--passphrase-file", a_passphrase_file(site, "short")), "12")
    assert list(site.backups.iterdir()) == []


@pytest.mark.parametrize("is_encrypted", [False, True])
def test_the_key_for_secrets_is_in_the_backup_unless_it_is_kept_elsewhere(
    site: Site, *, is_encrypted: bool
) -> None:
    words = ("--passphrase-file", a_passphrase_file(site)) if is_encrypted else ()
    key_file = KeyFile(Path(f"{site.file}.secret"))
    key = key_file.make()
    apart = site.back_up("--without-secret", *words)
    file = site.back_up(*words)
    assert key_file.path is not None
    key_file.path.unlink()
    assert site.run("restore", apart, *words).exit_code == 0
    assert not key_file.path.exists()
    assert site.run("restore", file, *words).exit_code == 0
    assert key_file.keys() == (key,)
    assert mode_of(key_file.path) == 0o600
    key_file.path.unlink()
    other = key_file.make()
    assert site.run("restore", file, *words).exit_code == 0
    assert key_file.keys() == (other,)
    assert KeyFile(Path(f"{site.file}.secret.from-backup")).keys() == (key,)


def test_a_backup_that_version_0_2_0_sealed_is_restored(site: Site) -> None:
    file = site.backups / "silverball-20261128T145845Z.tar.sealed"
    shutil.copy(KEPT / "sealed-0.2.0.tar.sealed", file)
    refused(site.run("restore", file), "give --passphrase-file")
    words = ("--passphrase-file", a_passphrase_file(site))
    assert site.run("restore", file, *words).exit_code == 0
    with site.opened() as store, store.read() as db:
        assert "canary@silverball.test" in db.execute(select(tables.user.c.email)).scalars()
    assert len(KeyFile(Path(f"{site.file}.secret")).keys()) == 1
    # One of its kind is counted and removed like the others.
    site.back_up("--keep", 1)
    assert not file.exists()


@pytest.mark.skipif(shutil.which("age") is None, reason="age is not installed here")
def test_age_encrypts_for_a_recipient(site: Site, tmp_path: Path) -> None:
    identity = tmp_path / "identity"
    assert os.system(f"age-keygen -o {identity} 2>/dev/null") == 0
    recipient = identity.read_text().split("public key: ")[1].split()[0]
    file = site.back_up("--recipient", recipient)
    assert file.name.endswith("Z.tar.age")
    refused(site.run("restore", file), "give --identity")
    assert site.run("restore", file, "--identity", identity).exit_code == 0
    # A folder of its own: backups of one second would have one name.
    refused(site.run("backup", tmp_path / "others", "--recipient", "nonsense"), "age failed")


@pytest.mark.skipif(shutil.which("age") is not None, reason="age is installed here")
def test_without_age_a_recipient_is_refused(site: Site) -> None:
    refused(site.run("backup", site.backups, "--recipient", "age1x"), "age is not installed here")
    assert list(site.backups.iterdir()) == []


# Restores


def test_a_restore_refuses_while_a_server_runs(site: Site) -> None:
    file = site.back_up()
    with serving(site.url):
        refused(site.run("restore", file), "Stop it first")
        assert site.run("restore", file, "--check").exit_code == 0
    assert site.run("restore", file).exit_code == 0
    assert [path.name for path in site.file.parent.glob(".*")] == []


def test_a_restore_keeps_the_database_before_and_its_mode_and_begins_a_new_generation(site: Site) -> None:
    file = site.back_up()
    with site.opened() as store:
        build.a_user(store, name="Later")
        with store.read() as db:
            before = stamps.current_generation(db)
    assert site.run("restore", file).exit_code == 0
    assert (site.count_users(), mode_of(site.file)) == (1, 0o600)
    with site.opened() as store, store.read() as db:
        assert stamps.current_generation(db) != before
    (kept,) = site.file.parent.glob("site.db.before-*")
    assert (Site(kept, site.backups).count_users(), mode_of(kept)) == (2, 0o600)
    time.sleep(1)
    assert site.run("restore", file, "--discard").exit_code == 0
    assert list(site.file.parent.glob("site.db.before-*")) == [kept]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_restore_by_root_keeps_the_owner(site: Site) -> None:
    file = site.back_up()
    os.chown(site.file, 1234, 1235)
    assert site.run("restore", file).exit_code == 0
    assert (site.file.stat().st_uid, site.file.stat().st_gid) == (1234, 1235)


def test_whoever_was_erased_since_the_backup_stays_erased(site: Site) -> None:
    file = site.back_up()
    with site.opened() as store:
        erase(store, 1)
        # Somebody who joined after the backup: their number comes back for somebody else.
        erase(store, build.a_user(store, name="Also gone"))
    assert len(erased_accounts.read_list(Path(f"{site.file}.erased"))) == 2
    done = site.run("restore", file)
    assert "1 accounts" in done.stdout
    assert_is_erased(site)
    with site.opened() as store:
        newcomer = build.a_user(store, name="Newcomer", created_at=build.NOW + timedelta(days=1))
        assert newcomer == 2
    again = site.back_up()
    assert site.run("restore", again).exit_code == 0
    with site.opened() as store, store.read() as db:
        names = db.execute(select(tables.user.c.name).order_by(tables.user.c.user_id)).scalars().all()
    assert names == ["Player 1", "Newcomer"]


@pytest.mark.parametrize("loss", ["damaged", "lost with its list"])
def test_erasures_are_known_without_the_database(site: Site, loss: str) -> None:
    file = site.back_up()
    with site.opened() as store:
        erase(store, 1)
    if loss == "damaged":
        site.file.write_bytes(b"nonsense" * 1000)
    else:
        site.back_up()
        for path in (site.file, Path(f"{site.file}.erased")):
            path.unlink()
    done = site.run("restore", file)
    assert done.exit_code == 0, done.output
    assert_is_erased(site)


def erase(store: Store, user_id: int) -> None:
    with store.write() as transaction:
        accounts.erase_account(transaction, user_id)
    while erasing.follow_accounts(store):
        pass


def assert_is_erased(site: Site) -> None:
    with closing(sqlite3.connect(site.file)) as db:
        assert "anary" not in "\n".join(db.iterdump())
        assert db.execute("SELECT name FROM user WHERE user_id = 1").fetchone() == ("Player 1",)


def test_a_restore_says_which_key_is_missing(site: Site) -> None:
    store = Store(site.url)
    night = build.a_tournament(store)
    with store.write() as transaction:
        stored = encryption.encrypt(transaction.connection, "secret")
    build.row(
        store,
        tables.device,
        tournament_id=night.tournament_id,
        kind="codes",
        name="Codes",
        secret=stored,
        created_at=build.NOW,
    )
    store.close()
    file = site.back_up("--without-secret")
    key_file = Path(f"{site.file}.secret")
    (key,) = KeyFile(key_file).keys()
    assert site.run("restore", file).stderr == ""
    key_file.unlink()
    missing = site.run("restore", file, "--discard")
    assert missing.exit_code == 0
    assert f"encrypted with the key {key.fingerprint}, " in missing.stderr
    assert f"and the key file {key_file} is missing" in missing.stderr
    other = KeyFile(key_file).make()
    assert f"has other keys ({other.fingerprint})" in site.run("restore", file, "--discard").stderr


def test_what_is_no_backup_is_refused_and_nothing_is_changed(site: Site, tmp_path: Path) -> None:
    before = site.file.read_bytes()
    wrong = tmp_path / "wrong"
    for content in (b"", b"hello", b"SQLite format 3\0" + b"\xff" * 9000, b"PGDMP"):
        wrong.write_bytes(content)
        refused(site.run("restore", wrong))
    refused(site.run("restore", tmp_path / "none"), "No such file")
    assert site.file.read_bytes() == before
    assert site.run("restore").exit_code == 2


def test_a_database_that_another_tool_restored_is_finished_here(site: Site) -> None:
    file = site.back_up()
    with site.opened() as store:
        erase(store, 1)
        with store.read() as db:
            before = stamps.current_generation(db)
    with tarfile.open(file) as archive:
        archive.extract("database.db", site.file.parent, filter="data")
    (site.file.parent / "database.db").replace(site.file)
    done = site.run("restore", "--here")
    assert done.exit_code == 0, done.output
    assert_is_erased(site)
    with site.opened() as store, store.read() as db:
        assert stamps.current_generation(db) != before


def test_a_restore_that_is_killed_leaves_one_database_or_the_other(site: Site) -> None:
    file = site.back_up()
    with site.opened() as store:
        build.a_user(store, name="Later")
    command = [sys.executable, "-m", "silverball.cli.main", "restore", str(file), "--discard"]
    given = {**os.environ, "SILVERBALL_DATABASE_URL": site.url}
    dice, counts = Random(19), []
    for _ in range(KILLS):
        with subprocess.Popen(command, env=given, stdout=subprocess.DEVNULL) as process:
            time.sleep(dice.uniform(0.3, 1.5))
            process.kill()
        counts.append(site.count_users())
        assert site.run("verify").exit_code == 0
    assert set(counts) <= {1, 2}
    # Once the backup is in its place, it stays there.
    assert counts == sorted(counts, reverse=True)


# PostgreSQL


@pytest.mark.skipif(shutil.which("pg_dump") is None, reason="pg_dump is not installed here")
def test_postgresql_is_dumped_and_restored_into_an_empty_database(
    postgresql: PostgreSQL, tmp_path: Path
) -> None:
    url, new_url = postgresql.new_database(), postgresql.empty_database()
    store = Store(url)
    build.a_user(store, name=NAME, email="canary@silverball.test")
    with store.read() as db:
        before = stamps.current_generation(db)
    run = CliRunner(env={"SILVERBALL_DATABASE_URL": url})
    words = ["--passphrase-file", str(tmp_path / "passphrase")]
    (tmp_path / "passphrase").write_text(PASSPHRASE)
    done = run.invoke(silverball_group, ["backup", str(tmp_path), *words])
    assert done.exit_code == 0, done.output
    (file,) = tmp_path.glob("silverball-*.tar.age")
    erase(store, 1)
    # The present database is not empty, and it is in use.
    refused(run.invoke(silverball_group, ["restore", str(file), *words]), "Stop it first")
    store.close()
    refused(run.invoke(silverball_group, ["restore", str(file), *words]), "has tables already")
    new = CliRunner(env={"SILVERBALL_DATABASE_URL": new_url})
    done = new.invoke(silverball_group, ["restore", str(file), *words, "--before", url])
    assert done.exit_code == 0, done.output
    assert "1 accounts" in done.stdout
    store = Store(new_url)
    with store.read() as db:
        assert db.execute(select(tables.user.c.name)).scalars().all() == ["Player 1"]
        assert stamps.current_generation(db) != before
    store.close()
    assert new.invoke(silverball_group, ["verify"]).exit_code == 0


def test_without_its_programs_postgresql_is_not_dumped(
    postgresql: PostgreSQL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    run = CliRunner(env={"SILVERBALL_DATABASE_URL": postgresql.new_database()})
    refused(run.invoke(silverball_group, ["backup", str(tmp_path)]), "pg_dump is not installed here")
    assert list(tmp_path.iterdir()) == []
