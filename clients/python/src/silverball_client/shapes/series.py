"""Series: tournaments scored together."""

from typing import Any

from msgspec import UNSET, UnsetType

from silverball_client.shapes.base import Shape
from silverball_client.shapes.parts import PlayoffCutoff, RsvpConfiguration
from silverball_client.shapes.players import Player
from silverball_client.shapes.users import User


class Series(Shape, frozen=True, kw_only=True):
    """A series."""

    series_id: int
    name: str
    status: str
    organizer_id: int
    test: bool
    removed_results: int | None
    playoffs_cutoffs: tuple[PlayoffCutoff, ...]
    scoring: str | None
    estimated_tgp: int | float | None
    scoring_custom: dict[str, Any] | None
    organizer: User | UnsetType = UNSET
    rsvp_configuration: RsvpConfiguration | UnsetType | None = UNSET


class SeriesListItem(Series, frozen=True, kw_only=True):
    """A series in a list."""

    tournament_ids: tuple[int, ...]


class SeriesStanding(Shape, frozen=True, kw_only=True):
    """A player's place in a series."""

    player_id: int
    position: int
    points: int | float
    points_adjusted: int | float | tuple[()] | None
    on_cutoff_bubble: bool | None
    cutoff_bubble_color: str | None
    on_cutoff_bubble2: bool | None
    manual_tiebreaker_group: int | None


class SeriesDetails(Series, frozen=True, kw_only=True):
    """A series with its results; an empty map is `[]`."""

    tournament_ids: tuple[int, ...]
    players: tuple[Player, ...]
    player_labels: dict[int, tuple[str, ...]] | tuple[()]
    standings: tuple[SeriesStanding, ...]
    tournament_points: dict[int, dict[int, int | float | str] | tuple[()]] | tuple[()]


class Aggregate(Shape, frozen=True, kw_only=True):
    """Statistics of the number of players per tournament."""

    sum: int | float
    max: int | float | None
    min: int | float | None
    mean: int | float | None
    median: int | float | None
    count: int


class SeriesAttendance(Shape, frozen=True, kw_only=True):
    """The attendance of one tournament in a series."""

    name: str
    total: int
    members: int
    guests: int


class SeriesStats(Shape, frozen=True, kw_only=True):
    """The attendance of a series."""

    series: Series
    overall: Aggregate
    members: Aggregate
    guests: Aggregate
    tournaments: dict[int, SeriesAttendance]
    player_attendances: dict[int, int]
    opponent_counts: tuple[dict[str, int | str | None], ...]
    arena_counts: tuple[dict[str, int | str | None], ...]
