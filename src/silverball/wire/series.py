"""Series: tournaments scored together."""

from typing import Any

from silverball.wire.base import UNSET, UnsetType, Wire
from silverball.wire.parts import PlayoffCutoff, RsvpConfiguration
from silverball.wire.players import Player
from silverball.wire.stats import CountRow
from silverball.wire.users import User
from silverball.wire.values import EmptyList, Number, SeriesStatus

LabelsByPlayer = dict[int, tuple[str, ...]]
PointsByPlayer = dict[int, Number | str]
PointsByTournament = dict[int, PointsByPlayer | EmptyList]


class Series(Wire, frozen=True, kw_only=True):
    """A series. Source: samples/series.json, wire.yaml Series."""

    series_id: int
    name: str
    status: SeriesStatus
    organizer_id: int
    test: bool
    removed_results: int | None
    playoffs_cutoffs: tuple[PlayoffCutoff, ...]
    scoring: str | None
    estimated_tgp: Number | None
    scoring_custom: dict[str, Any] | None
    # Absent where the series itself is a part of a tournament or of statistics.
    organizer: User | UnsetType = UNSET
    rsvp_configuration: RsvpConfiguration | UnsetType | None = UNSET


class SeriesListItem(Series, frozen=True, kw_only=True):
    """A series in a list. Source: samples/series-list.json."""

    tournament_ids: tuple[int, ...]


class SeriesStanding(Wire, frozen=True, kw_only=True):
    """A player's place in a series. Source: wire.yaml SeriesStanding, formats 21."""

    player_id: int
    position: int
    points: Number
    # `[]` when all results count (removedResults 0).
    points_adjusted: Number | EmptyList | None
    on_cutoff_bubble: bool | None
    cutoff_bubble_color: str | None
    on_cutoff_bubble2: bool | None
    manual_tiebreaker_group: int | None


class SeriesDetails(Series, frozen=True, kw_only=True):
    """A series with its results; an empty map is `[]`. Source: interface.md 1 and 2, row 27."""

    tournament_ids: tuple[int, ...]
    players: tuple[Player, ...]
    player_labels: LabelsByPlayer | EmptyList
    standings: tuple[SeriesStanding, ...]
    tournament_points: PointsByTournament | EmptyList


class Aggregate(Wire, frozen=True, kw_only=True):
    """Statistics of the number of players per tournament. Source: wire.yaml Aggregate."""

    sum: Number
    max: Number | None
    min: Number | None
    mean: Number | None
    median: Number | None
    count: int


class SeriesAttendance(Wire, frozen=True, kw_only=True):
    """The attendance of one tournament in a series. Source: wire.yaml SeriesStats."""

    name: str
    total: int
    members: int
    guests: int


class SeriesStats(Wire, frozen=True, kw_only=True):
    """The attendance of a series. Source: samples/series-stats.json."""

    series: Series
    overall: Aggregate
    members: Aggregate
    guests: Aggregate
    tournaments: dict[int, SeriesAttendance]
    # The number of players who attended 1, 2, 3 ... tournaments.
    player_attendances: dict[int, int]
    opponent_counts: tuple[CountRow, ...]
    arena_counts: tuple[CountRow, ...]
