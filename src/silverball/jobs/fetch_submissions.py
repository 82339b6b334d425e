"""Fetches the documents of rating submissions, in threads of its own, for as long as the program serves.

No transaction is open while somebody else's server is waited for: an errand is taken in one, the
document is fetched in none, and what came of it is stored in another. Every node does this. Whoever is
killed in between leaves a submission that somebody takes up again a minute later.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from silverball.jobs.workers import LOOK_EVERY_SECONDS, Workers
from silverball.kit import outgoing
from silverball.service.submissions import policy
from silverball.service.submissions.document import BadDocument
from silverball.service.submissions.writes import arrival
from silverball.service.submissions.writes.arrival import GIVEN_UP, TRIES_MAX, Delivery, Errand
from silverball.settings import Settings
from silverball.store.engine import Store

# One slow host keeps nobody else waiting.
THREADS = 2
# Address -> what is there. Raises Unreachable.
Fetch = Callable[[str], Delivery]


class Unreachable(Exception):
    """There is no document at an address; the message is a sentence for who sent it in."""


@dataclass(frozen=True)
class Errands:
    """Submissions of one database, fetched with one function."""

    store: Store
    settings: Settings
    # Made when it is first needed: what fetches takes its time to load.
    open_fetch: Callable[[], Fetch]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def run_one(self) -> bool:
        """Fetch what waits longest. Returns whether there was anything."""
        with self.store.read() as db:
            if not arrival.is_anything_due(db, self._moment()):
                return False
        with self.store.write(quiet=True) as db:
            errand = arrival.take_errand(db, self._moment())
        if errand is None:
            return False
        self._fetch(errand)
        return True

    def _fetch(self, errand: Errand) -> None:
        if errand.tries > TRIES_MAX:
            self._refuse(errand, [GIVEN_UP])
            return
        try:
            delivery = self.open_fetch()(errand.url)
            with self.store.read() as db:
                arrived = arrival.look_at(db, errand, delivery, self._moment())
        except Unreachable as error:
            self._refuse(errand, [str(error)])
        except BadDocument as error:
            self._refuse(errand, error.faults)
        else:
            trusted = policy.trusted_hosts(self.settings)
            with self.store.write() as db:
                arrival.take_in(db, errand, arrived, trusted, self._moment())

    def _refuse(self, errand: Errand, faults: list[str]) -> None:
        with self.store.write() as db:
            arrival.refuse(db, errand, faults, self._moment())

    def _moment(self) -> datetime:
        return self.now().replace(microsecond=0)


def workers(errands: Errands, *, look_every_seconds: float = LOOK_EVERY_SECONDS) -> Workers:
    """The threads, which all do the same."""
    return Workers("submissions", [errands.run_one] * THREADS, look_every_seconds=look_every_seconds)


def fetching(store: Store, settings: Settings) -> Workers:
    """The threads with the site's policy."""
    return workers(Errands(store, settings, cache(lambda: guarded(settings))))


def guarded(settings: Settings, **how: Any) -> Fetch:
    """Fetches within the site's policy; `how` is said to the fetcher. Loads the client."""
    from silverball.exchange.outgoing import network
    from silverball.exchange.outgoing.fetch import Fetcher, NotFetched

    allowed, way = network.kept_to(policy.policy_of(settings), settings.egress_proxy)
    fetcher = Fetcher(allowed, **{**way, **how})

    def fetch(url: str) -> Delivery:
        try:
            found = fetcher.fetch(url)
        except NotFetched as error:
            raise Unreachable(error.sentence) from error
        return Delivery(outgoing.host_of(found.url), found.body)

    return fetch
