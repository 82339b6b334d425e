"""silverball rate: compute ratings from the stored results."""

import sys
from datetime import UTC, date, datetime, timedelta

import click

from silverball import settings
from silverball.cli import database
from silverball.jobs import rating_period
from silverball.rules.ratings.formulas import Parameters
from silverball.service.periods import rating_run as runs
from silverball.service.periods.writes.periods import RunSuperseded
from silverball.store import rating_days
from silverball.store.engine import Store

DAY = click.DateTime(["%Y-%m-%d"])


@click.command()
@click.option(
    "--until", type=DAY, help="Last day to rate. Default: the last day that is due after the delay."
)
@click.option("--rebuild", is_flag=True, help="Rate all days again, or those from --from on.")
@click.option("--from", "begin", type=DAY, help="First day to rate again.")
def rate(until: datetime | None, begin: datetime | None, *, rebuild: bool) -> None:
    """Rate the results of all days that are not rated yet, and of corrected days again.

    A server does this by itself, with the delay of SILVERBALL_RATING_DELAY_DAYS.
    """
    if begin is not None and not rebuild:
        raise click.UsageError("--from needs --rebuild.")
    loaded = settings.load()
    now = datetime.now(UTC).replace(microsecond=0)
    today = rating_days.rating_day(now)
    last = today - timedelta(days=loaded.rating_delay_days) if until is None else until.date()
    if last > today:
        raise click.UsageError("--until cannot be in the future.")
    first = (begin.date() if begin else date.min) if rebuild else None
    with database.open_database() as store:
        try:
            days = _rate_with_progress(store, last, rating_period.rating_parameters(loaded), now, first)
        except RunSuperseded as error:
            raise click.ClickException("Another run has begun and rates the remaining days.") from error
    click.echo(f"{days or 'No'} day{'' if days == 1 else 's'} rated, up to {last}.")


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
