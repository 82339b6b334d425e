"""Many rows of whole numbers as one text: a tenth of what a row for each costs, on both databases."""

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Text, cast, func

_DECODE = msgspec.json.Decoder(list[int]).decode
_DECODE_NULLABLE = msgspec.json.Decoder(list[Any]).decode
NOTHING = "null"


def listed(*columns: ColumnElement[int]) -> ColumnElement[str]:
    """The values of columns that are never null, row after row, in no certain order; null without rows.

    Two in one statement have the same order; SQLite reads two of a column each in half the time. Raises
    ValueError for a column of a table that may be null, as its rows would be left out.
    """
    for column in columns:
        if getattr(column, "nullable", False):
            raise ValueError(f"{column} may be null: listed_nullable")
    return _listed([cast(column, Text) for column in columns])


def listed_nullable(*columns: ColumnElement[int]) -> ColumnElement[str]:
    """The same, of columns that may be null."""
    return _listed([func.coalesce(cast(column, Text), NOTHING) for column in columns])


def _listed(texts: Sequence[ColumnElement[str]]) -> ColumnElement[str]:
    row, *others = texts
    for text in others:
        row = row.concat(",").concat(text)
    return func.aggregate_strings(row, ",")


def decode_listed(text: str | None) -> list[int]:
    """The numbers of `listed`."""
    return _DECODE(f"[{text or ''}]")


def decode_nullable(text: str | None) -> list[Any]:
    """The numbers of `listed_nullable`: whole numbers, and None for null."""
    return _DECODE_NULLABLE(f"[{text or ''}]")
