"""A rating run: rate every day that waits or was corrected, oldest first, in transactions of 0.03 seconds.

An interrupted run leaves a consistent state, and the next run continues from it: the first day that it
rates marks all later ones, and the last day is finished only when the ratings of everybody are
published. `reads/periods.py` lists the sources of results.
"""

import gc
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct

from silverball.rules.ratings import seats
from silverball.rules.ratings.formulas import Parameters
from silverball.rules.ratings.seats import RatedEvent
from silverball.rules.ratings.standing import CurrentRating, RankedRatings
from silverball.service.periods import writes
from silverball.service.periods.reads import periods, standing
from silverball.service.periods.reads.standing import DayRow
from silverball.service.periods.writes import ImportedRating, RatedDay
from silverball.service.submissions import writes as submissions_writes
from silverball.store.database import slices
from silverball.store.database.engine import Db, Store
from silverball.store.people import rating_days

if TYPE_CHECKING:
    from silverball.rules.ratings.book import RatingTable

LOG = logging.getLogger("silverball.ratings")


# Results are recorded between the transactions of a run, so each must be short: as many days as fit.
SLICE_SECONDS = 0.03
DAYS_PER_TRANSACTION_MAX = 20
# A pass can find that two ratings are one person's; then earlier days are rated once more.
PASSES_MAX = 3
# People who opt out while ratings are staged change the ranks, which are staged once more.
PUBLISH_TRIES_MAX = 5
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


def next_slice_days(days: int, seconds: float) -> int:
    """The number of days of the next transaction, when the last one took so long for so many."""
    if seconds > SLICE_SECONDS:
        return max(1, days // 2)
    return min(2 * days, DAYS_PER_TRANSACTION_MAX) if 2 * seconds < SLICE_SECONDS else days


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


class TableBefore(Struct, frozen=True):
    """The ratings of everybody before a day, computed ahead of the transaction that rates it."""

    day: date
    table: "RatingTable"
    # Whether a run from this day on continues the published ratings.
    continues_current: bool


class Publication(Struct, frozen=True):
    """The ratings of everybody after a run, and their ranks."""

    standings: list[CurrentRating]
    cleared_ids: list[int]
    hidden_ids: set[int]
    ranking: RankedRatings


class RatingRun:
    """One pass over the days that need it."""

    def __init__(self, store: Store, parameters: Parameters, now: datetime) -> None:
        self._store = store
        self._parameters = parameters
        self._now = now
        self._sources = [source() for source in periods.SOURCES]
        # The current standings; None while no day has changed results.
        self._table: RatingTable | None = None
        # For the first day that may need it.
        self._table_before: TableBefore | None = None
        # Whether the run continues from the published ratings.
        self._continues_current = False
        # The digest of the last day, which is stored when its ratings are published.
        self._last_fingerprint: str | None = None
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
            self._number = rating_days.begin_run(transaction.connection)
            writes.create_days(transaction.connection, first_day, until)
            if rerate_from is not None:
                writes.mark_for_rerating(transaction.connection, rerate_from)
            _join_confirmed(transaction.connection, until)
        with self._store.read() as db:
            days = standing.days_to_rate(db, until)
            self._register = standing.load_register(db)
            if days:
                # Here, because it takes over a second for many people; whoever changes it begins a run.
                self._table_before = self._read_table(db, days[0].day)
        rated, size = 0, 1
        while rated < len(days):
            # The last day alone: it is finished when its ratings are published.
            last = max(rated + 1, len(days) - 1)
            batch = days[rated : min(rated + size, last)]
            begun_at = time.monotonic()
            self._rate_slice(batch, is_last=rated + len(batch) == len(days))
            worked_seconds = time.monotonic() - begun_at
            size = next_slice_days(size, worked_seconds)
            rated += len(batch)
            slices.rest(self._store, worked_seconds)
            progress(rated, len(days))
        if self._table is not None:
            self._publish(self._table, days[-1].day)
        return len(days)

    def _rate_slice(self, batch: list[DayRow], *, is_last: bool) -> None:
        """Rate these days in one transaction."""
        with self._store.write() as transaction:
            writes.require_current_run(transaction.connection, self._number)
            self._rate_days(transaction.connection, batch, is_last=is_last)
        # The collector is paused: collect the short-lived garbage of this batch.
        gc.collect(0)

    def _rate_days(self, db: Db, batch: list[DayRow], *, is_last: bool) -> None:
        """Rate a batch of days and store it."""
        had_table = self._table is not None
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
                self._last_fingerprint = fingerprint
                rated_days.append(RatedDay(day, None if is_last else fingerprint, revisions, was_rated))
        for row in day_rows:
            # From now on these submissions cannot be withdrawn.
            submissions_writes.process_day(db, row.day, self._now)
        merged_ids = sorted(self._register.merged)
        writes.store_identities(db, self._register)
        for rated_day in rated_days:
            writes.store_day(db, rated_day, self._parameters, self._now)
        if self._table is not None and not had_table:
            # They depend on this one, also for the run that continues an interrupted one.
            writes.mark_for_rerating(db, last + timedelta(days=1))
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
            before = self._table_before
            if before is None or before.day != day:
                # Days before this one did not change, so another one than the first is the first to rate.
                before = self._read_table(db, day)
            self._table, self._continues_current = before.table, before.continues_current
            self._table_before = None
        return self._table

    def _read_table(self, db: Db, day: date) -> TableBefore:
        from silverball.rules.ratings.book import RatingTable

        is_current = standing.are_ratings_current_before(db, day)
        load_standings = standing.current_standings if is_current else standing.standings_before
        return TableBefore(day, RatingTable(self._parameters, load_standings(db, day)), is_current)

    def _publish(self, table: "RatingTable", last: date) -> None:
        """Publish the computed ratings; until here the ratings from before the run are visible."""
        for _ in range(PUBLISH_TRIES_MAX):
            publication = self._prepare_publication(table, last)
            if len(publication.ranking.rows) <= slices.SLICE_ROWS:
                self._publish_at_once(table, publication, last)
                return
            if self._publish_in_slices(table, publication, last):
                return
        # Its day has no fingerprint, so the next run rates and publishes it.
        LOG.warning("opt-outs changed while the ratings of %s were published; the next run does it", last)

    def _publish_at_once(self, table: "RatingTable", publication: Publication, last: date) -> None:
        """Publish the ratings of a few people in one transaction."""
        with self._store.write() as transaction:
            db = transaction.connection
            writes.require_current_run(db, self._number)
            ranking = publication.ranking
            hidden_ids = standing.hidden_rating_ids(db)
            if hidden_ids != publication.hidden_ids:
                ranking = table.ranked_on(last, hidden_ids)
            writes.store_standings(db, publication.standings)
            writes.clear_standings(db, publication.cleared_ids)
            writes.store_ranking(db, ranking, last)
            # Last, because it locks the day: a result that is corrected meanwhile marks it.
            writes.finish_day(db, last, self._last_fingerprint)

    def _publish_in_slices(self, table: "RatingTable", publication: Publication, last: date) -> bool:
        """Stage the ratings, show them all at once, and move them; returns whether they were shown."""
        run, ranking = self._number, publication.ranking
        rows = writes.staged_rows(run, table.all_ratings(), ranking, publication.cleared_ids)
        self._run_slices(writes.delete_hidden_slice)
        for begin in range(0, len(rows), slices.SLICE_ROWS):
            begun_at = time.monotonic()
            with self._store.write(quiet=True) as transaction:
                writes.require_current_run(transaction.connection, run)
                writes.store_slice(transaction.connection, rows[begin : begin + slices.SLICE_ROWS])
            slices.rest(self._store, time.monotonic() - begun_at)
        with self._store.write() as transaction:
            writes.require_current_run(transaction.connection, run)
            if not writes.show_run(transaction.connection, run, last, ranking, publication.hidden_ids):
                return False
        self._run_slices(partial(writes.move_slice, run=run))
        with self._store.write(quiet=True) as transaction:
            writes.require_current_run(transaction.connection, run)
            writes.finish_day(transaction.connection, last, self._last_fingerprint)
        # Those of an interrupted run, which were shown until now.
        self._run_slices(writes.delete_hidden_slice)
        return True

    def _run_slices(self, run_slice: Callable[[Db], int]) -> None:
        """Run it in short transactions until there is nothing left, unless another run begins."""

        def run_while_current(db: Db) -> int:
            writes.require_current_run(db, self._number)
            return run_slice(db)

        slices.run_slices(self._store, run_while_current)

    def _prepare_publication(self, table: "RatingTable", last: date) -> Publication:
        """Compute all that can be computed before the transaction, which others wait for."""
        with self._store.read() as db:
            hidden_ids = standing.hidden_rating_ids(db)
            published = [] if self._continues_current else standing.current_standings(db, last)
        cleared_ids: list[int] = []
        if self._continues_current:
            standings = table.pop_changed()
        else:
            known = {current.rating_id: current for current in published}
            computed = table.all_ratings()
            standings = [current for current in computed if known.get(current.rating_id) != current]
            cleared_ids = sorted(known.keys() - {current.rating_id for current in computed})
        return Publication(standings, cleared_ids, hidden_ids, table.ranked_on(last, hidden_ids))

    def _log_skipped(self, day: seats.RatingDay) -> None:
        for kind, event_id in day.skipped:
            LOG.warning("a game of %s %s names the same person twice and is not rated", kind, event_id)


def _join_confirmed(db: Db, until: date) -> None:
    """Merge the ratings of accounts and of their confirmed numbers before any day is rated.

    Found on the way, each of them would have days rated a second time.
    """
    if not standing.days_to_rate(db, until):
        return
    register = standing.load_register(db)
    register.join_confirmed(rating_days.all_confirmed(db).number_by_user)
    merged_ids = sorted(register.merged)
    if merged_ids:
        writes.store_identities(db, register)
        writes.mark_merged(db, merged_ids)


def import_ratings(
    db: Db, ratings: Sequence[ImportedRating], day: date, parameters: Parameters, now: datetime
) -> None:
    """Store and rank a file's ratings as of a day. Raises Conflict once days were rated on this site."""
    from silverball.rules.ratings.book import RatingTable

    writes.replace_ratings(db, ratings, day, parameters, now)
    book = RatingTable(parameters, standing.current_standings(db, day))
    writes.store_ranking(db, book.ranked_on(day, standing.hidden_rating_ids(db)), day)


# Differences below are noise of the last decimals: files and pages show two.
SHOWN_FROM = 0.005


class RatingDifference(Struct, frozen=True):
    """A rating that is another one now; None where there was or is no rating."""

    rating_id: int
    before: CurrentRating | None
    after: CurrentRating | None

    @property
    def change(self) -> float:
        """Points gained, negative when lost; 0 for a rating that appeared or went."""
        if self.before is None or self.after is None:
            return 0.0
        return self.after.rating - self.before.rating

    @property
    def is_shown(self) -> bool:
        """Whether rating or RD differ in the decimals that are shown."""
        if self.before is None or self.after is None:
            return True
        return max(abs(self.change), abs(self.after.rd - self.before.rd)) >= SHOWN_FROM


def compare_ratings(
    before: Sequence[CurrentRating], after: Sequence[CurrentRating]
) -> list[RatingDifference]:
    """The ratings that differ, the largest change first. Takes the ratings of the same day."""
    ratings_before = {rating.rating_id: rating for rating in before}
    ratings_after = {rating.rating_id: rating for rating in after}
    differences = [
        RatingDifference(rating_id, ratings_before.get(rating_id), ratings_after.get(rating_id))
        for rating_id in sorted({*ratings_before, *ratings_after})
    ]
    return sorted(
        (difference for difference in differences if difference.is_shown),
        key=lambda difference: (-abs(difference.change), difference.rating_id),
    )
