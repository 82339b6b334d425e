"""Results of a search."""

from silverball_wire.series import SeriesListItem
from silverball_wire.tournaments import Tournament
from silverball_wire.users import User

# Served in pages. All results of one search are of one kind, which the JSON does not name.
SearchResult = User | Tournament | SeriesListItem
