"""Commands of a PostgreSQL database whose role may not add `pg_trgm`."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import select

import build
from conftest import PostgreSQL
from plain_role import add_plain_role
from silverball.cli.main import silverball_group
from silverball.store import tables
from silverball.store.database import migrate
from silverball.store.database.engine import Store
from silverball.store.people.names import name_contains

HINT = "CREATE EXTENSION pg_trgm"


@dataclass(frozen=True)
class PlainSite:
    """An empty database, for an administrator and for a role that may only make tables in it."""

    admin: Store
    url: str

    def run(self, *words: str) -> str:
        done = CliRunner(env={"SILVERBALL_DATABASE_URL": self.url}).invoke(silverball_group, list(words))
        assert done.exit_code in {0, 1}, done.output
        return done.output

    def searches(self) -> str:
        findings = json.loads(self.run("doctor", "--json"))
        return next(str(finding["sentence"]) for finding in findings if finding["check"] == "searches")


@pytest.fixture
def site(postgresql: PostgreSQL) -> Iterator[PlainSite]:
    url = postgresql.empty_database()
    admin = Store(url)
    _, plain_url = add_plain_role(admin, url)
    yield PlainSite(admin, plain_url)
    admin.close()


def test_migrate_and_doctor_name_what_is_missing_until_it_is_there(site: PlainSite) -> None:
    assert HINT in site.run("migrate")
    assert HINT in site.searches()
    with site.admin.migration() as db:
        db.exec_driver_sql("CREATE EXTENSION pg_trgm")
    assert site.searches() == "Searches compare all names. Run: silverball migrate"
    assert HINT not in site.run("migrate")
    assert site.searches() == "Names have their indexes."


@pytest.mark.skipif(shutil.which("pg_dump") is None, reason="pg_dump is not installed here")
def test_a_backup_with_the_indexes_is_restored_without_them(
    site: PlainSite, postgresql: PostgreSQL, tmp_path: Path
) -> None:
    url = postgresql.new_database()
    store = Store(url)
    build.a_user(store, name="Ada Magnus")
    with store.read() as db:
        assert migrate.missing(db) == []
    store.close()
    backup = CliRunner(env={"SILVERBALL_DATABASE_URL": url})
    done = backup.invoke(silverball_group, ["backup", str(tmp_path)])
    assert done.exit_code == 0, done.output
    (file,) = tmp_path.glob("silverball-*")
    assert "Restored" in site.run("restore", str(file))
    restored = Store(site.url)
    with restored.read() as db:
        assert migrate.missing(db) == [
            *("user", "player", "tournament", "rating", "federation_player"),
        ]
        name = tables.user.c.name
        assert db.execute(select(name).where(name_contains(db, name, "magnus"))).scalars().all() == [
            "Ada Magnus"
        ]
    restored.close()
