"""The worth of a tournament by the federation's rules."""

from msgspec import UNSET, UnsetType

from silverball_client.shapes.base import Shape


class PlacePoints(Shape, frozen=True, kw_only=True):
    """The points of a place."""

    position: int
    points: int | float


class TournamentEstimate(Shape, frozen=True, kw_only=True):
    """An estimate of the points that a tournament gives."""

    meaningful_games: int | float | None
    tgp: int | None
    capped: bool
    base_value: int | float
    rating_value: int | float
    rank_value: int | float
    wppr_value: int | float
    value: int | float | None
    points: tuple[PlacePoints, ...]
    notes: tuple[str, ...]
    womens: bool | UnsetType = UNSET
