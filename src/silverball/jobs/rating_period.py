"""The job that rates days whose results are final, and rates corrected days again."""

import logging
from datetime import datetime, timedelta
from functools import partial

from silverball.jobs.clock import Job
from silverball.rules.ratings.formulas import DEFAULTS, Parameters
from silverball.service.periods import rating_run as periods
from silverball.service.periods.writes import RunSuperseded
from silverball.store.database.deadlines import RATINGS
from silverball.store.database.engine import Store
from silverball.store.people import rating_days

LOG = logging.getLogger("silverball.jobs")


# For corrections, before results are rated.
DELAY_DAYS = 7


def create_job() -> Job:
    """The job, with the parameters that all sites share."""
    return Job("rating_period", partial(run, parameters=DEFAULTS, delay_days=DELAY_DAYS))


def run(store: Store, now: datetime, *, parameters: Parameters, delay_days: int) -> None:
    """Rate the days that are due, unless another node or a command has started to rate meanwhile."""
    until = rating_days.rating_day(now) - timedelta(days=delay_days)
    try:
        days = periods.rate_days(store.with_limits(RATINGS), until, parameters, now)
    except RunSuperseded:
        LOG.info("another run rates the periods")
        return
    if days:
        LOG.info("%s rating periods up to %s were rated", days, until)
