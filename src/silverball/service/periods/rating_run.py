"""A rating run: rate every day that waits or was corrected, oldest first, several days per transaction.

An interrupted run leaves a consistent state, and the next run continues from it. `SOURCES` lists the
sources of results.
"""

import gc
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from silverball.rules.ratings import seats
from silverball.rules.ratings.events import RatedEvent
from silverball.rules.ratings.formulas import Parameters
from silverball.service.periods.reads import standing, submissions, tournaments
from silverball.service.periods.reads.standing import DayRow
from silverball.service.periods.writes import periods as writes
from silverball.service.periods.writes.periods import RatedDay
from silverball.service.submissions.writes import moving
from silverball.store import rating_days
from silverball.store.engine import Db, Store

if TYPE_CHECKING:
    from silverball.rules.ratings.book import RatingTable

LOG = logging.getLogger("silverball.ratings")


class ResultSource(Protocol):
    """A source of results, created for each run."""

    def first_day(self, db: Db, /) -> date | None:
        """The day of the oldest result; None without results."""
        ...

    def events(self, db: Db, first: date, last: date, /) -> Iterable[RatedEvent]:
        """The events from the first to the last day."""
        ...


# A new source is one line here. Code that changes its results marks their day (`store/rating_days.py`).
SOURCES: Sequence[Callable[[], ResultSource]] = (tournaments.TournamentResults, submissions.SubmissionResults)
# Results are recorded between the transactions of a run, so each must be short.
DAYS_PER_TRANSACTION = 20
# A pass can find that two ratings are one person's; then earlier days are rated once more.
PASSES_MAX = 3
Progress = Callable[[int, int], None]


def rate_days(
    store: Store,
    until: date,
    parameters: Parameters,
    now: datetime,
    *,
    rerate_from: date | None = None,
    progress: Progress = lambda _done, _all: None,
) -> int:
    """Rate every day up to `until` that needs it, and return the number of days.

    `rerate_from` rates all days from that day on again. Raises RunSuperseded when another run begins.
    """
    days = 0
    with _paused_garbage_collection():
        for _ in range(PASSES_MAX):
            run = RatingRun(store, parameters, now)
            days += run.rate_until(until, rerate_from, progress)
            rerate_from = None
            if not run.has_merged:
                break
    return days


@contextmanager
def _paused_garbage_collection() -> Iterator[None]:
    """Pause the garbage collector: it would scan all standings repeatedly and find no garbage."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class RatingRun:
    """One pass over the days that need it."""

    def __init__(self, store: Store, parameters: Parameters, now: datetime) -> None:
        self._store = store
        self._parameters = parameters
        self._now = now
        self._sources = [source() for source in SOURCES]
        # The current standings; None while no day has changed results.
        self._table: RatingTable | None = None
        # Whether the run continues from the published ratings.
        self._continues_current = False
        self.has_merged = False

    def rate_until(self, until: date, rerate_from: date | None, progress: Progress) -> int:
        """Rate the days, and return the number of days."""
        with self._store.read() as db:
            first_day = self._first_day(db)
            if first_day is None or first_day > until:
                return 0
            if rerate_from is None and standing.are_days_rated(db, first_day, until):
                return 0
        with self._store.write() as transaction:
            self._number = writes.begin_run(transaction.connection)
            writes.create_days(transaction.connection, first_day, until)
            if rerate_from is not None:
                writes.mark_for_rerating(transaction.connection, rerate_from)
        with self._store.read() as db:
            days = standing.days_to_rate(db, until)
            self._register = standing.load_register(db)
        for start in range(0, len(days), DAYS_PER_TRANSACTION):
            batch = days[start : start + DAYS_PER_TRANSACTION]
            is_last = start + len(batch) == len(days)
            with self._store.write() as transaction:
                writes.require_current_run(transaction.connection, self._number)
                self._rate_days(transaction.connection, batch)
                if is_last:
                    self._publish(transaction.connection, batch[-1].day)
            # The collector is paused: collect the short-lived garbage of this batch.
            gc.collect(0)
            progress(start + len(batch), len(days))
        return len(days)

    def _rate_days(self, db: Db, batch: list[DayRow]) -> None:
        """Rate a batch of days and store it."""
        first, last = batch[0].day, batch[-1].day
        # The rows are locked: from here on, a mark is set only after this transaction.
        day_rows = standing.day_rows(db, first, last, is_locked=True)
        events: dict[date, list[RatedEvent]] = {}
        for event in chain.from_iterable(source.events(db, first, last) for source in self._sources):
            events.setdefault(event.day, []).append(event)
        rated_days: list[RatedDay] = []
        for row in day_rows:
            day = seats.day_of_events(row.day, events.get(row.day, ()), self._register)
            self._log_skipped(day)
            fingerprint = day.fingerprint(self._parameters)
            if self._table is None and row.fingerprint == fingerprint:
                writes.confirm_day(db, row.day)
            else:
                revisions = self._load_table(db, row.day).rate_day(day)
                was_rated = row.status != rating_days.WAITING
                rated_days.append(RatedDay(day, fingerprint, revisions, was_rated))
        for row in day_rows:
            # From now on these submissions cannot be withdrawn.
            moving.process_day(db, row.day, self._now)
        merged_ids = sorted(self._register.merged)
        writes.store_identities(db, self._register)
        for rated_day in rated_days:
            writes.store_day(db, rated_day, self._parameters, self._now)
        if merged_ids:
            self.has_merged = True
            writes.mark_merged(db, merged_ids)
            self._register.merged.clear()

    def _first_day(self, db: Db) -> date | None:
        """The first day that can be rated: that of the oldest result, or the day of imported ratings."""
        imported = standing.imported_until(db)
        if imported is not None:
            return imported
        oldest = [standing.first_period_day(db), *(source.first_day(db) for source in self._sources)]
        return min((day for day in oldest if day is not None), default=None)

    def _load_table(self, db: Db, day: date) -> "RatingTable":
        if self._table is None:
            from silverball.rules.ratings.book import RatingTable

            self._continues_current = standing.are_ratings_current_before(db, day)
            load_standings = (
                standing.current_standings if self._continues_current else standing.standings_before
            )
            self._table = RatingTable(self._parameters, load_standings(db, day))
        return self._table

    def _publish(self, db: Db, last: date) -> None:
        """Publish the computed ratings; until here the ratings from before the run were visible."""
        if self._table is None:
            return
        if self._continues_current:
            standings = self._table.pop_changed()
        else:
            standings = self._table.all_ratings()
            writes.clear_other_standings(db, standings)
        writes.store_standings(db, standings)
        writes.store_ranking(db, self._table.ranked_on(last, standing.hidden_rating_ids(db)), last)

    def _log_skipped(self, day: seats.RatingDay) -> None:
        for kind, event_id in day.skipped:
            LOG.warning("a game of %s %s names the same person twice and is not rated", kind, event_id)
