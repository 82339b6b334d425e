"""Spreadsheets of .xlsx and .ods: zip files of XML, measured before they are opened.

python-calamine reads the cells. It lays a sheet out in full, however far its last cell is from its first, and
says nothing of hidden rows, so the XML is looked through before.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any
from xml.parsers import expat

from msgspec import Struct

from silverball.kit.errors import Invalid
from silverball.service.sheets.tables import COLUMNS_MAX, ROWS_MAX, Table, TableRow, checked

ZIP_BEGINNING = b"PK\x03\x04"
UNPACKED_BYTES_MAX, ENTRIES_MAX = 20_000_000, 100
CHUNK_BYTES = 1 << 16
RELATIONSHIPS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CELL_ADDRESS = re.compile(r"([A-Z]{1,4})([0-9]{1,8})", re.ASCII)
ATTRIBUTE_SEPARATOR = " "
BROKEN = "The spreadsheet is broken: {reason}. Save it again as .xlsx, .ods or .csv."


class Sheet(Struct, frozen=True):
    """A filled sheet of a workbook, and what is hidden of it."""

    name: str
    table: Table
    is_hidden: bool = False
    hidden_rows: int = 0


class _Extent(Struct):
    """How far the cells of a sheet reach, and how many of its rows are hidden."""

    rows: int = 0
    columns: int = 0
    hidden_rows: int = 0


def is_workbook(content: bytes) -> bool:
    """Whether these bytes are a zip, as spreadsheets are."""
    return content.startswith(ZIP_BEGINNING)


def read_workbook(content: bytes) -> list[Sheet]:
    """The filled sheets, in their order. Raises Invalid for what is too large, broken or no spreadsheet."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _measure(archive)
            extents = _extents(archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise _refusal(BROKEN.format(reason="its parts cannot be unpacked")) from error
    except (expat.ExpatError, KeyError) as error:
        raise _refusal(BROKEN.format(reason="a part of it is missing or no XML")) from error
    for name, extent in extents.items():
        if extent.rows > ROWS_MAX:
            raise _refusal(f"Sheet {name} has cells beyond row {ROWS_MAX:,}. Send it in parts.")
        if extent.columns > COLUMNS_MAX:
            raise _refusal(f"Sheet {name} has cells beyond column {COLUMNS_MAX}. Leave some out.")
    # Most sites read none, and a start would load it.
    import python_calamine

    try:
        with python_calamine.load_workbook(io.BytesIO(content)) as workbook:
            return _filled_sheets(workbook, extents)
    except python_calamine.PasswordError as error:
        raise _refusal("The spreadsheet has a password. Save it without.") from error
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        raise _refusal(BROKEN.format(reason="its sheets cannot be read")) from error


def _refusal(sentence: str) -> Invalid:
    return Invalid({"file": [sentence]})


def _measure(archive: zipfile.ZipFile) -> None:
    """Raise Invalid for a zip of too many or too large entries, whatever it declares."""
    entries = archive.infolist()
    if len(entries) > ENTRIES_MAX:
        raise _refusal(f"The spreadsheet has {len(entries)} parts; one of ours has at most {ENTRIES_MAX}.")
    too_large = f"The spreadsheet unpacks to more than {UNPACKED_BYTES_MAX // 1_000_000} MB."
    if sum(entry.file_size for entry in entries) > UNPACKED_BYTES_MAX:
        raise _refusal(too_large)
    unpacked = 0
    for entry in entries:
        with archive.open(entry) as part:
            while chunk := part.read(CHUNK_BYTES):
                unpacked += len(chunk)
                if unpacked > UNPACKED_BYTES_MAX:
                    raise _refusal(too_large)


def _extents(archive: zipfile.ZipFile) -> dict[str, _Extent]:
    """Name -> extent of each sheet."""
    names = set(archive.namelist())
    # What has both is read as the former.
    is_office_open = any(name.lower().startswith("xl/") for name in names)
    if "content.xml" in names and not is_office_open:
        return _extents_of_ods(archive.read("content.xml"))
    if "xl/workbook.xml" not in names:
        raise _refusal("This zip is no spreadsheet: send .xlsx, .ods, .csv or .txt.")
    parts: dict[str, str] = {}
    sheets: dict[str, str] = {}

    def note_part(name: str, attributes: Mapping[str, str]) -> None:
        if name == "Relationship":
            parts[attributes.get("Id", "")] = attributes.get("Target", "")

    def note_sheet(name: str, attributes: Mapping[str, str]) -> None:
        if name == "sheet":
            part_id = attributes.get(RELATIONSHIPS + ATTRIBUTE_SEPARATOR + "id", "")
            sheets[attributes.get("name", "")] = part_id

    _parse(archive.read("xl/_rels/workbook.xml.rels"), note_part)
    _parse(archive.read("xl/workbook.xml"), note_sheet)
    found = {}
    for name, part_id in sheets.items():
        target = parts.get(part_id, "")
        path = target.removeprefix("/") if target.startswith("/") else f"xl/{target}"
        found[name] = _extent_of_xlsx(archive.read(path))
    return found


def _parse(
    content: bytes,
    begin: Callable[[str, Mapping[str, str]], None],
    end: Callable[[str], None] = lambda _name: None,
    text: Callable[[str], None] = lambda _text: None,
) -> None:
    """Hand the elements to the functions, under their names without namespace. Raises ExpatError."""
    parser = expat.ParserCreate(namespace_separator=ATTRIBUTE_SEPARATOR)

    def refuse_entities(*_declared: Any) -> None:
        raise _refusal(BROKEN.format(reason="it declares a document type"))

    parser.StartDoctypeDeclHandler = refuse_entities
    parser.StartElementHandler = lambda name, attributes: begin(name.rpartition(" ")[2], attributes)
    parser.EndElementHandler = lambda name: end(name.rpartition(" ")[2])
    parser.CharacterDataHandler = text
    parser.Parse(content, True)


def _extent_of_xlsx(content: bytes) -> _Extent:
    extent = _Extent()
    row, column = 0, 0

    def begin(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal row, column
        if name == "row":
            number = attributes.get("r", "")
            row = int(number) if number.isdigit() and len(number) < 9 else row + 1
            column = 0
            extent.hidden_rows += attributes.get("hidden") in ("1", "true")
        elif name == "c":
            column += 1
            place = CELL_ADDRESS.fullmatch(attributes.get("r", ""))
            if place:
                column, row = _column_number(place[1]), int(place[2])
        elif name in ("v", "is"):
            # A cell with a format and nothing in it counts for nothing.
            extent.rows, extent.columns = max(extent.rows, row), max(extent.columns, column)

    _parse(content, begin)
    return extent


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


class _OdsExtents:
    """The extents of the tables of a content.xml, whose rows and cells are repeated by numbers."""

    def __init__(self) -> None:
        self.found: dict[str, _Extent] = {}
        self._extent = _Extent()
        self._row = self._column = self._row_count = self._cell_count = 0

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        """Count an element that opens."""
        plain = {key.rpartition(" ")[2]: value for key, value in attributes.items()}
        if name == "table":
            self._extent = self.found[plain.get("name", "")] = _Extent()
            self._row = 0
        elif name == "table-row":
            self._row_count, self._column = _repeated(plain.get("number-rows-repeated")), 0
            self._row += self._row_count
            if plain.get("visibility") in ("collapse", "filter"):
                self._extent.hidden_rows += min(self._row_count, ROWS_MAX)
        elif name in ("table-cell", "covered-table-cell"):
            self._cell_count = _repeated(plain.get("number-columns-repeated"))
            self._column += self._cell_count
            if "value-type" in plain:
                self._extent.rows = max(self._extent.rows, self._row)
                self._extent.columns = max(self._extent.columns, self._column)


def _repeated(text: str | None) -> int:
    return int(text) if text and text.isdigit() and len(text) < 9 else 1


def _extents_of_ods(content: bytes) -> dict[str, _Extent]:
    extents = _OdsExtents()
    _parse(content, extents.begin)
    return extents.found


def _filled_sheets(workbook: Any, extents: Mapping[str, _Extent]) -> list[Sheet]:
    import python_calamine

    sheets = []
    for about in workbook.sheets_metadata:
        if about.typ != python_calamine.SheetTypeEnum.WorkSheet:
            continue
        rows = []
        cells_of_rows = workbook.get_sheet_by_name(about.name).to_python(skip_empty_area=False)
        for number, cells in enumerate(cells_of_rows, start=1):
            texts = [_text_of(cell) for cell in cells]
            while texts and not texts[-1]:
                texts.pop()
            if texts:
                rows.append(TableRow(number, tuple(texts)))
        if rows:
            is_hidden = about.visible != python_calamine.SheetVisibleEnum.Visible
            hidden_rows = extents.get(about.name, _Extent()).hidden_rows
            sheets.append(Sheet(about.name, checked(Table(tuple(rows), "\t")), is_hidden, hidden_rows))
    return sheets


def _text_of(cell: Any) -> str:
    """The stored value as a text: whole numbers without `.0`."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 10**15 else str(cell)
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell)
    return " ".join(str(cell).split())
