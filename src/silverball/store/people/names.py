"""Names compared without case and accents, on both databases alike.

A name is folded before it is compared: decomposed (NFKD), without accents, in lower case. SQLite
calls back into Python for it; PostgreSQL has all of it built in.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct
from sqlalchemy import (
    Boolean,
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
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from silverball.store import tables
from silverball.store.types import Id

# Some lists write these in a name, others leave them out: O'Neil, St. Clair.
SILENT_MARKS = re.compile("['\u2018\u2019`\u00b4.]")
ACCENTS = ("\u0300", "\u036f")
# NFKD does not decompose letters with a stroke; a sigma at the end of a word counts as a sigma.
ODD_LETTERS, PLAIN_LETTERS = "øłđħıŧ\u03c2", "oldhit\u03c3"
_PLAIN_LETTER_TABLE = str.maketrans(ODD_LETTERS, PLAIN_LETTERS)


def fold(text: str | None) -> str | None:
    """The text without case and accents."""
    if text is None or text.isascii():
        return text and text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    unaccented = "".join(letter for letter in decomposed if not ACCENTS[0] <= letter <= ACCENTS[1])
    return unaccented.lower().translate(_PLAIN_LETTER_TABLE)


def strip_punctuation(name: str) -> str:
    """A full name for a comparison of two lists: folded, only letters and digits, single spaces."""
    unmarked = SILENT_MARKS.sub("", fold(name.casefold()) or "")
    return " ".join("".join(letter if letter.isalnum() else " " for letter in unmarked).split())


def name_key(name: str) -> str:
    """The name without case, accents and superfluous spaces: equal for two spellings of one name."""
    return " ".join((fold(name) or "").split())


class NameContains(FunctionElement[bool]):
    """`NameContains(name, words)`: whether the name contains the words, regardless of case and accents."""

    type = Boolean()
    inherit_cache = True

    def __init__(self, name: ColumnElement[str], words: ColumnElement[str]) -> None:
        super().__init__(name, words)


@compiles(NameContains, "sqlite")
def _contains_on_sqlite(element: NameContains, compiler: SQLCompiler, **more: Any) -> str:
    name, words = (compiler.process(clause, **more) for clause in element.clauses)
    return f"(instr({_fold_in_sqlite(name)}, silverball_folded({words})) > 0)"


def _fold_in_sqlite(text: str) -> str:
    # Names in ASCII, nearly all of them, need no call into Python: ten times as many names a second.
    return (
        f"CASE WHEN length(CAST({text} AS BLOB)) = length({text}) THEN lower({text})"
        f" ELSE silverball_folded({text}) END"
    )


@compiles(NameContains, "postgresql")
def _contains_on_postgresql(element: NameContains, compiler: SQLCompiler, **more: Any) -> str:
    name, words = (compiler.process(clause, **more) for clause in element.clauses)
    return f"(strpos({_fold_in_postgresql(name)}, {_fold_any_in_sql(words)}) > 0)"


def _fold_in_postgresql(text: str) -> str:
    """The folded text, quickly where it is ASCII. A change of it needs other indexes (`name_indexes`)."""
    return (
        f'CASE WHEN octet_length({text}) = char_length({text}) THEN lower({text} COLLATE "und-x-icu")'
        f" ELSE {_fold_any_in_sql(text)} END"
    )


def _fold_any_in_sql(text: str) -> str:
    unaccented = f"regexp_replace(normalize({text}, NFKD), '[\\u0300-\\u036f]', '', 'g')"
    # The database's own locale may know no lower case beyond ASCII.
    return f"""translate(lower({unaccented} COLLATE "und-x-icu"), '{ODD_LETTERS}', '{PLAIN_LETTERS}')"""


class FoldedName(FunctionElement[str]):
    """`FoldedName(name)`: the name without case and accents, equal to `fold(name)`."""

    type = Text()
    inherit_cache = True


@compiles(FoldedName, "sqlite")
def _fold_on_sqlite(element: FoldedName, compiler: SQLCompiler, **more: Any) -> str:
    (name,) = (compiler.process(clause, **more) for clause in element.clauses)
    return _fold_in_sqlite(name)


@compiles(FoldedName, "postgresql")
def _fold_on_postgresql(element: FoldedName, compiler: SQLCompiler, **more: Any) -> str:
    (name,) = (compiler.process(clause, **more) for clause in element.clauses)
    return _fold_in_postgresql(name)


# Search names for a part of them, with the indexes of `store/name_indexes` where they help.
#
# An index holds folded names by trigrams, so a search reads the names that contain the words, and no
# others. Words without a trigram, and databases without the indexes, are served by comparing all names; the
# rows found are the same.


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
        return name if self.are_folded else FoldedName(name)


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
        return NameContains(name, literal(words))
    if db.dialect.name == "postgresql":
        return _search_on_postgresql(searched, name, words)
    folded = words if searched.are_folded else fold(words) or ""
    # SQLite reads a phrase only up to a null character, which no name has.
    has_trigram = HAS_TRIGRAM.search(folded) is not None and "\0" not in folded
    if searched.are_folded and not has_trigram:
        return func.instr(name, folded, type_=Integer) > 0
    if not is_indexed(db, searched):
        # A folded name stays as it is when it is folded.
        return NameContains(name, literal(words))
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


def _search_on_postgresql(
    searched: SearchedNames, name: ColumnElement[str], words: str
) -> ColumnElement[bool]:
    """With an operator that uses the index, where it can help: it would read all of it otherwise."""
    folded, wanted = searched.fold(name), searched.fold(literal(words))
    if not HAS_TRIGRAM.search(words):
        return func.strpos(folded, wanted, type_=Integer) > 0
    for sign in ("\\", "%", "_"):
        wanted = func.replace(wanted, sign, f"\\{sign}")
    return folded.like(func.concat("%", wanted, "%"))
