"""The job that trims old announcements. The journal is never trimmed."""

import logging
from datetime import datetime

from silverball.store import announcements
from silverball.store.engine import Store

LOG = logging.getLogger("silverball.jobs")


def run(store: Store, now: datetime) -> None:
    """Trim channel by channel, each in a transaction of its own."""
    with store.read() as db:
        tournament_ids = announcements.trimmable_tournaments(db, now)
    for tournament_id in tournament_ids:
        # Quiet: no cached response depends on them.
        with store.write(tournament_id, quiet=True) as transaction:
            trimmed = announcements.trim(transaction.connection, tournament_id, now)
        LOG.info("%s announcements of tournament %s were trimmed", trimmed, tournament_id)
