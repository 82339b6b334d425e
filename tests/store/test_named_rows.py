"""A prepared statement says what the same statement says otherwise, on both databases."""

import pytest
from sqlalchemy import bindparam, select

import build
from silverball.store import tables
from silverball.store.engine import Store
from silverball.store.named_rows import PreparedStatement

ARENA = tables.arena.c
STATEMENT = (
    select(ARENA.arena_id, ARENA.name, ARENA.opdb_id, ARENA.labels, ARENA.category_id)
    .where(ARENA.organizer_id == bindparam("organizer_id"), ARENA.status == "active")
    .order_by(ARENA.arena_id)
)
PREPARED = PreparedStatement(STATEMENT)


def test_rows_and_their_types_are_those_of_the_statement(store: Store) -> None:
    organizer_id = build.a_user(store)
    build.an_arena(store, organizer_id, name="Ärger", labels=["new", "äöü"], category_id=2)
    build.an_arena(store, organizer_id, name="Comet", opdb_id="GrXzD-MjBPX")
    build.an_arena(store, organizer_id, status="inactive")
    with store.read() as db:
        expected = [tuple(row) for row in db.execute(STATEMENT, {"organizer_id": organizer_id})]
        assert PREPARED.rows(db, organizer_id=organizer_id) == expected
    assert len(expected) == 2


def test_it_finds_nothing_where_there_is_nothing(store: Store) -> None:
    with store.read() as db:
        assert PREPARED.rows(db, organizer_id=2**63 - 1) == []


def test_it_sees_the_snapshot_of_its_transaction(store: Store) -> None:
    organizer_id = build.a_user(store)
    with store.read() as db:
        assert PREPARED.rows(db, organizer_id=organizer_id) == []
        build.an_arena(store, organizer_id)
        assert PREPARED.rows(db, organizer_id=organizer_id) == []
    with store.read() as db:
        assert len(PREPARED.rows(db, organizer_id=organizer_id)) == 1


def test_a_list_keeps_its_order_and_its_types_however_it_is_fetched(store: Store) -> None:
    organizer_id = build.a_user(store)
    for name in ("Zebra", 'The "Quoted" One', "Apollo 13", "Äther"):
        build.an_arena(store, organizer_id, name=name, labels=[name], category_id=2**62)
    backwards = STATEMENT.order_by(None).order_by(ARENA.name.desc())
    with store.read() as db:
        expected = [tuple(row) for row in db.execute(backwards, {"organizer_id": organizer_id})]
        assert PreparedStatement(backwards, is_list=True).rows(db, organizer_id=organizer_id) == expected
        assert PreparedStatement(backwards, is_list=True).rows(db, organizer_id=999) == []
    assert len(expected) == 4


def test_numbers_that_json_would_round_are_refused_in_a_list() -> None:
    with pytest.raises(ValueError, match="REAL"):
        PreparedStatement(select(tables.location.c.lat), is_list=True)
