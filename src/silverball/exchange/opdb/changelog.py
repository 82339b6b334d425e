"""The machine database's list of changed ids from a file. Source: ratings C.3."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from silverball.exchange import json_file
from silverball.exchange.bundle.faults import BrokenFile
from silverball.kit.http.fields import Id
from silverball.rules.opdb import ids as opdb
from silverball.service.machines.writes import moves
from silverball.service.machines.writes.moves import MachineMoves
from silverball.store.transaction import Transaction
from silverball_wire import times
from silverball_wire.machines import OpdbChange

UNKNOWN_SHAPE = (
    "This is not a list of changed ids. Known are that of opdb.org (a list with `changelog_id`) and that of "
    "GET /api/opdb/changelog (an object with `data`)."
)


class ExportChange(Struct, frozen=True, kw_only=True):
    """A line of opdb.org's list."""

    changelog_id: Id
    action: Literal["move", "delete"]
    opdb_id_deleted: str
    opdb_id_replacement: str | None = None
    created_at: str


class PublishedChange(Struct, rename="camel", frozen=True, kw_only=True):
    """A line of the published list."""

    changelog_id: Id
    action: Literal["move", "delete"]
    opdb_id_deleted: str
    opdb_id_replacement: str | None = None
    created_at: str


def read(path: Path) -> list[OpdbChange]:
    """Read and check a file. Raises BrokenFile with the row and field of the first fault, or OSError."""
    return parse(json_file.read(path))


def parse(raw: Any) -> list[OpdbChange]:
    """Check the JSON of a file. Raises BrokenFile."""
    if isinstance(raw, list) and all(isinstance(row, dict) and "changelog_id" in row for row in raw[:1]):
        return _check_rows("$", json_file.convert_rows(raw, ExportChange))
    if isinstance(raw, dict) and isinstance(raw.get("data"), list):
        return _check_rows("$.data", json_file.convert_rows(raw["data"], PublishedChange, "$.data"))
    raise BrokenFile("$", UNKNOWN_SHAPE)


def import_changes(transaction: Transaction, changes: list[OpdbChange]) -> tuple[int, MachineMoves]:
    """Add the changes and follow all that are known, in the caller's transaction.

    Returns the number of new changes, and what they moved.
    """
    return moves.store_changes(transaction.connection, changes), moves.follow_moves(transaction)


def _check_rows(at: str, rows: Sequence[ExportChange | PublishedChange]) -> list[OpdbChange]:
    json_file.refuse_duplicates((f"{at}[{n}]", row.changelog_id) for n, row in enumerate(rows))
    return [_opdb_change(f"{at}[{n}]", row) for n, row in enumerate(rows)]


def _opdb_change(place: str, row: ExportChange | PublishedChange) -> OpdbChange:
    replacement = row.opdb_id_replacement
    if (row.action == "move") != (replacement is not None):
        demand = "names its replacement" if row.action == "move" else "names none"
        raise BrokenFile(place, f"A line with the action {row.action!r} {demand}.")
    for opdb_id in (row.opdb_id_deleted, replacement):
        if opdb_id is not None and not opdb.is_opdb_id(opdb_id):
            raise BrokenFile(place, f"{opdb_id!r} is not an id of the machine database.")
    return OpdbChange(
        changelog_id=row.changelog_id,
        action=row.action,
        opdb_id_deleted=row.opdb_id_deleted,
        opdb_id_replacement=replacement,
        created_at=times.iso(json_file.parse_moment(place, row.created_at)),
    )
