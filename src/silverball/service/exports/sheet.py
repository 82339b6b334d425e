"""Tables as CSV (RFC 4180), safe to open in a spreadsheet. Source: ratings.md E."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from silverball.kit.http.endpoints import FileDownload

CONTENT_TYPE = "text/csv; charset=UTF-8"
# Spreadsheets read text that begins with these characters, also in full width, as a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", *"\uff1d\uff0b\uff0d\uff20")
Cell = str | int | bool | Decimal | None


class VerbatimText(str):
    """Text of our own, such as a number or a moment, which needs no protection from formulas."""

    __slots__ = ()


def csv_file(name: str, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> FileDownload:
    """The table as a download. Every row must be as long as the header."""
    lines = [",".join(header)]
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"a row of {len(row)} cells under a header of {len(header)}")
        lines.append(",".join(_quote_cell(_cell_text(cell)) for cell in row))
    return FileDownload(("\n".join(lines) + "\n").encode(), CONTENT_TYPE, name)


def _quote_cell(text: str) -> str:
    # The csv module leaves a lone carriage return bare, and readers then see two rows.
    if any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _cell_text(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, str) and not isinstance(cell, VerbatimText) and cell.startswith(FORMULA_STARTS):
        return "'" + cell
    return str(cell)
