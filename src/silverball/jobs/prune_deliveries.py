"""The job that deletes webhook deliveries a week after they succeeded or failed."""

import logging
from datetime import datetime

from silverball.service.webhooks.writes import pruning
from silverball.store.engine import Store

LOG = logging.getLogger("silverball.jobs")


def run(store: Store, now: datetime) -> None:
    """Delete them in one transaction."""
    # Quiet: no cached response depends on them.
    with store.write(quiet=True) as transaction:
        deleted = pruning.prune_deliveries(transaction.connection, now)
    if deleted:
        LOG.info("%s webhook deliveries were deleted", deleted)
