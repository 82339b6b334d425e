"""Rating periods."""

from typing import Literal

from silverball.wire.base import Wire
from silverball.wire.tournaments import Tournament

PeriodStatus = Literal["open", "waiting", "processed", "dirty"]


class RatingPeriod(Wire, frozen=True, kw_only=True):
    """A day of results; counts are null until it is rated. Source: wire.yaml RatingPeriod."""

    rating_period_id: int
    period_date: str
    # Our addition, which other clients ignore.
    status: PeriodStatus
    tournament_count: int | None
    challenge_count: int | None
    ext_event_count: int | None
    result_count: int | None
    player_count: int | None


class Challenge(Wire, frozen=True, kw_only=True):
    """A challenge match; this service has none. Source: ratings.md A.7."""

    challenge_id: int
    name: str
    duration: int


class ExtEvent(Wire, frozen=True, kw_only=True):
    """An event of other software whose results are rated. Source: ratings.md A.7."""

    ext_event_id: int
    name: str
    type: str
    submitter_name: str
    submitter_id: int


class RatingPeriodBundle(Wire, frozen=True, kw_only=True):
    """A rating period with the tournaments played in it. Source: ratings.md A.7."""

    rating_period: RatingPeriod
    tournaments: tuple[Tournament, ...]
    challenges: tuple[Challenge, ...]
    ext_events: tuple[ExtEvent, ...]
