"""Stored forecasts of running tournaments, and the tournaments that wait for a new one.

A reader that finds an old forecast asks for a new one here and goes on with the old one; a thread of its own
computes it, on one node at a time.
"""

import threading
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, bindparam, or_, select, text, update

from silverball.kit.conversions import convert
from silverball.rules.outlook.forecast import Forecast
from silverball.store.tables import forecast

# Execution option of every connection: the tournaments whose forecast somebody waits for.
WANTED_FORECASTS = "silverball_wanted_forecasts"
# More are forgotten: who waits for them asks again.
WANTED_MAX = 500
# A tournament has a new forecast at most so often, whatever happens in it.
EVERY = timedelta(seconds=5)
# Another node takes over from one that has not stored its forecast by then.
CLAIM_HOLDS = timedelta(seconds=30)
_F = forecast.c
_STORED = select(_F.revision, _F.computed_at, _F.forecast).where(
    _F.tournament_id == bindparam("own_id"), _F.revision.is_not(None)
)
_MAKE_ROW = text(
    "INSERT INTO forecast (tournament_id, claimed_until) VALUES (:tournament_id, :claimed_until)"
    " ON CONFLICT (tournament_id) DO NOTHING"
).bindparams(bindparam("claimed_until", type_=_F.claimed_until.type))


class StoredForecast(Struct, frozen=True):
    """A forecast and the revision that it was computed from."""

    revision: int
    computed_at: datetime
    forecast: Forecast


class WantedForecasts:
    """The tournaments whose forecast readers of this process wait for, first come first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tournament_ids: dict[int, None] = {}

    def add(self, tournament_id: int) -> None:
        """Ask for a forecast, unless too many are waiting."""
        with self._lock:
            if len(self._tournament_ids) < WANTED_MAX:
                self._tournament_ids.setdefault(tournament_id)

    def waiting(self) -> list[int]:
        """The ids of the tournaments; each waits until it is removed."""
        with self._lock:
            return list(self._tournament_ids)

    def remove(self, tournament_id: int) -> None:
        """Forget a tournament."""
        with self._lock:
            self._tournament_ids.pop(tournament_id, None)


def ask_for_forecast(db: Connection, tournament_id: int) -> None:
    """Have the forecast of a tournament computed soon."""
    wanted: WantedForecasts = db.get_execution_options()[WANTED_FORECASTS]
    wanted.add(tournament_id)


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
    is_free = or_(_F.computed_at.is_(None), _F.computed_at <= now - EVERY)
    claimed = (
        update(forecast)
        .where(_F.tournament_id == tournament_id, _F.claimed_until <= now, is_free)
        .values(claimed_until=now + CLAIM_HOLDS)
    )
    return bool(db.execute(claimed).rowcount)


def store_forecast(
    db: Connection, tournament_id: int, revision: int, found: Forecast, *, now: datetime
) -> None:
    """Store a forecast and give the computation free."""
    values = {"revision": revision, "computed_at": now, "forecast": found, "claimed_until": now}
    db.execute(update(forecast).where(_F.tournament_id == tournament_id).values(values))
