"""Store the federation's records."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from sqlalchemy import Connection

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id
from silverball.kit.values import ONE_LINE
from silverball.store.database import statements
from silverball.store.people import names
from silverball.store.tables import federation_player

NaturalNumber = Annotated[int, Meta(ge=0, le=100_000_000)]
Line = Annotated[str, Meta(max_length=100, pattern=ONE_LINE)]

YEARS = range(1900, 2200)


class NewRecord(Body, frozen=True, kw_only=True):
    """A record of a player in a file. Missing and null values are unknown."""

    ifpa_id: Id
    name: Annotated[str, Meta(min_length=1, max_length=200, pattern=ONE_LINE)]
    # Some lists write 0 for a player without a rank.
    rank: NaturalNumber | None = None
    womens_rank: NaturalNumber | None = None
    rating: Annotated[float, Meta(ge=0, le=10_000)] | None = None
    rating_rank: NaturalNumber | None = None
    total_events: NaturalNumber | None = None
    initials: Line | None = None
    city: Line | None = None
    state: Line | None = None
    country_code: Line | None = None
    country_name: Line | None = None
    updated_at: datetime | None = None

    def __post_init__(self) -> None:
        at = self.updated_at
        if at is not None and (at.tzinfo is None or at.year not in YEARS):
            raise Invalid({"updatedAt": ["The updated at field must be a valid date."]})


def store_records(db: Connection, records: Sequence[NewRecord], *, now: datetime) -> None:
    """Store these records; each replaces an earlier one with its number."""
    if records:
        db.execute(_upsert_statement(db), [_record_row(record, now) for record in records])


def _upsert_statement(db: Connection) -> Any:
    statement = statements.insert_into(db, federation_player)
    others = [column.name for column in federation_player.c if not column.primary_key]
    replaced = {name: statement.excluded[name] for name in others}
    return statement.on_conflict_do_update(index_elements=["ifpa_id"], set_=replaced)


def _record_row(record: NewRecord, now: datetime) -> dict[str, Any]:
    values = msgspec.structs.asdict(record)
    for name in ("rank", "womens_rank", "rating_rank"):
        values[name] = values[name] or None
    return values | {
        "name_plain": names.strip_punctuation(record.name),
        "updated_at": record.updated_at or now,
    }
