"""Statements that are said often: written in SQLAlchemy Core, compiled once, run on the driver's cursor.

Building a statement, finding its compiled form and wrapping its result costs SQLAlchemy three times what
SQLite needs to run it. The statements of a recorded result therefore skip all that. What goes wrong is
raised as SQLAlchemy raises it: the same exceptions, without values in their text, and a lost connection
is dropped from the pool.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from sqlalchemy import Connection, Delete, Dialect, Insert, Select, TextClause, Update
from sqlalchemy.exc import StatementError
from sqlalchemy.types import TypeDecorator

PlainRow = tuple[Any, ...]
# By position or by name, as the driver wants them.
Parameters = Any
_Convert = Callable[[Any], Any]


def fetch(db: Connection, statement: str, parameters: Parameters = ()) -> list[PlainRow]:
    """Run a statement of the driver that has a result, and return its rows."""
    _begin(db)
    cursor = db.connection.cursor()
    try:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())
    except BaseException as error:  # noqa: BLE001  # SQLAlchemy looks at all: a wait may be broken off
        _raise_as_sqlalchemy(db, error, statement, parameters, cursor)
    finally:
        cursor.close()


def fetch_all(db: Connection, statements: Sequence[tuple[str, Parameters]]) -> list[list[PlainRow]]:
    """Run statements that have results, and return the rows of each: in one round trip on PostgreSQL.

    They all run in the order given; none may depend on another's result.
    """
    if db.dialect.name != "postgresql":
        return [fetch(db, statement, parameters) for statement, parameters in statements]
    _begin(db)
    driver: Any = db.connection.driver_connection
    cursor = None
    try:
        with driver.pipeline():
            cursors = []
            for statement, parameters in statements:
                cursor = driver.cursor()
                cursors.append(cursor)
                cursor.execute(statement, parameters)
            return [list(cursor.fetchall()) for cursor in cursors]
    except BaseException as error:  # noqa: BLE001  # as above
        # Which of them failed is not known here; the error says it.
        _raise_as_sqlalchemy(db, error, statements[0][0], statements[0][1], cursor)


def run(db: Connection, statement: str, parameters: Parameters = ()) -> None:
    """Run a statement of the driver that has no result."""
    _begin(db)
    run_begun(db, statement, parameters)


def run_begun(db: Connection, statement: str, parameters: Parameters = ()) -> None:
    """Run a statement without beginning a transaction for it: the one that begins it, for example."""
    cursor = db.connection.cursor()
    try:
        cursor.execute(statement, parameters)
    except BaseException as error:  # noqa: BLE001  # as above
        _raise_as_sqlalchemy(db, error, statement, parameters, cursor)
    finally:
        cursor.close()


def run_many(db: Connection, statement: str, rows: Sequence[Parameters]) -> None:
    """Run a statement of the driver once for each of these rows of parameters."""
    _begin(db)
    cursor = db.connection.cursor()
    try:
        cursor.executemany(statement, rows)
    except BaseException as error:  # noqa: BLE001  # as above
        _raise_as_sqlalchemy(db, error, statement, rows, cursor)
    finally:
        cursor.close()


def _begin(db: Connection) -> None:
    if not db.in_transaction():
        # The snapshot begins with the first statement.
        db.begin()


def _raise_as_sqlalchemy(
    db: Connection, error: BaseException, statement: str, parameters: Parameters, cursor: Any
) -> NoReturn:
    # Pinned to SQLAlchemy's minor; tests/store/test_driver_statements.py holds what it does.
    db._handle_dbapi_exception(error, statement, parameters, cursor, None)


class DriverStatement:
    """A statement with named parameters (single values, no lists), compiled once for each database."""

    def __init__(self, statement: Insert | Update | Delete | Select[Any] | TextClause) -> None:
        # An insert would ask for the new key otherwise.
        self._statement = statement.inline() if isinstance(statement, Insert) else statement
        self._compiled: dict[str, _Compiled] = {}

    def rows(self, db: Connection, **values: Any) -> list[PlainRow]:
        """Run it once, and return the rows of its result."""
        compiled = self._for(db)
        return compiled.decode(fetch(db, compiled.text, compiled.parameters(values)))

    def run(self, db: Connection, **values: Any) -> None:
        """Run it once; it has no result."""
        compiled = self._for(db)
        run(db, compiled.text, compiled.parameters(values))

    def run_many(self, db: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run it once for each of these rows of values; it has no result."""
        compiled = self._for(db)
        parameters = [compiled.parameters(row) for row in rows]
        if len(parameters) == 1:
            run(db, compiled.text, parameters[0])
        else:
            run_many(db, compiled.text, parameters)

    def _for(self, db: Connection) -> "_Compiled":
        compiled = self._compiled.get(db.dialect.name)
        if compiled is None:
            compiled = self._compiled[db.dialect.name] = _Compiled(self._statement, db.dialect)
        return compiled


class _Compiled:
    """A statement for one database: its text, and what its values have to become."""

    def __init__(self, statement: Any, dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        self.text = str(compiled)
        if "POSTCOMPILE" in self.text:
            raise ValueError("a list as a parameter cannot be compiled once")
        bound = {name: parameter for parameter, name in compiled.bind_names.items()}
        self._constants = {
            name: parameter.effective_value for name, parameter in bound.items() if not parameter.required
        }
        types = {name: parameter.type for name, parameter in bound.items()}
        self._encoders = _processors(types, dialect, "bind_processor")
        self._order: Sequence[str] | None = compiled.positiontup
        columns = () if isinstance(statement, TextClause) else statement.exported_columns
        # Only our own column types decode; the drivers' values of other types are final.
        own = {at: column.type for at, column in enumerate(columns) if isinstance(column.type, TypeDecorator)}
        self._decoders = _processors(own, dialect, "result_processor", None)

    def parameters(self, values: Mapping[str, Any]) -> Parameters:
        """The driver's parameters. Raises StatementError for a value that is missing or cannot be stored."""
        named = {**self._constants, **values}
        try:
            for name, encode in self._encoders.items():
                named[name] = encode(named[name])
            return named if self._order is None else [named[name] for name in self._order]
        except Exception as error:
            raise StatementError(str(error), self.text, None, error, hide_parameters=True) from error

    def decode(self, rows: list[PlainRow]) -> list[PlainRow]:
        """The rows with the values of our column types decoded."""
        if not self._decoders:
            return rows
        decoders = self._decoders
        return [
            tuple([decoders[at](value) if at in decoders else value for at, value in enumerate(row)])
            for row in rows
        ]


def _processors(types: Mapping[Any, Any], dialect: Dialect, kind: str, *more: Any) -> dict[Any, _Convert]:
    """The functions of these types for values of the driver, without those that change nothing."""
    found = {key: getattr(type_.dialect_impl(dialect), kind)(dialect, *more) for key, type_ in types.items()}
    return {key: convert for key, convert in found.items() if convert is not None}
