"""Plans of nights to come."""

from datetime import datetime, timedelta
from typing import Annotated, Any

from msgspec import Meta
from sqlalchemy import Connection

from silverball.kit.errors import Invalid
from silverball.kit.http.query import Query
from silverball.rules.format import Format
from silverball.rules.planning.pace import Pace
from silverball.rules.registry import FORMATS
from silverball.service.planning.reads import paces, plan_worths
from silverball_wire.base import Id
from silverball_wire.plans import Plan, PlanOption

PLAYERS_MAX = 500
MACHINES_MAX = 500
ARENAS_MAX = 500
DAYS_MAX = 7
DEFAULTS, NIGHTS = "defaults", "nights"


class PlanQuery(Query, frozen=True, kw_only=True):
    """Parameters of POST /api/plan."""

    players: int
    """Number of players, from 2 to 500."""
    machines: int | None = None
    """Number of machines, from 1 to 500; needed unless the arenas are named."""
    arena_ids: Annotated[tuple[Id, ...], Meta(max_length=ARENAS_MAX)] = ()
    """Ids of the arenas that will be played, in place of a number of machines."""
    start: Annotated[str, Meta(max_length=40)] | None = None
    """When the first game begins, as in `2026-03-05T19:30`; with or without a time zone."""
    closes: Annotated[str, Meta(max_length=40)] | None = None
    """When the room closes, in the form of `start`."""
    types: Annotated[tuple[Annotated[str, Meta(max_length=50)], ...], Meta(max_length=50)] = ()
    """Formats to plan; all of them when it is left out."""


def plan(db: Connection, query: PlanQuery, user_id: int, now: datetime) -> Plan:
    """Every format with every number of rounds, when it would end and what it is worth. Raises Invalid."""
    machines = _check(query)
    start, closes = _times(query)
    forms = _forms(query)
    pace_by_type = paces.paces(db, user_id, forms, now, query.arena_ids)
    # NumPy is loaded when somebody plans.
    import numpy as np

    from silverball.rules.outlook import plans as outlook

    # The same question has the same answer.
    dice = np.random.default_rng((query.players, machines))
    planned = outlook.plan_nights(
        forms,
        players=query.players,
        machines=machines,
        pace_of=lambda form: pace_by_type[form.type],
        dice=dice,
        circumstances=plan_worths.planned_circumstances(
            db, machines=machines, start=start, closes=closes, now=now
        ),
    )
    return Plan(
        players=query.players,
        machines=machines,
        start=query.start,
        closes=query.closes,
        simulated_nights=outlook.NIGHTS_SIMULATED,
        options=tuple(
            _option(night, query.players, pace_by_type[night.form.type], start, closes) for night in planned
        ),
    )


def _check(query: PlanQuery) -> int:
    """The number of machines. Raises Invalid for the impossible."""
    faults: dict[str, list[str]] = {}
    if query.players < 2:
        faults["players"] = ["A night needs at least 2 players."]
    elif query.players > PLAYERS_MAX:
        faults["players"] = [f"A plan takes at most {PLAYERS_MAX} players, not {query.players}."]
    machines = len(set(query.arena_ids)) or query.machines
    if machines is None:
        faults["machines"] = ["Say how many machines there are, or which arenas."]
    elif machines < 1:
        faults["machines"] = ["Without machines nothing can be played. Give at least 1."]
    elif machines > MACHINES_MAX:
        faults["machines"] = [f"A plan takes at most {MACHINES_MAX} machines, not {machines}."]
    if faults:
        raise Invalid(faults)
    assert machines is not None
    return machines


def _times(query: PlanQuery) -> tuple[datetime | None, datetime | None]:
    """Start and close. Raises Invalid for texts that are no times, and for a close before the start."""
    start, closes = _moment("start", query.start), _moment("closes", query.closes)
    if start is None and closes is not None:
        raise Invalid({"start": ["Give the start too, to compare it with when the room closes."]})
    if start is not None and closes is not None:
        if (start.tzinfo is None) != (closes.tzinfo is None):
            raise Invalid({"closes": ["Give both times with a time zone, or both without."]})
        if closes <= start:
            raise Invalid({"closes": ["The room closes before the night begins. Give a later time."]})
        if closes - start > timedelta(days=DAYS_MAX):
            raise Invalid({"closes": [f"The room closes more than {DAYS_MAX} days after the start."]})
    return start, closes


def _moment(field: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        # A night that begins at the end of time has no end.
        moment + timedelta(days=400)
    except (ValueError, OverflowError) as error:
        raise Invalid({field: ["This is no day and time. Write it as in 2026-03-05T19:30."]}) from error
    return moment


def _forms(query: PlanQuery) -> list[Format]:
    unknown = [type_ for type_ in query.types if type_ not in FORMATS]
    if unknown:
        raise Invalid({"types": [f"There is no format called {unknown[0]}."]})
    return [form for form in FORMATS.values() if not query.types or form.type in query.types]


def _option(
    night: Any, players: int, pace: Pace, start: datetime | None, closes: datetime | None
) -> PlanOption:
    ends = [None if minutes is None else round(minutes) for minutes in (night.expected, night.line)]
    expected, latest = [
        None if start is None or minutes is None else start + timedelta(minutes=minutes) for minutes in ends
    ]
    return PlanOption(
        type=night.form.type,
        title=night.form.title,
        label=night.label,
        settings=dict(night.choice),
        expected_minutes=ends[0],
        latest_minutes=ends[1],
        expected_end=None if expected is None else expected.isoformat(),
        latest_end=None if latest is None else latest.isoformat(),
        fits=None if latest is None or closes is None else latest <= closes,
        pace=DEFAULTS if pace.is_default else NIGHTS,
        nights=pace.nights,
        note=night.note,
        worth=None
        if night.meaningful_games is None
        else plan_worths.planned_worth(night.meaningful_games, players),
    )
