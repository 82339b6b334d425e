"""A real database for every test that needs one: SQLite always, PostgreSQL where it is installed."""

import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from msgspec.structs import replace
from sqlalchemy import event, make_url

from selection import (
    pytest_collection_modifyitems,
    pytest_report_header,
    pytest_runtest_logreport,
    pytest_terminal_summary,
    pytest_testnodedown,
)
from silverball.store.database import migrate
from silverball.store.database.deadlines import REQUEST, StoreLimits
from silverball.store.database.engine import Store

# Hooks that choose which tests run.
__all__ = [
    "pytest_collection_modifyitems",
    "pytest_report_header",
    "pytest_runtest_logreport",
    "pytest_terminal_summary",
    "pytest_testnodedown",
]

POSTGRESQL_SWITCH = "SILVERBALL_TEST_POSTGRESQL"
POSTGRESQL_IS_OFF = os.environ.get(POSTGRESQL_SWITCH, "1") == "0"
# A database is some 600 files: 0.04 s to make in memory, up to 0.6 s on a slow disk, for each of 2,500 tests.
MEMORY_FOLDER = Path("/dev/shm")
MEMORY_BYTES_MIN = 4 * 1024**3
# Transactions of tests may last longer than those of requests, as the machine may have other work.
PATIENT_REQUEST = replace(REQUEST, statement_seconds=60, pause_seconds=60, total_seconds=60)
PATIENT = StoreLimits(read=PATIENT_REQUEST, write=PATIENT_REQUEST)
_counter = itertools.count(1)


def postgresql_bin() -> Path | None:
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return installed[-1].parent if installed else None


def folder_for_clusters() -> Path | None:
    """The folder in memory, where there is one with room; None for the usual folder of temporary files."""
    if MEMORY_FOLDER.is_dir() and shutil.disk_usage(MEMORY_FOLDER).free >= MEMORY_BYTES_MIN:
        return MEMORY_FOLDER
    return None


class PostgreSQL:
    """A throw-away cluster on a socket of its own; gone when the tests end."""

    def __init__(self, bin_folder: Path) -> None:
        self.bin = bin_folder
        self.folder = Path(tempfile.mkdtemp(prefix="silverball-pg-", dir=folder_for_clusters()))
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
        self.data = self.folder / "data"
        self._run("initdb", "-D", self.data, "-U", "silverball", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.start()
        self._admin("CREATE DATABASE template")
        store = Store(self.url("template"))
        migrate.migrate(store)
        store.close()

    def url(self, name: str) -> str:
        return f"postgresql+psycopg://silverball@/{name}?host={self.folder}"

    def new_database(self) -> str:
        name = f"t{next(_counter)}"
        self._admin(f"CREATE DATABASE {name} TEMPLATE template")
        return self.url(name)

    def empty_database(self) -> str:
        """A database without any table."""
        name = f"t{next(_counter)}"
        self._admin(f"CREATE DATABASE {name}")
        return self.url(name)

    def copy(self, source: str, target: str) -> None:
        """Replace a database by a copy of another one, to which nobody may be connected."""
        self.drop(target)
        self._admin(f"CREATE DATABASE {make_url(target).database} TEMPLATE {make_url(source).database}")

    def drop(self, url: str) -> None:
        """Let a database go, whoever may still be connected to it."""
        self._admin(f"DROP DATABASE {make_url(url).database} WITH (FORCE)")

    def start(self) -> None:
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off -c max_connections=200"
        self._run("pg_ctl", "-D", self.data, "-o", options, "-l", self.folder / "log", "-w", "start")

    def crash(self) -> None:
        """End all its processes at once; the next start recovers from the log."""
        self._run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")

    def start_again(self) -> None:
        """Start it if it has ended; one that recovers by itself is waited for."""
        if not self.is_running:
            self.start()

    @property
    def is_running(self) -> bool:
        """Whether its first process is there."""
        try:
            os.kill(self._first_process_id(), 0)
        except (OSError, ValueError):
            return False
        return True

    def process_ids(self) -> list[int]:
        """All its processes: the first, and those that it started."""
        first = self._first_process_id()
        children = Path(f"/proc/{first}/task/{first}/children").read_text()
        return [first, *map(int, children.split())]

    def _first_process_id(self) -> int:
        return int((self.data / "postmaster.pid").read_text().splitlines()[0])

    def end_connections(self) -> None:
        """End every connection but this one, as an operator does."""
        self._admin(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )

    def stop(self) -> None:
        self.crash()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _admin(self, statement: str) -> None:
        address = f"host={self.folder} dbname=postgres user=silverball"
        with psycopg.connect(address, autocommit=True) as db:
            db.execute(statement)

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self.bin / program), *map(str, arguments)]
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]
        # pg_ctl leaves a server behind that would hold a pipe open.
        done = subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, cwd=self.folder
        )
        if done.returncode != 0:
            raise RuntimeError(f"{program} failed; see {self.folder / 'log'}")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    """The cluster, or a skip that says why there is none."""
    if POSTGRESQL_IS_OFF:
        pytest.skip(f"PostgreSQL tests are switched off by {POSTGRESQL_SWITCH}=0")
    bin_folder = postgresql_bin()
    if bin_folder is None:
        pytest.skip("PostgreSQL is not installed here (no initdb)")
    cluster = PostgreSQL(bin_folder)
    yield cluster
    cluster.stop()


@pytest.fixture
def own_postgresql(postgresql: PostgreSQL) -> Iterator[PostgreSQL]:
    """A cluster that a test may crash."""
    cluster = PostgreSQL(postgresql.bin)
    yield cluster
    cluster.stop()


@pytest.fixture(scope="session")
def empty_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the schema and no rows, copied for each test."""
    path = tmp_path_factory.mktemp("template") / "empty.db"
    store = Store(f"sqlite:///{path}")
    migrate.migrate(store)
    with store.engine.connect() as db:
        db.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a fresh database with the schema, on each of the two kinds."""
    if request.param == "postgresql":
        cluster: PostgreSQL = request.getfixturevalue("postgresql")
        url = cluster.new_database()
        yield url
        # Thousands of them would fill the disk before the cluster is gone.
        cluster.drop(url)
        return
    path = tmp_path / "silverball.db"
    shutil.copy(request.getfixturevalue("empty_sqlite"), path)
    yield f"sqlite:///{path}"


def _skip_disk_sync(connection: Any, _record: Any) -> None:
    """Do not wait for the disk: the file is deleted after the test."""
    connection.execute("PRAGMA synchronous=OFF")


@pytest.fixture
def store(database_url: str, tmp_path: Path) -> Iterator[Store]:
    """A fresh database, open, with a file of keys."""
    # For SQLite this is where the key file is anyway.
    opened = Store(database_url, tmp_path / "silverball.db.secret", limits=PATIENT)
    opened.key_file.may_make = True
    if opened.is_sqlite:
        event.listen(opened.engine, "connect", _skip_disk_sync)
    yield opened
    opened.close()
