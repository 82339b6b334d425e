"""Ratings as seeds of a tournament. Source: formats, section 4."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, and_, or_, select

from silverball.store import names, rating_days, tables

_R, _P, _E = tables.rating.c, tables.player.c, tables.entrant.c


def seed_numbers(db: Connection, tournament_id: int, *, by_bound: bool) -> dict[int, float]:
    """Player id -> his number turned round, so that lower is better: the lower bound, or the rating.

    Who is not rated, or does not want that shown, is not there: the seed shows the number.
    """
    number = _R.lower_bound if by_bound else _R.rating
    columns = (_P.player_id, _P.organizer_id, _P.name, _P.claimed_by, _P.ifpa_id)
    rows = select(*columns).join(tables.entrant, _E.player_id == _P.player_id)
    players = db.execute(rows.where(_E.tournament_id == tournament_id)).all()
    user_ids = [one.claimed_by for one in players if one.claimed_by is not None]
    ifpa_ids = [one.ifpa_id for one in players if one.ifpa_id is not None]
    books = {one.organizer_id for one in players}
    keys = {names.name_key(one.name) for one in players}
    wanted = or_(
        _R.user_id.in_(user_ids),
        _R.ifpa_id.in_(ifpa_ids),
        and_(_R.organizer_id.in_(books), _R.name_key.in_(keys)),
    )
    who = (_R.user_id, _R.ifpa_id, _R.organizer_id, _R.name_key)
    found = _numbers_by_holder(db.execute(select(*who, number).where(rating_days.IS_LISTED, wanted)))
    facts: dict[int, float] = {}
    for player_id, organizer_id, name, user_id, ifpa_id in players:
        if user_id is not None:
            key: Any = ("user", user_id)
        elif ifpa_id is not None:
            key = ("ifpa", ifpa_id)
        else:
            key = (organizer_id, names.name_key(name))
        if key in found:
            facts[player_id] = -found[key]
    return facts


def _numbers_by_holder(rows: Iterable[Any]) -> dict[Any, float]:
    found: dict[Any, float] = {}
    for user_id, ifpa_id, organizer_id, name_key, number in rows:
        for key in (("user", user_id), ("ifpa", ifpa_id), (organizer_id, name_key)):
            if key[1] is not None and number is not None:
                found[key] = number
    return found
