"""The pace of a club's nights, by format."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, select

from silverball.rules.format import Format
from silverball.rules.planning.pace import NIGHTS_MIN, Pace, learn_pace
from silverball.service.planning.reads import past_nights
from silverball.service.planning.reads.past_nights import NightRecord
from silverball.store import tables

DICE_SEED = 15
_U = tables.user.c


def club_organizers(db: Connection, user_id: int) -> tuple[int, ...]:
    """Ids of the members of the user's club; only the user without one."""
    club_id = select(_U.club_id).where(_U.user_id == user_id).scalar_subquery()
    members = db.execute(select(_U.user_id).where(_U.club_id == club_id).order_by(_U.user_id)).scalars()
    return tuple(members) or (user_id,)


def paces(
    db: Connection, user_id: int, forms: Sequence[Format], before: datetime, arena_ids: Sequence[int] = ()
) -> Mapping[str, Pace]:
    """Type -> the pace of the nights of the user's club that ended before this moment.

    arena_ids: the arenas that will be played, if they are known.
    """
    found = past_nights.past_nights_by_format(db, club_organizers(db, user_id), forms, before)
    return {form.type: _pace(form, found[form.type]).on_machines(arena_ids) for form in forms}


def _pace(form: Format, nights: Sequence[NightRecord]) -> Pace:
    pace = learn_pace([night.past_night for night in nights])
    if pace.is_default or len(nights) < NIGHTS_MIN:
        return pace
    # NumPy is loaded when somebody plans.
    import numpy as np

    from silverball.rules.planning.calibration import FinishedNight, calibrate

    finished = [
        FinishedNight(shape=shape, players=night.players, machines=night.machines, minutes=night.minutes)
        for night in nights
        if (shape := night.shape(form)) is not None and night.machines
    ]
    return calibrate(pace, finished, np.random.default_rng(DICE_SEED))
