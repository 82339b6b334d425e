"""A standby that lagged is promoted: its timeline is part of the generation, so that everybody notices."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine

import build
from conftest import PostgreSQL
from silverball.service.core import loaded
from silverball.store.database.engine import Store
from silverball.store.revisions import revisions
from silverball.store.revisions.known_revisions import KnownRevisions

LOST = 3
SECONDS_MAX = 60


@pytest.fixture
def primary(postgresql: PostgreSQL) -> Iterator[PostgreSQL]:
    """A cluster of its own, which the test stops."""
    if not (postgresql.bin / "pg_basebackup").exists() and shutil.which("pg_basebackup") is None:
        pytest.skip("pg_basebackup is not installed here")
    own = PostgreSQL(postgresql.bin)
    yield own
    if own.data.exists():
        own.stop()


class Standby:
    """A standby of a cluster, with a socket of its own."""

    def __init__(self, primary: PostgreSQL) -> None:
        self._primary = primary
        # Stopping the primary removes its own folder.
        self.folder = Path(tempfile.mkdtemp(prefix="silverball-pg-"))
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
        self._data = self.folder / "data"
        base_backup = ["-D", self._data, "-h", primary.folder, "-U", "silverball", "-R", "-c", "fast"]
        self._run("pg_basebackup", *base_backup, "--no-sync")
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off -c max_connections=200"
        self._run("pg_ctl", "-D", self._data, "-o", options, "-l", self.folder / "log", "-w", "start")

    def query(self, statement: str) -> object:
        engine = create_engine(
            f"postgresql+psycopg://silverball@/postgres?host={self.folder}", isolation_level="AUTOCOMMIT"
        )
        with engine.connect() as db:
            result = db.exec_driver_sql(statement)
            found = result.scalar() if result.returns_rows else None
        engine.dispose()
        return found

    def stop_following(self) -> None:
        """Receive nothing any more, as when the network between them is lost."""
        self.query("ALTER SYSTEM SET primary_conninfo = ''")
        self.query("SELECT pg_reload_conf()")
        until = time.monotonic() + SECONDS_MAX
        while self.query("SELECT count(*) FROM pg_stat_wal_receiver"):
            assert time.monotonic() < until
            time.sleep(0.05)

    def promote(self) -> None:
        self._run("pg_ctl", "-D", self._data, "-w", "promote")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", self._data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: object) -> None:
        found = self._primary.bin / program
        command = [str(found if found.exists() else Path(shutil.which(program) or program))]
        command += map(str, arguments)
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]
        subprocess.run(
            command, check=True, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )


def rename(store: Store, tournament_id: int, name: str) -> None:
    with store.write(tournament_id) as transaction:
        transaction.connection.exec_driver_sql("UPDATE tournament SET name = %s", (name,))
        revisions.raise_tournaments(transaction, [tournament_id])


def loaded_name(store: Store, tournament_id: int) -> object:
    with store.read() as db:
        return loaded.load_tournament(db, tournament_id).details["name"]


def test_nothing_of_what_the_standby_did_not_have_is_shown(primary: PostgreSQL) -> None:
    standby = Standby(primary)
    try:
        url = primary.new_database()
        both = f"{primary.folder},{standby.folder}"
        node = Store(f"{url.partition('?')[0]}?host={both}&target_session_attrs=read-write")
        tournament_id = build.a_tournament(node).tournament_id
        known = KnownRevisions(node)
        known.poll()
        first = build.public_epoch(node)
        until = time.monotonic() + SECONDS_MAX
        name = url.partition("?")[0].rpartition("/")[2]
        while not standby.query(f"SELECT count(*) FROM pg_database WHERE datname = '{name}'"):
            assert time.monotonic() < until
            time.sleep(0.05)
        time.sleep(0.5)
        standby.stop_following()
        for _ in range(LOST):
            rename(node, tournament_id, "lost")
        before = known.refresh(tournament_id), known.refresh(0)
        assert loaded_name(node, tournament_id) == "lost"
        primary.stop()
        standby.promote()
        elsewhere = Store(f"{url.partition('?')[0]}?host={standby.folder}")
        for _ in range(LOST):
            rename(elsewhere, tournament_id, "kept")
        # Connections to the stopped server fail once, as a request would with a 503.
        node.engine.dispose()
        assert loaded_name(node, tournament_id) == "kept"
        known.poll()
        assert build.public_epoch(node) != first
        after = known.refresh(tournament_id), known.refresh(0)
        assert not set(before) & set(after)
        elsewhere.close()
        node.close()
    finally:
        standby.stop()
