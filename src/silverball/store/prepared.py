"""Statements that are compiled once: the few that every screen in the hall asks for again and again.

Building a statement, finding its compiled form and wrapping each row costs SQLAlchemy more than
SQLite needs to answer. A `Prepared` keeps the text and hands back plain tuples, decoded by the same
column types. It takes single values only, no lists.
"""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Dialect, Select
from sqlalchemy.types import TypeDecorator

Row = tuple[Any, ...]
Decode = Callable[[Any], Any]


class Prepared:
    """A SELECT with named parameters, ready to run on either database."""

    def __init__(self, statement: Select[Any]) -> None:
        self._statement = statement
        self._ready: dict[str, _Ready] = {}

    def rows(self, db: Connection, **values: int) -> list[Row]:
        """All rows, as tuples in the order of the selected columns."""
        ready = self._ready.get(db.dialect.name)
        if ready is None:
            ready = self._ready[db.dialect.name] = _Ready(self._statement, db.dialect)
        if not db.in_transaction():
            # The snapshot begins with the first statement, whoever sends it.
            db.begin()
        cursor = db.connection.cursor()
        try:
            cursor.execute(ready.text, ready.parameters(values))
            return ready.decoded(list(cursor.fetchall()))
        finally:
            cursor.close()


class _Ready:
    """The statement as one database wants it."""

    def __init__(self, statement: Select[Any], dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        self.text = str(compiled)
        self._constants = compiled.params
        self._order = compiled.positiontup
        # Only our own column types decode; what the drivers give for the others is final.
        decoders = [
            one.type.dialect_impl(dialect).result_processor(dialect, None)
            if isinstance(one.type, TypeDecorator)
            else None
            for one in statement.selected_columns
        ]
        self._decoders = [(at, decode) for at, decode in enumerate(decoders) if decode is not None]

    def parameters(self, values: dict[str, int]) -> Any:
        named = {**self._constants, **values}
        return named if self._order is None else [named[name] for name in self._order]

    def decoded(self, rows: list[Row]) -> list[Row]:
        if not self._decoders or not rows:
            return rows
        columns = list(zip(*rows, strict=True))
        for at, decode in self._decoders:
            columns[at] = tuple([decode(value) for value in columns[at]])
        return list(zip(*columns, strict=True))
