"""Deliveries of webhooks that were decided a week ago are taken out."""

import logging
from datetime import datetime

from silverball.service.webhooks.writes import pruning
from silverball.store.engine import Store

LOG = logging.getLogger("silverball.jobs")


def run(store: Store, now: datetime) -> None:
    """Take them out in one transaction."""
    # No answer that is kept shows them.
    with store.write(quiet=True) as transaction:
        pruned = pruning.prune_deliveries(transaction.connection, now)
    if pruned:
        LOG.info("%s deliveries of webhooks were taken out", pruned)
