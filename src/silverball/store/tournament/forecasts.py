"""Stored forecasts of running tournaments, and the tournaments that wait for a new one.

A reader that finds an old forecast asks for a new one here and goes on with the old one; a thread of its own
computes it, on one node at a time.
"""

import threading
from datetime import datetime, timedelta
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, bindparam, delete, insert, or_, select, text, update

from silverball.kit.values import convert
from silverball.rules.outlook.forecast import Forecast
from silverball.rules.planning.answers import FindOutcome, SimulatedOutcome
from silverball.rules.planning.nights import SimulatedNight
from silverball.store.tables import draw_preview, forecast, simulated_night

T = TypeVar("T")
# Execution option of every connection: the tournaments whose forecast somebody waits for.
WANTED_FORECASTS = "silverball_wanted_forecasts"
# More are forgotten: who waits for them asks again.
WANTED_MAX = 500
# A tournament has a new forecast at most so often, whatever happens in it.
EVERY = timedelta(seconds=5)
# Another node takes over from one that has not stored its forecast by then.
CLAIM_HOLDS = timedelta(seconds=30)
_FORECAST = forecast.c
_STORED = select(_FORECAST.revision, _FORECAST.computed_at, _FORECAST.forecast).where(
    _FORECAST.tournament_id == bindparam("own_id"), _FORECAST.revision.is_not(None)
)
_MAKE_ROW = text(
    "INSERT INTO forecast (tournament_id, claimed_until) VALUES (:tournament_id, :claimed_until)"
    " ON CONFLICT (tournament_id) DO NOTHING"
).bindparams(bindparam("claimed_until", type_=_FORECAST.claimed_until.type))


class StoredForecast(Struct, frozen=True):
    """A forecast and the revision that it was computed from."""

    revision: int
    computed_at: datetime
    forecast: Forecast


class WantedItems(Generic[T]):
    """Items that readers of this process wait for, by key, first come first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._items: dict[int | str, T] = {}

    def add(self, key: int | str, item: T) -> None:
        """Ask for an item, unless too many are waiting."""
        with self._lock:
            if len(self._items) < WANTED_MAX:
                self._items.setdefault(key, item)

    def waiting(self) -> list[T]:
        """The items, the one that has waited longest first; each waits until it is removed."""
        with self._lock:
            return list(self._items.values())

    def remove(self, key: int | str) -> None:
        """Forget an item: it is computed, or nobody can compute it."""
        with self._lock:
            self._items.pop(key, None)


def ask_for_forecast(db: Connection, tournament_id: int) -> None:
    """Have the forecast of a tournament computed soon."""
    wanted: WantedItems[int] = db.get_execution_options()[WANTED_FORECASTS]
    wanted.add(tournament_id, tournament_id)


def stored_forecast(db: Connection, tournament_id: int) -> StoredForecast | None:
    """The newest forecast; None before the first, and where another version stored it."""
    row = db.execute(_STORED, {"own_id": tournament_id}).one_or_none()
    if row is None:
        return None
    try:
        found = convert(row.forecast, Forecast, str_keys=True)
    except msgspec.ValidationError:
        return None
    return StoredForecast(row.revision, row.computed_at, found)


def claim_forecast(db: Connection, tournament_id: int, *, now: datetime) -> bool:
    """Take the computation of a forecast; whether no other node has it, or had it within the interval."""
    db.execute(_MAKE_ROW, {"tournament_id": tournament_id, "claimed_until": now})
    is_free = or_(_FORECAST.computed_at.is_(None), _FORECAST.computed_at <= now - EVERY)
    claimed = (
        update(forecast)
        .where(_FORECAST.tournament_id == tournament_id, _FORECAST.claimed_until <= now, is_free)
        .values(claimed_until=now + CLAIM_HOLDS)
    )
    return bool(db.execute(claimed).rowcount)


def store_forecast(
    db: Connection, tournament_id: int, revision: int, found: Forecast, *, now: datetime
) -> None:
    """Store a forecast and give the computation free."""
    values = {"revision": revision, "computed_at": now, "forecast": found, "claimed_until": now}
    db.execute(update(forecast).where(_FORECAST.tournament_id == tournament_id).values(values))


# Outcomes of simulated nights, stored by settings, and the nights that wait to be simulated.
#
# A reader that misses an outcome asks for it here and goes on without; a thread of its own computes it.


# Execution option of every connection: the nights that somebody waits for.
WANTED = "silverball_wanted_nights"

_SIMULATED_NIGHT = simulated_night.c
_COLUMNS = (
    _SIMULATED_NIGHT.nights,
    _SIMULATED_NIGHT.rounds,
    _SIMULATED_NIGHT.meaningful_games,
    _SIMULATED_NIGHT.meaningful_games_of_first,
)
_OUTCOME = select(*_COLUMNS).where(_SIMULATED_NIGHT.night == bindparam("night_key"))


def outcome_finder(db: Connection) -> FindOutcome:
    """A function that finds stored outcomes, and asks for those that are missing."""

    def find_or_ask(night: SimulatedNight) -> SimulatedOutcome | None:
        """The stored outcome; None while it is being computed."""
        outcome = stored_outcome(db, night)
        if outcome is None:
            wanted: WantedItems[SimulatedNight] = db.get_execution_options()[WANTED]
            wanted.add(night.key, night)
        return outcome

    return find_or_ask


def stored_outcome(db: Connection, night: SimulatedNight) -> SimulatedOutcome | None:
    """The stored outcome of a night; None when it was not simulated yet."""
    row = db.execute(_OUTCOME, {"night_key": night.key}).one_or_none()
    return None if row is None else SimulatedOutcome(**row._mapping)


def store_outcome(db: Connection, night: SimulatedNight, outcome: SimulatedOutcome, *, now: datetime) -> None:
    """Store an outcome, unless another node was faster."""
    if stored_outcome(db, night) is not None:
        return
    db.execute(
        insert(simulated_night).values(
            night=night.key,
            nights=outcome.nights,
            rounds=outcome.rounds,
            meaningful_games=outcome.meaningful_games,
            meaningful_games_of_first=outcome.meaningful_games_of_first,
            computed_at=now,
        )
    )


# How often a draw was looked at before it was made, until the journal counts it with the draw.


_DRAW_PREVIEW = draw_preview.c


def count_preview(db: Connection, tournament_id: int, draw: str) -> None:
    """Count one more look at a draw. The caller holds the tournament's lock."""
    own = (_DRAW_PREVIEW.tournament_id == tournament_id, _DRAW_PREVIEW.draw == draw)
    if db.execute(update(draw_preview).where(*own).values(times=_DRAW_PREVIEW.times + 1)).rowcount == 0:
        db.execute(insert(draw_preview).values(tournament_id=tournament_id, draw=draw, times=1))


def take_count(db: Connection, tournament_id: int, draw: str) -> int:
    """The number of looks at a draw that is made now; they are forgotten here."""
    own = (_DRAW_PREVIEW.tournament_id == tournament_id, _DRAW_PREVIEW.draw == draw)
    found = db.execute(select(_DRAW_PREVIEW.times).where(*own)).scalar_one_or_none()
    if found is None:
        return 0
    db.execute(delete(draw_preview).where(*own))
    return int(found)


def counts(db: Connection, tournament_id: int) -> dict[str, int]:
    """Draw -> how often it was looked at since it was last made."""
    rows = db.execute(
        select(_DRAW_PREVIEW.draw, _DRAW_PREVIEW.times).where(_DRAW_PREVIEW.tournament_id == tournament_id)
    )
    return {draw: times for draw, times in rows}  # noqa: C416  # rows are no pairs to mypy
