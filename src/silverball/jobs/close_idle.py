"""Tournaments that nobody has touched for two days are completed. Source: formats, section 23."""

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
    """Close the idle tournaments, each in a transaction of its own; one that cannot be closed is logged."""
    with store.read() as db:
        forgotten = idling.idle_tournaments(db, now)
    for tournament_id in forgotten:
        try:
            with store.write(tournament_id) as transaction:
                is_closed = writes.complete_if_idle(transaction, tournament_id, SOURCE, now)
        except (Refusal, msgspec.ValidationError) as error:
            LOG.error("the idle tournament %s cannot be closed", tournament_id, exc_info=error)
            continue
        if is_closed:
            LOG.info("the idle tournament %s was closed", tournament_id)
