"""Rating periods."""

from typing import Literal

from silverball_wire.base import Day, Wire
from silverball_wire.tournaments import Tournament

PeriodStatus = Literal["open", "waiting", "processed", "dirty"]


class RatingPeriod(Wire, frozen=True, kw_only=True):
    """A day of results; counts are null until it is rated. Source: wire.yaml RatingPeriod."""

    rating_period_id: int
    """Id of the period."""
    period_date: Day
    """The day, as `2026-03-05`."""
    status: PeriodStatus
    """Whether the day is open, waiting to be rated, processed, or changed since."""
    tournament_count: int | None
    """Number of rated tournaments; null before the day is rated."""
    challenge_count: int | None
    """Number of challenge matches; null before the day is rated."""
    ext_event_count: int | None
    """Number of events of other software; null before the day is rated."""
    result_count: int | None
    """Number of results between two players; null before the day is rated."""
    player_count: int | None
    """Number of rated players; null before the day is rated."""


class Challenge(Wire, frozen=True, kw_only=True):
    """A challenge match; this service has none. Source: ratings.md A.7."""

    challenge_id: int
    name: str
    duration: int
    """Length in seconds."""


class ExtEvent(Wire, frozen=True, kw_only=True):
    """An event of other software whose results are rated. Source: ratings.md A.7."""

    ext_event_id: int
    """Id of the event, which is that of its submission."""
    name: str
    type: str
    """Kind of event, as its document says."""
    submitter_name: str
    submitter_id: int


class RatingPeriodBundle(Wire, frozen=True, kw_only=True):
    """A rating period with the tournaments played in it. Source: ratings.md A.7."""

    rating_period: RatingPeriod
    """The period."""
    tournaments: tuple[Tournament, ...]
    """Tournaments completed on that day."""
    challenges: tuple[Challenge, ...]
    """Challenge matches of that day; none here."""
    ext_events: tuple[ExtEvent, ...]
    """Events of other software of that day."""
