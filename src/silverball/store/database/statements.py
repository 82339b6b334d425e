"""Statements that are said often: written in SQLAlchemy Core, compiled once, run on the driver's cursor.

Building a statement, finding its compiled form and wrapping its rows costs SQLAlchemy three times what SQLite
needs to run it. A `Statement` skips all that: it keeps its text for each database, encodes its parameters by
their types and returns its rows by name. What goes wrong is raised as SQLAlchemy raises it: the same
exceptions, without values in their text, and a lost connection is dropped from the pool. Everything that is
not said often uses the connection as it is.

PostgreSQL answers over a network, and each answer is waited for. What has no result, as the beginning of a
transaction and most of what it writes, therefore waits in the transaction's `Unsent` for the next statement
that has a result, for a statement of SQLAlchemy's own, a savepoint or the commit, and goes with it in one
round trip, in the order it was said. So an error of such a statement is raised a little later, in the same
transaction: who catches errors calls `send` first, or has a savepoint, in which nothing waits.
"""

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property, partial
from itertools import groupby
from operator import itemgetter
from typing import Any, NoReturn

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Dialect,
    Insert,
    Select,
    Table,
    TextClause,
    TextualSelect,
    Update,
    bindparam,
    insert,
)
from sqlalchemy.exc import DBAPIError, StatementError
from sqlalchemy.types import REAL, TypeDecorator

# A named tuple of its mapper, with one attribute for each column and each part.
NamedRow = Any
PlainRow = tuple[Any, ...]
# By position or by name, as the driver wants them.
Parameters = Any
_Convert = Callable[[Any], Any]
_DECODE_ROWS = msgspec.json.Decoder(list[tuple[Any, ...]]).decode

# Execution option of a connection to PostgreSQL: its Unsent.
UNSENT = "silverball_unsent"
# More rows than these are sent at once; psycopg does that in one round trip itself.
ROWS_UNSENT_MAX = 32


class RowMapper:
    """Named tuples for the rows of these columns, generated once.

    TOURNAMENT = RowMapper(table.c.name, table.c.status, organizer=USER)
    statement = select(*TOURNAMENT.columns).join(...)
    for row in TOURNAMENT.rows(db.execute(statement)):
        print(row.name, row.organizer.name)
    """

    def __init__(self, *columns: ColumnElement[Any], **parts: "RowMapper") -> None:
        self.columns: tuple[ColumnElement[Any], ...] = (
            *columns,
            *(column for part in parts.values() for column in part.columns),
        )
        names = [*map(_column_name, columns), *parts]
        row_type: Any = namedtuple("NamedRow", names)  # type: ignore[misc]  # the names are known at run time
        # `tuple.__new__` itself, as `_make` of a named tuple takes twice as long.
        make: Callable[[Iterable[Any]], NamedRow] = partial(tuple.__new__, row_type)
        self._name_columns = make
        # Names the values of a row that are in the order of `columns`.
        self.row: Callable[[Any], NamedRow] = _part_maker(make, len(columns), parts) if parts else make

    def rows(self, rows: Iterable[Any]) -> list[NamedRow]:
        """The named tuples of these rows."""
        return list(map(self.row, rows))

    def grouped(self, rows: Iterable[Any]) -> dict[Any, NamedRow]:
        """First column -> the columns of the adjacent rows that share it, by name, each as a tuple."""
        return {
            key: self._name_columns(zip(*group, strict=True)) for key, group in groupby(rows, itemgetter(0))
        }


def _part_maker(
    make: Callable[[Iterable[Any]], NamedRow], own_count: int, parts: Mapping[str, RowMapper]
) -> Callable[[Any], NamedRow]:
    slices, end = [], own_count
    for part in parts.values():
        slices.append((part.row, end, end + len(part.columns)))
        end += len(part.columns)

    def make_with_parts(row: Any) -> NamedRow:
        return make([*row[:own_count], *[part(row[start:stop]) for part, start, stop in slices]])

    return make_with_parts


def _column_name(column: Any) -> str:
    """The name of a column, of a label, or of the column that is read as another type."""
    return str(getattr(column, "name", None) or column.clause.name)


class Statement:
    """A statement with named parameters, compiled once for each database.

    A list of ids is one parameter: `is_among(column, bindparam("ids"))`. `is_list` is for results of hundreds
    of rows: on SQLite they come as one JSON text. The driver lets other threads run after every row, and
    while others want to run, getting back in costs more than the row.
    """

    def __init__(
        self,
        statement: Insert | Update | Delete | Select[Any] | TextClause | TextualSelect,
        *,
        mapper: RowMapper | None = None,
        is_list: bool = False,
    ) -> None:
        # An insert would ask for the new key otherwise.
        self._statement = statement.inline() if isinstance(statement, Insert) else statement
        self._columns = () if isinstance(statement, TextClause) else tuple(statement.exported_columns)
        if is_list and any(isinstance(column.type, REAL) for column in self._columns):
            raise ValueError("JSON would round the numbers of a REAL column")
        self._given_mapper = mapper
        self._is_list = is_list
        self._compiled: dict[str, _CompiledStatement] = {}

    @cached_property
    def mapper(self) -> RowMapper:
        """Names its rows. Generated with the first ones: a start would generate those of all statements."""
        return self._given_mapper or RowMapper(*self._columns)

    def rows(self, db: Connection, **values: Any) -> list[NamedRow]:
        """Run it, and return the rows of its result by name."""
        return self.mapper.rows(self._plain_rows(db, values))

    def grouped(self, db: Connection, **values: Any) -> dict[Any, NamedRow]:
        """Run it, and return its rows grouped by their first column: see `RowMapper.grouped`."""
        return self.mapper.grouped(self._plain_rows(db, values))

    def _plain_rows(self, db: Connection, values: Mapping[str, Any]) -> Iterable[PlainRow]:
        compiled = self.compiled_for(db)
        return compiled.decode(_fetch(db, compiled.text, compiled.parameters(values)))

    def rows_and_commit(self, db: Connection, **values: Any) -> list[NamedRow]:
        """Run it as the last of a transaction, commit in the same round trip, and return its rows.

        PostgreSQL only. When a statement fails, the database leaves the commit out.
        """
        compiled = self.compiled_for(db)
        (rows,) = _send_with(db, [(compiled.text, compiled.parameters(values))], commits=True)
        # For SQLAlchemy; the driver knows that nothing is left to commit.
        db.commit()
        return self.mapper.rows(compiled.decode(rows))

    def run(self, db: Connection, **values: Any) -> None:
        """Run it once; it has no result."""
        compiled = self.compiled_for(db)
        run_text(db, compiled.text, compiled.parameters(values))

    def run_many(self, db: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run it once for each of these rows of values; it has no result."""
        compiled = self.compiled_for(db)
        if len(rows) == 1:
            run_text(db, compiled.text, compiled.parameters(rows[0]))
        else:
            _run_many(db, compiled.text, [compiled.parameters(row) for row in rows])

    def compiled_for(self, db: Connection) -> "_CompiledStatement":
        """The statement for the connection's database."""
        dialect = db.dialect
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            is_json = self._is_list and dialect.name == "sqlite"
            compiled = _CompiledStatement(self._statement, self._columns, dialect, is_json=is_json)
            self._compiled[dialect.name] = compiled
        return compiled


def rows_of_all(
    db: Connection, statements: Mapping[str, Statement], **values: Any
) -> dict[str, list[NamedRow]]:
    """The rows of each of these statements, which share their parameters, by name.

    They run in this order, and none may depend on another's result: PostgreSQL gets them in one round trip.
    """
    compiled = [statement.compiled_for(db) for statement in statements.values()]
    sent = [(each.text, each.parameters(values)) for each in compiled]
    if db.dialect.name == "postgresql":
        fetched = _send_with(db, sent)
    else:
        fetched = [_fetch(db, text, parameters) for text, parameters in sent]
    return {
        name: statement.mapper.rows(each.decode(found))
        for (name, statement), each, found in zip(statements.items(), compiled, fetched, strict=True)
    }


def insert_rows(db: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert these rows, all of which have the same columns; none without rows."""
    if rows:
        _insert_of(table, tuple(rows[0])).run_many(db, rows)


@cache
def _insert_of(table: Table, names: tuple[str, ...]) -> Statement:
    values = {name: bindparam(name, type_=table.c[name].type) for name in names}
    return Statement(insert(table).values(values))


class _CompiledStatement:
    """A statement for one database: its text, the encoders of its parameters, the decoders of its columns."""

    def __init__(
        self, statement: Any, columns: Sequence[ColumnElement[Any]], dialect: Dialect, *, is_json: bool
    ) -> None:
        compiled = statement.compile(dialect=dialect)
        self.text = str(compiled)
        if "POSTCOMPILE" in self.text:
            raise ValueError("a list as a parameter cannot be compiled once")
        self._is_json = is_json
        if is_json:
            names = ", ".join(f"c{at}" for at in range(len(columns)))
            # The order of the rows inside is the order of the list: SQLite keeps it for this function.
            self.text = (
                f"WITH found({names}) AS ({self.text})"  # noqa: S608  # our own statement
                f" SELECT json_group_array(json_array({names})) FROM found"
            )
        self._constants: dict[str, Any] = {}
        encoders: dict[str, _Convert | None] = {}
        for parameter, name in compiled.bind_names.items():
            encode = parameter.type.dialect_impl(dialect).bind_processor(dialect)
            if parameter.required:
                encoders[name] = encode
            else:
                value = parameter.effective_value
                self._constants[name] = encode(value) if encode else value
        self._is_positional = compiled.positiontup is not None
        self._names: Sequence[str] = compiled.positiontup or list(compiled.bind_names.values())
        # Each parameter in its place, with the function of its type for values that go to the driver.
        self._places = [(name, encoders.get(name)) for name in self._names]
        # Only our own column types decode; the drivers' values of other types are final.
        decoders = [
            column.type.dialect_impl(dialect).result_processor(dialect, None)
            if isinstance(column.type, TypeDecorator)
            else None
            for column in columns
        ]
        self._decoders = [(at, decode) for at, decode in enumerate(decoders) if decode is not None]

    def parameters(self, values: Mapping[str, Any]) -> Parameters:
        """The driver's parameters. Raises StatementError for a value that is missing or cannot be stored."""
        given = {**self._constants, **values} if self._constants else values
        try:
            encoded = [encode(given[name]) if encode else given[name] for name, encode in self._places]
        except Exception as error:
            raise StatementError(str(error), self.text, None, error, hide_parameters=True) from error
        return encoded if self._is_positional else dict(zip(self._names, encoded, strict=True))

    def decode(self, fetched: Sequence[PlainRow]) -> Iterable[PlainRow]:
        """The rows with the values of our column types decoded."""
        rows = _DECODE_ROWS(fetched[0][0]) if self._is_json else fetched
        if not self._decoders or not rows:
            return rows
        columns = list(zip(*rows, strict=True))
        for at, decode in self._decoders:
            columns[at] = tuple(map(decode, columns[at]))
        return zip(*columns, strict=True)


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


def _fetch(db: Connection, text: str, parameters: Parameters) -> list[PlainRow]:
    if db.dialect.name == "postgresql":
        unsent = _unsent(db)
        if unsent is not None and unsent.statements:
            return _send_with(db, [(text, parameters)])[0]
    driver = _begun_driver(db)
    try:
        rows: list[PlainRow] = driver.execute(text, parameters).fetchall()
    except BaseException as error:  # noqa: BLE001  # all of them: a wait may be broken off
        _raise_as_sqlalchemy(db, error, text, parameters)
    return rows


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
            for cursor, (text, parameters) in zip(cursors, sent, strict=True):
                cursor.execute(text, parameters)
            if commits:
                # The driver's own `commit` would wait for what was sent so far.
                driver.cursor().execute("COMMIT")
        return [list(cursor.fetchall()) for cursor in cursors[len(waiting) :]]
    except BaseException as error:  # noqa: BLE001  # as above
        # The first without an answer is the one that failed.
        failed = next((at for at, cursor in enumerate(cursors) if cursor.pgresult is None), -1)
        _raise_as_sqlalchemy(db, error, *sent[failed])


def run_text(db: Connection, text: str, parameters: Parameters = ()) -> None:
    """Run a statement of the driver that has no result."""
    if db.dialect.name == "postgresql":
        unsent = _unsent_of_writer(db)
        if unsent is not None:
            unsent.statements.append((text, parameters))
            return
    _execute(db, _begun_driver(db), text, parameters)


def run_begun(db: Connection, text: str, parameters: Parameters = ()) -> None:
    """Run a statement without beginning a transaction for it: the one that begins it, for example."""
    _execute(db, db.connection.dbapi_connection, text, parameters)


def _execute(db: Connection, driver: Any, text: str, parameters: Parameters) -> None:
    try:
        driver.execute(text, parameters)
    except BaseException as error:  # noqa: BLE001  # as above
        _raise_as_sqlalchemy(db, error, text, parameters)


def _run_many(db: Connection, text: str, rows: Sequence[Parameters]) -> None:
    if db.dialect.name == "postgresql":
        unsent = _unsent_of_writer(db)
        if unsent is not None and len(rows) <= ROWS_UNSENT_MAX:
            unsent.statements += [(text, row) for row in rows]
            return
        send(db)
    cursor = _begun_driver(db).cursor()
    try:
        cursor.executemany(text, rows)
    except BaseException as error:  # noqa: BLE001  # as above
        _raise_as_sqlalchemy(db, error, text, rows)
    finally:
        cursor.close()


def _begun_driver(db: Connection) -> Any:
    """The driver's connection, in a transaction."""
    if not db.in_transaction():
        # The snapshot begins with the first statement.
        db.begin()
    return db.connection.dbapi_connection


def _raise_as_sqlalchemy(db: Connection, error: BaseException, text: str, parameters: Parameters) -> NoReturn:
    """Raise the error as SQLAlchemy does, and drop a connection that was lost or left in the middle."""
    driver_error = db.dialect.loaded_dbapi.Error
    is_lost = not isinstance(error, Exception) or (
        isinstance(error, driver_error)
        and not db.invalidated
        and db.dialect.is_disconnect(error, db.connection, None)
    )
    if is_lost:
        db.invalidate(error)
    if not isinstance(error, Exception):
        raise error
    raised: Any = DBAPIError.instance(
        text,
        parameters,
        error,
        driver_error,
        hide_parameters=db.engine.hide_parameters,
        connection_invalidated=is_lost,
        dialect=db.dialect,
    )
    raise raised from error


# Inserts with a rule for rows that are there already, in the dialect of the database at hand.


def insert_into(db: Connection, table: Table) -> Any:
    """An insert that knows `on_conflict_do_update`.

    SQLAlchemy has a class for each dialect. Each is imported where its database is in use, because a start
    on SQLite would wait for the dialect of PostgreSQL.
    """
    if db.dialect.name == "sqlite":
        from sqlalchemy.dialects import sqlite

        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)
