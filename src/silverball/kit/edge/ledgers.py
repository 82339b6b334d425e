"""The ledger that the processes of one site share, chosen by what there is."""

from typing import Protocol

from silverball.kit.edge.allowance_leases import AllowanceLeases
from silverball.kit.edge.database_ledger import DatabaseLedger, StoredCounts
from silverball.kit.edge.redis_ledger import RedisLedger


class PossibleCounts(StoredCounts, Protocol):
    """The counts in the database, where its kind can have other processes."""

    @property
    def is_possible(self) -> bool: ...


def create_leases(counts: PossibleCounts, redis_url: str, redis_prefix: str) -> AllowanceLeases | None:
    """Return what this process shares with the others of its site; None where there cannot be others."""
    if redis_url:
        return AllowanceLeases(RedisLedger(redis_url, redis_prefix))
    return AllowanceLeases(DatabaseLedger(counts)) if counts.is_possible else None
