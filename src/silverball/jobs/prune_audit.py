"""The job that deletes old entries of the audit log."""

import logging
from datetime import datetime
from functools import partial

from silverball.jobs.clock import Job
from silverball.store import audit, slices
from silverball.store.engine import Store

LOG = logging.getLogger("silverball.jobs")


def create_job(days: int) -> Job:
    """Return the job that keeps entries for so many days."""
    return Job("prune_audit", partial(run, days=days))


def run(store: Store, now: datetime, *, days: int) -> None:
    """Delete them slice by slice."""
    deleted = slices.run_slices(store, lambda db: audit.prune_slice(db, now, days))
    if deleted:
        LOG.info("%s entries of the audit log were deleted", deleted)
