"""Rows that belong to one account: players, arenas, banks, locations, series, occasions, clubs."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from sqlalchemy import Column, Connection, Table, and_, case, delete, insert, or_, select, true, update

from silverball.kit.errors import NotFound
from silverball.store import tables
from silverball.store.tables.ratings import COUNTS


class OwnedKind(Struct, frozen=True):
    """A table whose rows have an owner. `model` is the name in a 404, `path_name` the id in a path."""

    table: Table
    model: str
    path_name: str
    key_name: str
    owner_name: str = "organizer_id"

    @property
    def key(self) -> Column[int]:
        return self.table.c[self.key_name]

    @property
    def owner(self) -> Column[int]:
        return self.table.c[self.owner_name]


PLAYER = OwnedKind(tables.player, "Player", "player_id", "player_id")
ARENA = OwnedKind(tables.arena, "Arena", "arena_id", "arena_id")
BANK = OwnedKind(tables.bank, "Bank", "bank_id", "bank_id")
LOCATION = OwnedKind(tables.location, "Location", "location_id", "location_id")
SERIES = OwnedKind(tables.series, "Series", "series_id", "series_id")
OCCASION = OwnedKind(tables.occasion, "Event", "event_id", "occasion_id")
CLUB = OwnedKind(tables.club, "Club", "club_id", "club_id", "user_id")


def lock_owner(db: Connection, kind: OwnedKind, row_id: int, *, is_exclusive: bool = False) -> int:
    """Lock the row against changes and return the id of its owner. Raises NotFound.

    `is_exclusive` also keeps other transactions from referring to the row.
    """
    rows = select(kind.owner).where(kind.key == row_id).with_for_update(key_share=not is_exclusive)
    owner_id = db.execute(rows).scalar_one_or_none()
    if owner_id is None:
        raise NotFound(kind.model, row_id)
    return owner_id


def add(db: Connection, kind: OwnedKind, owner_id: int, values: Mapping[str, Any]) -> int:
    """Insert a row and return its id."""
    row = {kind.owner_name: owner_id, **values}
    return int(db.execute(insert(kind.table).values(row).returning(kind.key)).scalar_one())


def change(db: Connection, kind: OwnedKind, row_id: int, values: Mapping[str, Any]) -> None:
    """Set these columns of a row."""
    if values:
        db.execute(update(kind.table).where(kind.key == row_id).values(**values))


def remove(db: Connection, kind: OwnedKind, row_id: int) -> None:
    """Delete a row."""
    db.execute(delete(kind.table).where(kind.key == row_id))


def owners_by_id(db: Connection, kind: OwnedKind, ids: set[int]) -> dict[int, int]:
    """Id -> id of the owner, for the rows that exist."""
    rows = select(kind.key.label("key"), kind.owner.label("owner_id")).where(kind.key.in_(ids))
    return {row.key: row.owner_id for row in db.execute(rows)}


# The ratings as they are published, whether or not they are in `rating` already.
#
# The ratings of thousands of people are published in three steps, of which none makes anybody wait: they
# are staged in slices, one short transaction shows them all, and they are moved into `rating` in slices.


STANDING_COLUMNS = ("rating", "rd", "delta", "first_period", "last_period", *COUNTS, "lower_bound", "rank")
_RATING, _STAGED_RATING, _RATING_PERIOD = tables.rating.c, tables.staged_rating.c, tables.rating_period.c
# Null when all are moved. A day is finished after that; one that another node finished was published anew.
SHOWN_RUN = (
    select(_RATING_PERIOD.staged_run)
    .where(_RATING_PERIOD.is_current == true(), _RATING_PERIOD.fingerprint.is_(None))
    .limit(1)
    .scalar_subquery()
)
# The columns of `rating`.
PUBLISHED = (
    select(
        *(
            case((_STAGED_RATING.rating_id.is_not(None), _STAGED_RATING[column.name]), else_=column).label(
                column.name
            )
            if column.name in STANDING_COLUMNS
            else column
            for column in _RATING
        )
    )
    .select_from(tables.rating)
    .outerjoin(
        tables.staged_rating,
        and_(_STAGED_RATING.run == SHOWN_RUN, _STAGED_RATING.rating_id == _RATING.rating_id),
    )
    .subquery("published_rating")
)


def are_staged_ratings_shown(db: Connection) -> bool:
    """Whether some published ratings are not in `rating` yet."""
    return db.execute(select(SHOWN_RUN)).scalar_one_or_none() is not None


def lock_current_period(db: Connection, *, is_shared: bool = True) -> None:
    """Wait until ratings that are being shown are shown, and let no others be shown until the commit."""
    current = (
        select(_RATING_PERIOD.rating_period_id)
        .where(_RATING_PERIOD.is_current == true())
        .with_for_update(read=is_shared)
    )
    if db.execute(current).first() is None:
        # PostgreSQL waited for a row that is not the current one any more.
        db.execute(current)


def move_ranks_below(db: Connection, lower_bound: float, step: int, *, except_user_id: int) -> None:
    """Move the rank of everybody below this lower bound by a step."""
    # Staged ones first: those that are moved while this waits for them are in `rating` then.
    staged = update(tables.staged_rating).where(
        _STAGED_RATING.run == SHOWN_RUN,
        _STAGED_RATING.rank.is_not(None),
        _STAGED_RATING.lower_bound < lower_bound,
    )
    own = select(_RATING.rating_id).where(_RATING.user_id == except_user_id)
    db.execute(staged.where(_STAGED_RATING.rating_id.not_in(own)).values(rank=_STAGED_RATING.rank + step))
    below = update(tables.rating).where(_RATING.rank.is_not(None), _RATING.lower_bound < lower_bound)
    below = below.where(or_(_RATING.user_id.is_(None), _RATING.user_id != except_user_id))
    db.execute(below.values(rank=_RATING.rank + step))


def store_rank(db: Connection, user_id: int, rank: int | None) -> None:
    """Store the rank of the user's rating."""
    own = select(_RATING.rating_id).where(_RATING.user_id == user_id)
    staged = update(tables.staged_rating).where(
        _STAGED_RATING.run == SHOWN_RUN, _STAGED_RATING.rating_id.in_(own)
    )
    db.execute(staged.values(rank=rank))
    db.execute(update(tables.rating).where(_RATING.user_id == user_id).values(rank=rank))
