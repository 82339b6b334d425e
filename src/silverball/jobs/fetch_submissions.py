"""The fetching of submitted rating documents, in threads of its own, while the program serves.

No transaction is open during a request to another server: a submission is claimed in one, its document
is fetched in none, and the outcome is stored in another. Every node does this; a submission that a
killed node had claimed is claimed again a minute later.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any

from msgspec import Struct

from silverball.jobs.workers import POLL_SECONDS, Workers
from silverball.kit.security import addresses
from silverball.service.submissions import states
from silverball.service.submissions import writes as submissions_writes
from silverball.service.submissions.document import InvalidDocument
from silverball.service.submissions.writes import GIVEN_UP, TRIES_MAX, ArrivedDocument, DocumentToFetch
from silverball.settings import Settings
from silverball.store.database.engine import Store

# Two, so that one slow host does not delay the other submissions.
THREADS = 2
# Address -> the document there. Raises DocumentUnreachable.
Fetch = Callable[[str], ArrivedDocument]


class DocumentUnreachable(Exception):
    """An address without a document; the message is a sentence for the submitter."""


class SubmissionFetcher(Struct, frozen=True):
    """Fetches the documents of one database's submissions."""

    store: Store
    settings: Settings
    # Called on the first fetch, because the HTTP client is slow to load.
    open_fetch: Callable[[], Fetch]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def fetch_one(self) -> bool:
        """Fetch the oldest waiting document. Returns whether there was any."""
        with self.store.read() as db:
            if not submissions_writes.is_fetch_due(db, self._current_second()):
                return False
        with self.store.write(quiet=True) as transaction:
            submission = submissions_writes.claim_next_document(
                transaction.connection, self._current_second()
            )
        if submission is None:
            return False
        self._fetch_document(submission)
        return True

    def _fetch_document(self, submission: DocumentToFetch) -> None:
        if submission.tries > TRIES_MAX:
            self._refuse(submission, [GIVEN_UP])
            return
        try:
            delivery = self.open_fetch()(submission.url)
            with self.store.read() as db:
                arrived = submissions_writes.check_document(db, submission, delivery, self._current_second())
        except DocumentUnreachable as error:
            self._refuse(submission, [str(error)])
        except InvalidDocument as error:
            self._refuse(submission, error.faults)
        else:
            trusted = states.trusted_hosts(self.settings)
            with self.store.write() as transaction:
                submissions_writes.accept_document(
                    transaction.connection, submission, arrived, trusted, self._current_second()
                )

    def _refuse(self, submission: DocumentToFetch, faults: list[str]) -> None:
        with self.store.write() as transaction:
            submissions_writes.refuse_document(
                transaction.connection, submission, faults, self._current_second()
            )

    def _current_second(self) -> datetime:
        return self.now().replace(microsecond=0)


def create_workers(fetcher: SubmissionFetcher, *, poll_seconds: float = POLL_SECONDS) -> Workers:
    """The threads, which all do the same work."""
    return Workers("submissions", [fetcher.fetch_one] * THREADS, poll_seconds=poll_seconds)


def fetch_workers(store: Store, settings: Settings) -> Workers:
    """The threads, with the site's policy."""
    return create_workers(SubmissionFetcher(store, settings, cache(lambda: guarded_fetch(settings))))


def guarded_fetch(settings: Settings, **options: Any) -> Fetch:
    """A function that fetches within the site's policy; `options` go to the fetcher. Loads the client."""
    from silverball.exchange import outgoing
    from silverball.exchange.outgoing import Fetcher, NotFetched

    site_policy, site_options = outgoing.guarded_network(states.fetch_policy(settings), settings.egress_proxy)
    fetcher = Fetcher(site_policy, **{**site_options, **options})

    def fetch(url: str) -> ArrivedDocument:
        try:
            fetched = fetcher.fetch(url)
        except NotFetched as error:
            raise DocumentUnreachable(error.sentence) from error
        return ArrivedDocument(addresses.url_host(fetched.url), fetched.body)

    return fetch
