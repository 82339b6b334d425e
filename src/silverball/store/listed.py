"""Many rows of whole numbers as one text: a tenth of what a row for each costs, on both databases."""

from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Text, cast, func

_DECODE = msgspec.json.Decoder(list[int]).decode
_DECODE_NULLABLE = msgspec.json.Decoder(list[Any]).decode
NOTHING = "null"


def listed(*columns: ColumnElement[int]) -> ColumnElement[str]:
    """The values of the columns, row after row, in no certain order; null where there are no rows.

    Two in one statement have the same order; SQLite reads two of a column each in half the time.
    """
    first, *others = (func.coalesce(cast(column, Text), NOTHING) for column in columns)
    row: ColumnElement[str] = first
    for value in others:
        row = row.concat(",").concat(value)
    return func.aggregate_strings(row, ",")


def decode_listed(text: str | None) -> list[int]:
    """The numbers of such a text, of columns that are never null."""
    return _DECODE(f"[{text or ''}]")


def decode_nullable(text: str | None) -> list[Any]:
    """The numbers of such a text, whole numbers and None for null."""
    return _DECODE_NULLABLE(f"[{text or ''}]")
