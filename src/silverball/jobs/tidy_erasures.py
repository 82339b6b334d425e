"""The job that goes on with the erasing of accounts, where a server was stopped in between."""

from datetime import datetime

from silverball.service.accounts import announcing, tidying
from silverball.store.engine import Store


def run(store: Store, _now: datetime) -> None:
    """Let tournaments follow the changes of large accounts, and tidy what erased accounts have left."""
    announcing.finish_announcing(store)
    tidying.finish_erasures(store)
