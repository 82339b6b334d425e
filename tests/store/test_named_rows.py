"""Prepared statements and row mappers return the rows of SQLAlchemy, by name, on both databases."""

import re
from pathlib import Path

import pytest
from sqlalchemy import Text, bindparam, select, type_coerce

import build
import silverball
from silverball.store import tables
from silverball.store.database.conditions import is_among
from silverball.store.database.engine import Store
from silverball.store.database.statements import RowMapper, Statement

pytestmark = pytest.mark.both_databases

ARENA = tables.arena.c
STATEMENT = (
    select(ARENA.arena_id, ARENA.name, ARENA.opdb_id, ARENA.labels, ARENA.category_id)
    .where(ARENA.organizer_id == bindparam("organizer_id"), ARENA.status == "active")
    .order_by(ARENA.arena_id)
)
SOURCE = Path(silverball.__file__).parent
PREPARED = Statement(STATEMENT)


def test_rows_and_their_types_are_those_of_the_statement(store: Store) -> None:
    organizer_id = build.a_user(store)
    build.an_arena(store, organizer_id, name="Ärger", labels=["new", "äöü"], category_id=2)
    build.an_arena(store, organizer_id, name="Comet", opdb_id="GrXzD-MjBPX")
    build.an_arena(store, organizer_id, status="inactive")
    with store.read() as db:
        expected = [tuple(row) for row in db.execute(STATEMENT, {"organizer_id": organizer_id})]
        assert PREPARED.rows(db, organizer_id=organizer_id) == expected
    assert len(expected) == 2


def test_a_statement_without_rows_returns_none(store: Store) -> None:
    with store.read() as db:
        assert PREPARED.rows(db, organizer_id=2**63 - 1) == []


ARENAS = RowMapper(ARENA.arena_id, ARENA.name)
LOOKUP = Statement(
    select(*ARENAS.columns).where(is_among(ARENA.arena_id, "ids")).order_by(ARENA.arena_id), mapper=ARENAS
)


@pytest.mark.parametrize("count", [0, 1, 70])
def test_a_lookup_finds_the_rows_of_its_ids_once_each_by_id(store: Store, count: int) -> None:
    organizer_id = build.a_user(store)
    arena_ids = [build.an_arena(store, organizer_id, name=f"Comet {at}") for at in range(count + 1)]
    wanted = arena_ids[:count]
    with store.read() as db:
        expected = [tuple(row) for row in db.execute(STATEMENT, {"organizer_id": organizer_id})][:count]
        found = LOOKUP.rows(db, ids=[2**63 - 1, *reversed(wanted), *wanted])
        assert [(row.arena_id, row.name) for row in found] == [row[:2] for row in expected]
        assert list(LOOKUP.grouped(db, ids=wanted)) == wanted


def test_a_statement_reads_the_snapshot_of_its_transaction(store: Store) -> None:
    organizer_id = build.a_user(store)
    with store.read() as db:
        assert PREPARED.rows(db, organizer_id=organizer_id) == []
        build.an_arena(store, organizer_id)
        assert PREPARED.rows(db, organizer_id=organizer_id) == []
    with store.read() as db:
        assert len(PREPARED.rows(db, organizer_id=organizer_id)) == 1


def test_a_list_in_json_keeps_its_order_and_types(store: Store) -> None:
    organizer_id = build.a_user(store)
    for name in ("Zebra", 'The "Quoted" One', "Apollo 13", "Äther"):
        build.an_arena(store, organizer_id, name=name, labels=[name], category_id=2**62)
    backwards = STATEMENT.order_by(None).order_by(ARENA.name.desc())
    with store.read() as db:
        expected = [tuple(row) for row in db.execute(backwards, {"organizer_id": organizer_id})]
        assert Statement(backwards, is_list=True).rows(db, organizer_id=organizer_id) == expected
        assert Statement(backwards, is_list=True).rows(db, organizer_id=999) == []
    assert len(expected) == 4


def test_a_list_refuses_numbers_that_json_would_round() -> None:
    with pytest.raises(ValueError, match="REAL"):
        Statement(select(tables.location.c.lat), is_list=True)


def test_rows_have_the_names_of_columns_labels_and_parts(store: Store) -> None:
    organizer_id = build.a_user(store, name="Olga Ramp")
    build.an_arena(store, organizer_id, name="Comet")
    organizer = RowMapper(tables.user.c.user_id, tables.user.c.name)
    mapper = RowMapper(
        ARENA.name, type_coerce(ARENA.labels, Text), ARENA.status.label("state"), organizer=organizer
    )
    statement = select(*mapper.columns).join(tables.user, tables.user.c.user_id == ARENA.organizer_id)
    with store.read() as db:
        mapped = mapper.rows(db.execute(statement))
        prepared = Statement(statement, mapper=mapper).rows(db)
    (row,) = mapped
    assert prepared == mapped
    assert (row.name, row.labels, row.state) == ("Comet", "[]", "active")
    assert (row.organizer.user_id, row.organizer.name) == (organizer_id, "Olga Ramp")


def test_grouped_rows_are_columns_by_name(store: Store) -> None:
    mapper = RowMapper(ARENA.organizer_id, ARENA.name)
    names = {build.a_user(store): ("Apollo 13", "Comet"), build.a_user(store): ("Zebra",)}
    for organizer_id, own_names in names.items():
        for name in own_names:
            build.an_arena(store, organizer_id, name=name)
    statement = select(*mapper.columns).order_by(ARENA.organizer_id, ARENA.name)
    with store.read() as db:
        grouped = Statement(statement, mapper=mapper, is_list=True).grouped(db)
    assert {organizer_id: columns.name for organizer_id, columns in grouped.items()} == names


def test_only_the_mapper_takes_rows_by_position() -> None:
    # A row of the wire is a dict: row["points"].
    by_position = re.compile(r"\brow\[(?!\")")
    files = [path for path in SOURCE.rglob("*.py") if by_position.search(path.read_text(encoding="utf-8"))]
    assert [path.name for path in files] == ["statements.py"]
