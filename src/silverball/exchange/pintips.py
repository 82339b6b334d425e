"""Tips from the file of all tips. Source: ratings C.2."""

from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from silverball.exchange import json_file
from silverball.exchange.bundle.faults import BrokenFile
from silverball.kit.http.fields import Id
from silverball.rules.opdb import ids as opdb
from silverball.service.machines.writes import moves
from silverball.service.machines.writes.moves import MachineMoves
from silverball.service.tips import writes
from silverball.service.tips.writes import NewTip, TipCounts
from silverball.store.transaction import Transaction
from silverball_wire.base import ID_MAX
from silverball_wire.tips import TipCategory


class FileTip(Struct, rename="camel", frozen=True, kw_only=True):
    """A row of the file."""

    tip_id: Id
    # Null in our own bulk file when the machine was deleted.
    opdb_id: str | None
    category: TipCategory
    vote_total: Annotated[int, Meta(ge=-ID_MAX, le=ID_MAX)] = 0
    text: Annotated[str, Meta(min_length=1, max_length=10_000)]
    created_at: str
    updated_at: str


def read(path: Path) -> list[NewTip]:
    """Read and check a file. Raises BrokenFile with the row and field of the first fault, or OSError."""
    return parse(json_file.read(path))


def parse(raw: Any) -> list[NewTip]:
    """Check the JSON of a file. Raises BrokenFile."""
    if not isinstance(raw, list):
        raise BrokenFile("$", "This is not a list of tips.")
    rows = json_file.convert_rows(raw, FileTip)
    json_file.refuse_duplicates((f"$[{n}]", row.tip_id) for n, row in enumerate(rows))
    return [_new_tip(f"$[{n}]", row) for n, row in enumerate(rows)]


def import_tips(
    transaction: Transaction, tips: list[NewTip], *, is_forced: bool = False
) -> tuple[TipCounts, MachineMoves]:
    """Replace the stored tips by those of the file, under the present ids of their machines.

    In the caller's transaction. Raises Conflict for a file with far fewer tips than are stored.
    """
    counts = writes.replace_tips(transaction.connection, tips, is_forced=is_forced)
    return counts, moves.follow_moves(transaction)


def _new_tip(place: str, row: FileTip) -> NewTip:
    group_id = None
    if row.opdb_id is not None:
        group_id = opdb.group_id_of(row.opdb_id)
        if group_id is None:
            raise BrokenFile(f"{place}.opdbId", f"{row.opdb_id!r} is not an id of the machine database.")
    return NewTip(
        tip_id=row.tip_id,
        opdb_id=group_id,
        category=row.category,
        vote_total=row.vote_total,
        text=row.text,
        created_at=json_file.parse_moment(f"{place}.createdAt", row.created_at),
        updated_at=json_file.parse_moment(f"{place}.updatedAt", row.updated_at),
    )
