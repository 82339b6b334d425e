"""The job that completes tournaments without activity for two days. Source: formats, section 23."""

import logging
from datetime import datetime

import msgspec

from silverball.kit.errors import Refusal
from silverball.service.tournaments.reads import idling
from silverball.service.tournaments.writes import tournaments as writes
from silverball.store.engine import Store

LOG = logging.getLogger("silverball.jobs")
SOURCE = "clock"


def run(store: Store, now: datetime) -> None:
    """Complete the idle tournaments, each in a transaction of its own; a failure is logged."""
    with store.read() as db:
        idle_ids = idling.idle_tournaments(db, now)
    for tournament_id in idle_ids:
        try:
            with store.write(tournament_id) as transaction:
                is_closed = writes.complete_if_idle(transaction, tournament_id, SOURCE, now)
        except (Refusal, msgspec.ValidationError) as error:
            LOG.error("the idle tournament %s cannot be completed", tournament_id, exc_info=error)
            continue
        if is_closed:
            LOG.info("the idle tournament %s was completed", tournament_id)
