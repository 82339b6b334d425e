"""Let the tournaments of large accounts follow the changes of these, in short transactions."""

import logging
import time

from silverball.service.accounts.writes import announcing, tournaments
from silverball.service.accounts.writes.tournaments import WaitingTournaments
from silverball.store import pending_announcements, slices
from silverball.store.engine import Store
from silverball.store.faults import DatabaseFault, DatabaseUnavailable

LOG = logging.getLogger("silverball.jobs")
TRIES_MAX = 3


class ChangeNotShownEverywhere(DatabaseUnavailable):
    """A change is stored, and some tournaments do not show it yet."""

    sentence = "The change is stored, but not everything shows it yet. Send the request again."


def finish_announcing(store: Store) -> None:
    """Let all tournaments that have to follow do so. Safe to be stopped at any point, and to be run twice.

    Raises ChangeNotShownEverywhere where the database is busy for too long.
    """
    for _ in range(TRIES_MAX):
        try:
            _change_all(store)
        except DatabaseFault as error:
            LOG.warning("the tournaments of a large account follow later", exc_info=error)
        else:
            return
    raise ChangeNotShownEverywhere


def _change_all(store: Store) -> None:
    while True:
        with store.read() as db:
            pending = pending_announcements.first_pending(db)
            if pending is None:
                return
            waiting: WaitingTournaments | None = tournaments.find_waiting(db, pending)
        while waiting is not None:
            begun_at = time.monotonic()
            with store.write() as transaction:
                waiting = announcing.change_slice(transaction, waiting)
            slices.rest(store, time.monotonic() - begun_at)
