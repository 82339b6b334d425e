"""Player records of the pinball federation (IFPA), and WPPR estimates."""

from msgspec import UNSET, UnsetType

from silverball_client.shapes.base import Shape


class FederationRecord(Shape, frozen=True, kw_only=True):
    """The federation's record of a player."""

    ifpa_id: int
    name: str
    rank: int | None
    rating: int | float
    rating_rank: int
    womens_rank: int | None
    total_events: int
    initials: str
    city: str
    state: str
    country_code: str
    country_name: str
    updated_at: str


class EstimatedPlayer(Shape, frozen=True, kw_only=True):
    """The value that one player adds to a tournament."""

    ifpa_id: int
    name: str
    rank: int | None
    womens_rank: int | None
    rating: int | float | None
    total_events: int | None
    updated_at: str | None
    base_value: int | float
    womens_base_value: int | float
    rating_value: int | float
    rating_value_included: bool
    rank_value: int | float
    rank_value_included: bool
    womens_rank_value: int | float
    womens_rank_value_included: bool
    wppr_value: int | float
    womens_wppr_value: int | float


class WpprEstimate(Shape, frozen=True, kw_only=True):
    """The WPPR value of a field of players at 100 % TGP."""

    players: tuple[EstimatedPlayer, ...]
    unresolved_names: tuple[str, ...]
    base_value: int | float
    womens_base_value: int | float
    rating_value: int | float
    rank_value: int | float
    womens_rank_value: int | float
    wppr_value: int | float
    womens_wppr_value: int | float
    standings_order: tuple[str, ...] | None
    womens: bool | UnsetType = UNSET
