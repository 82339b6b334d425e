"""A pasted text or a sent file, read as a list of people; pure, whatever it holds."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from silverball.kit.errors import Invalid
from silverball.kit.values import replace
from silverball.service.sheets import decoding, people, tables, workbooks
from silverball.service.sheets.columns import ColumnKind
from silverball.service.sheets.names import clean_name
from silverball.service.sheets.people import LeftOutRow, NameOrder, SheetPeople
from silverball.service.sheets.tables import Table
from silverball.service.sheets.workbooks import Sheet

FILE_BYTES_MAX = 1_000_000
MACHINES_MAX = 500
TOO_LARGE = "The file is larger than 1 MB. Save the list alone, or send it in parts."


class ListSource(Struct, frozen=True, kw_only=True):
    """A text or the bytes of a file, and what people chose about it."""

    text: str = ""
    file: bytes = b""
    encoding: str | None = None
    sheet: str | None = None
    columns: tuple[ColumnKind, ...] = ()
    name_order: NameOrder | None = None
    # Whether it is a list of machines.
    is_of_machines: bool = False


class ListedMachine(Struct, frozen=True, kw_only=True):
    """A row with a machine: its name, or what the machine database knows it by."""

    line: int
    name: str = ""
    short_name: str = ""
    opdb_id: str | None = None


class ReadList(Struct, frozen=True, kw_only=True):
    """A list as it was read; without `table` a sheet has to be chosen first."""

    table: Table | None = None
    # What the table was read from; of a sheet with tabs.
    text: str = ""
    encoding: str | None = None
    sheets: tuple[Sheet, ...] = ()
    sheet: str | None = None
    notes: tuple[str, ...] = ()
    found: SheetPeople = SheetPeople()
    machines: tuple[ListedMachine, ...] = ()


def read_list(source: ListSource) -> ReadList:
    """The people in it. Raises Invalid for what cannot be read."""
    if len(source.file) > FILE_BYTES_MAX:
        raise Invalid({"file": [TOO_LARGE]})
    if workbooks.is_workbook(source.file):
        read = _read_workbook(source)
    elif source.file:
        decoded = decoding.decode(source.file, source.encoding)
        read = ReadList(table=tables.read_text(decoded.text), text=decoded.text, encoding=decoded.encoding)
    else:
        read = ReadList(table=tables.read_text(source.text), text=source.text)
    if read.table is None:
        return read
    if source.is_of_machines:
        return _with_machines(read, source.columns)
    found = people.read_people(read.table, source.columns, source.name_order)
    return replace(read, notes=(*read.notes, *_notes(found)), found=found)


def _with_machines(read: ReadList, kinds: Sequence[ColumnKind]) -> ReadList:
    """The list with the machines of its rows, and the rows that hold none."""
    assert read.table is not None
    table, columns = people.find_columns(read.table, kinds)
    rows, left_out = people.rows_below_header(table, columns)
    machines = []
    for row in rows:
        cells = dict(
            zip(reversed(columns.kinds), reversed(_padded(row.cells, len(columns.kinds))), strict=True)
        )
        opdb_id = cells.get("opdbId", "").strip()
        name = clean_name(cells.get("machine") or cells.get("name") or _first_and_last(cells))
        short = cells.get("shortName", "").strip()
        if name or short or opdb_id:
            machines.append(
                ListedMachine(line=row.line, name=name, short_name=short, opdb_id=opdb_id or None)
            )
        else:
            left_out.append(LeftOutRow(row.line, row.text, "It has no name and no id."))
    if len(machines) > MACHINES_MAX:
        raise Invalid({"text": [f"The list has more than {MACHINES_MAX} machines. Send it in parts."]})
    found = SheetPeople(
        left_out=tuple(sorted(left_out, key=lambda row: row.line)),
        columns=tuple(people.shown_columns(table, columns)),
    )
    return replace(read, found=found, machines=tuple(machines))


def _padded(cells: Sequence[str], width: int) -> list[str]:
    return [*cells, *[""] * (width - len(cells))][:width]


def _first_and_last(cells: Mapping[ColumnKind, str]) -> str:
    """Two columns of single words are two words of a title."""
    return " ".join(filter(None, (cells.get("first", ""), cells.get("last", ""))))


def _read_workbook(source: ListSource) -> ReadList:
    sheets = workbooks.read_workbook(source.file)
    if not sheets:
        raise Invalid({"file": ["The spreadsheet is empty."]})
    shown = [sheet for sheet in sheets if not sheet.is_hidden] or sheets
    wanted = [sheet for sheet in sheets if sheet.name == source.sheet]
    if source.sheet is not None and not wanted:
        names = ", ".join(sheet.name for sheet in sheets)
        raise Invalid({"sheet": [f"The spreadsheet has no filled sheet of this name. It has: {names}."]})
    chosen = wanted or shown
    notes = _hidden_notes(sheets, chosen)
    if len(chosen) > 1:
        return ReadList(sheets=tuple(sheets), notes=notes)
    table = chosen[0].table
    text = tables.to_text(table.rows)
    return ReadList(table=table, text=text, sheets=tuple(sheets), sheet=chosen[0].name, notes=notes)


def _hidden_notes(sheets: Sequence[Sheet], chosen: Sequence[Sheet]) -> tuple[str, ...]:
    notes = [f"Sheet {sheet.name} is hidden." for sheet in sheets if sheet.is_hidden]
    for sheet in chosen:
        if sheet.hidden_rows:
            count = (
                f"{sheet.hidden_rows} row is" if sheet.hidden_rows == 1 else f"{sheet.hidden_rows} rows are"
            )
            notes.append(f"{count} hidden in sheet {sheet.name}, and read like the others.")
    return tuple(notes)


def _notes(found: SheetPeople) -> list[str]:
    notes = []
    for number, column in enumerate(found.columns, start=1):
        what = people.NOT_KEPT.get(column.kind)
        if what is not None and (column.header or column.example):
            name = f"{column.header}" if column.header else f"Column {number} ({column.example})"
            notes.append(f"{name}: {what}; left out.")
    return notes
