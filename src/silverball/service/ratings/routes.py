"""Ratings over HTTP."""

from silverball.kit.http.endpoints import Access, Call, SvgImage, get, read_post
from silverball.kit.http.query import Query
from silverball.service import pages
from silverball.service.ratings import chart
from silverball.service.ratings.reads import compare, history
from silverball.service.ratings.reads import ratings as reads
from silverball_wire.pages import Data, Page
from silverball_wire.ratings import Rating, RatingBundle, RatingComparison, RatingRevision

# Only `users`: ratings of federation numbers have paths of their own.
HOLDER = "/api/ratings/{type}/{user_id}"
TYPE = {"type": "[A-Za-z_-]+"}
IFPA = "/api/ratings/ifpa/{ifpa_id}"


@get("/api/ratings", query=reads.RatingsQuery, accepts_body_parameters=True)
def list_ratings(call: Call[reads.RatingsQuery]) -> Page[Rating]:
    """Ratings of users and federation numbers, or all of them."""
    with call.read() as db:
        page = reads.ratings_page(db, call.query, call.caller)
    return pages.full_page(call, page, per_page=reads.PER_PAGE)


@get("/api/ratings/search", query=reads.RatingSearchQuery)
def search_ratings(call: Call[reads.RatingSearchQuery]) -> Page[Rating]:
    """Ratings by name."""
    with call.read() as db:
        page = reads.search_ratings(db, call.query, call.caller)
    return pages.full_page(call, page, per_page=reads.PER_PAGE)


@get("/api/ratings/ifpa", query=history.IfpaQuery)
def list_ratings_by_ifpa(call: Call[history.IfpaQuery]) -> Data[tuple[Rating, ...]]:
    """Ratings by federation number, now or on a day."""
    with call.read() as db:
        return Data(data=history.ratings_by_ifpa(db, call.query, call.caller))


@get("/api/ratings/compare", query=compare.CompareQuery, access=Access.OPENABLE, accepts_body_parameters=True)
def compare_ratings_by_get(call: Call[compare.CompareQuery]) -> RatingComparison:
    """Ratings side by side, with head-to-head records."""
    with call.read() as db:
        return compare.comparison(db, call.query, call.caller)


@read_post("/api/ratings/compare", query=compare.CompareQuery, access=Access.OPENABLE)
def compare_ratings(call: Call[compare.CompareQuery]) -> RatingComparison:
    """Ratings side by side, with head-to-head records."""
    with call.read() as db:
        return compare.comparison(db, call.query, call.caller)


@get(HOLDER, words=TYPE)
def show_rating(call: Call[Query]) -> RatingBundle:
    """The rating of a user (type `users`), with a year of its history."""
    with call.read() as db:
        return history.rating_bundle(db, call.words["type"], call.ids["user_id"], call.caller)


@get(HOLDER + "/summary", words=TYPE)
def show_rating_summary(call: Call[Query]) -> Data[Rating]:
    """The rating of a user (type `users`)."""
    with call.read() as db:
        return Data(data=reads.find_rating(db, call.words["type"], call.ids["user_id"], call.caller))


@get(HOLDER + "/chart.svg", words=TYPE)
def show_rating_chart(call: Call[Query]) -> SvgImage:
    """A year of the rating of a user (type `users`) as a picture."""
    with call.read() as db:
        bundle = history.rating_bundle(db, call.words["type"], call.ids["user_id"], call.caller)
    return SvgImage(chart.render_chart(bundle.rating, bundle.rating_history))


@get(IFPA)
def show_rating_by_ifpa(call: Call[Query]) -> RatingBundle:
    """The rating of a federation number, with a year of its history."""
    with call.read() as db:
        return history.rating_bundle(db, "ifpa", call.ids["ifpa_id"], call.caller)


@get(IFPA + "/summary")
def show_rating_summary_by_ifpa(call: Call[Query]) -> Data[Rating]:
    """The rating of a federation number."""
    with call.read() as db:
        return Data(data=reads.find_rating(db, "ifpa", call.ids["ifpa_id"], call.caller))


@get(IFPA + "/chart.svg")
def show_rating_chart_by_ifpa(call: Call[Query]) -> SvgImage:
    """A year of the rating of a federation number as a picture."""
    with call.read() as db:
        bundle = history.rating_bundle(db, "ifpa", call.ids["ifpa_id"], call.caller)
    return SvgImage(chart.render_chart(bundle.rating, bundle.rating_history))


@get("/api/ifpa/{ifpa_id}/rating-history", query=history.HistoryQuery)
def list_rating_history(call: Call[history.HistoryQuery]) -> Page[RatingRevision]:
    """The periods that a federation number played, newest first."""
    with call.read() as db:
        page = history.revisions_page(db, call.ids["ifpa_id"], call.query, call.caller)
    return pages.full_page(call, page, per_page=call.query.limit)
