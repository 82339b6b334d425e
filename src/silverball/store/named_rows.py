"""Rows by name at the price of rows by position, and the other shortcuts past SQLAlchemy.

Building a statement, finding its compiled form and wrapping each row costs SQLAlchemy more than
SQLite needs to answer. A `PreparedStatement` keeps the text and runs it on the driver's cursor; a
`RowMapper` makes named tuples of its rows; `IsoText` and `PointsText` read columns straight into the
texts of the interface. Only this module takes rows by position.
"""

from collections import namedtuple
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache, partial
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec
from sqlalchemy import BigInteger, BindParameter, ColumnElement, Connection, Dialect, Select, Text, bindparam
from sqlalchemy.types import REAL, TypeDecorator

from silverball.store import driver_statements
from silverball.store.batches import ascending_batches
from silverball.store.types import Id, instant_text

# How many ids the statements of a lookup have places for.
LOOKUP_SIZES = (1, 4, 16, 64)
# A named tuple of its mapper, with one attribute for each column and each part.
NamedRow = Any
_PlainRow = tuple[Any, ...]
_DECODE_ROWS = msgspec.json.Decoder(list[tuple[Any, ...]]).decode


class RowMapper:
    """Named tuples for the rows of these columns, generated once.

    A part is the row of another mapper; its columns follow the mapper's own columns:

        TOURNAMENT = RowMapper(_T.tournament_id, _T.name, organizer=users.ROW)
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


class PreparedStatement:
    """A SELECT with named parameters (single values, no lists) that is compiled once for each database.

    `is_list` is for long lists: on SQLite they come as one JSON text. The driver lets other threads run
    after every row, and while others want to run, getting back in costs more than the row.
    """

    def __init__(
        self, statement: Select[Any], *, mapper: RowMapper | None = None, is_list: bool = False
    ) -> None:
        columns = tuple(statement.selected_columns)
        if is_list and any(isinstance(column.type, REAL) for column in columns):
            raise ValueError("JSON would round the numbers of a REAL column")
        self._statement = statement
        self.mapper = mapper or RowMapper(*columns)
        self._is_list = is_list
        self._compiled: dict[str, _CompiledStatement] = {}

    def rows(self, db: Connection, **values: int) -> list[NamedRow]:
        """All rows, by name."""
        return self.mapper.rows(self._plain_rows(db, values))

    def grouped(self, db: Connection, **values: int) -> dict[Any, NamedRow]:
        """All rows, grouped by their first column: see `RowMapper.grouped`."""
        return self.mapper.grouped(self._plain_rows(db, values))

    def _plain_rows(self, db: Connection, values: dict[str, int]) -> Iterable[_PlainRow]:
        compiled = self.compiled_for(db)
        return compiled.decode(driver_statements.fetch(db, compiled.text, compiled.parameters(values)))

    def compiled_for(self, db: Connection) -> "_CompiledStatement":
        """The statement for the connection's database."""
        compiled = self._compiled.get(db.dialect.name)
        if compiled is None:
            is_json = self._is_list and db.dialect.name == "sqlite"
            compiled = _CompiledStatement(self._statement, db.dialect, is_json=is_json)
            self._compiled[db.dialect.name] = compiled
        return compiled


def rows_of_all(
    db: Connection, statements: Mapping[str, PreparedStatement], **values: int
) -> dict[str, list[NamedRow]]:
    """The rows of each of these statements, which share their parameters, by name.

    PostgreSQL is asked for all of them in one round trip.
    """
    compiled = [statement.compiled_for(db) for statement in statements.values()]
    fetched = driver_statements.fetch_all(db, [(each.text, each.parameters(values)) for each in compiled])
    return {
        name: statement.mapper.rows(each.decode(found))
        for (name, statement), each, found in zip(statements.items(), compiled, fetched, strict=True)
    }


class PreparedLookup:
    """A SELECT of the rows with some of many ids, in the order of the ids, compiled once for a few sizes.

    A list cannot be a parameter of a prepared statement, so the last id fills up the places that are left.
    """

    def __init__(self, statement: Select[Any], column: ColumnElement[int], mapper: RowMapper) -> None:
        self._mapper = mapper
        self._statement = statement
        self._column = column
        # Size -> its statement, made when it is needed first: a start would make all of them.
        self._statements: dict[int, PreparedStatement] = {}

    def rows(self, db: Connection, ids: Collection[int]) -> list[NamedRow]:
        """The rows with these ids, by name."""
        return [row for batch in ascending_batches(ids, LOOKUP_SIZES[-1]) for row in self._batch(db, batch)]

    def grouped(self, db: Connection, ids: Collection[int]) -> dict[Any, NamedRow]:
        """The rows with these ids, grouped by their first column: see `RowMapper.grouped`."""
        return self._mapper.grouped(self.rows(db, ids))

    def _batch(self, db: Connection, ids: Sequence[int]) -> list[NamedRow]:
        statement, values = self.statement_for(ids)
        return statement.rows(db, **values)

    def statement_for(self, ids: Sequence[int]) -> tuple[PreparedStatement, dict[str, int]]:
        """The statement for so many ids, at most LOOKUP_SIZES[-1], and its parameters."""
        size = next(size for size in LOOKUP_SIZES if size >= len(ids))
        padded = [*ids, *[ids[-1]] * (size - len(ids))]
        prepared = self._statements.get(size) or self._prepare(size)
        return prepared, {f"id_{at}": id_ for at, id_ in enumerate(padded)}

    def _prepare(self, size: int) -> PreparedStatement:
        with_ids = self._statement.where(self._column.in_(_id_places(size)))
        prepared = self._statements[size] = PreparedStatement(with_ids, mapper=self._mapper)
        return prepared


def rows_of_lookups(
    db: Connection, lookups: Mapping[str, PreparedLookup], ids: Collection[int]
) -> dict[str, list[NamedRow]]:
    """The rows with these ids of each of these lookups, by name: in one round trip on PostgreSQL."""
    found: dict[str, list[NamedRow]] = {name: [] for name in lookups}
    for batch in ascending_batches(ids, LOOKUP_SIZES[-1]):
        given = {name: lookup.statement_for(batch) for name, lookup in lookups.items()}
        values = next(iter(given.values()))[1]
        rows = rows_of_all(db, {name: statement for name, (statement, _) in given.items()}, **values)
        for name, more in rows.items():
            found[name] += more
    return found


def _id_places(size: int) -> list[BindParameter[int]]:
    return [bindparam(f"id_{at}", type_=Id()) for at in range(size)]


class _CompiledStatement:
    """The statement for one database, with the decoders of its columns."""

    def __init__(self, statement: Select[Any], dialect: Dialect, *, is_json: bool) -> None:
        self.is_json = is_json
        columns = list(statement.selected_columns)
        compiled = statement.compile(dialect=dialect)
        self.text = str(compiled)
        if is_json:
            names = ", ".join(f"c{at}" for at in range(len(columns)))
            # The order of the rows inside is the order of the list: SQLite keeps it for this function.
            self.text = (
                f"WITH found({names}) AS ({self.text})"  # noqa: S608  # our own statement
                f" SELECT json_group_array(json_array({names})) FROM found"
            )
        self._constants = compiled.params
        self._order = compiled.positiontup
        # Only our own column types decode; the drivers' values of other types are final.
        decoders = [
            column.type.dialect_impl(dialect).result_processor(dialect, None)
            if isinstance(column.type, TypeDecorator)
            else None
            for column in columns
        ]
        self._decoders = [(at, decode) for at, decode in enumerate(decoders) if decode is not None]

    def parameters(self, values: dict[str, int]) -> Any:
        """The driver's parameters: by position or by name, as its dialect wants them."""
        named = {**self._constants, **values}
        return named if self._order is None else [named[name] for name in self._order]

    def decode(self, fetched: Sequence[_PlainRow]) -> Iterable[_PlainRow]:
        """The rows with the values of our column types decoded."""
        rows = _DECODE_ROWS(fetched[0][0]) if self.is_json else fetched
        if not self._decoders or not rows:
            return rows
        columns = list(zip(*rows, strict=True))
        for at, decode in self._decoders:
            columns[at] = tuple(map(decode, columns[at]))
        return zip(*columns, strict=True)


def begin_read(db: Connection) -> None:
    """Begin a transaction that reads, on SQLite."""
    # Nothing happens yet that could fail, so the driver is told without a detour.
    db.connection.cursor().execute("BEGIN")


class IsoText(TypeDecorator[str]):
    """An Instant column read as the interface writes most moments; `type_coerce(column, IsoText)`.

    Lists of hundreds of games read it so: the text in SQLite is already the text of the answer.
    """

    impl = Text
    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:
        return None if dialect.name == "sqlite" else _iso_text


def _iso_text(moment: datetime | None) -> str | None:
    return None if moment is None else instant_text(moment)


class PointsText(TypeDecorator[str]):
    """A Hundredths column read as the interface writes points: `"7.50"`."""

    impl = BigInteger
    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:
        return points_text


@lru_cache(maxsize=4096)
def points_text(hundredths: int | None) -> str | None:
    """Whole hundredths with two decimals: 750 is `"7.50"`."""
    if hundredths is None:
        return None
    sign = "-" if hundredths < 0 else ""
    whole, rest = divmod(abs(hundredths), 100)
    return f"{sign}{whole}.{rest:02}"
