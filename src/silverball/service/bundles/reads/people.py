"""The players that imports of a source have brought, in the books of some accounts."""

from collections.abc import Collection, Sequence

from msgspec import Struct
from sqlalchemy import Connection, func, or_, select

from silverball.store import remote_ids, tables

_P, _R = tables.player.c, tables.remote_id.c
PEOPLE_MAX = 100_000


class BroughtPlayer(Struct, frozen=True):
    """A player with an account or a federation number."""

    player_id: int
    organizer_id: int
    claimed_by: int | None
    ifpa_id: int | None


class SharedName(Struct, frozen=True):
    """A name that several players of one book have; whether they are one person, nobody here knows."""

    name: str
    organizer_id: int
    player_ids: tuple[int, ...]
    # Their ids in the source; the first of each.
    remote_ids: tuple[int, ...]


class _NamedPlayer(Struct, frozen=True):
    name: str
    organizer_id: int
    player_id: int
    remote_id: int


def shared_names(db: Connection, source: str) -> Sequence[SharedName]:
    """The names that several players of the source have in one book here, by name.

    Whoever was said to be somebody else than the first of that name is left out.
    """
    rows = (
        select(_P.name, _P.organizer_id, _P.player_id, func.min(_R.remote_id).label("remote_id"))
        .join(tables.remote_id, _R.local_id == _P.player_id)
        .where(_R.source == source, _R.kind == "playerId")
        .group_by(_P.name, _P.organizer_id, _P.player_id)
        .order_by(_P.player_id)
        .limit(PEOPLE_MAX)
    )
    found: dict[tuple[int, str], list[_NamedPlayer]] = {}
    for row in db.execute(rows):
        player = _NamedPlayer(**row._mapping)
        found.setdefault((player.organizer_id, player.name.casefold()), []).append(player)
    different = _different_people(db, source)
    shared = [_shared_name(first, others, different) for first, *others in found.values()]
    return sorted(
        (same for same in shared if len(same.player_ids) > 1),
        key=lambda same: (same.name.casefold(), same.player_ids),
    )


def _shared_name(
    first: _NamedPlayer, others: Sequence[_NamedPlayer], different: Collection[tuple[int, int]]
) -> SharedName:
    same = [first, *(other for other in others if (other.remote_id, first.player_id) not in different)]
    return SharedName(
        first.name,
        first.organizer_id,
        tuple(player.player_id for player in same),
        tuple(player.remote_id for player in same),
    )


def _different_people(db: Connection, source: str) -> set[tuple[int, int]]:
    """Id in the source, and id here, of players of one name who were said to be two people."""
    rows = select(_R.remote_id, _R.local_id).where(_R.source == source, _R.kind == remote_ids.NAMESAKE)
    return {(remote_id, local_id) for remote_id, local_id in db.execute(rows)}


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
