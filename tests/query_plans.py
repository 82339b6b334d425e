"""Statements that read a whole table or index, found by asking SQLite how it runs each of them."""

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import event

from silverball.store import names
from silverball.store.engine import Store

ALIAS = re.compile(r'\b(?:FROM|JOIN)\s+"?(\w+)"? AS (\w+)')
SCAN = re.compile(r"SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?")


@dataclass(frozen=True)
class WholeRead:
    """A statement that reads a table from end to end."""

    table: str
    statement: str


class SqlitePlans:
    """The statements of a store on SQLite, and their plans at the sizes that the statistics tell."""

    def __init__(self, path: str) -> None:
        self.store = Store(f"sqlite:///{path}")
        self._path = path
        self._statements: dict[str, None] = {}
        event.listen(self.store.engine, "connect", self._trace)

    def _trace(self, connection: Any, _record: Any) -> None:
        connection.set_trace_callback(self._note)

    def _note(self, statement: str) -> None:
        if statement.startswith(("SELECT", "WITH")):
            self._statements[statement] = None

    def forget(self) -> None:
        """Begin anew."""
        self._statements.clear()

    def steps(self) -> Iterator[tuple[str, str]]:
        """Each statement since the last `forget` with each step of its plan."""
        db = sqlite3.connect(self._path)
        db.create_function("silverball_folded", 1, names.fold, deterministic=True)
        for statement in list(self._statements):
            for *_, step in db.execute(f"EXPLAIN QUERY PLAN {statement}"):
                yield statement, step
        db.close()

    def whole_reads(self) -> Iterator[WholeRead]:
        """What was read whole since the last `forget`."""
        for statement, step in self.steps():
            found = SCAN.match(step)
            if found is not None:
                aliases = {alias: table for table, alias in ALIAS.findall(statement)}
                yield WholeRead(aliases.get(str(found[1]), str(found[1])), statement)

    def close(self) -> None:
        self.store.close()
