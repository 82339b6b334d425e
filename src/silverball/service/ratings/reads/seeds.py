"""Ratings as seeds of a tournament. Source: formats, section 4."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, and_, or_, select

from silverball.store import names, rating_days, tables
from silverball.store.published_ratings import PUBLISHED

_R, _P, _E = PUBLISHED.c, tables.player.c, tables.entrant.c


def seed_numbers(db: Connection, tournament_id: int, *, by_bound: bool) -> dict[int, float]:
    """Player id -> the negated rating, or lower bound, so that lower is better.

    Players without a rating are left out, and so are those who hide theirs: a seed would reveal it.
    """
    number = _R.lower_bound if by_bound else _R.rating
    columns = (_P.player_id, _P.organizer_id, _P.name, _P.claimed_by, _P.ifpa_id)
    rows = select(*columns).join(tables.entrant, _E.player_id == _P.player_id)
    players = db.execute(rows.where(_E.tournament_id == tournament_id)).all()
    user_ids = [player.claimed_by for player in players if player.claimed_by is not None]
    ifpa_ids = [player.ifpa_id for player in players if player.ifpa_id is not None]
    books = {player.organizer_id for player in players}
    keys = {names.name_key(player.name) for player in players}
    wanted = or_(
        _R.user_id.in_(user_ids),
        _R.ifpa_id.in_(ifpa_ids),
        and_(_R.organizer_id.in_(books), _R.name_key.in_(keys)),
    )
    holder = (_R.user_id, _R.ifpa_id, _R.organizer_id, _R.name_key)
    number_by_holder = _numbers_by_holder(
        db.execute(select(*holder, number).where(rating_days.IS_LISTED, wanted))
    )
    seeds: dict[int, float] = {}
    for player_id, organizer_id, name, user_id, ifpa_id in players:
        if user_id is not None:
            key: Any = ("user", user_id)
        elif ifpa_id is not None:
            key = ("ifpa", ifpa_id)
        else:
            key = (organizer_id, names.name_key(name))
        if key in number_by_holder:
            seeds[player_id] = -number_by_holder[key]
    return seeds


def _numbers_by_holder(rows: Iterable[Any]) -> dict[Any, float]:
    numbers: dict[Any, float] = {}
    for user_id, ifpa_id, organizer_id, name_key, number in rows:
        for key in (("user", user_id), ("ifpa", ifpa_id), (organizer_id, name_key)):
            if key[1] is not None and number is not None:
                numbers[key] = number
    return numbers
