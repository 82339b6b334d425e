"""The program starts quickly because heavy modules are imported where they are first used."""

import shutil
import subprocess
import sys
from pathlib import Path

HEAVY = {
    "alembic",
    "argon2",
    "cryptography",
    "httpcore2",
    "hypothesis",
    "icalendar",
    "PIL",
    "numpy",
    "playwright",
    "psycopg",
    "pyarrow",
    "pygal",
    "redis",
    "rich",
    "rustworkx",
    "segno",
    "swagger_ui_bundle",
}
START = """
import sys
import asgi
from silverball import app
from silverball.cli import database, server
from silverball.settings import Settings
from silverball.store.database import migrate
from silverball.store.people import encryption
from silverball.store.database.engine import Store

url = sys.argv[1]
store = Store(url)
assert migrate.is_current(store)
assert encryption.open_keys(store) is None
front_door = app.build(store, Settings(database_url=url, public_read=True, base_url="http://127.0.0.1"))
assert asgi.get(front_door, "/ready").status == 200
assert asgi.get(front_door, "/api/tournaments").status == 200
print(*sorted(sys.modules))
if sys.argv[2:]:
    assert asgi.get(front_door, sys.argv[2]).status == 200
    print(*sorted(sys.modules))
"""
HELP = """
import sys
from click.testing import CliRunner
from silverball.cli import main
assert CliRunner().invoke(main.silverball_group, ["--help"]).exit_code == 0
print(*sorted(sys.modules))
"""


def _modules(program: str, *arguments: str) -> set[str]:
    paths = str(Path(__file__).parents[1])
    command = [sys.executable, "-c", f"import sys; sys.path.append({paths!r})\n{program}", *arguments]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return set(process.stdout.split())


def test_a_start_on_a_current_sqlite_file_imports_no_heavy_module(empty_sqlite: Path, tmp_path: Path) -> None:
    # A start makes a key and notes it in the database: not in the one that every test copies.
    file = tmp_path / "silverball.db"
    shutil.copy(empty_sqlite, file)
    loaded = _modules(START, f"sqlite:///{file}")
    assert {name.partition(".")[0] for name in loaded} & HEAVY == set()
    # It is twenty milliseconds of a start, and only the other database needs it.
    assert "sqlalchemy.dialects.postgresql" not in loaded
    # A tenth of the start, for the first who asks for a page.
    assert not loaded & {"jinja2", "silverball.web.app", "silverball.web.live.pages"}
    assert "silverball.web.app" in _modules(START, f"sqlite:///{file}", "/")


def test_help_imports_neither_the_database_nor_the_server() -> None:
    loaded = {name.partition(".")[0] for name in _modules(HELP)}
    assert loaded & {*HEAVY, "sqlalchemy", "starlette", "uvicorn", "msgspec", "jinja2"} == set()
