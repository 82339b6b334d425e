"""Player records of the pinball federation (IFPA), and WPPR estimates."""

from silverball.wire.base import Wire
from silverball.wire.values import Number


class FederationRecord(Wire, frozen=True, kw_only=True):
    """The federation's record of a player. Source: interface 2.4."""

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


class EstimatedPlayer(Wire, frozen=True, kw_only=True):
    """The value that one player adds to a tournament. Source: samples/wppr-estimator.json."""

    ifpa_id: int
    name: str
    rank: int | None
    womens_rank: int | None
    rating: Number | None
    total_events: int | None
    updated_at: str | None
    base_value: Number
    womens_base_value: Number
    rating_value: Number
    # Whether the player is among the top ones whose values count.
    rating_value_included: bool
    rank_value: Number
    rank_value_included: bool
    womens_rank_value: Number
    womens_rank_value_included: bool
    wppr_value: Number
    womens_wppr_value: Number


class WpprEstimate(Wire, frozen=True, kw_only=True):
    """The WPPR value of a field of players at 100 % TGP. Source: samples/wppr-estimator.json."""

    players: tuple[EstimatedPlayer, ...]
    # Names that match no record of the federation, or more than one.
    unresolved_names: tuple[str, ...]
    base_value: Number
    womens_base_value: Number
    rating_value: Number
    rank_value: Number
    womens_rank_value: Number
    wppr_value: Number
    womens_wppr_value: Number
    # In finishing order, once the tournament or series is completed.
    standings_order: tuple[str, ...] | None
