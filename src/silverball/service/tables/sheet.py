"""Tables as CSV (RFC 4180): safe to open in a spreadsheet, or raw for programs. Source: ratings.md E."""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from silverball.kit.http.endpoints import FileDownload

CONTENT_TYPE = "text/csv; charset=UTF-8"
# Spreadsheets read a cell that begins with one of these characters, also in full width, as a formula.
_FORMULA_START = "[=+\\-@\uff1d\uff0b\uff0d\uff20]"
# A cell also begins inside of our text where the reader splits at semicolons or tabs instead of commas: such
# a reader takes no notice of the quotes around the text, so line breaks split it too.
_CELL_BEGINS = re.compile(rf"\A(?=[ \"]*{_FORMULA_START}|[\t\r\n])|(?<=[;\t\r\n])(?=[ \"]*{_FORMULA_START})")
# The csv module leaves a lone carriage return bare, and readers then see two rows. Readers that split at
# semicolons or tabs as well as at commas keep what is quoted.
_NEEDS_QUOTES = re.compile('[,;\t"\r\n]')
Cell = str | int | bool | Decimal | None


class VerbatimText(str):
    """Text of our own, such as a number or a moment, which needs no protection from formulas."""

    __slots__ = ()


class QuotedText(str):
    """Text that stands in quotes though it may need none, as existing clients expect."""

    __slots__ = ()


def csv_file(name: str, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> FileDownload:
    """The table as a download. Every row must be as long as the header."""
    lines = [",".join(header)]
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"a row of {len(row)} cells under a header of {len(header)}")
        lines.append(_csv_line(row, is_raw=False))
    return FileDownload(("\n".join(lines) + "\n").encode(), CONTENT_TYPE, name)


def raw_line(row: Iterable[Cell]) -> str:
    """The row as a line of a bulk file: programs read it, so texts are as they are stored, formulas too."""
    return _csv_line(row, is_raw=True) + "\n"


def _csv_line(row: Iterable[Cell], *, is_raw: bool) -> str:
    return ",".join([_cell_text(cell, is_raw=is_raw) for cell in row])


def _cell_text(cell: Cell, *, is_raw: bool) -> str:
    if cell is None:
        return ""
    if not isinstance(cell, str):
        return ("true" if cell else "false") if isinstance(cell, bool) else str(cell)
    is_own = is_raw or isinstance(cell, VerbatimText)
    text = str(cell) if is_own else _CELL_BEGINS.sub("'", cell)
    if _NEEDS_QUOTES.search(text) or isinstance(cell, QuotedText):
        return '"' + text.replace('"', '""') + '"'
    return text
