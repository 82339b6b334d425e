"""Counts what accounts store, once a minute."""

from silverball.jobs.workers import Workers
from silverball.settings import Settings
from silverball.store.engine import Store
from silverball.store.measured_storage import AccountStorage

# What accounts store is counted this often.
MEASURE_SECONDS = 60.0


def storage_workers(store: Store, settings: Settings) -> Workers:
    """The thread that counts."""
    storage = AccountStorage(
        store,
        journal_megabytes=settings.journal_megabytes_per_account,
        replies_megabytes=settings.replies_megabytes_per_account,
    )
    return Workers("storage of accounts", [storage.measure], poll_seconds=MEASURE_SECONDS)
