"""What refers to a thing of somebody's book: nothing that is used may be deleted.

The references are those of the tables, so a new table is never forgotten.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, ForeignKey, Select, and_, exists, select

from silverball.store.tables.base import metadata

TOURNAMENTS_NAMED_MAX = 3


def tournaments_using(db: Connection, key: Column[int], key_id: int) -> Sequence[int]:
    """Ids of tournaments that use the row with this id, ascending, a few at most. Takes its key column."""
    return list(db.execute(_select_using(key, key_id).limit(TOURNAMENTS_NAMED_MAX)).scalars())


def all_tournaments_using(db: Connection, key: Column[int], key_id: int) -> Sequence[int]:
    """Ids of all tournaments that use the row with this id, ascending. Takes its key column."""
    return list(db.execute(_select_using(key, key_id)).scalars())


def _select_using(key: Column[int], key_id: int) -> Select[Any]:
    statements = [_select_referring(column, key_id) for column in referring_columns(key)]
    found = statements[0].union(*statements[1:]).subquery()
    return select(found.c.tournament_id).order_by(found.c.tournament_id)


def is_unreferenced(key: Column[int]) -> ColumnElement[bool]:
    """Whether nothing needs the row in the outer statement: what refers to it goes with it."""
    needing = [
        column
        for table in metadata.sorted_tables
        for column in table.columns
        if any(
            one.references(key.table) and not _is_deleted_along(column, one) for one in column.foreign_keys
        )
    ]
    return and_(*(~exists().where(column == key) for column in needing))


def _is_deleted_along(column: Column[Any], reference: ForeignKey) -> bool:
    """Whether the referring row is only there for the row, and in no tournament."""
    is_playing = "tournament_id" in column.table.c and column.table.name != "shortcut"
    return reference.ondelete == "CASCADE" and not is_playing


def referring_columns(key: Column[int]) -> list[Column[int]]:
    """The columns of what a tournament has that refer to such a row."""
    return [
        column
        for table in metadata.sorted_tables
        if "tournament_id" in table.c
        for column in table.columns
        if any(one.references(key.table) for one in column.foreign_keys) and column.table is not key.table
    ]


def _select_referring(column: Column[int], key_id: int) -> Select[int]:
    tournament_id = column.table.c.tournament_id
    return select(tournament_id.label("tournament_id")).where(column == key_id, tournament_id.is_not(None))
