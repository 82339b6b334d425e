"""Player ratings."""

from silverball.wire.base import Wire
from silverball.wire.values import Number


class Rating(Wire, frozen=True, kw_only=True):
    """A rating now. Source: interface 2.3, samples/user.json, wire.yaml Rating."""

    rating_id: int
    user_id: int | None
    ifpa_id: int | None
    name: str
    rating: Number
    rd: Number
    calculated_rd: Number
    rating_class: int | None = None
    delta: str | None = None
    game_count: int = 0
    win_count: int = 0
    loss_count: int = 0
    result_count: int = 0
    efficiency_percent: Number = 0
    lower_bound: Number
    first_rating_period: str | None = None
    last_rating_period: str | None
    rank: int | None = None
