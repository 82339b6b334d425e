"""Player ratings."""

from silverball.wire.base import Wire
from silverball.wire.values import Number


class Rating(Wire, frozen=True, kw_only=True):
    """A current rating. Source: interface 2.3, samples/user.json, wire.yaml Rating."""

    rating_id: int
    user_id: int | None
    ifpa_id: int | None
    name: str
    rating: Number
    rd: Number
    calculated_rd: Number
    rating_class: int | None = None
    delta: str | None = None
    # Null for an imported rating until a game is rated here (ratings.md E).
    game_count: int | None = 0
    win_count: int | None = 0
    loss_count: int | None = 0
    result_count: int | None = 0
    efficiency_percent: Number = 0
    lower_bound: Number
    first_rating_period: str | None = None
    last_rating_period: str | None
    rank: int | None = None


class RatingHistoryPoint(Wire, frozen=True, kw_only=True):
    """A rating at the end of one day. Source: samples/ratings-by-user.json."""

    rating_period: str
    rating: Number
    upper_bound: Number
    lower_bound: Number


class IfpaInfo(Wire, frozen=True, kw_only=True):
    """The federation's ranking of the rated player. Source: samples/ratings-by-user.json."""

    rank: int | None
    womens_rank: int | None


class RatingBundle(Wire, frozen=True, kw_only=True):
    """A rating with a year of its history. Source: samples/ratings-by-user.json."""

    rating: Rating
    rating_history: tuple[RatingHistoryPoint, ...]
    ifpa_info: IfpaInfo | None


class RatingRevision(Wire, frozen=True, kw_only=True):
    """A rating after one rating period, with its counts. Source: samples/ifpa-rating-history.json."""

    rating_revision_id: int
    rating_id: int
    rating_period: str
    rating: Number
    rd: Number
    rating_class: int | None
    # Null, like the counts, when the revision was imported (ratings.md E).
    delta: str | None
    game_count: int | None
    win_count: int | None
    loss_count: int | None
    result_count: int | None
    efficiency_percent: Number


class RatingRange(Wire, frozen=True, kw_only=True):
    """The lowest and highest of all ratings. Source: interface 2.7."""

    min: Number
    max: Number


class HeadToHead(Wire, frozen=True, kw_only=True):
    """A player's record against another player. Source: interface.md 2, row 3."""

    rating_id: int
    opponent_rating_id: int
    game_count: int
    win_count: int
    loss_count: int
    draw_count: int
    result_count: int
    efficiency_percent: Number
    expected_win_probability: Number
    last_played: str


class RatingComparison(Wire, frozen=True, kw_only=True):
    """Ratings side by side, with records against each other. Source: interface 2.7, interface.md 2, row 3."""

    global_rating_range: RatingRange
    # An older field of profiles; empty before the first period.
    global_rating_percentiles: dict[str, Number]
    ratings: tuple[Rating, ...]
    records: tuple[HeadToHead, ...]
