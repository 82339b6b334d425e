"""The hourly jobs. A new job is one file and one line here."""

from silverball.jobs import (
    close_idle,
    prune_announcements,
    prune_audit,
    prune_deliveries,
    rating_period,
    schedule_submissions,
)
from silverball.jobs.clock import Job
from silverball.settings import Settings

JOBS = (
    Job("close_idle", close_idle.run),
    Job("prune_announcements", prune_announcements.run),
    Job("prune_deliveries", prune_deliveries.run),
    Job("schedule_submissions", schedule_submissions.run),
)


def configured_jobs(settings: Settings) -> tuple[Job, ...]:
    """The jobs that run under these settings."""
    jobs = (*JOBS, rating_period.create_job(settings), prune_audit.create_job(settings.audit_days))
    if not settings.exports_folder:
        return jobs
    from silverball.jobs import nightly_exports

    return (*jobs, nightly_exports.create_job(settings))
