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

from silverball.jobs.workers import POLL_SECONDS, Workers
from silverball.kit import address_policy
from silverball.service.submissions import policy
from silverball.service.submissions.document import InvalidDocument
from silverball.service.submissions.writes import arrival
from silverball.service.submissions.writes.arrival import (
    GIVEN_UP,
    TRIES_MAX,
    ArrivedDocument,
    DocumentToFetch,
)
from silverball.settings import Settings
from silverball.store.engine import Store

# One slow host keeps nobody else waiting.
THREADS = 2
# Address -> what is there. Raises Unreachable.
Fetch = Callable[[str], ArrivedDocument]


class DocumentUnreachable(Exception):
    """There is no document at an address; the message is a sentence for who sent it in."""


@dataclass(frozen=True)
class SubmissionFetcher:
    """Submissions of one database, fetched with one function."""

    store: Store
    settings: Settings
    # Made when it is first needed: what fetches takes its time to load.
    open_fetch: Callable[[], Fetch]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def fetch_one(self) -> bool:
        """Fetch what waits longest. Returns whether there was anything."""
        with self.store.read() as db:
            if not arrival.is_fetch_due(db, self._current_second()):
                return False
        with self.store.write(quiet=True) as transaction:
            errand = arrival.claim_next_document(transaction.connection, self._current_second())
        if errand is None:
            return False
        self._fetch_document(errand)
        return True

    def _fetch_document(self, errand: DocumentToFetch) -> None:
        if errand.tries > TRIES_MAX:
            self._refuse(errand, [GIVEN_UP])
            return
        try:
            delivery = self.open_fetch()(errand.url)
            with self.store.read() as db:
                arrived = arrival.check_document(db, errand, delivery, self._current_second())
        except DocumentUnreachable as error:
            self._refuse(errand, [str(error)])
        except InvalidDocument as error:
            self._refuse(errand, error.faults)
        else:
            trusted = policy.trusted_hosts(self.settings)
            with self.store.write() as transaction:
                arrival.accept_document(
                    transaction.connection, errand, arrived, trusted, self._current_second()
                )

    def _refuse(self, errand: DocumentToFetch, faults: list[str]) -> None:
        with self.store.write() as transaction:
            arrival.refuse_document(transaction.connection, errand, faults, self._current_second())

    def _current_second(self) -> datetime:
        return self.now().replace(microsecond=0)


def create_workers(errands: SubmissionFetcher, *, poll_seconds: float = POLL_SECONDS) -> Workers:
    """The threads, which all do the same."""
    return Workers("submissions", [errands.fetch_one] * THREADS, poll_seconds=poll_seconds)


def fetch_workers(store: Store, settings: Settings) -> Workers:
    """The threads with the site's policy."""
    return create_workers(SubmissionFetcher(store, settings, cache(lambda: guarded_fetch(settings))))


def guarded_fetch(settings: Settings, **how: Any) -> Fetch:
    """Fetches within the site's policy; `how` is said to the fetcher. Loads the client."""
    from silverball.exchange.outgoing import network
    from silverball.exchange.outgoing.fetch import Fetcher, NotFetched

    allowed, way = network.guarded_network(policy.fetch_policy(settings), settings.egress_proxy)
    fetcher = Fetcher(allowed, **{**way, **how})

    def fetch(url: str) -> ArrivedDocument:
        try:
            found = fetcher.fetch(url)
        except NotFetched as error:
            raise DocumentUnreachable(error.sentence) from error
        return ArrivedDocument(address_policy.url_host(found.url), found.body)

    return fetch
