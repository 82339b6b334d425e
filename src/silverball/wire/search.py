"""What a search finds."""

from silverball.wire.series import SeriesListItem
from silverball.wire.tournaments import Tournament
from silverball.wire.users import User

# Served in pages. All results of one search are of one kind; JSON carries no mark of it.
SearchResult = User | Tournament | SeriesListItem
