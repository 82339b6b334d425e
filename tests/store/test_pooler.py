"""PgBouncer between the program and PostgreSQL: when it shares sessions, that is noticed at the start."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy.engine import make_url

from conftest import PostgreSQL
from patience import PATIENCE_SECONDS
from silverball.cli.main import silverball_group
from silverball.store.database.engine import Store
from silverball.store.database.postgresql import SESSION_NOT_KEPT

POOLER = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
pytestmark = pytest.mark.skipif(not Path(POOLER).exists(), reason="pgbouncer is not installed")


@contextmanager
def pooled(postgresql: PostgreSQL, url: str, folder: Path, mode: str) -> Iterator[str]:
    """The address of a database behind a pooler in this mode."""
    name = make_url(url).database
    folder.mkdir()
    (folder / "users").write_text('"silverball" ""\n')
    (folder / "pooler.ini").write_text(
        f"[databases]\n{name} = host={postgresql.folder} dbname={name} user=silverball\n[pgbouncer]\n"
        f"listen_addr =\nunix_socket_dir = {folder}\nauth_type = trust\nauth_file = {folder / 'users'}\n"
        f"pool_mode = {mode}\nignore_startup_parameters = options,extra_float_digits\n"
    )
    command = [POOLER, "-q", str(folder / "pooler.ini")]
    if os.geteuid() == 0:
        for path in (folder, *folder.iterdir()):
            shutil.chown(path, "postgres", "postgres")
        command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]
    with subprocess.Popen(command) as pooler:
        try:
            until = time.monotonic() + PATIENCE_SECONDS
            while not (folder / ".s.PGSQL.6432").exists():
                assert time.monotonic() < until, "the pooler did not start"
                time.sleep(0.02)
            yield f"postgresql+psycopg://silverball@/{name}?host={folder}&port=6432"
        finally:
            pooler.terminate()


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_pooler_that_shares_sessions_is_named_at_the_start_and_by_doctor(
    database_url: str, postgresql: PostgreSQL
) -> None:
    folder = postgresql.folder / "pooler"
    with pooled(postgresql, database_url, folder, "transaction") as address:
        run = CliRunner(env={"SILVERBALL_DATABASE_URL": address})
        for command in (["serve", "--port", "0"], ["rate"]):
            started = run.invoke(silverball_group, command)
            assert started.exit_code == 1, started.output
            assert SESSION_NOT_KEPT in started.output
        examined = run.invoke(silverball_group, ["doctor"])
        assert SESSION_NOT_KEPT in " ".join(examined.output.split())
        assert examined.exit_code != 0
    shutil.rmtree(folder)
    with pooled(postgresql, database_url, folder, "session") as address:
        store = Store(address)
        store.require_session()
        store.close()
    shutil.rmtree(folder)
