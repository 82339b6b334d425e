"""The database keeps its promises on both kinds."""

import pytest
from sqlalchemy import UniqueConstraint, insert, select
from sqlalchemy.exc import IntegrityError

import build
from silverball.store import tables
from silverball.store.engine import Store


def test_what_was_written_is_read_back_with_its_types(store: Store) -> None:
    user_id = build.a_user(store, name="Åsa Ö", email="asa@example.org")
    with store.read() as db:
        found = db.execute(select(tables.user).where(tables.user.c.user_id == user_id)).one()
    assert (found.name, found.placeholder, found.created_at) == ("Åsa Ö", False, build.NOW)


def test_a_row_that_refers_to_nothing_is_refused(store: Store) -> None:
    with pytest.raises(IntegrityError):
        build.a_player(store, 999)


def test_opdb_ids_that_differ_by_case_only_are_different(store: Store) -> None:
    organizer_id = build.a_user(store)
    for opdb_id in ("GrXzD-MjBPX", "GrxzD-MjBPX"):
        build.an_arena(store, organizer_id, opdb_id=opdb_id)
    with store.read() as db:
        found = db.execute(select(tables.arena).where(tables.arena.c.opdb_id == "GrXzD-MjBPX")).all()
    assert len(found) == 1


def test_every_commit_is_seen_in_one_number(store: Store) -> None:
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


# Rows of users are never deleted, so nobody looks for what refers to one; each result would pay for it.
WITHOUT_INDEX = {
    "game.scorekeeper_id",
    "game_player.user_id",
    "journal.actor_id",
    "occasion_link.user_id",
    "occasion_tournament.user_id",
    "single_player_game.scorekeeper_id",
}


def test_whatever_refers_to_a_row_is_found_without_walking_through_its_table() -> None:
    """Deleting a round would otherwise read every single player game there is."""
    found = set()
    for table in tables.metadata.tables.values():
        uniques = [one for one in table.constraints if isinstance(one, UniqueConstraint)]
        keys = [one.columns for one in (table.primary_key, *uniques)]
        keys += [one.columns for one in table.indexes]
        led_by = {next(iter(columns)).name for columns in keys if len(columns)}
        found |= {str(one) for one in table.columns if one.foreign_keys and one.name not in led_by}
    assert found == WITHOUT_INDEX
