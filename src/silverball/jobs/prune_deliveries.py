"""The job that deletes webhook deliveries a week after they succeeded or failed."""

import logging
from datetime import datetime

from silverball.service.webhooks.writes import pruning
from silverball.store import slices
from silverball.store.engine import Store

LOG = logging.getLogger("silverball.jobs")


def run(store: Store, now: datetime) -> None:
    """Delete them slice by slice."""
    deleted = slices.run_slices(store, lambda db: pruning.prune_slice(db, now))
    if deleted:
        LOG.info("%s webhook deliveries were deleted", deleted)
