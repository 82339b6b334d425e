"""The five column types. SQLite's STRICT tables know INTEGER, REAL, TEXT and BLOB only, and
`Numeric` on SQLite is a float, so every column that is not plain text uses one of these.

Values are decoded by `result_processor` itself: SQLAlchemy's `process_result_value` takes two more
calls for each value, and an answer may have thousands of them. All but flags, which stand in conditions
of indexes as literals, are encoded by `bind_processor` itself for the same reason.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Boolean, DateTime, Dialect, Integer, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

_ENCODE = msgspec.json.Encoder().encode
_DECODE = msgspec.json.Decoder().decode
Decode = Callable[[Any], Any]
Encode = Callable[[Any], Any]


class Id(TypeDecorator[int]):
    """A 64-bit integer: ids, counts, pinball scores."""

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        # Only a column declared INTEGER becomes SQLite's rowid.
        return dialect.type_descriptor(Integer() if dialect.name == "sqlite" else BigInteger())


class Flag(TypeDecorator[bool]):
    """True or false."""

    impl = Boolean
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(Integer() if dialect.name == "sqlite" else Boolean())

    def process_bind_param(self, value: bool | None, dialect: Dialect) -> Any:
        if value is None or dialect.name != "sqlite":
            return value
        return int(value)

    def result_processor(self, dialect: Dialect, coltype: object) -> Decode | None:
        return _parse_flag if dialect.name == "sqlite" else None


def _parse_flag(value: int | None) -> bool | None:
    return None if value is None else value != 0


class Json(TypeDecorator[Any]):
    """A JSON value, kept as its text: key order and number form come back as they went in."""

    impl = Text
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Encode:
        return _encode_json

    def result_processor(self, dialect: Dialect, coltype: object) -> Decode | None:
        return _parse_json


def _encode_json(value: Any) -> str | None:
    return None if value is None else _ENCODE(value).decode()


def _parse_json(text: str | None) -> Any:
    return None if text is None else _DECODE(text)


class Instant(TypeDecorator[datetime]):
    """A moment, aware and in UTC, to the microsecond."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(Text() if dialect.name == "sqlite" else DateTime(timezone=True))

    def bind_processor(self, dialect: Dialect) -> Encode:
        return _encode_instant if dialect.name == "sqlite" else _require_utc

    def result_processor(self, dialect: Dialect, coltype: object) -> Decode | None:
        return _parse_instant if dialect.name == "sqlite" else _to_utc


# The lines of one action have the same moment, and so has much of what it writes. Aware moments are equal
# when they are the same moment, in whatever zone.
@lru_cache(maxsize=64)
def instant_text(moment: datetime) -> str:
    """An aware moment in UTC, as SQLite and the journal's hashes have it: `2025-01-16T00:10:45.000000Z`."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


@lru_cache(maxsize=64)
def _encode_instant(moment: datetime | None) -> str | None:
    in_utc = _require_utc(moment)
    return None if in_utc is None else instant_text(in_utc)


def _require_utc(moment: datetime | None) -> datetime | None:
    if moment is None:
        return None
    if moment.tzinfo is None:
        raise ValueError(f"{moment} has no time zone")
    return moment.astimezone(UTC)


def _parse_instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _to_utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.astimezone(UTC)


class Hundredths(TypeDecorator[Decimal]):
    """Points: exact, two decimals, stored as whole hundredths."""

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(Integer() if dialect.name == "sqlite" else BigInteger())

    def bind_processor(self, dialect: Dialect) -> Encode:
        return encode_hundredths

    def result_processor(self, dialect: Dialect, coltype: object) -> Decode | None:
        return decode_hundredths


# A league's nights have a few hundred different points.
@lru_cache(maxsize=4096)
def encode_hundredths(points: Decimal | None) -> int | None:
    """The hundredths that stand for these points. Raises ValueError when they have more decimals."""
    if points is None:
        return None
    hundredths = Decimal(points) * 100
    if hundredths != int(hundredths):
        raise ValueError(f"{points} points have more than two decimals")
    return int(hundredths)


@lru_cache(maxsize=4096)
def decode_hundredths(hundredths: int | None) -> Decimal | None:
    """Points of stored hundredths."""
    return None if hundredths is None else Decimal(hundredths).scaleb(-2)


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
