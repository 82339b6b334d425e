"""Ratings, their periods, federation numbers and the federation's estimate over HTTP."""

from silverball.kit.http.endpoints import Access, Call, SvgImage, get, read_post
from silverball.kit.http.query import Query
from silverball.service.core import calls
from silverball.service.outlook.reads import estimates
from silverball.service.outlook.reads.estimates import EstimateQuery
from silverball.service.periods.reads import periods as reads
from silverball.service.ratings import chart
from silverball.service.ratings import reads as ratings_reads
from silverball_wire.federation import WpprEstimate
from silverball_wire.pages import Data, Page
from silverball_wire.periods import RatingPeriod, RatingPeriodBundle
from silverball_wire.ratings import Rating, RatingBundle, RatingComparison, RatingRevision

# Only `users`: ratings of federation numbers have paths of their own.
HOLDER = "/api/ratings/{type}/{user_id}"
TYPE = {"type": "[A-Za-z_-]+"}
IFPA = "/api/ratings/ifpa/{ifpa_id}"


@get("/api/ratings", query=ratings_reads.RatingsQuery, accepts_body_parameters=True)
def list_ratings(call: Call[ratings_reads.RatingsQuery]) -> Page[Rating]:
    """Ratings of users and federation numbers, or all of them."""
    with call.read() as db:
        page = ratings_reads.ratings_page(db, call.query, call.caller)
    return calls.full_page(call, page, per_page=ratings_reads.PER_PAGE)


@get("/api/ratings/search", query=ratings_reads.RatingSearchQuery)
def search_ratings(call: Call[ratings_reads.RatingSearchQuery]) -> Page[Rating]:
    """Ratings by name."""
    with call.read() as db:
        page = ratings_reads.search_ratings(db, call.query, call.caller)
    return calls.full_page(call, page, per_page=ratings_reads.PER_PAGE)


@get("/api/ratings/ifpa", query=ratings_reads.IfpaQuery)
def list_ratings_by_ifpa(call: Call[ratings_reads.IfpaQuery]) -> Data[tuple[Rating, ...]]:
    """Ratings by federation number, now or on a day."""
    with call.read() as db:
        return Data(data=ratings_reads.ratings_by_ifpa(db, call.query, call.caller))


@get(
    "/api/ratings/compare",
    query=ratings_reads.CompareQuery,
    access=Access.OPENABLE,
    accepts_body_parameters=True,
)
def compare_ratings_by_get(call: Call[ratings_reads.CompareQuery]) -> RatingComparison:
    """Ratings side by side, with head-to-head records."""
    with call.read() as db:
        return ratings_reads.comparison(db, call.query, call.caller)


@read_post("/api/ratings/compare", query=ratings_reads.CompareQuery, access=Access.OPENABLE)
def compare_ratings(call: Call[ratings_reads.CompareQuery]) -> RatingComparison:
    """Ratings side by side, with head-to-head records."""
    with call.read() as db:
        return ratings_reads.comparison(db, call.query, call.caller)


@get(HOLDER, words=TYPE)
def show_rating(call: Call[Query]) -> RatingBundle:
    """The rating of a user (type `users`), with a year of its history."""
    with call.read() as db:
        return ratings_reads.rating_bundle(db, call.words["type"], call.ids["user_id"], call.caller)


@get(HOLDER + "/summary", words=TYPE)
def show_rating_summary(call: Call[Query]) -> Data[Rating]:
    """The rating of a user (type `users`)."""
    with call.read() as db:
        return Data(data=ratings_reads.find_rating(db, call.words["type"], call.ids["user_id"], call.caller))


@get(HOLDER + "/chart.svg", words=TYPE)
def show_rating_chart(call: Call[Query]) -> SvgImage:
    """A year of the rating of a user (type `users`) as a picture."""
    with call.read() as db:
        bundle = ratings_reads.rating_bundle(db, call.words["type"], call.ids["user_id"], call.caller)
    return SvgImage(chart.render_chart(bundle.rating, bundle.rating_history))


@get(IFPA)
def show_rating_by_ifpa(call: Call[Query]) -> RatingBundle:
    """The rating of a federation number, with a year of its history."""
    with call.read() as db:
        return ratings_reads.rating_bundle(db, "ifpa", call.ids["ifpa_id"], call.caller)


@get(IFPA + "/summary")
def show_rating_summary_by_ifpa(call: Call[Query]) -> Data[Rating]:
    """The rating of a federation number."""
    with call.read() as db:
        return Data(data=ratings_reads.find_rating(db, "ifpa", call.ids["ifpa_id"], call.caller))


@get(IFPA + "/chart.svg")
def show_rating_chart_by_ifpa(call: Call[Query]) -> SvgImage:
    """A year of the rating of a federation number as a picture."""
    with call.read() as db:
        bundle = ratings_reads.rating_bundle(db, "ifpa", call.ids["ifpa_id"], call.caller)
    return SvgImage(chart.render_chart(bundle.rating, bundle.rating_history))


@get("/api/ifpa/{ifpa_id}/rating-history", query=ratings_reads.HistoryQuery)
def list_rating_history(call: Call[ratings_reads.HistoryQuery]) -> Page[RatingRevision]:
    """The periods that a federation number played, newest first."""
    with call.read() as db:
        page = ratings_reads.revisions_page(db, call.ids["ifpa_id"], call.query, call.caller)
    return calls.full_page(call, page, per_page=call.query.limit)


@get("/api/rating-periods", query=reads.PeriodQuery)
def list_rating_periods(call: Call[reads.PeriodQuery]) -> Page[RatingPeriod]:
    """Rating periods."""
    with call.read() as db:
        page = reads.periods_page(db, call.query, call.now)
    return calls.full_page(call, page, per_page=reads.PER_PAGE)


@get("/api/rating-periods/{date}", words={"date": "[0-9]{4}-[0-9]{2}-[0-9]{2}"})
def show_rating_period(call: Call[Query]) -> RatingPeriodBundle:
    """A rating period, with the tournaments of its day."""
    with call.read() as db:
        return reads.find_period(db, call.words["date"], call.caller, call.now)


@read_post("/api/ifpa/wppr-estimator", query=EstimateQuery)
def estimate_wppr(call: Call[EstimateQuery]) -> WpprEstimate:
    """The WPPR value of a field: the players of a tournament, of a series, or of a list."""
    with call.read() as db:
        return estimates.wppr_estimate(db, call.query, call.caller)
