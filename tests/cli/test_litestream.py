"""Litestream's replica, restored as docs/backup.md says, where it is installed. Source: issue 14, item 8."""

import shutil
import subprocess
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

import build
from silverball.cli.main import silverball_group
from silverball.store.database.engine import Store
from silverball.store.revisions import stamps

pytestmark = pytest.mark.skipif(shutil.which("litestream") is None, reason="litestream is not installed here")
REPLICATION_SECONDS = 5


def test_a_replica_is_restored_and_begins_a_new_generation(sqlite_url: str, tmp_path: Path) -> None:
    file, replica = sqlite_url.removeprefix("sqlite:///"), f"file://{tmp_path / 'replica'}"
    store = Store(sqlite_url)
    with subprocess.Popen(["litestream", "replicate", file, replica]) as replicating:
        build.a_user(store, name="Olga Ramp")
        time.sleep(REPLICATION_SECONDS)
        replicating.terminate()
    with store.read() as db:
        before = stamps.current_generation(db)
    store.close()
    new = tmp_path / "new.db"
    subprocess.run(["litestream", "restore", "-o", str(new), replica], check=True)
    run = CliRunner(env={"SILVERBALL_DATABASE_URL": f"sqlite:///{new}"})
    assert run.invoke(silverball_group, ["restore", "--here"]).exit_code == 0
    store = Store(f"sqlite:///{new}")
    with store.read() as db:
        assert stamps.current_generation(db) != before
    store.close()
    assert run.invoke(silverball_group, ["verify"]).exit_code == 0
