"""Rows written in bulk: past the one door, with references and indexes made afterwards."""

from collections.abc import Callable, Iterable

from sqlalchemy import Connection

from big_rows import Rows
from silverball.store import tables
from silverball.store.database.engine import Store

Load = Callable[[Rows], None]


def loader(db: Connection) -> Load:
    """A function that writes rows on the driver's cursor: values are the driver's own."""
    cursor = db.connection.cursor()

    def load(rows: Rows) -> None:
        names = ", ".join(f'"{name}"' for name in rows.columns)
        if db.dialect.name == "sqlite":
            marks = ", ".join("?" * len(rows.columns))
            cursor.executemany(f'INSERT INTO "{rows.table}" ({names}) VALUES ({marks})', rows.values)
            return
        with cursor.copy(f'COPY "{rows.table}" ({names}) FROM STDIN') as copy:
            for values in rows.values:
                copy.write_row(values)

    return load


def load_all(load: Load, parts: Iterable[Rows]) -> None:
    for rows in parts:
        load(rows)


def drop_foreign_keys(db: Connection) -> list[str]:
    """Drop all references, and return the statements that add them again: rows are checked together then."""
    # As much as a session of a restore has; the default is for servers with little memory.
    db.exec_driver_sql("SET LOCAL maintenance_work_mem = '512MB'")
    references = db.exec_driver_sql(
        "SELECT conrelid::regclass, quote_ident(conname), pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY oid"
    ).all()
    for table, name, _ in references:
        db.exec_driver_sql(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    return [f"ALTER TABLE {table} ADD CONSTRAINT {name} {check}" for table, name, check in references]


def advance_sequences(db: Connection) -> None:
    for table in tables.metadata.sorted_tables:
        column = next(iter(table.primary_key.columns))
        sequence = db.exec_driver_sql(
            "SELECT pg_get_serial_sequence(%s, %s)", (f'"{table.name}"', column.name)
        ).scalar_one()
        if sequence is not None:
            db.exec_driver_sql(
                f'SELECT setval(%s, (SELECT coalesce(max("{column.name}"), 0) + 1 FROM "{table.name}"))',
                (sequence,),
            )


def gather_statistics(store: Store) -> None:
    """Do what PostgreSQL does by itself a minute after so many rows; nobody does it for SQLite."""
    if store.is_sqlite:
        return
    with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as autocommitted:
        # The store's own limit is for statements of requests.
        autocommitted.exec_driver_sql("SET statement_timeout = 0")
        autocommitted.exec_driver_sql("VACUUM ANALYZE")
