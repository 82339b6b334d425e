"""Simulates the nights that somebody waits for, in a thread of its own, and stores their outcomes."""

from collections.abc import Callable
from datetime import UTC, datetime

from silverball.jobs.workers import Workers
from silverball.store import simulated_nights
from silverball.store.engine import Store


class NightSimulator:
    """Computes one night after the other."""

    def __init__(self, store: Store, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._store = store
        self._now = now

    def simulate_next(self) -> bool:
        """Simulate the night that has waited longest; whether there was one."""
        wanted = self._store.wanted_nights
        night = wanted.first()
        if night is None:
            return False
        # NumPy is loaded with the first night that anybody asks for.
        from silverball.rules.worth.simulation import simulate

        with self._store.read() as db:
            is_known = simulated_nights.stored_outcome(db, night) is not None
        if not is_known:
            outcome = simulate(night)
            # No cached answer shows a night that is being computed.
            with self._store.write(quiet=True) as transaction:
                now = self._now().replace(microsecond=0)
                simulated_nights.store_outcome(transaction.connection, night, outcome, now=now)
        wanted.remove(night)
        return True


def simulation_workers(store: Store) -> Workers:
    """The thread that simulates."""
    return Workers("simulated nights", [NightSimulator(store).simulate_next])
