"""Whether an id is among many, which the database looks up one by one.

`column.in_(ids)` has a parameter for each id, so each number of ids makes another text, which is written,
parsed and planned anew each time; here it is one parameter for all of them. And of `column.in_(select(...))`
PostgreSQL expects as many different ids as rows, and rather reads a whole table to compare; an array of the
same ids is small to it.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    ColumnElement,
    Dialect,
    ScalarSelect,
    SelectBase,
    Text,
    bindparam,
    cast,
    func,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator, TypeEngine


class IdList(TypeDecorator[Collection[int]]):
    """Many ids as one parameter: an array of PostgreSQL, a JSON text for SQLite."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(Text() if dialect.name == "sqlite" else ARRAY(BigInteger()))

    def process_bind_param(self, value: Collection[int] | None, dialect: Dialect) -> Any:
        ids = list(value or ())
        return msgspec.json.encode(ids).decode() if dialect.name == "sqlite" else ids


class IsAmong(FunctionElement[bool]):
    """The condition of `is_among`."""

    type = Boolean()
    inherit_cache = True

    @property
    def has_statement(self) -> bool:
        """Whether the ids are those of a statement, which is written in parentheses."""
        return isinstance(list(self.clauses)[1], ScalarSelect)

    def self_group(self, against: Any = None) -> "IsAmong":  # noqa: ARG002  # SQLAlchemy's signature
        # As part of a longer condition it needs no parentheses, and on SQLite no `= 1` behind it.
        return self


def is_among(column: ColumnElement[int], ids: Collection[int] | SelectBase | str) -> ColumnElement[bool]:
    """Whether the value of the column is one of these ids; false where there are none.

    A text names the parameter that has them.
    """
    if isinstance(ids, SelectBase):
        return IsAmong(column, ids.scalar_subquery())
    if isinstance(ids, str):
        return IsAmong(column, bindparam(ids, type_=IdList()))
    return IsAmong(column, bindparam(None, ids, type_=IdList(), unique=True))


@compiles(IsAmong)
def _in_json(condition: IsAmong, compiler: Any, **options: Any) -> str:
    column, ids = (compiler.process(clause, **options) for clause in condition.clauses)
    if condition.has_statement:
        return f"{column} IN {ids}"
    return f"{column} IN (SELECT value FROM json_each({ids}))"  # noqa: S608  # compiled clauses


@compiles(IsAmong, "postgresql")
def _in_array(condition: IsAmong, compiler: Any, **options: Any) -> str:
    column, ids = (compiler.process(clause, **options) for clause in condition.clauses)
    return f"{column} = ANY (ARRAY{ids})" if condition.has_statement else f"{column} = ANY ({ids})"


# Many rows of whole numbers as one text: a tenth of what a row for each costs, on both databases.


_DECODE = msgspec.json.Decoder(list[int]).decode
_DECODE_NULLABLE = msgspec.json.Decoder(list[Any]).decode
NOTHING = "null"


def listed(*columns: ColumnElement[int]) -> ColumnElement[str]:
    """The values of columns that are never null, row after row, in no certain order; null without rows.

    Two in one statement have the same order; SQLite reads two of a column each in half the time. Raises
    ValueError for a column of a table that may be null, as its rows would be left out.
    """
    for column in columns:
        if getattr(column, "nullable", False):
            raise ValueError(f"{column} may be null: listed_nullable")
    return _listed([cast(column, Text) for column in columns])


def listed_nullable(*columns: ColumnElement[int]) -> ColumnElement[str]:
    """The same, of columns that may be null."""
    return _listed([func.coalesce(cast(column, Text), NOTHING) for column in columns])


def _listed(texts: Sequence[ColumnElement[str]]) -> ColumnElement[str]:
    row, *others = texts
    for text in others:
        row = row.concat(",").concat(text)
    return func.aggregate_strings(row, ",")


def decode_listed(text: str | None) -> list[int]:
    """The numbers of `listed`."""
    return _DECODE(f"[{text or ''}]")


def decode_nullable(text: str | None) -> list[Any]:
    """The numbers of `listed_nullable`: whole numbers, and None for null."""
    return _DECODE_NULLABLE(f"[{text or ''}]")


# SQLite takes 32,766 parameters in one statement.
IDS_PER_STATEMENT = 5_000


def ascending_batches(ids: Collection[int], size: int = IDS_PER_STATEMENT) -> Iterator[list[int]]:
    """The ids, ascending and without repeats, so many at a time."""
    ordered = sorted(set(ids))
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]


# Hints to the databases about how to answer a statement.


class NotByIndex(FunctionElement[Any]):
    """`NotByIndex(column) == value`: a condition for which no index shall be chosen.

    SQLite takes every value of an indexed column for equally rare, so that it may look for one of
    100,000 completed tournaments in place of one of the organizer's ten. PostgreSQL has counted them.
    """

    inherit_cache = True

    def __init__(self, column: ColumnElement[Any]) -> None:
        super().__init__(column)
        self.type = column.type


@compiles(NotByIndex, "sqlite")
def _hide_from_sqlite(element: NotByIndex, compiler: SQLCompiler, **more: Any) -> str:
    (column,) = (compiler.process(clause, **more) for clause in element.clauses)
    return f"+{column}"


@compiles(NotByIndex, "postgresql")
def _leave_to_postgresql(element: NotByIndex, compiler: SQLCompiler, **more: Any) -> str:
    (column,) = (compiler.process(clause, **more) for clause in element.clauses)
    return column
