"""Player records of the pinball federation (IFPA), and WPPR estimates."""

from silverball_wire.base import UNSET, Instant, UnsetType, Wire
from silverball_wire.values import Number


class FederationRecord(Wire, frozen=True, kw_only=True):
    """The federation's record of a player. Source: interface 2.4."""

    ifpa_id: int
    name: str
    """Name of the player at the federation."""
    rank: int | None
    """Rank at the federation; null without one."""
    rating: Number
    """Rating at the federation."""
    rating_rank: int
    """Rank by rating at the federation."""
    womens_rank: int | None
    total_events: int
    """Number of events that count at the federation."""
    initials: str
    """Initials at the federation."""
    city: str
    """City of the player; empty when it is not known."""
    state: str
    """State or province of the player; empty when it is not known."""
    country_code: str
    """Country of the player in two letters; empty when it is not known."""
    country_name: str
    """Country of the player in words; empty when it is not known."""
    updated_at: Instant
    """When the record was last loaded."""


class EstimatedPlayer(Wire, frozen=True, kw_only=True):
    """The value that one player adds to a tournament. Source: samples/wppr-estimator.json."""

    ifpa_id: int
    name: str
    rank: int | None
    """Rank at the federation; null without one."""
    womens_rank: int | None
    rating: Number | None
    """Rating at the federation; null without one."""
    total_events: int | None
    updated_at: str | None
    base_value: Number
    """Value that the player adds by being rated."""
    womens_base_value: Number
    rating_value: Number
    """Value that the player adds by their rating."""
    rating_value_included: bool
    """Whether the player is among the top ones whose ratings count."""
    rank_value: Number
    """Value that the player adds by their rank."""
    rank_value_included: bool
    """Whether the player is among the top ones whose ranks count."""
    womens_rank_value: Number
    """Value that the player adds by their rank among women."""
    womens_rank_value_included: bool
    """Whether the player is among the top ones whose ranks among women count."""
    wppr_value: Number
    """Sum of the values that the player adds."""
    womens_wppr_value: Number


class WpprEstimate(Wire, frozen=True, kw_only=True):
    """The WPPR value of a field of players at 100 % TGP. Source: samples/wppr-estimator.json."""

    players: tuple[EstimatedPlayer, ...]
    """The players, each with the value they add."""
    unresolved_names: tuple[str, ...]
    """Names that match no record of the federation, or more than one."""
    base_value: Number
    womens_base_value: Number
    rating_value: Number
    rank_value: Number
    womens_rank_value: Number
    wppr_value: Number
    womens_wppr_value: Number
    standings_order: tuple[str, ...] | None
    """Names in finishing order, once the tournament or series is completed; null before that."""
    womens: bool | UnsetType = UNSET
    """True for a women's tournament, of which the women's value counts; absent elsewhere."""
