"""What the pinball federation publishes about a player."""

from silverball.wire.base import Wire
from silverball.wire.values import Number


class FederationRecord(Wire, frozen=True, kw_only=True):
    """A player as the federation knows him. Source: interface 2.4."""

    ifpa_id: int
    name: str
    rank: int | None
    rating: Number
    rating_rank: int
    womens_rank: int | None
    total_events: int
    initials: str
    city: str
    state: str
    country_code: str
    country_name: str
    updated_at: str
