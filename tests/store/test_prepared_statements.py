"""PostgreSQL parses and plans a statement that is sent often once for each connection."""

from collections.abc import Iterator

import pytest
from sqlalchemy import select, text

from conftest import PostgreSQL
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.database.statements import Statement

_V = tables.site_value
NAMES = select(_V.c.name, _V.c.value).where(_V.c.name.startswith("test"))
COUNT = Statement(text("SELECT count(*) FROM site_value WHERE name LIKE 'test%'"))
PREPARED = text(
    "SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%site_value%'"
    " AND statement NOT LIKE '%pg_prepared%'"
)
# psycopg prepares what it has sent five times.
READS = 8


@pytest.fixture
def cluster_store(postgresql: PostgreSQL) -> Iterator[Store]:
    store = Store(postgresql.new_database())
    yield store
    store.close()


def read_often(store: Store) -> None:
    """Read in transactions of their own, which take the same connection one after the other."""
    for _ in range(READS):
        with store.read() as db:
            assert db.execute(NAMES).all() == []
            assert COUNT.rows(db) == [(0,)]


def prepared(store: Store) -> list[str]:
    with store.read() as db:
        return sorted(db.execute(PREPARED).scalars())


def test_statements_of_many_reads_are_prepared_and_stay(cluster_store: Store) -> None:
    assert prepared(cluster_store) == []
    read_often(cluster_store)
    first, second = prepared(cluster_store)
    assert (first.startswith("SELECT count(*)"), "site_value.name" in second) == (True, True)
    read_often(cluster_store)
    assert len(prepared(cluster_store)) == 2


def test_a_write_leaves_them_as_they_are(cluster_store: Store) -> None:
    read_often(cluster_store)
    with cluster_store.write() as transaction:
        assert transaction.connection.execute(NAMES).all() == []
    assert len(prepared(cluster_store)) == 2


def test_reads_go_on_after_an_update_of_the_schema(cluster_store: Store) -> None:
    """A node of the version before has its statements prepared while the tables get new columns."""
    read_often(cluster_store)
    with cluster_store.migration() as db:
        db.execute(text("ALTER TABLE site_value ADD COLUMN extra TEXT NOT NULL DEFAULT 'new'"))
        db.execute(text("CREATE INDEX ix_site_value_extra ON site_value (extra, name)"))
    read_often(cluster_store)


def test_a_read_that_fails_leaves_nothing_open(cluster_store: Store) -> None:
    read_often(cluster_store)
    with pytest.raises(ZeroDivisionError), cluster_store.read() as db:
        db.execute(NAMES).all()
        raise ZeroDivisionError
    read_often(cluster_store)
    assert len(prepared(cluster_store)) == 2
