"""Series: tournaments scored together."""

from typing import Any

from silverball_wire.base import UNSET, UnsetType, Wire
from silverball_wire.parts import PlayoffCutoff, RsvpConfiguration
from silverball_wire.players import Player
from silverball_wire.standings import CountRow
from silverball_wire.users import User
from silverball_wire.values import EmptyList, Number, SeriesStatus

LabelsByPlayer = dict[int, tuple[str, ...]]
PointsByPlayer = dict[int, Number | str]
PointsByTournament = dict[int, PointsByPlayer | EmptyList]


class Series(Wire, frozen=True, kw_only=True):
    """A series. Source: samples/series.json, wire.yaml Series."""

    series_id: int
    name: str
    status: SeriesStatus
    """State of the series."""
    organizer_id: int
    test: bool
    removed_results: int | None
    playoffs_cutoffs: tuple[PlayoffCutoff, ...]
    scoring: str | None
    """System of points: `points` adds standings points, others give points by place."""
    estimated_tgp: Number | None
    scoring_custom: dict[str, Any] | None
    organizer: User | UnsetType = UNSET
    """Account that organizes the series; absent where the series is part of something else."""
    rsvp_configuration: RsvpConfiguration | UnsetType | None = UNSET


class SeriesListItem(Series, frozen=True, kw_only=True):
    """A series in a list. Source: samples/series-list.json."""

    tournament_ids: tuple[int, ...]


class SeriesStanding(Wire, frozen=True, kw_only=True):
    """A player's place in a series. Source: wire.yaml SeriesStanding, formats 21."""

    player_id: int
    position: int
    points: Number
    """Points of all results."""
    points_adjusted: Number | EmptyList | None
    """Points of the results that count; `[]` when all count."""
    on_cutoff_bubble: bool | None
    cutoff_bubble_color: str | None
    on_cutoff_bubble2: bool | None
    manual_tiebreaker_group: int | None


class SeriesDetails(Series, frozen=True, kw_only=True):
    """A series with its results; an empty map is `[]`. Source: interface.md 1 and 2, row 27."""

    tournament_ids: tuple[int, ...]
    players: tuple[Player, ...]
    """Players of all tournaments of the series."""
    player_labels: LabelsByPlayer | EmptyList
    """Labels of the players, by player id; `[]` for none."""
    standings: tuple[SeriesStanding, ...]
    """Standings of the series, best first."""
    tournament_points: PointsByTournament | EmptyList
    """Points by tournament id and player id; `[]` for none."""


class Aggregate(Wire, frozen=True, kw_only=True):
    """Statistics of the number of players per tournament. Source: wire.yaml Aggregate."""

    sum: Number
    """Sum over the tournaments."""
    max: Number | None
    min: Number | None
    mean: Number | None
    """Average; null without any tournament."""
    median: Number | None
    """Median; null without any tournament."""
    count: int
    """Number of tournaments."""


class SeriesAttendance(Wire, frozen=True, kw_only=True):
    """The attendance of one tournament in a series. Source: wire.yaml SeriesStats."""

    name: str
    """Name of the tournament."""
    total: int
    """Number of players."""
    members: int
    """Number of members of the series."""
    guests: int
    """Number of guests."""


class SeriesStats(Wire, frozen=True, kw_only=True):
    """The attendance of a series. Source: samples/series-stats.json."""

    series: Series
    """The series."""
    overall: Aggregate
    """Attendance of members and guests together."""
    members: Aggregate
    """Attendance of members."""
    guests: Aggregate
    """Attendance of guests."""
    tournaments: dict[int, SeriesAttendance]
    """Attendance of each tournament, by tournament id."""
    player_attendances: dict[int, int]
    """Number of players who attended 1, 2, 3 ... tournaments, by that number."""
    opponent_counts: tuple[CountRow, ...]
    arena_counts: tuple[CountRow, ...]
