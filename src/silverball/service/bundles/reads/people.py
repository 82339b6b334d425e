"""The players that imports of a source have brought, in the books of some accounts."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, or_, select

from silverball.store import tables

_P, _R = tables.player.c, tables.remote_id.c
PEOPLE_MAX = 100_000


@dataclass(frozen=True)
class BroughtPlayer:
    """A player with an account or a federation number."""

    player_id: int
    organizer_id: int
    claimed_by: int | None
    ifpa_id: int | None


@dataclass(frozen=True)
class SharedName:
    """A name that several players of one book have; whether they are one person, nobody here knows."""

    name: str
    player_ids: tuple[int, ...]


def shared_names(db: Connection, source: str) -> Sequence[SharedName]:
    """The names that several players of the source have in one book here, by name."""
    brought = select(_R.local_id).where(_R.source == source, _R.kind == "playerId")
    rows = (
        select(_P.organizer_id, _P.name, _P.player_id)
        .where(_P.player_id.in_(brought))
        .order_by(_P.player_id)
        .limit(PEOPLE_MAX)
    )
    found: dict[tuple[int, str], list[SharedName]] = {}
    for organizer_id, name, player_id in db.execute(rows):
        found.setdefault((organizer_id, name.casefold()), []).append(SharedName(name, (player_id,)))
    shared = [
        SharedName(same[0].name, tuple(each.player_ids[0] for each in same))
        for same in found.values()
        if len(same) > 1
    ]
    return sorted(shared, key=lambda same: (same.name.casefold(), same.player_ids))


def known_people(db: Connection, source: str, organizer_ids: Collection[int]) -> Sequence[BroughtPlayer]:
    """The players of the source in the books of these accounts that an account or a number tells apart."""
    if not organizer_ids:
        return ()
    rows = (
        select(_P.player_id, _P.organizer_id, _P.claimed_by, _P.ifpa_id)
        .join(tables.remote_id, _R.local_id == _P.player_id)
        .where(_R.source == source, _R.kind == "playerId", _P.organizer_id.in_(organizer_ids))
        .where(or_(_P.claimed_by.is_not(None), _P.ifpa_id.is_not(None)))
        .distinct()
        .order_by(_P.player_id)
        .limit(PEOPLE_MAX)
    )
    return [BroughtPlayer(**row._mapping) for row in db.execute(rows)]
