"""Statements that read a whole table or index, found by asking the database how it runs each of them."""

import math
import re
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec
from sqlalchemy import event

from silverball.store.database.engine import Store
from silverball.store.people import names

ALIAS = re.compile(r'\b(?:FROM|JOIN)\s+"?(\w+)"? AS (\w+)')
# PostgreSQL plans by the size of its files. With these each row that is read costs the same and pages cost
# nothing, and a table is read whole only where no index leads to the rows, as if it were a large one.
AS_IF_LARGE = {
    **dict.fromkeys(("enable_seqscan", "enable_hashjoin", "enable_mergejoin", "enable_material"), "off"),
    **dict.fromkeys(("seq_page_cost", "random_page_cost"), "0"),
    **dict.fromkeys(("cpu_tuple_cost", "cpu_index_tuple_cost"), "10"),
}
# A large database has its own plans, and each tells how many rows it really read: a plan may end early.
AS_IT_IS = {"auto_explain.log_analyze": "on", "auto_explain.log_timing": "off"}
TELL_PLANS = {
    "session_preload_libraries": "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_level": "notice",
    "auto_explain.log_format": "json",
}
# Half of the smallest table that counts as a big one.
ROWS_MAX = 5_000
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


class PostgresqlPlans:
    """The same of a store on PostgreSQL, which tells the plan of each statement that it runs."""

    def __init__(self, url: str, settings: Mapping[str, str]) -> None:
        """`settings`: AS_IF_LARGE for a small database, AS_IT_IS for a large one."""
        options = " ".join(f"-c {name}={value}" for name, value in {**settings, **TELL_PLANS}.items())
        self.store = Store(f"{url}{'&' if '?' in url else '?'}options={quote(options)}")
        self._plans: list[str] = []
        event.listen(self.store.engine, "connect", self._listen)

    def _listen(self, driver: Any, _record: Any) -> None:
        driver.add_notice_handler(self._note)

    def _note(self, notice: Any) -> None:
        _, brace, plan = notice.message_primary.partition("{")
        if brace:
            self._plans.append(brace + plan)

    def forget(self) -> None:
        """Begin anew."""
        self._plans.clear()

    def whole_reads(self) -> Iterator[WholeRead]:
        """What was read whole since the last `forget`."""
        for text in dict.fromkeys(self._plans):
            plan = msgspec.json.decode(text)
            statement = plan["Query Text"].replace('"user"', "user")
            for step in _steps(plan["Plan"]):
                is_whole = "Relation Name" in step and not step.keys() & {"Index Cond", "Recheck Cond"}
                if is_whole and _rows_read(step) > ROWS_MAX:
                    yield WholeRead(step["Relation Name"], statement)

    def close(self) -> None:
        self.store.close()


def _rows_read(step: dict[str, Any]) -> float:
    """The rows that a step read; infinite where the plan was made without being run."""
    rows = float(step.get("Actual Rows", math.inf)) + float(step.get("Rows Removed by Filter", 0))
    return rows * float(step.get("Actual Loops", 1))


def _steps(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from _steps(part)
