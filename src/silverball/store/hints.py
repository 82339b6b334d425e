"""Hints to the databases about how to answer a statement."""

from typing import Any

from sqlalchemy import ColumnElement
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


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
