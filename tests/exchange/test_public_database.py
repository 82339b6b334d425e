"""`silverball export sqlite`: everything that is public, and nothing else."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from exchange import bulk_world
from exchange.bulk_world import APRIL, claim
from silverball.cli.main import silverball_group
from silverball.exchange import bulk
from silverball.store.database.engine import Store

EMAIL = "zoe-canary@silverball.test"
NAMES = {
    "tournaments",
    "players",
    "games",
    "results",
    "single_player_games",
    "standings",
    "arenas",
    "ratings",
}


def ask(file: Path, statement: str) -> list[Any]:
    with closing(sqlite3.connect(file)) as db:
        return db.execute(statement).fetchall()


@pytest.mark.both_databases
def test_it_has_the_tables_and_nothing_of_accounts(store: Store, tmp_path: Path) -> None:
    night, later = bulk_world.a_night(store), bulk_world.a_night(store, APRIL)
    claim(store, night.player_ids[0], email=EMAIL, password_hash="canary-hash", pronouns="canary-pronouns")
    claim(store, later.player_ids[0], name="Canary Hidden", stats_opt_out=True)
    file = tmp_path / "public.db"
    counts = bulk.write_database(store, file)
    assert (
        set(counts)
        == NAMES
        == {name for (name,) in ask(file, "SELECT name FROM sqlite_schema WHERE type = 'table'")}
    )
    assert (counts["tournaments"], counts["games"], counts["results"], counts["players"]) == (2, 2, 7, 7)
    assert ask(file, "PRAGMA foreign_key_check") == ask(file, "PRAGMA integrity_check")[1:] == []
    assert b"anary" not in file.read_bytes()
    winners = "SELECT name FROM results JOIN players USING (player_id) WHERE place = 1 ORDER BY player_id"
    assert ask(file, winners) == [("Player 3",), ("Player 3",)]


def test_an_older_export_is_replaced_and_no_other_file(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "public.db"
    url = store.url.render_as_string(hide_password=False)
    run = CliRunner(env={"SILVERBALL_DATABASE_URL": url})
    for _ in range(2):
        bulk_world.a_night(store)
        done = run.invoke(silverball_group, ["export", "sqlite", str(file)])
        assert done.exit_code == 0
    assert done.stdout.startswith(f"{file}: 2 tournaments, 8 players, 2 games, 8 results,")
    for content in (b"notes of mine", b"SQLite format 3\0" + bytes(200)):
        (tmp_path / "mine").write_bytes(content)
        refused = run.invoke(silverball_group, ["export", "sqlite", str(tmp_path / "mine")])
        assert refused.exit_code == 1
        assert "another file is there, which is no exported database." in refused.stderr
        assert (tmp_path / "mine").read_bytes() == content
    assert list(tmp_path.glob(".*.part")) == []


def test_a_folder_that_is_missing_is_a_sentence(store: Store, tmp_path: Path) -> None:
    run = CliRunner(env={"SILVERBALL_DATABASE_URL": store.url.render_as_string(hide_password=False)})
    refused = run.invoke(silverball_group, ["export", "sqlite", str(tmp_path / "nowhere" / "public.db")])
    assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
    assert "cannot be written" in refused.stderr


def test_the_database_of_the_site_is_never_replaced(store: Store) -> None:
    if not store.is_sqlite:
        pytest.skip("PostgreSQL has no file")
    with pytest.raises(OSError, match="no exported database"):
        bulk.write_database(store, Path(str(store.url.database)))
