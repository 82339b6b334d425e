"""A backup under writes, and its restore in a new place. Source: reliability 3, T19 and P9."""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from servers import Servers
from silverball.cli.main import silverball_group
from silverball.service.standings.reads import standings
from silverball.store.database.engine import Store
from trials.ledger import Clients, Ledger, Work, compare

POINTS = [
    100,
    *(pytest.param(count, marks=pytest.mark.soak) for count in Random(19).sample(range(10, 500), 20)),
]


def run(url: str, *words: object) -> Result:
    environment = {"SILVERBALL_DATABASE_URL": url}
    done = CliRunner(env=environment).invoke(silverball_group, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done


def standings_hash(url: str, tournament_id: int) -> str:
    store = Store(url)
    with store.read() as db:
        rows: Any = standings.tournament_standings(db, tournament_id)
    store.close()
    return hashlib.sha256(msgspec.json.encode(rows)).hexdigest()


@pytest.mark.sample(1)
@pytest.mark.parametrize("writes_before", POINTS)
def test_a_backup_under_writes_is_restored_elsewhere_with_the_same_standings(
    empty_sqlite: Path, tmp_path: Path, writes_before: int
) -> None:
    file = tmp_path / "silverball.db"
    shutil.copy(empty_sqlite, file)
    url, backup = f"sqlite:///{file}", tmp_path / "backup.tar"
    store = Store(url)
    work, ledger, servers = Work(store, rounds=3), Ledger(), Servers.without_limits(url)
    store.close()
    try:
        servers.start()
        with Clients(work, ledger, lambda _client: servers.port):
            ledger.await_count(writes_before)
            before, began = ledger.acknowledged_keys(), time.monotonic()
            # In a process of its own, because in this one it would keep the clients from writing.
            command = [sys.executable, "-m", "silverball.cli.main", "backup", str(backup)]
            given = {**os.environ, "SILVERBALL_DATABASE_URL": url}
            subprocess.run(command, env=given, check=True, capture_output=True)
            backup_seconds, after = time.monotonic() - began, ledger.acknowledged_keys()
    finally:
        servers.close()
    assert after > before, "nothing was written while the backup was made"
    # The way of a site whose machine is lost: a new place, and only the backup.
    new = f"sqlite:///{tmp_path / 'elsewhere.db'}"
    began = time.monotonic()
    run(new, "restore", backup)
    restore_seconds = time.monotonic() - began
    assert "2 tournaments verified, none with differences." in run(new, "verify").stdout
    restored = Store(new)
    figures = compare("T19 backup and restore", "sqlite", 1, work, ledger, restored, expected=before)
    restored.close()
    figures.add_recoveries([restore_seconds])
    with tarfile.open(backup) as archive:
        archive.extract("database.db", tmp_path, filter="data")
    backup = tmp_path / "database.db"
    for tournament_id in work.tournament_ids:
        assert standings_hash(new, tournament_id) == standings_hash(f"sqlite:///{backup}", tournament_id)
    figures.publish()
    figures.assert_nothing_wrong()
    print(  # noqa: T201  # shown with -s
        f"backup in {backup_seconds:.2f} s while {len(after - before)} results were written,"
        f" restored and verified in {restore_seconds:.2f} s"
    )
