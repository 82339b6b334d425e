"""Both databases store values with their types, keep references and count commits."""

from pathlib import Path

import pytest
from sqlalchemy import UniqueConstraint, insert, select
from sqlalchemy.exc import IntegrityError

import build
from silverball.store import tables
from silverball.store.database.engine import WAL_BYTES_KEPT, Store

pytestmark = pytest.mark.both_databases


def test_values_are_read_back_with_their_types(store: Store) -> None:
    user_id = build.a_user(store, name="Åsa Ö", email="asa@example.org")
    with store.read() as db:
        row = db.execute(select(tables.user).where(tables.user.c.user_id == user_id)).one()
    assert (row.name, row.placeholder, row.created_at) == ("Åsa Ö", False, build.NOW)


def test_a_reference_to_a_missing_row_is_refused(store: Store) -> None:
    with pytest.raises(IntegrityError):
        build.a_player(store, 999)


def test_opdb_ids_that_differ_by_case_only_are_different(store: Store) -> None:
    organizer_id = build.a_user(store)
    for opdb_id in ("GrXzD-MjBPX", "GrxzD-MjBPX"):
        build.an_arena(store, organizer_id, opdb_id=opdb_id)
    with store.read() as db:
        rows = db.execute(select(tables.arena).where(tables.arena.c.opdb_id == "GrXzD-MjBPX")).all()
    assert len(rows) == 1


def test_every_commit_raises_the_world_revision(store: Store) -> None:
    before = store.world_revision()
    build.a_user(store)
    assert store.world_revision() == before + 1


def test_a_write_that_fails_leaves_nothing(store: Store) -> None:
    before = store.world_revision()
    with pytest.raises(RuntimeError), store.write() as transaction:
        transaction.connection.execute(
            insert(tables.user).values({**build.DEFAULTS["user"], "name": "Nobody"})
        )
        raise RuntimeError
    with store.read() as db:
        assert db.execute(select(tables.user)).all() == []
    assert store.world_revision() == before


# Rows of users are never deleted, so their references need no index, which each result would pay for.
WITHOUT_INDEX = {
    "game.scorekeeper_id",
    "journal.actor_id",
    "occasion_link.user_id",
    "occasion_tournament.user_id",
    "single_player_game.scorekeeper_id",
}


def test_every_reference_has_an_index() -> None:
    """Otherwise, deleting a round would read all single player games."""
    without_index = set()
    for table in tables.metadata.tables.values():
        uniques = [constraint for constraint in table.constraints if isinstance(constraint, UniqueConstraint)]
        keys = [constraint.columns for constraint in (table.primary_key, *uniques)]
        keys += [index.columns for index in table.indexes]
        leading = {next(iter(columns)).name for columns in keys if len(columns)}
        without_index |= {
            str(column) for column in table.columns if column.foreign_keys and column.name not in leading
        }
    assert without_index == WITHOUT_INDEX


def test_a_write_ahead_log_that_has_grown_is_cut_back(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'large.db'}")
    log = tmp_path / "large.db-wal"
    with store.migration() as db:
        db.exec_driver_sql("CREATE TABLE large (content BLOB)")
        db.exec_driver_sql("INSERT INTO large VALUES (zeroblob(?))", (WAL_BYTES_KEPT * 5 // 4,))
    assert log.stat().st_size > WAL_BYTES_KEPT
    with store.engine.connect() as db:
        db.exec_driver_sql("PRAGMA wal_checkpoint(RESTART)")
    with store.migration() as db:
        db.exec_driver_sql("INSERT INTO large VALUES (zeroblob(10))")
    assert log.stat().st_size <= WAL_BYTES_KEPT
    store.close()
