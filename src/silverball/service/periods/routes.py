"""Rating periods over HTTP."""

from silverball.kit.http.endpoints import Call, get
from silverball.kit.http.query import Query
from silverball.service import pages
from silverball.service.periods.reads import periods as reads
from silverball_wire.pages import Page
from silverball_wire.periods import RatingPeriod, RatingPeriodBundle


@get("/api/rating-periods", query=reads.PeriodQuery)
def list_rating_periods(call: Call[reads.PeriodQuery]) -> Page[RatingPeriod]:
    """Rating periods."""
    with call.read() as db:
        page = reads.periods_page(db, call.query, call.now)
    return pages.full_page(call, page, per_page=reads.PER_PAGE)


@get("/api/rating-periods/{date}", words={"date": "[0-9]{4}-[0-9]{2}-[0-9]{2}"})
def show_rating_period(call: Call[Query]) -> RatingPeriodBundle:
    """A rating period, with the tournaments of its day."""
    with call.read() as db:
        return reads.find_period(db, call.words["date"], call.caller, call.now)
