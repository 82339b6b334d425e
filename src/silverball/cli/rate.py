"""silverball rate: compute ratings from the stored results."""

import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

import click
from msgspec import Struct

from silverball.cli import database
from silverball.jobs import rating_period
from silverball.rules.ratings.formulas import DEFAULTS, Parameters
from silverball.rules.ratings.standing import CurrentRating
from silverball.service.periods import rating_run as runs
from silverball.service.periods.reads import standing
from silverball.service.periods.writes import RunSuperseded
from silverball.store.database.deadlines import RATING_COMMANDS
from silverball.store.database.engine import Store
from silverball.store.people import rating_days

# People listed after a rebuild, the largest change first.
DIFFERENCES_MAX = 20
DAY = click.DateTime(["%Y-%m-%d"])


@click.command()
@click.option(
    "--until", type=DAY, help="Last day to rate. Default: the last day that is due after the delay."
)
@click.option("--rebuild", is_flag=True, help="Rate all days again, or those from --from on.")
@click.option("--from", "begin", type=DAY, help="First day to rate again.")
def rate(until: datetime | None, begin: datetime | None, *, rebuild: bool) -> None:
    """Rate the results of all days that are not rated yet, and of corrected days again.

    A server does this by itself, after seven days for corrections. A rebuild shows whose
    rating is another one afterwards.
    """
    if begin is not None and not rebuild:
        raise click.UsageError("--from needs --rebuild.")
    now = datetime.now(UTC).replace(microsecond=0)
    today = rating_days.rating_day(now)
    last = today - timedelta(days=rating_period.DELAY_DAYS) if until is None else until.date()
    if last > today:
        raise click.UsageError("--until cannot be in the future.")
    first = (begin.date() if begin else date.min) if rebuild else None
    with database.open_database(limits=RATING_COMMANDS) as store:
        before = _ratings_today(store) if rebuild else None
        try:
            days = _rate_with_progress(store, last, DEFAULTS, now, first)
        except RunSuperseded as error:
            raise click.ClickException("Another run has begun and rates the remaining days.") from error
        click.echo(f"{days or 'No'} day{'' if days == 1 else 's'} rated, up to {last}.")
        if before is not None:
            _print_differences(before, _ratings_on(store, before.day))


class _RatingsOfDay(Struct, frozen=True):
    """All ratings at the end of a day, and the names of their people."""

    day: date
    ratings: Sequence[CurrentRating]
    names: Mapping[int, str]


def _ratings_today(store: Store) -> _RatingsOfDay | None:
    """The published ratings; None before the first."""
    with store.read() as db:
        day = standing.current_day(db)
    return None if day is None else _ratings_on(store, day)


def _ratings_on(store: Store, day: date) -> _RatingsOfDay:
    with store.read() as db:
        ratings = standing.standings_before(db, day + timedelta(days=1))
        return _RatingsOfDay(day, ratings, standing.rating_names(db))


def _print_differences(before: _RatingsOfDay, after: _RatingsOfDay) -> None:
    """Print whose rating of the same day is another one now, the largest change first."""
    changed = runs.compare_ratings(before.ratings, after.ratings)
    count = len({rating.rating_id for rating in (*before.ratings, *after.ratings)})
    if not changed:
        click.echo(f"None of {count} ratings changed, as of {before.day}.")
        return
    most = max(abs(difference.change) for difference in changed)
    click.echo(f"{len(changed)} of {count} ratings changed, by {most:.2f} at most, as of {before.day}:")
    names = {**before.names, **after.names}
    rows = [("name", "before", "after", "change")]
    for difference in changed[:DIFFERENCES_MAX]:
        is_both = difference.before is not None and difference.after is not None
        rows.append(
            (
                names.get(difference.rating_id, f"rating {difference.rating_id}"),
                _shown(difference.before),
                _shown(difference.after),
                f"{difference.change:+.2f}" if is_both else "",
            )
        )
    database.print_table(rows)
    if len(changed) > DIFFERENCES_MAX:
        click.echo(f"and {len(changed) - DIFFERENCES_MAX} others.")


def _shown(rating: CurrentRating | None) -> str:
    return "none" if rating is None else f"{rating.rating:.2f} (RD {rating.rd:.2f})"


def _rate_with_progress(
    store: Store, last: date, parameters: Parameters, now: datetime, first: date | None
) -> int:
    if not sys.stderr.isatty():
        return runs.rate_days(store, last, parameters, now, rerate_from=first)
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task("Rating", total=None)
        return runs.rate_days(
            store,
            last,
            parameters,
            now,
            rerate_from=first,
            progress=lambda done, total: bars.update(bar, completed=done, total=total),
        )
