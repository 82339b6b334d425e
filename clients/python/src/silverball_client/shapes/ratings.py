"""Player ratings."""

from silverball_client.shapes.base import Shape


class Rating(Shape, frozen=True, kw_only=True):
    """A current rating."""

    rating_id: int
    user_id: int | None
    ifpa_id: int | None
    name: str
    rating: int | float
    rd: int | float
    calculated_rd: int | float
    rating_class: int | None = None
    delta: str | None = None
    game_count: int | None = 0
    win_count: int | None = 0
    loss_count: int | None = 0
    result_count: int | None = 0
    efficiency_percent: int | float = 0
    lower_bound: int | float
    first_rating_period: str | None = None
    last_rating_period: str | None
    rank: int | None = None


class RatingHistoryPoint(Shape, frozen=True, kw_only=True):
    """A rating at the end of one day."""

    rating_period: str
    rating: int | float
    upper_bound: int | float
    lower_bound: int | float


class IfpaInfo(Shape, frozen=True, kw_only=True):
    """The federation's ranking of the rated player."""

    rank: int | None
    womens_rank: int | None


class RatingBundle(Shape, frozen=True, kw_only=True):
    """A rating with a year of its history."""

    rating: Rating
    rating_history: tuple[RatingHistoryPoint, ...]
    ifpa_info: IfpaInfo | None


class RatingRevision(Shape, frozen=True, kw_only=True):
    """A rating after one rating period, with its counts."""

    rating_revision_id: int
    rating_id: int
    rating_period: str
    rating: int | float
    rd: int | float
    rating_class: int | None
    delta: str | None
    game_count: int | None
    win_count: int | None
    loss_count: int | None
    result_count: int | None
    efficiency_percent: int | float


class RatingRange(Shape, frozen=True, kw_only=True):
    """The lowest and highest of all ratings."""

    min: int | float
    max: int | float


class HeadToHead(Shape, frozen=True, kw_only=True):
    """A player's record against another player."""

    rating_id: int
    opponent_rating_id: int
    game_count: int
    win_count: int
    loss_count: int
    draw_count: int
    result_count: int
    efficiency_percent: int | float
    expected_win_probability: int | float
    last_played: str


class RatingComparison(Shape, frozen=True, kw_only=True):
    """Ratings side by side, with records against each other."""

    global_rating_range: RatingRange
    global_rating_percentiles: dict[str, int | float]
    ratings: tuple[Rating, ...]
    records: tuple[HeadToHead, ...]
