"""Many rows for one table, inserted without building and compiling a statement each time."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, Table, bindparam, insert

from silverball.store.driver_statements import DriverStatement


def insert_rows(db: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert these rows, all of which have the same columns; none without rows."""
    if rows:
        _insert_of(table, tuple(rows[0])).run_many(db, rows)


@cache
def _insert_of(table: Table, names: tuple[str, ...]) -> DriverStatement:
    values = {name: bindparam(name, type_=table.c[name].type) for name in names}
    return DriverStatement(insert(table).values(values))
