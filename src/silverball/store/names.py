"""Finding a name whatever its case and accents, on both databases alike.

A name is folded when it is compared: taken apart (NFKD), stripped of its accents, lower case. SQLite
calls back into Python for it; PostgreSQL has all of it built in.
"""

import re
import unicodedata
from typing import Any

from sqlalchemy import Boolean, ColumnElement, Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

# In a name they join letters that other lists write apart or together: O'Neil, St. Clair.
SILENT_MARKS = re.compile("['\u2018\u2019`\u00b4.]")
ACCENTS = ("\u0300", "\u036f")
# Letters with a stroke do not come apart, and a sigma at the end of a word is still a sigma.
ODD_LETTERS, PLAIN_LETTERS = "øłđħıŧ\u03c2", "oldhit\u03c3"
_PLAIN_LETTER_TABLE = str.maketrans(ODD_LETTERS, PLAIN_LETTERS)


def fold(text: str | None) -> str | None:
    """The text without case and accents."""
    if text is None or text.isascii():
        return text and text.lower()
    apart = unicodedata.normalize("NFKD", text)
    bare = "".join(letter for letter in apart if not ACCENTS[0] <= letter <= ACCENTS[1])
    return bare.lower().translate(_PLAIN_LETTER_TABLE)


def strip_punctuation(name: str) -> str:
    """A full name as two lists can be compared by: folded, only letters and digits, words one space apart."""
    bare = SILENT_MARKS.sub("", fold(name.casefold()) or "")
    return " ".join("".join(letter if letter.isalnum() else " " for letter in bare).split())


def name_key(name: str) -> str:
    """What two names are the same by: without case, accents and superfluous spaces."""
    return " ".join((fold(name) or "").split())


class NameContains(FunctionElement[bool]):
    """`Holds(name, words)`: whether the name contains the words, but for case and accents."""

    type = Boolean()
    inherit_cache = True

    def __init__(self, name: ColumnElement[str], words: ColumnElement[str]) -> None:
        super().__init__(name, words)


@compiles(NameContains, "sqlite")
def _contains_on_sqlite(element: NameContains, compiler: SQLCompiler, **more: Any) -> str:
    name, words = (compiler.process(clause, **more) for clause in element.clauses)
    return f"(instr(silverball_folded({name}), silverball_folded({words})) > 0)"


@compiles(NameContains, "postgresql")
def _contains_on_postgresql(element: NameContains, compiler: SQLCompiler, **more: Any) -> str:
    name, words = (_fold_in_sql(compiler.process(clause, **more)) for clause in element.clauses)
    return f"(strpos({name}, {words}) > 0)"


def _fold_in_sql(text: str) -> str:
    bare = f"regexp_replace(normalize({text}, NFKD), '[\\u0300-\\u036f]', '', 'g')"
    # The database's own locale may know no lower case beyond ASCII.
    return f"""translate(lower({bare} COLLATE "und-x-icu"), '{ODD_LETTERS}', '{PLAIN_LETTERS}')"""


class FoldedName(FunctionElement[str]):
    """`Folded(name)`: the name without case and accents, as `folded` makes it."""

    type = Text()
    inherit_cache = True


@compiles(FoldedName, "sqlite")
def _fold_on_sqlite(element: FoldedName, compiler: SQLCompiler, **more: Any) -> str:
    (name,) = (compiler.process(clause, **more) for clause in element.clauses)
    return f"silverball_folded({name})"


@compiles(FoldedName, "postgresql")
def _fold_on_postgresql(element: FoldedName, compiler: SQLCompiler, **more: Any) -> str:
    (name,) = (compiler.process(clause, **more) for clause in element.clauses)
    return _fold_in_sql(name)
