"""Reading ratings that were computed elsewhere: stored, ranked, and gone on from."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from silverball.rules.ratings.formulas import Parameters
from silverball.service.periods import writes
from silverball.service.periods.reads import standing
from silverball.service.periods.writes import seeds
from silverball.service.periods.writes.seeds import Seed


def bring_in(db: Any, found: Sequence[Seed], day: date, parameters: Parameters, now: datetime) -> None:
    """The ratings of a file as of a day. Raises Conflict when something was rated here already."""
    from silverball.rules.ratings.book import Book

    seeds.replace_all(db, found, day, parameters, now)
    book = Book(parameters, standing.standings_now(db, day))
    writes.store_ranking(db, book.ranking(day, standing.hidden_ratings(db)), day)
