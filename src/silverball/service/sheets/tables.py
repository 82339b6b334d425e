"""A table as rows of texts, out of a text with tabs, semicolons or commas and quotes."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from silverball.kit.errors import Invalid

ROWS_MAX, COLUMNS_MAX = 5_000, 50
CELL_LETTERS_MAX = 10_000
# In this order: a tab is in no name, a semicolon in few, and a comma in many.
MARKS = ("\t", ";", ",")
# A cell of a text with tabs is quoted because of one of these.
QUOTED = re.compile(r'[\t\n\r"]')


class TableRow(Struct, frozen=True):
    """The cells of a row, trimmed, and the line that it began in."""

    line: int
    cells: tuple[str, ...]

    @property
    def text(self) -> str:
        """The filled cells, as a person reads them."""
        return ", ".join(cell for cell in self.cells if cell)


class Table(Struct, frozen=True):
    """The rows that hold anything; `mark` is what stood between the cells, empty where nothing did."""

    rows: tuple[TableRow, ...]
    mark: str = ""

    @property
    def width(self) -> int:
        """The number of columns."""
        return max((len(row.cells) for row in self.rows), default=0)


def read_text(text: str) -> Table:
    """The table in a text. Raises Invalid for one that is too large, or with a quote that is never closed."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = [line for line in text.split("\n") if line.strip()]
    mark = _mark_between(lines)
    if not mark:
        rows = [TableRow(number, (line.strip(),)) for number, line in _numbered(text) if line.strip()]
        return checked(Table(tuple(rows)))
    reader = csv.reader(io.StringIO(text), delimiter=mark, skipinitialspace=mark != "\t", strict=False)
    rows, began = [], 1
    try:
        for cells in reader:
            trimmed = tuple(cell.strip() for cell in cells)
            if any(trimmed):
                rows.append(TableRow(began, trimmed))
            began = reader.line_num + 1
            if len(rows) > ROWS_MAX:
                break
    except csv.Error as error:
        raise Invalid({"text": [f"Line {reader.line_num} cannot be read as a row: {error}."]}) from error
    return checked(Table(tuple(rows), mark))


def checked(table: Table) -> Table:
    """The table. Raises Invalid for one with too many rows or columns, or none at all."""
    if not table.rows:
        raise Invalid({"text": ["There is nothing in it."]})
    if len(table.rows) > ROWS_MAX:
        raise Invalid({"text": [f"The table has more than {ROWS_MAX:,} rows. Send it in parts."]})
    if table.width > COLUMNS_MAX:
        sentence = f"The table has {table.width} columns; {COLUMNS_MAX} can be read. Leave some out."
        raise Invalid({"text": [sentence]})
    return table


def to_text(rows: Sequence[TableRow]) -> str:
    """The rows as a text with tabs, which `read_text` reads as the same rows."""
    lines: list[str] = []
    line = 1
    for row in rows:
        lines += [""] * (row.line - line)
        cells = row.cells if len(row.cells) > 1 else (*row.cells, "")
        lines.append("\t".join(map(_in_quotes, cells)))
        line = row.line + 1 + sum(cell.count("\n") for cell in row.cells)
    return "".join(f"{written}\n" for written in lines)


def _in_quotes(cell: str) -> str:
    """The cell as it stands in a text with tabs."""
    return '"' + cell.replace('"', '""') + '"' if QUOTED.search(cell) else cell


def _numbered(text: str) -> list[tuple[int, str]]:
    return list(enumerate(text.split("\n"), start=1))


def _mark_between(lines: Sequence[str]) -> str:
    """The mark between the cells: it is in most lines; empty where none is."""
    for mark in MARKS:
        counts = Counter(line.count(mark) for line in lines)
        with_mark = len(lines) - counts[0]
        if mark == "\t" and with_mark:
            return mark
        if with_mark * 2 > len(lines):
            return mark
    return ""
