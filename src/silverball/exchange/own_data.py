"""All data of one account as one file: a ZIP with JSON, CSV and a README."""

import io
import zipfile
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from silverball.service.accounts.reads import ExportedSection
from silverball.service.tables import sheet

CONTENT_TYPE = "application/zip"
README = """\
Everything that this Silverball keeps about your account, as of {at:%Y-%m-%d %H:%M} UTC.

data.json has all of it. The folder csv has the same as tables, one file for each kind of thing, for a
spreadsheet; a text that a spreadsheet could take for a formula begins with an apostrophe there.
Times are in UTC. Passwords and the secrets of tokens are not stored, so they are missing here too.

{listed}
"""


def account_file(user_id: int, sections: Iterable[ExportedSection], at: datetime) -> tuple[str, bytes]:
    """The name and content of the file."""
    everything: dict[str, Any] = {}
    descriptions: list[str] = []
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for exported in sections:
            rows = [dict(zip(exported.columns, row, strict=True)) for row in exported.rows]
            everything[exported.section.name] = rows
            descriptions.append(f"{exported.section.name} ({len(rows)}): {exported.section.description}")
            table = sheet.csv_file("", exported.columns, [_cells(row) for row in exported.rows])
            _add_file(archive, f"csv/{exported.section.name}.csv", table.body, at)
        json_text = msgspec.json.format(msgspec.json.encode(everything), indent=2)
        _add_file(archive, "data.json", json_text, at)
        _add_file(archive, "README.txt", README.format(at=at, listed="\n".join(descriptions)).encode(), at)
    return f"silverball-account-{user_id}.zip", content.getvalue()


def _add_file(archive: zipfile.ZipFile, name: str, content: bytes, at: datetime) -> None:
    entry = zipfile.ZipInfo(name, at.timetuple()[:6])
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)


def _cells(row: Sequence[Any]) -> list[sheet.Cell]:
    return [_cell(value) for value in row]


def _cell(value: Any) -> sheet.Cell:
    if isinstance(value, datetime):
        return sheet.VerbatimText(value.isoformat())
    if isinstance(value, float):
        return sheet.VerbatimText(value)
    if isinstance(value, list | dict):
        # Only strings have semicolons, at which some spreadsheets would split the cell.
        return sheet.VerbatimText(msgspec.json.encode(value).decode().replace(";", "\\u003b"))
    return value  # type: ignore[no-any-return]  # the other columns hold what a cell may
