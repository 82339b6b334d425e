"""Entries of a best game: bought, given or refunded."""

from datetime import datetime
from decimal import Decimal
from typing import Literal

from msgspec import Struct


class Purchase(Struct, frozen=True, kw_only=True):
    """Entries bought, given or refunded; a refund has a negative quantity."""

    entry_id: int
    player_id: int
    type: Literal["regular", "comped", "refund"]
    quantity: int
    amount: Decimal | None = None
    currency: str | None = None
    created_at: datetime | None = None
