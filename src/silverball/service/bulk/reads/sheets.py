"""The shape of the bulk tables: their columns, and the periods that they are cut into."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from msgspec import Struct
from sqlalchemy import Connection

from silverball.rules.model.fields import PartField

# `points` are whole hundredths here, and numbers with two decimals in the files.
Kind = Literal["integer", "number", "points", "text", "flag", "moment"]
Row = tuple[Any, ...]


class SheetColumn(Struct, frozen=True):
    """A column of a bulk table."""

    name: str
    kind: Kind
    meaning: str
    # The table whose key the column holds.
    refers_to: str | None = None


# What the tables of games have in front.
_IDS = ("game_id", "single_player_game_id", "player_id")
# Kind of a field -> kind of its column here; other kinds are integers.
_KINDS: Mapping[str | None, Kind] = {"text": "text", "moment": "moment", "flag": "flag", "points": "points"}


def column_of(field: PartField) -> SheetColumn:
    """The column of a field of a tournament or of one of its parts."""
    return SheetColumn(field.stored_in.removeprefix("is_"), _KINDS.get(field.kind, "integer"), field.bulk)


def bulk_fields(part_fields: Iterable[PartField], *first: str) -> tuple[PartField, ...]:
    """The fields of a part that are in the bulk files, these first, and without its ids."""
    places = {name: place for place, name in enumerate(first)}
    found = [field for field in part_fields if field.bulk and field.name not in _IDS]
    return tuple(sorted(found, key=lambda field: places.get(field.name, len(places))))


class Period(Struct, frozen=True):
    """A time in which tournaments start: from its beginning, up to its end."""

    begin: datetime
    end: datetime


class BulkTable(Struct, frozen=True):
    """A table of the bulk files: its columns, and its rows in a period."""

    name: str
    columns: tuple[SheetColumn, ...]
    key: tuple[str, ...]
    rows: Callable[[Connection, Period], Iterator[Row]]


ALWAYS = Period(datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC))
# Nothing that this program can hold is older, and every month is a set of files.
YEAR_MIN = 1990


def month_period(month: str) -> Period:
    """The period of a month such as `2026-03`. Raises ValueError."""
    begin = datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)
    is_last = begin.month == 12
    end = begin.replace(year=begin.year + 1, month=1) if is_last else begin.replace(month=begin.month + 1)
    return Period(begin, end)


def month_of(moment: datetime) -> str:
    """The month of a moment, in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m")
