"""Computes the forecasts that somebody waits for, in a thread of its own, and stores them."""

import pickle
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from silverball.kit.errors import NotFound
from silverball.kit.processes import SpawnedProcess
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.outlook import forecast as outlook
from silverball.rules.outlook.forecast import Forecast
from silverball.rules.planning.answers import SimulatedOutcome, nights_for
from silverball.rules.planning.nights import SimulatedNight
from silverball.service.core import loaded
from silverball.service.outlook.reads import forecasts
from silverball.service.ratings import reads as ratings_reads
from silverball.store.database.engine import Db, Store
from silverball.store.tournament import forecasts as tournament_forecasts
from silverball.store.tournament.forecasts import StoredForecast
from silverball.store.tournament.loaded import LoadedTournament


class ForecastInput(Struct, frozen=True):
    """A tournament, the ratings of its players, and its forecast so far."""

    current: LoadedTournament
    # Player id -> rating; without those who hide theirs.
    ratings: Mapping[int, float]
    before: StoredForecast | None


class Forecaster:
    """Computes one forecast after the other: once per revision, and at most every five seconds."""

    def __init__(self, store: Store, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._store = store
        self._now = now

    def compute_next(self) -> bool:
        """Compute the first forecast that is due; whether there was one."""
        return any(self._compute_if_due(each) for each in self._store.wanted_forecasts.waiting())

    def _compute_if_due(self, tournament_id: int) -> bool:
        """Compute a forecast, unless it is new enough or another node has it; whether it was computed."""
        wanted = self._store.wanted_forecasts
        with self._store.read() as db:
            found = _input_of(db, tournament_id)
        if found is None:
            wanted.remove(tournament_id)
            return False
        now = self._now()
        if found.before is not None and now < found.before.computed_at + tournament_forecasts.EVERY:
            return False
        # Nothing that any answer keeps shows a forecast.
        with self._store.write(quiet=True) as transaction:
            is_ours = tournament_forecasts.claim_forecast(transaction.connection, tournament_id, now=now)
        # A node that has it elsewhere stores it; until then the tournament waits.
        if not is_ours:
            return False
        # Whoever waits for a forecast that cannot be computed asks again.
        wanted.remove(tournament_id)
        revision = found.current.revision.number
        computed = compute_forecast(found, now)
        with self._store.write(quiet=True) as transaction:
            tournament_forecasts.store_forecast(
                transaction.connection, tournament_id, revision, computed, now=now
            )
        return True


def _input_of(db: Db, tournament_id: int) -> ForecastInput | None:
    """The input of a tournament's forecast; None when none is missing."""
    try:
        current = loaded.load_with_revision(db, tournament_id)
    except NotFound:
        return None
    if current.tournament.status != "started" or not forecasts.has_forecast(current.tournament):
        return None
    before = tournament_forecasts.stored_forecast(db, tournament_id)
    if before is not None and before.revision == current.revision.number:
        return None
    ratings = ratings_reads.seed_numbers(db, tournament_id, by_bound=False)
    return ForecastInput(current, {each: -number for each, number in ratings.items()}, before)


def compute_forecast(found: ForecastInput, now: datetime) -> Forecast:
    """The forecast of a tournament as it stands."""
    # NumPy is loaded with the first forecast that anybody asks for.
    import numpy as np

    from silverball.rules.outlook.chances import NIGHTS_SIMULATED, chances

    tournament = found.current.tournament
    form = tournament_commands.format_of(tournament)
    # The same state has the same forecast.
    dice = np.random.default_rng((tournament.tournament_id, found.current.revision.number))
    likely = chances(tournament, form, found.ratings, dice)
    before = None if found.before is None else found.before.forecast
    certain = outlook.certain_facts(tournament, form, before, now)
    return Forecast(
        chances=likely,
        rated_ids=sorted(found.ratings),
        nights_simulated=0 if likely is None else nights_for(len(likely), NIGHTS_SIMULATED),
        claims=certain.claims,
        withdrawals=certain.withdrawals,
        assumptions=certain.assumptions,
    )


def simulate_here(night: SimulatedNight) -> SimulatedOutcome:
    """The outcome of a night, computed in this process."""
    # NumPy is loaded with the first night that anybody asks for.
    from silverball.rules.planning.simulation import simulate

    return simulate(night)


class SimulatingProcess:
    """Simulates nights in a process beside the server, which ends when none waits."""

    def __init__(self, module: str, setup: Callable[[], bytes]) -> None:
        self._process = SpawnedProcess(module, setup)
        self.close = self._process.close

    def simulate(self, night: SimulatedNight) -> SimulatedOutcome:
        """The outcome of a night. Raises ProcessEnded."""
        answer = self._process.ask(pickle.dumps(night))
        return msgspec.msgpack.decode(answer, type=SimulatedOutcome)


class NightSimulator:
    """Simulates the nights that somebody waits for, one after the other, and stores their outcomes."""

    def __init__(
        self,
        store: Store,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        *,
        simulate: Callable[[SimulatedNight], SimulatedOutcome] = simulate_here,
        rest: Callable[[], None] = lambda: None,
    ) -> None:
        """`rest` is called when no night waits."""
        self._store = store
        self._now = now
        self._simulate = simulate
        self._rest = rest

    def simulate_next(self) -> bool:
        """Simulate the night that has waited longest; whether there was one."""
        wanted = self._store.wanted_nights
        night = next(iter(wanted.waiting()), None)
        if night is None:
            self._rest()
            return False
        with self._store.read() as db:
            is_known = tournament_forecasts.stored_outcome(db, night) is not None
        if not is_known:
            outcome = self._simulate(night)
            # No cached answer shows a night that is being computed.
            with self._store.write(quiet=True) as transaction:
                now = self._now().replace(microsecond=0)
                tournament_forecasts.store_outcome(transaction.connection, night, outcome, now=now)
        wanted.remove(night.key)
        return True
