"""Entries of best game players, bought or given. Our addition; the CSV of entries has the same."""

from silverball_client.shapes.base import Shape


class EntryPurchase(Shape, frozen=True, kw_only=True):
    """A number of entries bought or comped; refunds have a negative quantity."""

    entry_id: int
    tournament_id: int
    player_id: int
    type: str
    quantity: int
    amount: int | float | None
    currency: str | None
    created_at: str
