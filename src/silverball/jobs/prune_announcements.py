"""Announcements that nobody can be expected to ask for any more are trimmed. The journal never is."""

import logging
from datetime import datetime

from silverball.store import announcements
from silverball.store.engine import Store

LOG = logging.getLogger("silverball.jobs")


def run(store: Store, now: datetime) -> None:
    """Trim channel by channel, each in a transaction of its own."""
    with store.read() as db:
        long_ones = announcements.trimmable_tournaments(db, now)
    for tournament_id in long_ones:
        # No answer shows them, so none becomes worthless.
        with store.write(tournament_id, quiet=True) as transaction:
            trimmed = announcements.trim(transaction.connection, tournament_id, now)
        LOG.info("%s announcements of tournament %s were trimmed", trimmed, tournament_id)
