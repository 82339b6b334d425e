"""The machine database from a file in any of its four shapes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from silverball.exchange import json_file
from silverball.exchange.bundle.faults import BrokenFile
from silverball.exchange.opdb import shapes as opdb_shapes
from silverball.exchange.opdb.shapes import ExportEntry, FileEntry
from silverball.rules.opdb import ids as opdb
from silverball.service.machines.writes import machines as writes
from silverball.service.machines.writes import moves
from silverball.service.machines.writes.machines import ImportCounts
from silverball.service.machines.writes.moves import MachineMoves
from silverball.store.transaction import Transaction

UNKNOWN_SHAPE = (
    "This is not a machine database. Known are the export of opdb.org (a list of entries with `opdb_id`), "
    "an object with `machines` and `aliases`, and an object with `entries`."
)
# The lists of the first published shape, and the entry type of each.
ENTRY_LISTS = {"groups": "machineGroup", "machines": "machine", "aliases": "alias"}


class MachineFile(Struct, frozen=True):
    """A file that was read and checked."""

    # OPDB id -> the fields in the file, by the names of the published entry.
    entries: dict[str, dict[str, Any]]
    has_groups: bool


def read(path: Path) -> MachineFile:
    """Read and check a file. Raises BrokenFile with the row and field of the first fault, or OSError."""
    return parse(json_file.read(path))


def parse(raw: Any) -> MachineFile:
    """Check the JSON of a file. Raises BrokenFile."""
    listed = [row for at, entries, kind in _entry_lists(raw) for row in _check_entries(at, entries, kind)]
    if not listed:
        raise BrokenFile("$", "The file has no entries.")
    json_file.refuse_duplicates((at, entry.opdb_id) for at, entry in listed)
    entries = {entry.opdb_id: opdb_shapes.entry_fields(entry) for _, entry in listed}
    has_groups = any("-" not in opdb_id for opdb_id in entries)
    return MachineFile(entries, has_groups)


def import_machines(
    transaction: Transaction, file: MachineFile, *, is_forced: bool = False
) -> tuple[ImportCounts, MachineMoves]:
    """Replace the stored machine database by the file's, and apply the known changes of ids to arenas.

    In the caller's transaction. Raises Conflict for a file with far fewer entries than are stored.
    """
    counts = writes.replace_entries(
        transaction.connection, file.entries, has_groups=file.has_groups, is_forced=is_forced
    )
    return counts, moves.follow_moves(transaction)


def _entry_lists(raw: Any) -> list[tuple[str, Sequence[FileEntry | ExportEntry], str | None]]:
    """The lists of the file: JSON path, entries, and the entry type where the list implies one."""
    if isinstance(raw, list) and all(isinstance(row, dict) and "opdb_id" in row for row in raw[:1]):
        return [("$", json_file.convert_rows(raw, ExportEntry), None)]
    if isinstance(raw, dict) and isinstance(raw.get("entries"), list):
        return [("$.entries", json_file.convert_rows(raw["entries"], FileEntry, "$.entries"), None)]
    if isinstance(raw, dict) and isinstance(raw.get("machines"), list):
        named = ((f"$.{name}", raw[name], kind) for name, kind in ENTRY_LISTS.items() if name in raw)
        return [(at, json_file.convert_rows(rows, FileEntry, at), kind) for at, rows, kind in named]
    raise BrokenFile("$", UNKNOWN_SHAPE)


def _check_entries(
    at: str, entries: Sequence[FileEntry | ExportEntry], kind: str | None
) -> list[tuple[str, FileEntry | ExportEntry]]:
    """The entries with their JSON paths. Raises BrokenFile for an invalid id or one of another type."""
    listed = []
    for n, entry in enumerate(entries):
        place = f"{at}[{n}]"
        parts = opdb.parse_id(entry.opdb_id)
        if parts is None:
            name = "opdb_id" if isinstance(entry, ExportEntry) else "opdbId"
            raise BrokenFile(f"{place}.{name}", f"{entry.opdb_id!r} is not an id of the machine database.")
        entry_type = kind or entry.entry_type
        if entry_type and entry_type != parts.entry_type:
            raise BrokenFile(
                place, f"{entry.opdb_id} is the id of a {parts.entry_type}; the file says {entry_type}."
            )
        listed.append((place, entry))
    return listed
