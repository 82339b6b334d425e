"""A damaged SQLite file, and one that another was put in the place of, is noticed and not written to."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.error
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import text

import build
from cli.test_serve import serving
from patience import PATIENCE_SECONDS
from silverball.store import tables
from silverball.store.database import health
from silverball.store.database.engine import Store
from silverball.store.database.health import DatabaseDamaged, FileNote, ForeignLog
from silverball.store.database.migrate import Readiness
from silverball.store.revisions import stamps
from silverball.store.revisions.known_revisions import KnownRevisions

PLACES = 30
PAGE_BYTES = 4_096


@pytest.fixture
def file(tmp_path: Path, empty_sqlite: Path) -> Path:
    path = tmp_path / "club.db"
    path.write_bytes(empty_sqlite.read_bytes())
    return path


def is_whole(file: Path) -> bool:
    """Whether SQLite is content with a copy of the file and its log."""
    copy = file.with_name("looked-at.db")
    for ending in ("", "-wal"):
        if Path(f"{file}{ending}").exists():
            shutil.copy(f"{file}{ending}", f"{copy}{ending}")
    try:
        with closing(sqlite3.connect(copy)) as db:
            return bool(db.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    except sqlite3.DatabaseError:
        return False
    finally:
        for ending in ("", "-wal", "-shm"):
            Path(f"{copy}{ending}").unlink(missing_ok=True)


def await_that(is_so: Callable[[], bool], look: Callable[[], object] = lambda: None) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < until, "nothing changed any more"
        look()
        time.sleep(0.02)


def note_unclean_end(file: Path) -> None:
    note = FileNote(file.stat().st_ino, None, 0, is_open=True)
    health._save_note(file, note)  # as a server leaves it that was killed


def fill(file: Path) -> None:
    store = Store(f"sqlite:///{file}")
    night = build.a_tournament(store, players=8)
    for _ in range(100):
        build.a_game(store, night.tournament_id, night.player_ids[:2], status="completed")
    store.close()


@pytest.mark.sample(4)
@pytest.mark.parametrize("place", range(PLACES))
def test_flipped_bytes_are_found_after_an_unclean_end_and_stop_writes(file: Path, place: int) -> None:
    fill(file)
    dice = Random(place)
    data = bytearray(file.read_bytes())
    # The schema stays, as without it no server starts.
    begin = PAGE_BYTES * dice.randrange(60, len(data) // PAGE_BYTES)
    for offset in range(begin, begin + 64):
        data[offset] ^= 0xA5
    file.write_bytes(data)
    note_unclean_end(file)
    expected = is_whole(file)
    store = Store(f"sqlite:///{file}")
    store.health.start()
    assert store.health.is_sound == expected
    if not expected:
        with pytest.raises(DatabaseDamaged):
            build.a_user(store)
        assert not Readiness(store).check(10)
    store.close()


def test_most_flipped_bytes_are_damage(file: Path) -> None:
    """Otherwise the test above would hold nothing."""
    fill(file)
    data = bytearray(file.read_bytes())
    for page in range(60, len(data) // PAGE_BYTES):
        data[PAGE_BYTES * page] ^= 0xA5
    file.write_bytes(data)
    assert not is_whole(file)


def test_a_large_file_is_checked_beside_the_server(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "BYTES_CHECKED_BEFORE_READY", 0)
    fill(file)
    data = bytearray(file.read_bytes())
    data[60 * PAGE_BYTES :] = b"\xa5" * (len(data) - 60 * PAGE_BYTES)
    file.write_bytes(data)
    note_unclean_end(file)
    store = Store(f"sqlite:///{file}")
    store.health.start()
    await_that(lambda: not store.health.is_sound)
    store.close()


@pytest.fixture
def served(file: Path) -> Iterator[Store]:
    store = Store(f"sqlite:///{file}")
    with store.read() as db:
        db.execute(text("SELECT count(*) FROM user"))
    store.health.start()
    yield store
    store.close()


def test_a_read_that_meets_damage_stops_writes(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    with closing(sqlite3.connect(file)) as db:
        (root,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'club'").fetchone()
    data = bytearray(file.read_bytes())
    begin = PAGE_BYTES * (root - 1)
    data[begin : begin + PAGE_BYTES] = b"\xa5" * PAGE_BYTES
    file.write_bytes(data)
    store = Store(f"sqlite:///{file}")
    store.health.start()
    build.a_user(store)
    with pytest.raises(DatabaseDamaged), store.read() as db:
        db.execute(tables.club.select()).all()
    with pytest.raises(DatabaseDamaged):
        build.a_user(store)
    assert not Readiness(store).check(10)
    await_that(lambda: "silverball restore" in caplog.text)
    store.close()
    # The next start checks it too.
    note = health.load_note(file)
    assert note is not None
    assert note.fault


def test_a_checkpoint_of_whichever_process_is_no_damage(served: Store, file: Path) -> None:
    script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA wal_checkpoint(TRUNCATE)')"
    for _ in range(3):
        before = file.stat().st_mtime_ns
        build.a_user(served)
        served.health.look()
        subprocess.run([sys.executable, "-c", script, str(file)], check=True)
        assert file.stat().st_mtime_ns > before
        served.health.look()
        assert served.health.is_sound


def test_a_file_that_is_copied_over_a_served_one_stops_writes_until_it_is_whole(
    served: Store, file: Path
) -> None:
    build.a_user(served)
    good = file.with_name("good.db")
    shutil.copy(file, good)
    served.health.look()
    data = bytearray(file.read_bytes())
    with file.open("r+b") as opened:
        opened.write(b"\xa5" * len(data))
    served.health.look()
    with pytest.raises(DatabaseDamaged):
        build.a_user(served)
    with file.open("r+b") as opened:
        opened.write(good.read_bytes())
    await_that(lambda: served.health.is_sound, served.health.look)
    build.a_user(served)


# A server that was killed, and what is put in the place of its file.

KILLED_SCRIPT = """
import os, sys
import build
from silverball.store.database.engine import Store
from silverball.store.revisions.known_revisions import KnownRevisions
store = Store(sys.argv[1])
store.health.start()
KnownRevisions(store).start()
for number in range(30):
    build.a_user(store, name=f"Regular {number}")
    if number in (10, 20):
        with store.read() as db:
            db.exec_driver_sql("PRAGMA wal_checkpoint(RESTART)")
store.health.look()
os.kill(os.getpid(), 9)
"""


def run_killed_server(file: Path) -> None:
    given = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", KILLED_SCRIPT, f"sqlite:///{file}"], check=False, env=given)
    assert done.returncode == -9
    assert Path(f"{file}-wal").stat().st_size > 0


@pytest.fixture
def killed(file: Path) -> Path:
    fill(file)
    shutil.copy(file, file.with_name("older.db"))
    run_killed_server(file)
    return file


def copy_over(file: Path) -> None:
    shutil.copy(file.with_name("older.db"), file)


def move_over(file: Path) -> None:
    file.with_name("older.db").replace(file)


def put_backup_there(file: Path) -> None:
    """As `silverball backup` makes it, of the newest state."""
    copy, source = file.with_name("made.db"), file.with_name("source.db")
    for ending in ("", "-wal"):
        shutil.copy(f"{file}{ending}", f"{source}{ending}")
    with closing(sqlite3.connect(source)) as original, closing(sqlite3.connect(copy)) as target:
        original.backup(target)
        target.execute("PRAGMA journal_mode=DELETE")
    copy.replace(file)


def put_log_of_another_there(file: Path) -> None:
    other = file.with_name("other.db")
    shutil.copy(file.with_name("older.db"), other)
    run_killed_server(other)
    Path(f"{other}-wal").replace(f"{file}-wal")


def put_other_site_there(file: Path) -> None:
    with closing(sqlite3.connect(file.with_name("new.db"))) as db:
        db.execute("CREATE TABLE club (name TEXT)")
    file.with_name("new.db").replace(file)


@pytest.mark.parametrize(
    "wrong_copy", [copy_over, move_over, put_backup_there, put_log_of_another_there, put_other_site_there]
)
def test_a_log_beside_a_database_that_it_was_not_written_for_is_refused(
    killed: Path, wrong_copy: Callable[[Path], None]
) -> None:
    health.require_own_log(killed)
    wrong_copy(killed)
    with pytest.raises(ForeignLog, match=rf"mv {killed}-wal {killed}-wal\.aside"):
        health.require_own_log(killed)
    Path(f"{killed}-wal").rename(f"{killed}-wal.aside")
    health.require_own_log(killed)


def generation(store: Store) -> str:
    with store.read() as db:
        return stamps.current_generation(db)


def start_again(file: Path) -> tuple[bool, str]:
    """Start a node; returns whether it is sound, and its generation."""
    health.require_own_log(file)
    store = Store(f"sqlite:///{file}")
    store.health.start()
    node = KnownRevisions(store)
    node.start()
    found = store.health.is_sound, generation(store)
    node.close()
    store.close()
    return found


def test_after_a_kill_the_file_is_checked_and_goes_on(killed: Path) -> None:
    first = start_again(killed)
    assert first[0]
    assert start_again(killed) == first


def test_an_older_file_without_a_log_is_a_restore(killed: Path) -> None:
    _, before = start_again(killed)
    move_over(killed)
    is_sound, after = start_again(killed)
    assert is_sound
    assert after != before


def test_a_site_that_moves_with_all_its_files_is_taken_as_it_is(killed: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    for beside in tmp_path.glob("club.db*"):
        shutil.copy2(beside, tmp_path / "elsewhere")
    is_sound, _ = start_again(tmp_path / "elsewhere" / "club.db")
    assert is_sound


# The same with the real server.


def run_command(file: Path, *words: str) -> tuple[int, str]:
    """The exit code and the output of a command on this database."""
    given = {**os.environ, "SILVERBALL_DATABASE_URL": f"sqlite:///{file}"}
    command = [sys.executable, "-m", "silverball.cli.main", *words]
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(("words", "code"), [(("serve", "--port", "0"), 1), (("doctor",), 2)])
def test_no_command_opens_a_database_with_the_log_of_another(
    killed: Path, words: tuple[str, ...], code: int
) -> None:
    copy_over(killed)
    before = Path(f"{killed}-wal").read_bytes(), killed.read_bytes()
    exit_code, output = run_command(killed, *words)
    assert (exit_code, f"mv {killed}-wal" in output) == (code, True), output
    assert (Path(f"{killed}-wal").read_bytes(), killed.read_bytes()) == before


def test_a_served_file_that_is_damaged_is_not_ready_and_doctor_says_what_to_do(file: Path) -> None:
    fill(file)
    with serving(f"sqlite:///{file}") as server:
        assert server.get("/ready")[0] == 200
        with file.open("r+b") as opened:
            opened.seek(60 * PAGE_BYTES)
            opened.write(b"\xa5" * (file.stat().st_size - 60 * PAGE_BYTES))

        def is_refused() -> bool:
            try:
                server.get("/ready")
            except urllib.error.HTTPError as error:
                return error.code == 503
            return False

        await_that(is_refused)
        exit_code, output = run_command(file, "doctor")
        assert (exit_code, "silverball restore" in output) == (2, True), output
        server.process.send_signal(signal.SIGTERM)
        _, log = server.process.communicate(timeout=60)
    assert "silverball restore" in log


def test_a_restore_refuses_the_log_of_another_and_is_served_after_it_is_set_aside(killed: Path) -> None:
    backup = killed.with_name("backup.db")
    assert run_command(killed, "backup", "--no-verify", str(backup))[0] == 0
    _, before = start_again(killed)
    run_killed_server(killed)
    put_backup_there(killed)
    exit_code, output = run_command(killed, "restore", str(backup))
    assert (exit_code, f"mv {killed}-wal" in output) == (1, True), output
    Path(f"{killed}-wal").rename(f"{killed}-wal.aside")
    assert run_command(killed, "restore", str(backup))[0] == 0
    is_sound, after = start_again(killed)
    assert is_sound
    assert after != before
