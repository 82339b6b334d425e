"""Player ratings."""

from typing import Literal

from silverball_wire.base import Day, Instant, Wire
from silverball_wire.values import Number


class Rating(Wire, frozen=True, kw_only=True):
    """A current rating. Source: interface 2.3, samples/user.json, wire.yaml Rating."""

    rating_id: int
    user_id: int | None
    ifpa_id: int | None
    name: str
    """Name of the player."""
    rating: Number
    rd: Number
    calculated_rd: Number
    """Deviation as it is today, grown since the last period that was played."""
    rating_class: int | None = None
    delta: str | None = None
    # Null for an imported rating until a game is rated here (ratings.md E).
    game_count: int | None = 0
    win_count: int | None = 0
    loss_count: int | None = 0
    result_count: int | None = 0
    efficiency_percent: Number = 0
    lower_bound: Number
    first_rating_period: Instant | None = None
    """Day of the first period played, as a time at midnight UTC; null for an imported rating."""
    last_rating_period: Instant | None
    """Day of the last period played, as a time at midnight UTC; null without one."""
    rank: int | None = None
    """Rank by `lowerBound` among all ratings that are shown; null without one."""


class RatingHistoryPoint(Wire, frozen=True, kw_only=True):
    """A rating at the end of one day. Source: samples/ratings-by-user.json."""

    rating_period: Day
    rating: Number
    """Rating at the end of the day."""
    upper_bound: Number
    """Rating plus two deviations."""
    lower_bound: Number


class IfpaInfo(Wire, frozen=True, kw_only=True):
    """The federation's ranking of the rated player. Source: samples/ratings-by-user.json."""

    rank: int | None
    """Rank at the federation; null without one."""
    womens_rank: int | None


class RatingBundle(Wire, frozen=True, kw_only=True):
    """A rating with a year of its history. Source: samples/ratings-by-user.json."""

    rating: Rating
    """The rating."""
    rating_history: tuple[RatingHistoryPoint, ...]
    """A year of the rating, oldest first."""
    ifpa_info: IfpaInfo | None
    """Ranks at the federation; null when it has no record of the player."""


class RatingRevision(Wire, frozen=True, kw_only=True):
    """A rating after one rating period, with its counts. Source: samples/ifpa-rating-history.json."""

    rating_revision_id: int
    """Id of the rating after this period."""
    rating_id: int
    rating_period: Day
    rating: Number
    """Rating after the period."""
    rd: Number
    """Deviation after the period."""
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
    """Id of the opponent's rating."""
    game_count: int
    """Number of games that both played in."""
    win_count: int
    loss_count: int
    draw_count: int
    """Number of results that are draws."""
    result_count: int
    efficiency_percent: Number
    expected_win_probability: Number
    """Probability of a win against this opponent by the ratings, from 0 to 1."""
    last_played: Day
    """Day of their last game, as `2026-03-05`."""


class RatingComparison(Wire, frozen=True, kw_only=True):
    """Ratings side by side, with records against each other. Source: interface 2.7, interface.md 2, row 3."""

    global_rating_range: RatingRange
    """The lowest and highest of all ratings."""
    global_rating_percentiles: dict[str, Number]
    """Ratings at some percentiles, such as `p50`; empty before the first period."""
    ratings: tuple[Rating, ...]
    """The compared ratings, in the order asked."""
    records: tuple[HeadToHead, ...]
    """Results of each pair that has played, from both sides."""


NumberObstacle = Literal[
    "confirmed", "not-claimed", "other-account", "other-number", "not-in-file", "other-name", "suspended"
]


class NumberEvidence(Wire, frozen=True, kw_only=True):
    """A sign that a number is an account's. It proves nothing: anybody can type a number."""

    kind: Literal["profile", "player", "federation"]
    """The account's own profile, a player that the account has claimed, or the federation's file."""
    source: str
    """Who says so: the account, the organizer who lists the player, or `federation`."""
    name: str
    """Name that stands there with the number."""
    player_id: int | None
    """Id of the claimed player; null for the other kinds."""
    organizer_id: int | None
    """Id of the organizer who lists the player; null for the other kinds."""
    imported_from: str | None
    """Service that the player was imported from; null when they were not."""


class AccountNumber(Wire, frozen=True, kw_only=True):
    """A federation number that an account gave or claims, or that is confirmed for it."""

    user_id: int
    name: str
    """Name of the account."""
    ifpa_id: int
    in_profile: bool
    """Whether the account's profile has this number."""
    claimed_players: int
    """Number of players with this number that the account has claimed."""
    confirmed_at: Instant | None
    """When an administrator confirmed it for this account; null while it waits."""
    confirmed_for: int | None
    """Id of the account that it is confirmed for, which may be another one; null when it is for none."""
    batch_id: int | None
    """Batch that it was confirmed in; null when it was confirmed by itself, or is not."""
    evidence: tuple[NumberEvidence, ...]
    """What speaks for it."""
    obstacles: tuple[NumberObstacle, ...]
    """Why it is not confirmed together with others; empty when it would be."""


class NumberBatch(Wire, frozen=True, kw_only=True):
    """Federation numbers that were confirmed together, or taken back."""

    batch_id: int | None
    """The batch; null when none of the numbers could be confirmed."""
    numbers: tuple[AccountNumber, ...]
    """Numbers that it confirmed or, taken back, confirms no more."""
    left_out: tuple[AccountNumber, ...]
    """Numbers that stay as they are, with their obstacles."""
