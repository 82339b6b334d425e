"""Rating periods."""

from silverball_client.shapes.base import Shape
from silverball_client.shapes.tournaments import Tournament


class RatingPeriod(Shape, frozen=True, kw_only=True):
    """A day of results; counts are null until it is rated."""

    rating_period_id: int
    period_date: str
    status: str
    tournament_count: int | None
    challenge_count: int | None
    ext_event_count: int | None
    result_count: int | None
    player_count: int | None


class Challenge(Shape, frozen=True, kw_only=True):
    """A challenge match; this service has none."""

    challenge_id: int
    name: str
    duration: int


class ExtEvent(Shape, frozen=True, kw_only=True):
    """An event of other software whose results are rated."""

    ext_event_id: int
    name: str
    type: str
    submitter_name: str
    submitter_id: int


class RatingPeriodBundle(Shape, frozen=True, kw_only=True):
    """A rating period with the tournaments played in it."""

    rating_period: RatingPeriod
    tournaments: tuple[Tournament, ...]
    challenges: tuple[Challenge, ...]
    ext_events: tuple[ExtEvent, ...]
