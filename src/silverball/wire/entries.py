"""Entries that a player of a best game bought or was given. Ours; the CSV of entries has the same."""

from silverball.wire.base import Wire
from silverball.wire.values import Number


class EntryPurchase(Wire, frozen=True, kw_only=True):
    """Entries bought, comped or, with a negative quantity, refunded."""

    entry_id: int
    tournament_id: int
    player_id: int
    type: str
    quantity: int
    amount: Number | None
    currency: str | None
    created_at: str
