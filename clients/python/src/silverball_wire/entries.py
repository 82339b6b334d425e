"""Entries of best game players, bought or given. Our addition; the CSV of entries has the same."""

from silverball_wire.base import Instant, Wire
from silverball_wire.values import Number


class EntryPurchase(Wire, frozen=True, kw_only=True):
    """A number of entries bought or comped; refunds have a negative quantity."""

    entry_id: int
    """Id of the purchase."""
    tournament_id: int
    player_id: int
    type: str
    """`regular`, `comped` or `refund`."""
    quantity: int
    """Number of entries, below 0 for a refund."""
    amount: Number | None
    currency: str | None
    created_at: Instant
