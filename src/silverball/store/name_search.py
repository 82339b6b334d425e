"""Search names for a part of them, with the indexes of `store/name_indexes` where they help.

An index holds folded names by trigrams, so a search reads the names that contain the words, and no others.
Words without a trigram, and databases without the indexes, are served by comparing all names; the rows
found are the same.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Integer,
    TableClause,
    Text,
    column,
    func,
    literal,
    select,
    table,
    text,
)

from silverball.store import names, tables
from silverball.store.types import Id

# Three letters or digits in a row: a trigram to both databases.
HAS_TRIGRAM = re.compile(r"[^\W_]{3}")


class SearchedNames(Struct, frozen=True):
    """A column of names that has an index for searches."""

    names: Column[str]
    # Whether the column holds folded names already.
    are_folded: bool = False

    @property
    def table(self) -> str:
        return str(self.names.table.name)

    @property
    def key(self) -> Column[int]:
        (key,) = self.names.table.primary_key
        return key

    @property
    def index(self) -> str:
        """The name of the table of FTS5 on SQLite, and of the index on PostgreSQL."""
        return f"{self.table}_name_search"

    @property
    def fts5_table(self) -> TableClause:
        """The index on SQLite: a folded name for each key, in `rowid`."""
        return table(self.index, column("rowid", Id), column("folded", Text))

    def fold(self, name: ColumnElement[str]) -> ColumnElement[str]:
        """The folded form of a name or of words, as PostgreSQL's index has it."""
        return name if self.are_folded else names.FoldedName(name)


# Tables that are searched as a whole, and may have more than 10,000 rows.
SEARCHED: Mapping[ColumnElement[Any], SearchedNames] = {
    searched.names: searched
    for searched in (
        SearchedNames(tables.user.c.name),
        SearchedNames(tables.player.c.name),
        SearchedNames(tables.tournament.c.name),
        SearchedNames(tables.rating.c.name_folded, are_folded=True),
        SearchedNames(tables.federation_player.c.name),
    )
}


def name_contains(db: Connection, name: ColumnElement[str], words: str) -> ColumnElement[bool]:
    """Whether a name contains the words, regardless of case and accents.

    Of a column with folded names, the words must be folded.
    """
    # That of the table, where the column is one of a subquery.
    (stored,) = name.base_columns
    searched = SEARCHED.get(stored)
    if searched is None:
        return names.NameContains(name, literal(words))
    if db.dialect.name == "postgresql":
        return _contains_on_postgresql(searched, name, words)
    folded = words if searched.are_folded else names.fold(words) or ""
    # SQLite reads a phrase only up to a null character, which no name has.
    has_trigram = HAS_TRIGRAM.search(folded) is not None and "\0" not in folded
    if searched.are_folded and not has_trigram:
        return func.instr(name, folded, type_=Integer) > 0
    if not is_indexed(db, searched):
        # A folded name stays as it is when it is folded.
        return names.NameContains(name, literal(words))
    own = searched.fts5_table
    # Without a trigram all names are compared, which is faster than to fold them first.
    is_found = func.instr(own.c.folded, folded, type_=Integer) > 0
    if has_trigram:
        is_found = own.c.folded.bool_op("MATCH")(_phrase(folded))
    key: ColumnElement[int] = name.table.c[searched.key.name]
    return key.in_(select(own.c.rowid).where(is_found))


def name_is_among(db: Connection, name: Column[str], folded_names: Collection[str]) -> ColumnElement[bool]:
    """Whether a name of an indexed column is one of these, which are folded."""
    searched = SEARCHED[name]
    if db.dialect.name == "sqlite" and is_indexed(db, searched):
        # The names that its index holds are folded already.
        own = searched.fts5_table
        return searched.key.in_(select(own.c.rowid).where(own.c.folded.in_(folded_names)))
    return searched.fold(name).in_(folded_names)


def is_indexed(db: Connection, searched: SearchedNames) -> bool:
    """Whether the database has the index of these names."""
    known = "SELECT 1 FROM pg_indexes WHERE schemaname = current_schema() AND indexname = :name"
    if db.dialect.name == "sqlite":
        known = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = :name"
    return db.execute(text(known), {"name": searched.index}).first() is not None


def _phrase(folded: str) -> str:
    """The words as FTS5 takes them literally."""
    return '"' + folded.replace('"', '""') + '"'


def _contains_on_postgresql(
    searched: SearchedNames, name: ColumnElement[str], words: str
) -> ColumnElement[bool]:
    """With an operator that uses the index, where it can help: it would read all of it otherwise."""
    folded, wanted = searched.fold(name), searched.fold(literal(words))
    if not HAS_TRIGRAM.search(words):
        return func.strpos(folded, wanted, type_=Integer) > 0
    for sign in ("\\", "%", "_"):
        wanted = func.replace(wanted, sign, f"\\{sign}")
    return folded.like(func.concat("%", wanted, "%"))
