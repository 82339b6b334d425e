"""Taking in the tips."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, func, insert, select

from silverball.service import replacement_checks
from silverball.store import imports, tables


@dataclass(frozen=True, kw_only=True)
class NewTip:
    """A tip of a file. `opdb_id` is that of its group."""

    tip_id: int
    opdb_id: str | None
    category: str
    vote_total: int
    text: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class TipCounts:
    """How many tips there are now, and how many there were."""

    now: int
    before: int


def replace_tips(db: Connection, tips: Sequence[NewTip], *, is_forced: bool) -> TipCounts:
    """The stored tips are these. Raises TooFew."""
    before = db.execute(select(func.count()).select_from(tables.tip)).scalar_one()
    replacement_checks.refuse_too_few(len(tips), before, "tips", is_forced=is_forced)
    db.execute(delete(tables.tip))
    if tips:
        db.execute(insert(tables.tip), [asdict(one) for one in tips])
    imports.move_sequences(db, [tables.tip])
    return TipCounts(len(tips), before)
