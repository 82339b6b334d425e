"""The commands in docs/hosting.md work."""

import re
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from click.testing import CliRunner
from sqlalchemy import insert

import build
from exchange import bundles
from silverball.cli.main import silverball_group
from silverball.store import tables
from silverball.store.engine import Store

PAGE = Path(__file__).parents[2] / "docs" / "hosting.md"


def back_up(folder: Path) -> Path:
    """Back up as described in the page."""
    line = re.search(r"^python3 -c .* silverball\.db copy\.db$", PAGE.read_text(), re.MULTILINE)
    assert line is not None
    _, *words = shlex.split(line.group())
    subprocess.run([sys.executable, *words], cwd=folder, check=True)
    return folder / "copy.db"


def test_the_copy_of_a_database_in_use_is_complete(empty_sqlite: Path, tmp_path: Path) -> None:
    file = tmp_path / "silverball.db"
    file.write_bytes(empty_sqlite.read_bytes())
    run = CliRunner(env={"SILVERBALL_DATABASE_URL": f"sqlite:///{file}"})
    assert run.invoke(silverball_group, ["import", "bundle", str(bundles.NIGHTS[0])]).exit_code == 0
    store = Store(f"sqlite:///{file}")
    with store.write() as transaction:
        transaction.connection.execute(
            insert(tables.user).values({**build.DEFAULTS["user"], "name": "Half done"})
        )
        copy = back_up(tmp_path)
    store.close()
    with closing(sqlite3.connect(copy)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        # Uncommitted data is not in the copy.
        assert db.execute("SELECT count(*) FROM user WHERE name = 'Half done'").fetchone() == (0,)
    again = CliRunner(env={"SILVERBALL_DATABASE_URL": f"sqlite:///{copy}"})
    done = again.invoke(silverball_group, ["verify"])
    assert (done.exit_code, done.exception) == (0, None), done.output
