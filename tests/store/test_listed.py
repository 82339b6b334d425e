"""Many rows of numbers as one text, the same on both databases."""

import pytest
from sqlalchemy import BigInteger, Column, Connection, MetaData, Table, insert, select

from silverball.store.database.conditions import decode_listed, decode_nullable, listed, listed_nullable
from silverball.store.database.engine import Store

pytestmark = pytest.mark.both_databases

Row = tuple[int, int | None]
LARGEST = 2**63 - 1
ROWS = Table(
    "listed_rows",
    MetaData(),
    Column("first", BigInteger, nullable=False),
    Column("second", BigInteger),
    prefixes=["TEMPORARY"],
)


def write_rows(db: Connection, rows: list[Row]) -> None:
    ROWS.create(db)
    if rows:
        db.execute(insert(ROWS), [{"first": first, "second": second} for first, second in rows])


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [(1, 10)],
        [(1, None)],
        [(1, 10), (2, None), (3, -250), (4, 0)],
        [(LARGEST, LARGEST), (-LARGEST, None)],
        [(number, number * 7 % 13) for number in range(500)],
    ],
    ids=["none", "one row", "null", "some", "largest", "many"],
)
def test_rows_come_back_as_they_were_written(store: Store, rows: list[Row]) -> None:
    with store.migration() as db:
        write_rows(db, rows)
        numbers = decode_nullable(db.execute(select(listed_nullable(ROWS.c.first, ROWS.c.second))).scalar())
        ROWS.drop(db)
    assert sorted(zip(numbers[::2], numbers[1::2], strict=True)) == sorted(rows)


def test_a_single_column_is_a_list(store: Store) -> None:
    with store.migration() as db:
        write_rows(db, [(3, None), (1, None), (2, None)])
        assert sorted(decode_listed(db.execute(select(listed(ROWS.c.first))).scalar())) == [1, 2, 3]
        ROWS.drop(db)


def test_lists_of_one_statement_have_the_same_order(store: Store) -> None:
    rows: list[Row] = [(number * 7 % 101, number * 7 % 101 + 1_000) for number in range(100)]
    with store.migration() as db:
        write_rows(db, rows)
        both = select(listed(ROWS.c.first), listed(ROWS.c.first + 1_000))
        first, second = map(decode_listed, db.execute(both).one())
        ROWS.drop(db)
    assert [number + 1_000 for number in first] == second
    assert sorted(first) == sorted(number for number, _ in rows)


def test_a_column_that_may_be_null_is_refused_as_its_rows_would_be_left_out() -> None:
    with pytest.raises(ValueError, match=r"second may be null"):
        listed(ROWS.c.first, ROWS.c.second)
