"""Finish what the erasing of accounts has left to do, in short transactions."""

import logging
import time

from silverball.service.accounts.writes import tidying
from silverball.store import erased_accounts, slices
from silverball.store.engine import Store
from silverball.store.faults import DatabaseFault

LOG = logging.getLogger("silverball.jobs")


def finish_erasures(store: Store) -> None:
    """Tidy until nothing is left to do. Safe to be stopped at any point, and to be run twice."""
    try:
        erased_accounts.note_beside_database(store)
    except OSError as error:
        LOG.warning("the list of erased accounts beside the database cannot be written", exc_info=error)
    tidy_erased(store)


def tidy_erased(store: Store) -> None:
    """Tidy until nothing is left to do, and note nothing beside the database."""
    is_busy = True
    while is_busy:
        begun_at = time.monotonic()
        # No answer shows what is tidied, so cached ones stay valid.
        with store.write(quiet=True) as transaction:
            is_busy = tidying.tidy_slice(transaction.connection)
        slices.rest(store, time.monotonic() - begun_at)


def begin_tidying(store: Store) -> None:
    """Tidy as far as the database allows; the hourly job goes on from there."""
    try:
        finish_erasures(store)
    except DatabaseFault as error:
        LOG.warning("the erasing of an account goes on later", exc_info=error)
