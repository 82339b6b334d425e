"""Series of an organizer, added and changed."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Color, Name
from silverball.rules.model.literals import BestGameScoring
from silverball.service import ownership
from silverball.service.calls import Write
from silverball.service.events import feed_events
from silverball.store import book
from silverball_wire.values import SeriesStatus

SeriesScoring = Literal["points", "pingolf"] | BestGameScoring
RemovedResults = Annotated[int, Meta(ge=-1000, le=1000)]
PlannedTgp = Annotated[int, Meta(ge=0, le=1000)]
Count = Annotated[int, Meta(ge=0, le=10_000)]
# Rank, counted from 1 -> points.
CustomScoring = Annotated[
    dict[Annotated[str, Meta(pattern=r"^[1-9][0-9]{0,3}$")], Annotated[int, Meta(ge=0, le=1_000_000)]],
    Meta(max_length=1000),
]


class NewBand(Body, frozen=True, kw_only=True):
    """A band of the standings that reaches a playoff."""

    index: Count
    value: Count
    cumulative: Count
    text: Annotated[str, Meta(max_length=100)]
    color: Color | None = None


Bands = Annotated[tuple[NewBand, ...], Meta(max_length=100)]


class NewSeries(Body, frozen=True, kw_only=True):
    """A series of the caller."""

    name: Name
    status: SeriesStatus = "active"
    test: bool = False
    removed_results: RemovedResults = 0
    playoffs_cutoffs: Bands = ()
    scoring: SeriesScoring = "points"
    scoring_custom: CustomScoring | None = None
    estimated_tgp: PlannedTgp | None = None

    def __post_init__(self) -> None:
        if self.scoring == "custom" and not self.scoring_custom:
            raise Invalid({"scoringCustom": ['Give the points of each rank: {"1": 100, "2": 90}.']})


class ChangedSeries(Body, frozen=True, kw_only=True):
    """Changes to a series."""

    name: Name | UnsetType = UNSET
    status: SeriesStatus | UnsetType = UNSET
    test: bool | UnsetType = UNSET
    removed_results: RemovedResults | UnsetType = UNSET
    playoffs_cutoffs: Bands | UnsetType = UNSET
    scoring: SeriesScoring | UnsetType = UNSET
    scoring_custom: CustomScoring | UnsetType | None = UNSET
    estimated_tgp: PlannedTgp | UnsetType | None = UNSET


def add_series(call: Write[NewSeries]) -> int:
    """Add a series of the caller; returns its id."""
    return book.add(
        call.db, book.SERIES, call.user_id, {**ownership.sent_values(call.body), "placeholder": False}
    )


def change_series(call: Write[ChangedSeries]) -> int:
    """Change the series in the path; returns its id."""
    series_id = ownership.owned_id_in_path(call, book.SERIES)
    book.change(call.db, book.SERIES, series_id, ownership.sent_values(call.body))
    feed_events.announce_series(call.transaction, [series_id])
    return series_id


def require_removable(call: Write[Body]) -> int:
    """The id of the series in the path. Raises Conflict when a tournament belongs to it."""
    series_id = ownership.owned_id_in_path(call, book.SERIES, is_exclusive=True)
    ownership.refuse_used(call, book.SERIES, series_id, "Take the tournaments out of it, or complete it.")
    return series_id
