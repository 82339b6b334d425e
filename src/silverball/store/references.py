"""Tournaments that use a row of an organizer's book: a row in use may not be deleted.

The references are those of the tables, so a new table is included by itself.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, ForeignKey, Select, and_, exists, select

from silverball.store.tables.base import metadata

TOURNAMENTS_NAMED_MAX = 3


def tournaments_using(db: Connection, key: Column[int], row_id: int) -> Sequence[int]:
    """Ids of the first few tournaments that use the row, ascending. Takes the table's key column."""
    return list(db.execute(_select_using(key, row_id).limit(TOURNAMENTS_NAMED_MAX)).scalars())


def all_tournaments_using(db: Connection, key: Column[int], row_id: int) -> Sequence[int]:
    """Ids of all tournaments that use the row, ascending. Takes the table's key column."""
    return list(db.execute(_select_using(key, row_id)).scalars())


def _select_using(key: Column[int], row_id: int) -> Select[Any]:
    statements = [_select_referring(column, row_id) for column in referring_columns(key)]
    using = statements[0].union(*statements[1:]).subquery()
    return select(using.c.tournament_id).order_by(using.c.tournament_id)


def is_unreferenced(key: Column[int]) -> ColumnElement[bool]:
    """Whether the row of the outer statement can be deleted: only rows that go with it refer to it."""
    blocking = [
        column
        for table in metadata.sorted_tables
        for column in table.columns
        if any(
            reference.references(key.table) and not _is_deleted_along(column, reference)
            for reference in column.foreign_keys
        )
    ]
    return and_(*(~exists().where(column == key) for column in blocking))


def _is_deleted_along(column: Column[Any], reference: ForeignKey) -> bool:
    """Whether the referring row only belongs to the other row, and to no tournament."""
    is_in_tournament = "tournament_id" in column.table.c and column.table.name != "shortcut"
    return reference.ondelete == "CASCADE" and not is_in_tournament


def referring_columns(key: Column[int]) -> list[Column[int]]:
    """The columns of a tournament's tables that refer to this key."""
    return [
        column
        for table in metadata.sorted_tables
        if "tournament_id" in table.c
        for column in table.columns
        if any(reference.references(key.table) for reference in column.foreign_keys)
        and column.table is not key.table
    ]


def _select_referring(column: Column[int], row_id: int) -> Select[int]:
    tournament_id = column.table.c.tournament_id
    return select(tournament_id.label("tournament_id")).where(column == row_id, tournament_id.is_not(None))
