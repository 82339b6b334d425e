"""The federation's records by IFPA number, by name, and by player."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import TypeVar

from msgspec import Struct
from sqlalchemy import Connection, exists, func, select

from silverball.store import tables
from silverball.store.database.conditions import is_among
from silverball.store.people import names
from silverball_wire import base
from silverball_wire.federation import FederationRecord

# Both databases accept this many values in one statement.
AT_ONCE = 5000
SEARCH_MAX = 20
T = TypeVar("T")

_RECORD = tables.federation_player.c
_PLAYER, _USER = tables.player.c, tables.user.c
# A player's number is the one in the organizer's book, else that of the user who claimed the player.
IFPA_ID_OF_PLAYER = func.coalesce(_PLAYER.ifpa_id, _USER.ifpa_id)
# Kind of seeding -> the rank that it uses.
SEEDING_RANKS = {"ifpa": _RECORD.rank, "ifpa_womens": _RECORD.womens_rank}


class FederationPlayer(Struct, frozen=True, kw_only=True):
    """An imported record of a player; None where the file had no value."""

    ifpa_id: int
    name: str
    rank: int | None
    womens_rank: int | None
    rating: float | None
    rating_rank: int | None
    total_events: int | None
    initials: str | None
    city: str | None
    state: str | None
    country_code: str | None
    country_name: str | None
    updated_at: datetime


class FederationRanks(Struct, frozen=True, kw_only=True):
    """A player's ranks in the federation's two lists."""

    rank: int | None
    womens_rank: int | None


_COLUMNS = tuple(_RECORD[name] for name in FederationPlayer.__struct_fields__)


def records_by_ifpa(db: Connection, ifpa_ids: Collection[int]) -> list[FederationPlayer]:
    """The records of these numbers; unknown numbers are left out."""
    records = []
    for some in _chunks(sorted(set(ifpa_ids))):
        rows = select(*_COLUMNS).where(is_among(_RECORD.ifpa_id, some)).order_by(_RECORD.ifpa_id)
        records += [FederationPlayer(**row) for row in db.execute(rows).mappings()]
    return records


def search_records(db: Connection, words: str, organizer_id: int) -> list[FederationPlayer]:
    """At most 20 records whose name contains the words, without numbers that the organizer's book has."""
    in_book = exists().where(_PLAYER.organizer_id == organizer_id, _PLAYER.ifpa_id == _RECORD.ifpa_id)
    rows = select(*_COLUMNS).where(names.name_contains(db, _RECORD.name, words), ~in_book)
    rows = rows.order_by(_RECORD.name, _RECORD.ifpa_id).limit(SEARCH_MAX)
    return [FederationPlayer(**row) for row in db.execute(rows).mappings()]


def published_record(db: Connection, ifpa_id: int) -> FederationRecord | None:
    """The record of this number in its published shape; None when there is none."""
    return next((to_federation_record(record) for record in records_by_ifpa(db, [ifpa_id])), None)


def ranks_by_ifpa(db: Connection, ifpa_ids: Collection[int]) -> dict[int, FederationRanks]:
    """Federation number -> ranks, for the known numbers."""
    return {
        record.ifpa_id: FederationRanks(rank=record.rank, womens_rank=record.womens_rank)
        for record in records_by_ifpa(db, ifpa_ids)
    }


def player_ranks(db: Connection, player_ids: Collection[int], seeding: str) -> dict[int, int]:
    """Player id -> the rank that this kind of seeding uses, for players who have one."""
    rank = SEEDING_RANKS[seeding]
    rows = (
        select(_PLAYER.player_id, rank)
        .select_from(tables.player)
        .outerjoin(tables.user, _USER.user_id == _PLAYER.claimed_by)
        .join(tables.federation_player, _RECORD.ifpa_id == IFPA_ID_OF_PLAYER)
        .where(_PLAYER.player_id.in_(player_ids), rank.is_not(None))
    )
    return dict(db.execute(rows).all())


def ifpa_ids_by_name(db: Connection, wanted: Iterable[str]) -> dict[str, int]:
    """Name -> federation number, for names with exactly one record.

    Case, accents and punctuation are ignored (store/people/names.py).
    """
    plain_of = {name: plain for name in wanted if (plain := names.strip_punctuation(name))}
    numbers: dict[str, list[int]] = {}
    for some in _chunks(sorted(set(plain_of.values()))):
        rows = select(_RECORD.name_plain, _RECORD.ifpa_id).where(_RECORD.name_plain.in_(some))
        for plain, ifpa_id in db.execute(rows.order_by(_RECORD.ifpa_id)):
            numbers.setdefault(plain, []).append(ifpa_id)
    return {name: numbers[plain][0] for name, plain in plain_of.items() if len(numbers.get(plain, ())) == 1}


def record_count(db: Connection) -> int:
    """The number of records."""
    return db.execute(select(func.count()).select_from(tables.federation_player)).scalar_one()


def to_federation_record(record: FederationPlayer) -> FederationRecord:
    """The record in its published shape. Only ranks can be null; other missing values are 0 or empty."""
    return FederationRecord(
        ifpa_id=record.ifpa_id,
        name=record.name,
        rank=record.rank,
        rating=record.rating or 0,
        rating_rank=record.rating_rank or 0,
        womens_rank=record.womens_rank,
        total_events=record.total_events or 0,
        initials=record.initials or "",
        city=record.city or "",
        state=record.state or "",
        country_code=record.country_code or "",
        country_name=record.country_name or "",
        updated_at=base.iso(record.updated_at),
    )


def _chunks(values: Iterable[T]) -> Iterator[list[T]]:
    remaining = iter(values)
    while some := list(islice(remaining, AT_ONCE)):
        yield some
