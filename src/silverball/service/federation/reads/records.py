"""The federation's records, by its own number, by name, and by a player who has it."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TypeVar

from sqlalchemy import Connection, func, select

from silverball.store import names, tables
from silverball.wire import times
from silverball.wire.federation import FederationRecord

# Both databases take so many values in one statement.
AT_ONCE = 5000
T = TypeVar("T")

_RECORD = tables.federation_player.c
_PLAYER, _USER = tables.player.c, tables.user.c
# A player has the number that the organizer wrote down, else that of the user who claimed him.
IFPA_ID_OF_PLAYER = func.coalesce(_PLAYER.ifpa_id, _USER.ifpa_id)
# The kind of seeding -> the rank it goes by.
SEEDING_RANKS = {"ifpa": _RECORD.rank, "ifpa_womens": _RECORD.womens_rank}


@dataclass(frozen=True, kw_only=True)
class FederationPlayer:
    """What was imported of a player; None where the file said nothing."""

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


@dataclass(frozen=True, kw_only=True)
class FederationRanks:
    """Where a player stands in the federation's two lists."""

    rank: int | None
    womens_rank: int | None


_COLUMNS = tuple(_RECORD[name] for name in FederationPlayer.__dataclass_fields__)


def records_by_ifpa(db: Connection, ifpa_ids: Collection[int]) -> list[FederationPlayer]:
    """The records of these numbers; one that is not known is left out."""
    found = []
    for some in _chunks(sorted(set(ifpa_ids))):
        rows = select(*_COLUMNS).where(_RECORD.ifpa_id.in_(some)).order_by(_RECORD.ifpa_id)
        found += [FederationPlayer(**row) for row in db.execute(rows).mappings()]
    return found


def published_record(db: Connection, ifpa_id: int) -> FederationRecord | None:
    """The record of this number as the interface shows it, if there is one."""
    return next((to_federation_record(one) for one in records_by_ifpa(db, [ifpa_id])), None)


def ranks_by_ifpa(db: Connection, ifpa_ids: Collection[int]) -> dict[int, FederationRanks]:
    """The ranks of those of these numbers that are known."""
    return {
        one.ifpa_id: FederationRanks(rank=one.rank, womens_rank=one.womens_rank)
        for one in records_by_ifpa(db, ifpa_ids)
    }


def player_ranks(db: Connection, player_ids: Collection[int], seeding: str) -> dict[int, int]:
    """Player id -> the rank that this kind of seeding goes by, for those of these players who have one."""
    rank = SEEDING_RANKS[seeding]
    rows = (
        select(_PLAYER.player_id, rank)
        .select_from(tables.player)
        .outerjoin(tables.user, _USER.user_id == _PLAYER.claimed_by)
        .join(tables.federation_player, _RECORD.ifpa_id == IFPA_ID_OF_PLAYER)
        .where(_PLAYER.player_id.in_(player_ids), rank.is_not(None))
    )
    return {row[0]: row[1] for row in db.execute(rows)}


def ifpa_ids_by_name(db: Connection, wanted: Iterable[str]) -> dict[str, int]:
    """Name -> federation number, for those names under which there is exactly one record.

    Case, accents and punctuation do not count (store/names.py).
    """
    plain_of = {name: plain for name in wanted if (plain := names.strip_punctuation(name))}
    found: dict[str, list[int]] = {}
    for some in _chunks(sorted(set(plain_of.values()))):
        rows = select(_RECORD.name_plain, _RECORD.ifpa_id).where(_RECORD.name_plain.in_(some))
        for plain, ifpa_id in db.execute(rows.order_by(_RECORD.ifpa_id)):
            found.setdefault(plain, []).append(ifpa_id)
    return {name: found[plain][0] for name, plain in plain_of.items() if len(found.get(plain, ())) == 1}


def record_count(db: Connection) -> int:
    """How many records there are."""
    return db.execute(select(func.count()).select_from(tables.federation_player)).scalar_one()


def to_federation_record(one: FederationPlayer) -> FederationRecord:
    """The record in the published shape, where only ranks may be missing: the rest is 0 or empty then."""
    return FederationRecord(
        ifpa_id=one.ifpa_id,
        name=one.name,
        rank=one.rank,
        rating=one.rating or 0,
        rating_rank=one.rating_rank or 0,
        womens_rank=one.womens_rank,
        total_events=one.total_events or 0,
        initials=one.initials or "",
        city=one.city or "",
        state=one.state or "",
        country_code=one.country_code or "",
        country_name=one.country_name or "",
        updated_at=times.iso(one.updated_at),
    )


def _chunks(values: Iterable[T]) -> Iterator[list[T]]:
    remaining = iter(values)
    while some := list(islice(remaining, AT_ONCE)):
        yield some
