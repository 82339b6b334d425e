"""The worth of planned nights, of whose players only the number is known."""

from datetime import datetime, timedelta

from sqlalchemy import Connection

from silverball.rules.worth import event
from silverball.rules.worth.answers import Circumstances, MeaningfulGames
from silverball.rules.worth.event import EventPart
from silverball.rules.wppr.value import value_of_rated, winner_points
from silverball.service.estimates.reads import plain_number
from silverball.store import simulated_nights
from silverball_wire.plans import PlanWorth

COMPUTING = "computing"
DECIMALS = 2


def planned_circumstances(
    db: Connection, *, machines: int, start: datetime | None, closes: datetime | None, now: datetime
) -> Circumstances:
    """The facts about a planned night: its machines, its day, and the whole hours that the room is open."""
    is_open_for = timedelta(0) if start is None or closes is None else closes - start
    return Circumstances(
        arenas=machines,
        hours=is_open_for // timedelta(hours=1),
        held_on=(start or now).date(),
        find_outcome=simulated_nights.outcome_finder(db),
    )


def planned_worth(answer: MeaningfulGames, players: int) -> PlanWorth:
    """The worth if all players are rated and add nothing but the base."""
    graded = event.grade_of_event(EventPart(meaningful_games=answer, players=players))
    grade, base = graded.grade, value_of_rated(players)
    value = None if grade is None else winner_points(base, tgp_percent=grade.percent)
    too_few = (event.TOO_FEW,) if players < event.PLAYERS_MIN else ()
    return PlanWorth(
        meaningful_games=None if grade is None else plain_number(event.shown_games(grade)),
        tgp=None if grade is None else grade.percent,
        capped=grade is not None and grade.is_capped,
        base_value=plain_number(base),
        value=None if value is None else plain_number(round(value, DECIMALS)),
        source=COMPUTING if graded.is_being_computed else answer.origin,
        simulated_nights=answer.simulated_nights,
        notes=(*too_few, *graded.notes),
    )
