"""People out of a table: rows as they will be, what was left out and why, and what has to be asked first."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from silverball.kit.errors import Invalid
from silverball.kit.values import clean, replace
from silverball.service.sheets import columns
from silverball.service.sheets.columns import ColumnKind, FoundColumns
from silverball.service.sheets.names import ORDINAL, are_numbered, clean_name
from silverball.service.sheets.tables import Table, TableRow
from silverball.store.people import names

PEOPLE_MAX = 1_000
NAME_LETTERS_MAX = 100
READINGS_SHOWN_MAX = 3
NameOrder = Literal["firstLast", "lastFirst"]
# `Quill, Ada`, and no `Stern, Jr.`.
TURNED = re.compile(r"([^\s,]+), *([^\s,]+)")
SUFFIX = re.compile(r"(?:jr|sr|ii|iii|iv|phd|md)\.?", re.IGNORECASE)
TOTALS = frozenset({"total", "sum", "summe", "gesamt", "totaal", "som", "summa", "totalt", "somme", "suma"})
# What the columns are of which nothing is kept, for the sentence that says so.
NOT_KEPT: dict[ColumnKind, str] = {
    "town": "a town",
    "country": "a country",
    "initials": "initials",
    "pronouns": "pronouns",
    "paid": "who has paid",
    "ordinal": "numbers of rows",
    "place": "places",
    "score": "scores",
    "shortName": "short names",
    "opdbId": "ids of machines",
    "machine": "machines",
    "other": "nothing that the book keeps",
}
NAME_KINDS: tuple[ColumnKind, ...] = ("name", "first", "middle", "last")


class SheetPerson(Struct, frozen=True, kw_only=True):
    """A row with a person, or with a number alone whose name somebody else knows."""

    line: int
    name: str = ""
    ifpa_id: int | None = None
    seed: int | None = None


class LeftOutRow(Struct, frozen=True):
    """A row that holds no person, and the reason."""

    line: int
    text: str
    reason: str


class SheetColumn(Struct, frozen=True):
    """A column with its header, its first filled cell, and what it is taken for."""

    header: str
    example: str
    kind: ColumnKind


class NameReading(Struct, frozen=True):
    """The first names under one order of first and last name."""

    name_order: NameOrder
    names: tuple[str, ...]


class SheetPeople(Struct, frozen=True, kw_only=True):
    """The people and columns of a table; with `readings` the order of names has to be chosen first."""

    people: tuple[SheetPerson, ...] = ()
    left_out: tuple[LeftOutRow, ...] = ()
    columns: tuple[SheetColumn, ...] = ()
    readings: tuple[NameReading, ...] = ()


def find_columns(table: Table, kinds: Sequence[ColumnKind] = ()) -> tuple[Table, FoundColumns]:
    """The table and its columns, which `kinds` may name. Raises Invalid for kinds of another table."""
    found = columns.columns_by_header(table.rows, table.width)
    if found is None and not kinds:
        table = _names_apart(table)
    if found is None:
        found = columns.columns_by_content(table.rows, table.width)
    if not kinds:
        return table, found
    if len(kinds) != table.width:
        sentence = f"Name each column: the table has {table.width}, and {len(kinds)} were named."
        raise Invalid({"columns": [sentence]})
    return table, replace(found, kinds=tuple(kinds))


def read_people(
    table: Table, kinds: Sequence[ColumnKind] = (), name_order: NameOrder | None = None
) -> SheetPeople:
    """The people of a table. Raises Invalid for too many, and for several tables in one."""
    table, found = find_columns(table, kinds)
    shown = tuple(shown_columns(table, found))
    if not any(kind in NAME_KINDS or kind == "number" for kind in found.kinds):
        sentence = "No column is of names. Say which column holds the names."
        return SheetPeople(
            columns=shown, left_out=(LeftOutRow(table.rows[0].line, table.rows[0].text, sentence),)
        )
    rows, left_out = rows_below_header(table, found)
    turned = _turned_names(table, found, rows)
    if turned and name_order is None:
        readings = tuple(
            NameReading(order, tuple(_in_order(*parts, order) for parts in turned[:READINGS_SHOWN_MAX]))
            for order in ("lastFirst", "firstLast")
        )
        return SheetPeople(left_out=tuple(left_out), columns=shown, readings=readings)
    is_numbered = table.width == 1 and are_numbered([row.text for row in rows])
    people: list[SheetPerson] = []
    for row in rows:
        of_row = list(
            _people_in_row(
                row,
                found,
                is_turned_table=_is_turned_table(table, found, rows),
                name_order=name_order,
                is_numbered=is_numbered,
            )
        )
        people += of_row
        if not of_row:
            left_out.append(LeftOutRow(row.line, row.text, _why_nobody(row, found)))
    if len(people) > PEOPLE_MAX:
        sentence = (
            f"The list has {len(people):,} people; {PEOPLE_MAX:,} can be taken at once. Send it in parts."
        )
        raise Invalid({"text": [sentence]})
    return SheetPeople(
        people=tuple(people), left_out=tuple(sorted(left_out, key=lambda row: row.line)), columns=shown
    )


def name_fault(name: str) -> str:
    """The reason why this cannot be stored as a name; empty when it can."""
    if "\ufffd" in name:
        return "A letter of the name could not be read. Choose another encoding, or write the name anew."
    if any(unicodedata.category(letter) == "Cc" for letter in name) or not clean(name).isprintable():
        return "The name has a control character. Choose another encoding, or write the name anew."
    if len(name) > NAME_LETTERS_MAX:
        return f"The name has more than {NAME_LETTERS_MAX} characters."
    return ""


def _names_apart(table: Table) -> Table:
    """A table of its names alone, where lines hold several: `Ada Quill, Bo Larkin; Cleo Marsh`."""
    if table.mark not in (",", ";"):
        return table
    parts_of = [[part.strip() for part in re.split("[,;]", row.text) if part.strip()] for row in table.rows]
    are_names = all(" " in part and columns.looks_like_name(part) for parts in parts_of for part in parts)
    counts = {len(parts) for parts in parts_of}
    if not are_names or (len(table.rows) > 1 and len(counts) == 1 and counts != {1}):
        return table
    rows = [
        TableRow(row.line, (part,)) for row, parts in zip(table.rows, parts_of, strict=True) for part in parts
    ]
    return Table(tuple(rows))


def shown_columns(table: Table, found: FoundColumns) -> Iterator[SheetColumn]:
    """The columns with their headers and first filled cells."""
    skipped = found.header_lines | found.lines_above
    body = [row for row in table.rows if row.line not in skipped]
    for place, kind in enumerate(found.kinds):
        filled = (row.cells[place] for row in body if place < len(row.cells) and row.cells[place])
        header = found.headers[place] if place < len(found.headers) else ""
        yield SheetColumn(header, next(filled, "")[:NAME_LETTERS_MAX], kind)


def rows_below_header(table: Table, found: FoundColumns) -> tuple[list[TableRow], list[LeftOutRow]]:
    """The rows below the header, and those that hold nobody. Raises Invalid for a table of other columns."""
    rows: list[TableRow] = []
    left_out: list[LeftOutRow] = []
    for place, row in enumerate(table.rows):
        following = table.rows[place + 1] if place + 1 < len(table.rows) else None
        reason = ""
        if row.line in found.header_lines:
            reason = "It is the header."
        elif row.line in found.lines_above:
            reason = "It stands above the header."
        elif found.headers and _is_header_again(row):
            _refuse_other_columns(row, found)
            reason = "It is the header again."
        elif found.headers and following is not None and _is_header_again(following) and _filled(row) == 1:
            reason = "It is a title above the header."
        if reason:
            left_out.append(LeftOutRow(row.line, row.text, reason))
        else:
            rows.append(row)
    return rows, left_out


def _is_header_again(row: TableRow) -> bool:
    """Whether a row below the header is one: a total beside a number is none."""
    return len(columns.known_words(row)) > 1 or (columns.is_header(row) and _filled(row) == 1)


def _filled(row: TableRow) -> int:
    return sum(bool(cell) for cell in row.cells)


def _refuse_other_columns(row: TableRow, found: FoundColumns) -> None:
    first = [names.strip_punctuation(header) for header in found.headers]
    again = [names.strip_punctuation(cell) for cell in row.cells]
    again += [""] * (len(first) - len(again))
    kinds = [columns.word_kind(header) for header in found.headers]
    kinds_again = [columns.word_kind(cell) if cell else None for cell in again]
    telling: frozenset[ColumnKind | None] = frozenset((*NAME_KINDS, "number"))
    is_same = all(
        new == old or word == before
        for new, old, word, before in zip(kinds_again, kinds, again, first, strict=True)
        if new in telling or old in telling
    )
    if not is_same:
        sentence = f"Line {row.line} begins another table, with other columns. Send one table at a time."
        raise Invalid({"text": [sentence]})


def _turned_names(table: Table, found: FoundColumns, rows: Sequence[TableRow]) -> list[tuple[str, str]]:
    """The two words of each name that may be `Quill, Ada`, as they stand."""
    if _is_turned_table(table, found, rows):
        return [(row.cells[0], row.cells[1]) for row in rows if len(row.cells) > 1]
    cells = [
        cell for row in rows for cell, kind in zip(row.cells, found.kinds, strict=False) if kind == "name"
    ]
    return [(match[1], match[2]) for cell in cells if (match := _turned(cell))]


def _is_turned_table(table: Table, found: FoundColumns, rows: Sequence[TableRow]) -> bool:
    """Whether a comma stands between single words, and no header says which of them is the first name."""
    return table.mark == "," and not found.headers and found.kinds == ("first", "last") and len(rows) > 0


def _turned(cell: str) -> re.Match[str] | None:
    match = TURNED.fullmatch(cell.strip())
    if match is None or SUFFIX.fullmatch(match[2]) or not all(map(columns.looks_like_name, match.groups())):
        return None
    return match


def _in_order(left: str, right: str, order: NameOrder | None) -> str:
    return f"{left} {right}" if order == "firstLast" else f"{right} {left}"


def _people_in_row(
    row: TableRow,
    found: FoundColumns,
    *,
    is_turned_table: bool,
    name_order: NameOrder | None,
    is_numbered: bool,
) -> Iterator[SheetPerson]:
    """The person of a row, or each of those in several columns of names."""
    by_kind: dict[ColumnKind, list[str]] = {}
    for cell, kind in zip(row.cells, found.kinds, strict=False):
        if cell:
            by_kind.setdefault(kind, []).append(cell)
    number = next(filter(None, map(columns.read_number, by_kind.get("number", ()))), None)
    seed = columns.read_number(next(iter(by_kind.get("seed", ())), ""))
    parts = [clean_name(cell) for kind in ("first", "middle", "last") for cell in by_kind.get(kind, ())]
    whole = " ".join(filter(None, parts))
    if is_turned_table and len(parts) == 2:
        whole = _in_order(parts[0], parts[1], name_order)
    wanted = [whole] if whole else []
    for cell in by_kind.get("name", ()):
        if columns.DIGITS.fullmatch(cell.lstrip("#")):
            number = number or columns.read_number(cell)
            continue
        match = _turned(cell)
        name = (
            _in_order(match[1], match[2], name_order) if match else clean_name(cell, is_numbered=is_numbered)
        )
        wanted += [name] if name else []
    if is_total(row):
        return
    if number is not None and not wanted:
        yield SheetPerson(line=row.line, ifpa_id=number, seed=seed)
    for place, name in enumerate(wanted):
        yield SheetPerson(
            line=row.line, name=_tidy(name), ifpa_id=None if place else number, seed=None if place else seed
        )


def is_total(row: TableRow) -> bool:
    """Whether the row sums up the others."""
    return any(names.strip_punctuation(cell) in TOTALS for cell in row.cells)


def _tidy(name: str) -> str:
    """The name with single spaces, and without what nobody sees; letters that are faults stay."""
    kept = name if name_fault(name) else clean(name)
    return " ".join(kept.split(" "))


def _why_nobody(row: TableRow, found: FoundColumns) -> str:
    cells = [cell for cell, kind in zip(row.cells, found.kinds, strict=False) if kind in NAME_KINDS and cell]
    if is_total(row):
        return "It is a total."
    if not cells:
        return "It has no name and no number."
    if all(ORDINAL.fullmatch(cell) for cell in cells):
        return "It is a place or the number of a row."
    return "It has no name that can be read."
