"""The job that rates days whose results are final, and rates corrected days again."""

import logging
from datetime import datetime, timedelta
from functools import partial

from silverball.jobs.clock import Job
from silverball.rules.ratings.formulas import Parameters
from silverball.service.periods import rating_run as periods
from silverball.service.periods.writes import RunSuperseded
from silverball.settings import Settings
from silverball.store.database.deadlines import RATINGS
from silverball.store.database.engine import Store
from silverball.store.people import rating_days

LOG = logging.getLogger("silverball.jobs")


def create_job(settings: Settings) -> Job:
    """The job with the operator's settings."""
    return Job(
        "rating_period",
        partial(run, parameters=rating_parameters(settings), delay_days=settings.rating_delay_days),
    )


def rating_parameters(settings: Settings) -> Parameters:
    """The rating parameters of the settings."""
    return Parameters(
        rating_default=settings.rating_default,
        rd_default=settings.rating_rd_default,
        rd_max=settings.rating_rd_max,
        rd_min=settings.rating_rd_min,
        c=settings.rating_c,
        is_expected_rounded=settings.rating_round_expected,
    )


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
