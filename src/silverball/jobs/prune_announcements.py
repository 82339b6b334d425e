"""The job that trims old announcements. The journal is never trimmed."""

import logging
from datetime import datetime
from functools import partial

from silverball.store import announcements, slices
from silverball.store.engine import Store

LOG = logging.getLogger("silverball.jobs")


def run(store: Store, now: datetime) -> None:
    """Trim channel by channel, and each slice by slice."""
    with store.read() as db:
        tournament_ids = announcements.trimmable_tournaments(db, now)
    for tournament_id in tournament_ids:
        trim_slice = partial(announcements.trim_slice, tournament_id=tournament_id, now=now)
        trimmed = slices.run_slices(store, trim_slice, tournament_id=tournament_id)
        LOG.info("%s announcements of tournament %s were trimmed", trimmed, tournament_id)
