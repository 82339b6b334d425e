"""Statements that are said often: written in SQLAlchemy Core, compiled once, run on the driver's cursor.

Building a statement, finding its compiled form and wrapping its result costs SQLAlchemy three times what
SQLite needs to run it. The statements of a recorded result therefore skip all that. What goes wrong is
raised as SQLAlchemy raises it: the same exceptions, without values in their text, and a lost connection
is dropped from the pool.

PostgreSQL answers over a network, and each answer is waited for. What has no result, as the beginning of a
transaction and most of what it writes, therefore waits in the transaction's `Unsent` for the next statement
that has a result, for a statement of SQLAlchemy's own, a savepoint or the commit, and goes with it in one
round trip, in the order it was said. So an error of such a statement is raised a little later, in the same
transaction: who catches errors calls `send` first, or has a savepoint, in which nothing waits.
"""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NoReturn

from sqlalchemy import Connection, Delete, Dialect, Insert, Select, TextClause, Update
from sqlalchemy.exc import StatementError
from sqlalchemy.types import TypeDecorator

PlainRow = tuple[Any, ...]
# By position or by name, as the driver wants them.
Parameters = Any
_Convert = Callable[[Any], Any]


# Execution option of a connection to PostgreSQL: its Unsent.
UNSENT = "silverball_unsent"
# More rows than these are sent at once; psycopg does that in one round trip itself.
ROWS_UNSENT_MAX = 32


class Unsent:
    """The statements of one transaction that wait for the next round trip; at first, the one that begins it.

    The driver's connection is in autocommit mode, as it would wait for the answer to a BEGIN of its own.
    """

    def __init__(self, begin: str) -> None:
        self.statements: list[tuple[str, Parameters]] = [(begin, ())]

    def take(self) -> list[tuple[str, Parameters]]:
        """All of them; none wait afterwards."""
        taken, self.statements = self.statements, []
        return taken


def fetch(db: Connection, statement: str, parameters: Parameters = ()) -> list[PlainRow]:
    """Run a statement of the driver that has a result, and return its rows."""
    if db.dialect.name == "postgresql":
        unsent = _unsent(db)
        if unsent is not None and unsent.statements:
            return _send_with(db, [(statement, parameters)])[0]
    driver = _begun_driver(db)
    try:
        rows: list[PlainRow] = driver.execute(statement, parameters).fetchall()
    except BaseException as error:  # noqa: BLE001  # SQLAlchemy looks at all: a wait may be broken off
        _raise_as_sqlalchemy(db, error, statement, parameters)
    return rows


def fetch_all(db: Connection, statements: Sequence[tuple[str, Parameters]]) -> list[list[PlainRow]]:
    """Run statements that have results, and return the rows of each: in one round trip on PostgreSQL.

    They all run in the order given; none may depend on another's result.
    """
    if db.dialect.name != "postgresql":
        return [fetch(db, statement, parameters) for statement, parameters in statements]
    return _send_with(db, statements)


def send(db: Connection) -> None:
    """Run what waits for the next round trip, so that its errors are raised here."""
    unsent = _unsent(db)
    if unsent is not None and unsent.statements:
        _send_with(db, [])


def forget_unsent(db: Connection) -> None:
    """Drop what waits for the next round trip, because it is rolled back."""
    unsent = _unsent(db)
    if unsent is not None:
        unsent.take()


def fetch_and_commit(db: Connection, statement: str, parameters: Parameters) -> list[PlainRow]:
    """Run the last statement of a transaction, and commit it in the same round trip. PostgreSQL only.

    When a statement fails, the database leaves the commit out.
    """
    (rows,) = _send_with(db, [(statement, parameters)], commits=True)
    # For SQLAlchemy; the driver knows that nothing is left to commit.
    db.commit()
    return rows


def _unsent(db: Connection) -> Unsent | None:
    if db.dialect.name != "postgresql":
        return None
    found: Unsent | None = db.get_execution_options().get(UNSENT)
    return found


def _unsent_of_writer(db: Connection) -> Unsent | None:
    """Where a statement without a result may wait, in a transaction that has begun; None where it may not.

    In a savepoint it may not: the errors of what it holds are caught there.
    """
    _begun_driver(db)
    unsent = _unsent(db)
    return None if unsent is None or db.in_nested_transaction() else unsent


def _send_with(
    db: Connection, statements: Sequence[tuple[str, Parameters]], *, commits: bool = False
) -> list[list[PlainRow]]:
    """Run in one round trip what waits and these statements; returns the rows of these."""
    driver = _begun_driver(db)
    unsent = _unsent(db)
    waiting = unsent.take() if unsent is not None else []
    sent = [*waiting, *statements]
    cursors = [driver.cursor() for _ in sent]
    try:
        with driver.pipeline():
            for cursor, (statement, parameters) in zip(cursors, sent, strict=True):
                cursor.execute(statement, parameters)
            if commits:
                # The driver's own `commit` would wait for what was sent so far.
                driver.cursor().execute("COMMIT")
        return [list(cursor.fetchall()) for cursor in cursors[len(waiting) :]]
    except BaseException as error:  # noqa: BLE001  # as above
        # The first without an answer is the one that failed.
        failed = next((at for at, cursor in enumerate(cursors) if cursor.pgresult is None), -1)
        _raise_as_sqlalchemy(db, error, *sent[failed], cursors[failed])


def run(db: Connection, statement: str, parameters: Parameters = ()) -> None:
    """Run a statement of the driver that has no result."""
    if db.dialect.name == "postgresql":
        unsent = _unsent_of_writer(db)
        if unsent is not None:
            unsent.statements.append((statement, parameters))
            return
    driver = _begun_driver(db)
    try:
        driver.execute(statement, parameters)
    except BaseException as error:  # noqa: BLE001  # as above
        _raise_as_sqlalchemy(db, error, statement, parameters)


def run_begun(db: Connection, statement: str, parameters: Parameters = ()) -> None:
    """Run a statement without beginning a transaction for it: the one that begins it, for example."""
    driver: Any = db.connection.dbapi_connection
    try:
        driver.execute(statement, parameters)
    except BaseException as error:  # noqa: BLE001  # as above
        _raise_as_sqlalchemy(db, error, statement, parameters)


def run_many(db: Connection, statement: str, rows: Sequence[Parameters]) -> None:
    """Run a statement of the driver once for each of these rows of parameters."""
    if db.dialect.name == "postgresql":
        unsent = _unsent_of_writer(db)
        if unsent is not None and len(rows) <= ROWS_UNSENT_MAX:
            unsent.statements += [(statement, row) for row in rows]
            return
        send(db)
    cursor = _begun_driver(db).cursor()
    try:
        cursor.executemany(statement, rows)
    except BaseException as error:  # noqa: BLE001  # as above
        _raise_as_sqlalchemy(db, error, statement, rows, cursor)
    finally:
        cursor.close()


def _begun_driver(db: Connection) -> Any:
    """The driver's connection, in a transaction."""
    # Pinned to SQLAlchemy's minor, as below: its properties cost a statement two more calls.
    transaction, pooled = db._transaction, db._dbapi_connection
    if transaction is not None and transaction.is_active and pooled is not None:
        return pooled.dbapi_connection
    if not db.in_transaction():
        # The snapshot begins with the first statement.
        db.begin()
    return db.connection.dbapi_connection


def _raise_as_sqlalchemy(
    db: Connection, error: BaseException, statement: str, parameters: Parameters, cursor: Any = None
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
        compiled = self._compiled.get(db.dialect.name) or self._compile(db)
        found = fetch(db, compiled.text, compiled.parameters(values))
        return compiled.decode(found) if compiled.decoders else found

    def rows_and_commit(self, db: Connection, **values: Any) -> list[PlainRow]:
        """Run it as the last of a transaction, commit, and return its rows. PostgreSQL only."""
        compiled = self._compiled.get(db.dialect.name) or self._compile(db)
        return compiled.decode(fetch_and_commit(db, compiled.text, compiled.parameters(values)))

    def run(self, db: Connection, **values: Any) -> None:
        """Run it once; it has no result."""
        compiled = self._compiled.get(db.dialect.name) or self._compile(db)
        run(db, compiled.text, compiled.parameters(values))

    def run_many(self, db: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run it once for each of these rows of values; it has no result."""
        compiled = self._compiled.get(db.dialect.name) or self._compile(db)
        if len(rows) == 1:
            run(db, compiled.text, compiled.parameters(rows[0]))
        else:
            run_many(db, compiled.text, [compiled.parameters(row) for row in rows])

    def _compile(self, db: Connection) -> "_Compiled":
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
        self._encoders = _without_none({key: _encoder(type_, dialect) for key, type_ in types.items()})
        # The parameters in the order of their places, where the driver counts those.
        places = compiled.positiontup
        self._pick = None if places is None else _picker(places)
        self._encoders_by_place = [
            (at, self._encoders[name]) for at, name in enumerate(places or ()) if name in self._encoders
        ]
        columns = () if isinstance(statement, TextClause) else statement.exported_columns
        # Only our own column types decode; the drivers' values of other types are final.
        own = {at: column.type for at, column in enumerate(columns) if isinstance(column.type, TypeDecorator)}
        self.decoders = _without_none(
            {at: type_.dialect_impl(dialect).result_processor(dialect, None) for at, type_ in own.items()}
        )

    def parameters(self, values: Mapping[str, Any]) -> Parameters:
        """The driver's parameters. Raises StatementError for a value that is missing or cannot be stored."""
        given = {**self._constants, **values} if self._constants else values
        try:
            if self._pick is None:
                encoded = {name: encode(given[name]) for name, encode in self._encoders.items()}
                return {**given, **encoded}
            picked = list(self._pick(given))
            for at, encode in self._encoders_by_place:
                picked[at] = encode(picked[at])
            return picked
        except Exception as error:
            raise StatementError(str(error), self.text, None, error, hide_parameters=True) from error

    def decode(self, rows: list[PlainRow]) -> list[PlainRow]:
        """The rows with the values of our column types decoded."""
        decoders = self.decoders
        return [
            tuple([decoders[at](value) if at in decoders else value for at, value in enumerate(row)])
            for row in rows
        ]


def _encoder(type_: Any, dialect: Dialect) -> _Convert | None:
    """The function of this type for values that go to the driver; None where it changes nothing."""
    found: _Convert | None = type_.dialect_impl(dialect).bind_processor(dialect)
    return found


def _picker(names: Sequence[str]) -> Callable[[Mapping[str, Any]], Sequence[Any]]:
    """A function that returns the values of these names, in their order."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda given: [given[name] for name in names]


def _without_none(functions: Mapping[Any, _Convert | None]) -> dict[Any, _Convert]:
    return {key: function for key, function in functions.items() if function is not None}
