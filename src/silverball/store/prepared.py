"""Statements that are compiled once: the few that every screen in the hall asks for again and again.

Building a statement, finding its compiled form and wrapping each row costs SQLAlchemy more than
SQLite needs to answer. A `Prepared` keeps the text and hands back plain tuples, decoded by the same
column types. It takes single values only, no lists.

`many` is for lists: on SQLite they come as one JSON text. The driver lets other threads run at every
row, and taking the turn back costs more than the row does as soon as somebody else wants it.
"""

from typing import Any

import msgspec
from sqlalchemy import Connection, Dialect, Select
from sqlalchemy.types import REAL, TypeDecorator

Row = tuple[Any, ...]
_DECODE_ROWS = msgspec.json.Decoder(list[tuple[Any, ...]]).decode


class PreparedStatement:
    """A SELECT with named parameters, ready to run on either database."""

    def __init__(self, statement: Select[Any], *, is_list: bool = False) -> None:
        if is_list and any(isinstance(one.type, REAL) for one in statement.selected_columns):
            raise ValueError("JSON would round the numbers of a REAL column")
        self._statement = statement
        self._is_list = is_list
        self._compiled: dict[str, _CompiledStatement] = {}

    def rows(self, db: Connection, **values: int) -> list[Row]:
        """All rows, as tuples in the order of the selected columns."""
        ready = self._compiled.get(db.dialect.name)
        if ready is None:
            at_once = self._is_list and db.dialect.name == "sqlite"
            ready = self._compiled[db.dialect.name] = _CompiledStatement(
                self._statement, db.dialect, at_once=at_once
            )
        if not db.in_transaction():
            # The snapshot begins with the first statement, whoever sends it.
            db.begin()
        cursor = db.connection.cursor()
        try:
            cursor.execute(ready.text, ready.parameters(values))
            found = list(cursor.fetchall())
        finally:
            cursor.close()
        return ready.decode(_DECODE_ROWS(found[0][0]) if ready.is_json else found)


class _CompiledStatement:
    """The statement as one database wants it."""

    def __init__(self, statement: Select[Any], dialect: Dialect, *, at_once: bool) -> None:
        self.is_json = at_once
        columns = list(statement.selected_columns)
        compiled = statement.compile(dialect=dialect)
        self.text = str(compiled)
        if at_once:
            names = ", ".join(f"c{at}" for at in range(len(columns)))
            # The order of the rows inside is the order of the list: SQLite keeps it for this function.
            self.text = (
                f"WITH found({names}) AS ({self.text})"  # noqa: S608  # our own statement
                f" SELECT json_group_array(json_array({names})) FROM found"
            )
        self._constants = compiled.params
        self._order = compiled.positiontup
        # Only our own column types decode; what the drivers give for the others is final.
        decoders = [
            column.type.dialect_impl(dialect).result_processor(dialect, None)
            if isinstance(column.type, TypeDecorator)
            else None
            for column in columns
        ]
        self._decoders = [(at, decode) for at, decode in enumerate(decoders) if decode is not None]

    def parameters(self, values: dict[str, int]) -> Any:
        named = {**self._constants, **values}
        return named if self._order is None else [named[name] for name in self._order]

    def decode(self, rows: list[Row]) -> list[Row]:
        if not self._decoders or not rows:
            return rows
        columns = list(zip(*rows, strict=True))
        for at, decode in self._decoders:
            columns[at] = tuple(map(decode, columns[at]))
        return list(zip(*columns, strict=True))
