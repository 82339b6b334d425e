"""What a user is busy with."""

from silverball.wire.base import Wire
from silverball.wire.series import SeriesListItem
from silverball.wire.tournaments import Tournament


class Dashboard(Wire, frozen=True, kw_only=True):
    """What the user plays and organizes now. Source: interface 2.6, interface.md 2, row 27."""

    tournaments_playing: tuple[Tournament, ...]
    series_organizing: tuple[SeriesListItem, ...]
    tournaments_organizing: tuple[Tournament, ...]
