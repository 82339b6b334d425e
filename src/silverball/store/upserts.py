"""Inserts with a rule for rows that are there already, in the dialect of the database at hand."""

from typing import Any

from sqlalchemy import Connection, Table


def insert_into(db: Connection, table: Table) -> Any:
    """An insert that knows `on_conflict_do_update`.

    SQLAlchemy has a class for each dialect. Each is imported where its database is in use, because a start
    on SQLite would wait for the dialect of PostgreSQL.
    """
    if db.dialect.name == "sqlite":
        from sqlalchemy.dialects import sqlite

        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)
