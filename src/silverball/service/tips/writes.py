"""Store tips."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct, structs
from sqlalchemy import Connection, delete, func, insert, select

from silverball.service import replacement_checks
from silverball.store import imports, tables


class NewTip(Struct, frozen=True, kw_only=True):
    """A tip in a file. `opdb_id` is the id of its group."""

    tip_id: int
    opdb_id: str | None
    category: str
    vote_total: int
    text: str
    created_at: datetime
    updated_at: datetime


class TipCounts(Struct, frozen=True):
    """The numbers of tips after and before an import."""

    now: int
    before: int


def replace_tips(db: Connection, tips: Sequence[NewTip], *, is_forced: bool) -> TipCounts:
    """Replace the stored tips. Raises TooFew."""
    before = db.execute(select(func.count()).select_from(tables.tip)).scalar_one()
    replacement_checks.refuse_too_few(len(tips), before, "tips", is_forced=is_forced)
    db.execute(delete(tables.tip))
    if tips:
        db.execute(insert(tables.tip), [structs.asdict(tip) for tip in tips])
    imports.move_sequences(db, [tables.tip])
    return TipCounts(len(tips), before)
