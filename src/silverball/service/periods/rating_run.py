"""A run: every day that waits or was corrected is rated, oldest first, some days in a transaction.

Whatever interrupts it, what is stored is right and the next run goes on from there. `SOURCES` says where
results come from.
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
    """Where results come from; made anew for each run."""

    def first_day(self, db: Db, /) -> date | None:
        """The day of its oldest result; None when it has none."""
        ...

    def events(self, db: Db, first: date, last: date, /) -> Iterable[RatedEvent]:
        """What was played from the first to the last day, event by event."""
        ...


# A new source is one line here. Whoever changes its results marks their day (`store/rating_days.py`).
SOURCES: Sequence[Callable[[], ResultSource]] = (tournaments.TournamentResults, submissions.SubmissionResults)
# Results are recorded between two transactions of a run: each is to be short.
DAYS_PER_TRANSACTION = 20
# A rating that goes up in another is found on the way; what was rated before that is rated once more.
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
    """Rate every day up to this one that needs it; returns how many days that were.

    `again_from` rates again what was rated from that day on. Raises Superseded when another run begins.
    """
    days = 0
    with _paused_garbage_collection():
        for _ in range(PASSES_MAX):
            one = RatingRun(store, parameters, now)
            days += one.rate_until(until, rerate_from, progress)
            rerate_from = None
            if not one.has_merged:
                break
    return days


@contextmanager
def _paused_garbage_collection() -> Iterator[None]:
    """The collector would walk through everybody's standing again and again, and find nothing to collect."""
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
        # How everybody stands; None as long as every day is the same as it was.
        self._book: RatingTable | None = None
        # Whether the run goes on from what everybody sees.
        self._continues_current = False
        self.has_merged = False

    def rate_until(self, until: date, again_from: date | None, progress: Progress) -> int:
        """Rate the days; returns how many there were."""
        with self._store.read() as db:
            begins = self._first_day(db)
            if begins is None or begins > until:
                return 0
            if again_from is None and standing.are_days_rated(db, begins, until):
                return 0
        with self._store.write() as transaction:
            self._number = writes.begin_run(transaction.connection)
            writes.create_days(transaction.connection, begins, until)
            if again_from is not None:
                writes.mark_for_rerating(transaction.connection, again_from)
        with self._store.read() as db:
            days = standing.days_to_rate(db, until)
            self._register = standing.load_register(db)
        for start in range(0, len(days), DAYS_PER_TRANSACTION):
            some = days[start : start + DAYS_PER_TRANSACTION]
            is_last = start + len(some) == len(days)
            with self._store.write() as transaction:
                writes.require_current_run(transaction.connection, self._number)
                self._rate_days(transaction.connection, some)
                if is_last:
                    self._publish(transaction.connection, some[-1].day)
            # What others left behind meanwhile.
            gc.collect(0)
            progress(start + len(some), len(days))
        return len(days)

    def _rate_days(self, db: Db, some: list[DayRow]) -> None:
        """Rate some days and store them."""
        first, last = some[0].day, some[-1].day
        # Marked from here on means: marked after this transaction.
        stored = standing.day_rows(db, first, last, is_locked=True)
        found: dict[date, list[RatedEvent]] = {}
        for event in chain.from_iterable(source.events(db, first, last) for source in self._sources):
            found.setdefault(event.day, []).append(event)
        done: list[RatedDay] = []
        for row in stored:
            day = seats.day_of_events(row.day, found.get(row.day, ()), self._register)
            self._log_skipped(day)
            fingerprint = day.fingerprint(self._parameters)
            if self._book is None and row.fingerprint == fingerprint:
                writes.confirm_day(db, row.day)
            else:
                revisions = self._open_book(db, row.day).rate_day(day)
                was_rated = row.status != rating_days.WAITING
                done.append(RatedDay(day, fingerprint, revisions, was_rated))
        for row in stored:
            # They count for good: nobody takes them back any more.
            moving.process_day(db, row.day, self._now)
        gone = sorted(self._register.merged)
        writes.store_identities(db, self._register)
        for one in done:
            writes.store_day(db, one, self._parameters, self._now)
        if gone:
            self.has_merged = True
            writes.mark_merged(db, gone)
            self._register.merged.clear()

    def _first_day(self, db: Db) -> date | None:
        """Days that can be rated begin with the oldest result, or after what came from a file."""
        imported = standing.imported_until(db)
        if imported is not None:
            return imported
        oldest = [standing.first_period_day(db), *(source.first_day(db) for source in self._sources)]
        return min((one for one in oldest if one is not None), default=None)

    def _open_book(self, db: Db, day: date) -> "RatingTable":
        if self._book is None:
            from silverball.rules.ratings.book import RatingTable

            self._continues_current = standing.are_ratings_current_before(db, day)
            before = standing.current_standings if self._continues_current else standing.standings_before
            self._book = RatingTable(self._parameters, before(db, day))
        return self._book

    def _publish(self, db: Db, last: date) -> None:
        """Everybody sees what was computed; until here they saw what was there before the run."""
        if self._book is None:
            return
        if self._continues_current:
            standings = self._book.pop_changed()
        else:
            standings = self._book.all_ratings()
            writes.clear_other_standings(db, standings)
        writes.store_standings(db, standings)
        writes.store_ranking(db, self._book.ranked_on(last, standing.hidden_rating_ids(db)), last)

    def _log_skipped(self, day: seats.RatingDay) -> None:
        for kind, event_id in day.skipped:
            LOG.warning("a game of %s %s has the same person twice: it is not rated", kind, event_id)
