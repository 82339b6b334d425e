"""Names compared without case and accents, on both databases alike.

A name is folded before it is compared: decomposed (NFKD), without accents, in lower case. SQLite
calls back into Python for it; PostgreSQL has all of it built in.
"""

import re
import unicodedata
from typing import Any

from sqlalchemy import Boolean, ColumnElement, Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

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
