"""Workbooks made here: .xlsx and .ods are zip files of XML."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

Cells = Sequence[Sequence[Any]]
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "urn:oasis:names:tc:opendocument:xmlns:{}:1.0"


def an_xlsx(
    sheets: Mapping[str, Cells], *, hidden_sheets: Sequence[str] = (), hidden_rows: Sequence[int] = ()
) -> bytes:
    """A workbook of these sheets; `hidden_rows` are hidden in each of them."""
    listed, links, types, parts = [], [], [], {}
    for number, (name, rows) in enumerate(sheets.items(), start=1):
        state = ' state="hidden"' if name in hidden_sheets else ""
        listed.append(f'<sheet name={quoteattr(name)} sheetId="{number}" r:id="rId{number}"{state}/>')
        kind = f"{_LINKS}/worksheet"
        links.append(f'<Relationship Id="rId{number}" Type="{kind}" Target="worksheets/sheet{number}.xml"/>')
        content = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"
        types.append(f'<Override PartName="/xl/worksheets/sheet{number}.xml" ContentType="{content}"/>')
        parts[f"xl/worksheets/sheet{number}.xml"] = _xlsx_sheet(rows, hidden_rows)
    main = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
    parts["[Content_Types].xml"] = (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels"'
        ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{main}"/>{"".join(types)}</Types>'
    )
    parts["_rels/.rels"] = (
        f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1"'
        f' Type="{_LINKS}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
    )
    parts["xl/workbook.xml"] = (
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_LINKS}"><sheets>{"".join(listed)}</sheets></workbook>'
    )
    parts["xl/_rels/workbook.xml.rels"] = (
        f'<Relationships xmlns="{_PACKAGE}/relationships">{"".join(links)}</Relationships>'
    )
    return a_zip(parts)


def _xlsx_sheet(rows: Cells, hidden_rows: Sequence[int]) -> str:
    written = []
    for number, row in enumerate(rows, start=1):
        cells = "".join(_xlsx_cell(f"{_letters(place)}{number}", cell) for place, cell in enumerate(row))
        hidden = ' hidden="1"' if number in hidden_rows else ""
        written.append(f'<row r="{number}"{hidden}>{cells}</row>')
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{"".join(written)}</sheetData></worksheet>'


def _xlsx_cell(address: str, cell: object) -> str:
    if cell is None or cell == "":
        return f'<c r="{address}" s="0"/>'
    if isinstance(cell, tuple):
        formula, value = cell
        return f'<c r="{address}"><f>{escape(formula)}</f><v>{value}</v></c>'
    if isinstance(cell, int | float):
        return f'<c r="{address}"><v>{cell}</v></c>'
    return f'<c r="{address}" t="inlineStr"><is><t>{escape(str(cell))}</t></is></c>'


def _letters(place: int) -> str:
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def an_ods(sheets: Mapping[str, Cells], *, repeated: str = "") -> bytes:
    """An OpenDocument spreadsheet; `repeated` is put behind the rows of each sheet as it is."""
    tables = []
    for name, rows in sheets.items():
        written = "".join(
            f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in rows
        )
        tables.append(f"<table:table table:name={quoteattr(name)}>{written}{repeated}</table:table>")
    spaces = " ".join(f'xmlns:{name}="{_OFFICE.format(name)}"' for name in ("office", "table", "text"))
    content = (
        f"<office:document-content {spaces}><office:body><office:spreadsheet>{''.join(tables)}"
        "</office:spreadsheet></office:body></office:document-content>"
    )
    manifest = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    return a_zip(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "META-INF/manifest.xml": manifest,
            "content.xml": content,
        }
    )


def _ods_cell(cell: object) -> str:
    if cell is None or cell == "":
        return "<table:table-cell/>"
    if isinstance(cell, int | float):
        return (
            f'<table:table-cell office:value-type="float" office:value="{cell}">'
            f"<text:p>{cell}</text:p></table:table-cell>"
        )
    return (
        '<table:table-cell office:value-type="string">'
        f"<text:p>{escape(str(cell))}</text:p></table:table-cell>"
    )


def a_zip(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip with these entries."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return written.getvalue()
