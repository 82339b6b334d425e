"""What refers to a thing of somebody's book: nothing that is used may be deleted.

The references are those of the tables, so a new table is never forgotten.
"""

from collections.abc import Sequence

from sqlalchemy import Column, Connection, Select, select

from silverball.store.tables.base import metadata

NAMED_MAX = 3


def tournaments_using(db: Connection, key: Column[int], key_id: int) -> Sequence[int]:
    """Ids of tournaments that use the row with this id, ascending, a few at most. Takes its key column."""
    statements = [_users(column, key_id) for column in _references(key)]
    found = statements[0].union(*statements[1:]).subquery()
    ids = select(found.c.tournament_id).order_by(found.c.tournament_id).limit(NAMED_MAX)
    return db.execute(ids).scalars().all()


def _references(key: Column[int]) -> list[Column[int]]:
    return [
        column
        for table in metadata.sorted_tables
        if "tournament_id" in table.c
        for column in table.columns
        if any(one.references(key.table) for one in column.foreign_keys) and column.table is not key.table
    ]


def _users(column: Column[int], key_id: int) -> Select[int]:
    tournament_id = column.table.c.tournament_id
    return select(tournament_id.label("tournament_id")).where(column == key_id, tournament_id.is_not(None))
