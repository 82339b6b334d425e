"""Outcomes of simulated nights, stored by settings, and the nights that wait to be simulated.

A reader that misses an outcome asks for it here and goes on without; a thread of its own computes it.
"""

import threading
from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, select

from silverball.rules.worth.nights import FindOutcome, SimulatedNight, SimulatedOutcome
from silverball.store.tables import simulated_night

# Execution option of every connection: the nights that somebody waits for.
WANTED = "silverball_wanted_nights"
# More are forgotten: who waits for them asks again.
WANTED_MAX = 500
_N = simulated_night.c
_COLUMNS = (_N.nights, _N.rounds, _N.meaningful_games, _N.meaningful_games_of_first)
_OUTCOME = select(*_COLUMNS).where(_N.night == bindparam("night_key"))


class WantedNights:
    """The nights that readers of this process wait for, first come first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._nights: dict[str, SimulatedNight] = {}

    def add(self, night: SimulatedNight) -> None:
        """Ask for a night, unless too many are waiting."""
        with self._lock:
            if len(self._nights) < WANTED_MAX:
                self._nights.setdefault(night.key, night)

    def first(self) -> SimulatedNight | None:
        """The night that has waited longest; it waits until it is removed."""
        with self._lock:
            return next(iter(self._nights.values()), None)

    def remove(self, night: SimulatedNight) -> None:
        """Forget a night: its outcome is stored, or nobody can compute it."""
        with self._lock:
            self._nights.pop(night.key, None)


def outcome_finder(db: Connection) -> FindOutcome:
    """A function that finds stored outcomes, and asks for those that are missing."""

    def find_or_ask(night: SimulatedNight) -> SimulatedOutcome | None:
        """The stored outcome; None while it is being computed."""
        outcome = stored_outcome(db, night)
        if outcome is None:
            wanted: WantedNights = db.get_execution_options()[WANTED]
            wanted.add(night)
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
