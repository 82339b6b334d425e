"""The dashboard: a user's active tournaments and series."""

from silverball_wire.base import Wire
from silverball_wire.series import SeriesListItem
from silverball_wire.tournaments import Tournament


class Dashboard(Wire, frozen=True, kw_only=True):
    """The user's active tournaments and series. Source: interface 2.6, interface.md 2, row 27."""

    tournaments_playing: tuple[Tournament, ...]
    """Planned and started tournaments that the caller plays in."""
    series_organizing: tuple[SeriesListItem, ...]
    """Active series that the caller organizes."""
    tournaments_organizing: tuple[Tournament, ...]
    """Planned and started tournaments that the caller organizes."""
