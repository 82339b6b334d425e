"""Whether an id is among many, which the database looks up one by one.

`column.in_(ids)` has a parameter for each id, so each number of ids makes another text, which is written,
parsed and planned anew each time; here it is one parameter for all of them. And of `column.in_(select(...))`
PostgreSQL expects as many different ids as rows, and rather reads a whole table to compare; an array of the
same ids is small to it.
"""

from collections.abc import Collection
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
)
from sqlalchemy.ext.compiler import compiles
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
