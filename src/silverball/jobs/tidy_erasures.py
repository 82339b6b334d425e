"""The job that goes on with the erasing of accounts, where a server was stopped in between."""

from datetime import datetime

from silverball.service.accounts import tidying
from silverball.store.engine import Store


def run(store: Store, _now: datetime) -> None:
    """Tidy what erased accounts have left."""
    tidying.finish_erasures(store)
