"""All work of a process beside its requests: what starts with the program, and stops with it."""

from collections.abc import Callable
from functools import partial

from silverball.jobs import (
    call_waiting,
    compute_forecasts,
    deliver_webhooks,
    fetch_submissions,
    measure_mirrors,
    measure_storage,
    pull_histories,
    schedule,
    simulate_nights,
)
from silverball.jobs.clock import JobClock
from silverball.jobs.workers import Workers, begin_in_turn
from silverball.kit.measures import Measures
from silverball.service.accounts import erasing
from silverball.settings import Settings
from silverball.store import time_limits
from silverball.store.engine import Store


class BackgroundWork:
    """The jobs and duties of one process."""

    def __init__(self, store: Store, settings: Settings, measures: Measures) -> None:
        self.measures = measures
        background, duties = store.with_limits(time_limits.JOBS), store.with_limits(time_limits.DUTIES)
        clock = JobClock(background, schedule.configured_jobs(settings), measures=measures)
        following = Workers("follow_accounts", [partial(erasing.follow_accounts, background)])
        fetching = fetch_submissions.fetch_workers(duties, settings)
        delivering, counting = deliver_webhooks.delivery_workers(duties, settings, measures.webhooks)
        pulling = pull_histories.pull_workers(background, settings)
        measuring = measure_storage.storage_workers(background, settings)
        simulating = simulate_nights.simulation_workers(duties)
        forecasting = compute_forecasts.forecast_workers(duties)
        calling = call_waiting.room_workers(duties)
        mirroring = measure_mirrors.mirror_workers(duties, measures)
        # Takes an e-mail as typed and an address; None where the site sends no mail.
        self.ask_for_recovery: Callable[[str, str], None] | None = None
        mailing = []
        if settings.smtp_host:
            # Most sites send none, and a start would load what mail needs.
            from silverball.jobs.mail_recoveries import RecoveryMailer, mail_workers

            mailer = RecoveryMailer(duties, settings)
            self.ask_for_recovery = mailer.ask
            mailing = [mail_workers(mailer)]
        working = (
            *(fetching, delivering, measuring, counting, simulating, forecasting, calling, pulling),
            *(mirroring, following, *mailing),
        )
        begin_in_turn(working)
        measures.jobs |= {duty.name: duty.runs for duty in working}
        self.starts: list[Callable[[], None]] = [clock.start, following.start]
        self.stops: list[Callable[[], None]] = [clock.close, following.close]
        self.starts += [workers.start for workers in working]
        self.stops += [workers.close for workers in working]
