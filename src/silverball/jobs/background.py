"""All work of a process beside its requests: what starts with the program, and stops with it."""

import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial

import msgspec

from silverball.jobs import (
    call_waiting,
    deliver_webhooks,
    fetch_submissions,
    pruning,
    pull_histories,
    rating_period,
)
from silverball.jobs.call_waiting import RoomCaller
from silverball.jobs.clock import Job, JobClock
from silverball.jobs.compute_forecasts import Forecaster, NightSimulator, SimulatingProcess
from silverball.jobs.workers import Workers, begin_in_turn
from silverball.kit.errors import Refusal
from silverball.kit.measures import Measures, MirrorMeasures
from silverball.service.accounts import erasing, key_loss
from silverball.service.moving import reads as moving_reads
from silverball.service.moving.reads import Mirror
from silverball.service.submissions import reads as submissions_reads
from silverball.service.submissions import writes as submissions_writes
from silverball.service.tournaments import writes as tournaments_writes
from silverball.service.tournaments.reads import listing
from silverball.settings import Settings
from silverball.store import processes
from silverball.store.counts.measured_storage import AccountStorage
from silverball.store.counts.running_minutes import RunningMinutes
from silverball.store.database import deadlines
from silverball.store.database.engine import Store

# The program of the computing process, which simulates nights too.
COMPUTING_MODULE = "silverball.cli.computing"
# The job that completes tournaments without activity for two days. Source: formats, section 23.


LOG = logging.getLogger("silverball.jobs")
SOURCE = "clock"


def close_idle(store: Store, now: datetime) -> None:
    """Complete the idle tournaments, each in a transaction of its own; a failure is logged."""
    with store.read() as db:
        idle_ids = listing.idle_tournaments(db, now)
    for tournament_id in idle_ids:
        try:
            with store.write(tournament_id) as transaction:
                is_closed = tournaments_writes.complete_if_idle(transaction, tournament_id, SOURCE, now)
        except (Refusal, msgspec.ValidationError) as error:
            LOG.error("the idle tournament %s cannot be completed", tournament_id, exc_info=error)
            continue
        if is_closed:
            LOG.info("the idle tournament %s was completed", tournament_id)


def schedule_submissions(store: Store, now: datetime) -> None:
    """Assign approved submissions to the rating period of their day when that is over, one by one."""
    with store.read() as db:
        submission_ids = submissions_reads.approved_submission_ids(db, now.date())
    for submission_id in submission_ids:
        with store.write() as transaction:
            submissions_writes.schedule_submission(transaction.connection, submission_id, now)


# The hourly jobs. A new job is one file and one line here.


JOBS = (
    Job("close_idle", close_idle),
    Job("prune_announcements", pruning.prune_announcements),
    Job("prune_deliveries", pruning.prune_deliveries),
    Job("prune_replies", pruning.prune_replies),
    Job("schedule_submissions", schedule_submissions),
)


def configured_jobs(settings: Settings) -> tuple[Job, ...]:
    """The jobs that run under these settings."""
    jobs = (*JOBS, rating_period.create_job(), pruning.create_job(settings.audit_days))
    if not settings.exports_folder:
        return jobs
    from silverball.jobs import nightly_exports

    return (*jobs, nightly_exports.create_job(settings))


# How often the mirrors of the site are looked at, for `/metrics`.
MIRROR_SECONDS = 15.0


def measure_mirrors(store: Store, measures: Measures) -> bool:
    """Note how far the mirrors of the site are behind; their own programs have stored it."""
    with store.read() as db:
        measures.mirrors = measures_by_host(moving_reads.running_mirrors(db))
    return False


def measures_by_host(mirrors: Sequence[Mirror]) -> dict[str, MirrorMeasures]:
    """Host -> its mirrors in numbers; the lag is that of the slowest."""
    by_host: dict[str, MirrorMeasures] = {}
    for mirror in mirrors:
        measured = by_host.setdefault(mirror.host, MirrorMeasures())
        measured.mirrors += 1
        measured.lost += mirror.lost_at is not None
        measured.different += bool(mirror.standings_differ)
        measured.median_seconds = max(measured.median_seconds, (mirror.lag_median or 0) / 1_000)
        measured.p99_seconds = max(measured.p99_seconds, (mirror.lag_p99 or 0) / 1_000)
    return by_host


# Twice within the time for which a node counts as seen.
KEY_SECONDS = 25.0


def hold_key(store: Store) -> bool:
    """Note that this node has the key for secrets. Returns False: there is nothing more to do at once."""
    key_loss.note_key(store, datetime.now(UTC))
    return False


# What accounts store is counted this often.
STORAGE_SECONDS = 60.0
# A little over a minute, because the counter must have stood for a whole one.
MINUTES_SECONDS = 60.5


class BackgroundWork:
    """The jobs and duties of one process."""

    def __init__(self, store: Store, settings: Settings, measures: Measures) -> None:
        self.measures = measures
        background, duties = store.with_limits(deadlines.JOBS), store.with_limits(deadlines.DUTIES)
        clock = JobClock(background, configured_jobs(settings), measures=measures)
        following = Workers("follow_accounts", [partial(erasing.follow_accounts, background)])
        fetching = fetch_submissions.fetch_workers(duties, settings)
        delivering, counting = deliver_webhooks.delivery_workers(duties, settings, measures.webhooks)
        pulling = pull_histories.fetching_process(background, settings)
        storage = AccountStorage(
            background,
            journal_megabytes=settings.journal_megabytes_per_account,
            replies_megabytes=settings.replies_megabytes_per_account,
        )
        measuring = Workers("storage of accounts", [storage.measure], poll_seconds=STORAGE_SECONDS)
        minutes = RunningMinutes(background)
        ageing = Workers("running minutes", [minutes.advance], poll_seconds=MINUTES_SECONDS)
        elsewhere = SimulatingProcess(COMPUTING_MODULE, partial(processes.setup_of, store, settings))
        simulator = NightSimulator(duties, simulate=elsewhere.simulate, rest=elsewhere.close)
        simulating = Workers("simulated nights", [simulator.simulate_next])
        forecasting = Workers("forecasts", [Forecaster(duties).compute_next])
        calling = Workers(
            "shared-rooms", [RoomCaller(duties).call_due], poll_seconds=call_waiting.POLL_SECONDS
        )
        holding = []
        if not store.is_sqlite:
            # Only a shared database has other nodes, which may hold a key that this machine has lost.
            holding = [Workers("key-for-secrets", [partial(hold_key, duties)], poll_seconds=KEY_SECONDS)]
        measure = partial(measure_mirrors, duties, measures)
        mirroring = Workers("mirrors", [measure], poll_seconds=MIRROR_SECONDS)
        # Takes an e-mail as typed and an address; None where the site sends no mail.
        self.ask_for_recovery: Callable[[str, str], None] | None = None
        mailing = []
        if settings.mail_server:
            # Most sites send none, and a start would load what mail needs.
            from silverball.jobs.mail_recoveries import RecoveryMailer

            mailer = RecoveryMailer(duties, settings)
            self.ask_for_recovery = mailer.ask
            mailing = [Workers("recovery-mails", [mailer.work])]
        working = (
            *(fetching, delivering, measuring, counting, simulating, forecasting, calling, pulling),
            *(mirroring, following, ageing, *holding, *mailing),
        )
        begin_in_turn(working)
        measures.jobs |= {duty.name: duty.runs for duty in working}
        self.starts = [clock.start, *(workers.start for workers in working)]
        self.stops = [clock.close, *(workers.close for workers in working), elsewhere.close]
