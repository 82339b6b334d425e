"""The dashboard: a user's active tournaments and series."""

from silverball_client.shapes.base import Shape
from silverball_client.shapes.series import SeriesListItem
from silverball_client.shapes.tournaments import Tournament


class Dashboard(Shape, frozen=True, kw_only=True):
    """The user's active tournaments and series."""

    tournaments_playing: tuple[Tournament, ...]
    series_organizing: tuple[SeriesListItem, ...]
    tournaments_organizing: tuple[Tournament, ...]
