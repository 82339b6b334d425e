"""Import ratings that were computed elsewhere."""

from collections.abc import Sequence
from datetime import date, datetime

from silverball.rules.ratings.formulas import Parameters
from silverball.service.periods.reads import standing
from silverball.service.periods.writes import periods as writes
from silverball.service.periods.writes import seeds
from silverball.service.periods.writes.seeds import ImportedRating
from silverball.store.engine import Db


def import_ratings(
    db: Db, ratings: Sequence[ImportedRating], day: date, parameters: Parameters, now: datetime
) -> None:
    """Store and rank a file's ratings as of a day. Raises Conflict once days were rated on this site."""
    from silverball.rules.ratings.book import RatingTable

    seeds.replace_ratings(db, ratings, day, parameters, now)
    book = RatingTable(parameters, standing.current_standings(db, day))
    writes.store_ranking(db, book.ranked_on(day, standing.hidden_rating_ids(db)), day)
