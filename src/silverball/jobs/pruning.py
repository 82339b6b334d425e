"""The jobs that delete what is kept for a while. The journal is never trimmed."""

import logging
from datetime import datetime
from functools import partial

from silverball.jobs.clock import Job
from silverball.service.webhooks import writes as webhooks_writes
from silverball.store.counts import idempotency
from silverball.store.database import slices
from silverball.store.database.engine import Store
from silverball.store.people import audit
from silverball.store.tournament import announcements

LOG = logging.getLogger("silverball.jobs")


def prune_announcements(store: Store, now: datetime) -> None:
    """Trim channel by channel, and each slice by slice."""
    with store.read() as db:
        tournament_ids = announcements.trimmable_tournaments(db, now)
    for tournament_id in tournament_ids:
        trim_slice = partial(announcements.trim_slice, tournament_id=tournament_id, now=now)
        trimmed = slices.run_slices(store, trim_slice, tournament_id=tournament_id)
        LOG.info("%s announcements of tournament %s were trimmed", trimmed, tournament_id)


def create_job(days: int) -> Job:
    """Return the job that keeps entries for so many days."""
    return Job("prune_audit", partial(prune_audit, days=days))


def prune_audit(store: Store, now: datetime, *, days: int) -> None:
    """Delete old entries of the audit log, slice by slice."""
    deleted = slices.run_slices(store, lambda db: audit.prune_slice(db, now, days))
    if deleted:
        LOG.info("%s entries of the audit log were deleted", deleted)


def prune_deliveries(store: Store, now: datetime) -> None:
    """Delete webhook deliveries a week after they succeeded or failed, slice by slice."""
    deleted = slices.run_slices(store, lambda db: webhooks_writes.prune_slice(db, now))
    if deleted:
        LOG.info("%s webhook deliveries were deleted", deleted)


def prune_replies(store: Store, now: datetime) -> None:
    """Delete stored replies to requests that nobody sends again, slice by slice."""
    deleted = slices.run_slices(store, lambda db: idempotency.prune_slice(db, now))
    if deleted:
        LOG.info("%s stored replies were deleted", deleted)
