"""What everybody may see of a user, and an organizer's calendar. Opt-outs hold for all visitors alike."""

from typing import Any

from starlette.responses import Response

from silverball.exchange import calendar
from silverball.kit.errors import NotAllowed
from silverball.kit.http.endpoints import SVG
from silverball.kit.http.router import parse_path_id
from silverball.service.ratings import chart
from silverball.service.ratings.reads import history as ratings
from silverball.service.series.reads import series
from silverball.service.standings import reads as standings
from silverball.service.summaries import reads as summaries
from silverball.service.tournaments.reads import tournaments
from silverball.service.users import reads as users
from silverball.store.engine import Db
from silverball.web.console import settings_form
from silverball.web.page_request import PageRequest, page

LISTED_MAX = 25
ORGANIZED_MAX = 10
MET_SHOWN_MAX = 10
# A calendar holds the newest tournaments: five pages of as many as a page may have.
CALENDAR_PAGES_MAX = 5
CALENDAR_PER_PAGE = 100
HISTORY_HIDDEN = "Which tournaments this user played is not shown: it is the user's own wish."


@page("GET", "/users/{user_id}", for_guests=True)
def profile(visit: PageRequest) -> Response:
    user_id = parse_path_id("user_id", visit.ids["user_id"])
    with visit.site.store.read() as db:
        bundle = users.user_bundle(db, user_id, None, with_ifpa=True, with_counts=True)
        facts = {
            **_history_context(db, user_id, visit),
            **_opponents_context(db, user_id, visit),
            **_organized_context(db, user_id),
        }
    return visit.render(
        "people/profile.html",
        bundle=bundle,
        one=bundle.user,
        title_of=settings_form.format_title,
        **facts,
    )


def _history_context(db: Db, user_id: int, visit: PageRequest) -> dict[str, Any]:
    """One page of what the user played, with the places; or why it is not shown."""
    number = _page_number(visit)
    query = tournaments.TournamentQuery(played=user_id, limit=LISTED_MAX, page=number)
    try:
        found = tournaments.tournaments_page(db, query, None)
    except NotAllowed:
        return {
            "played": (),
            "places": {},
            "history_hidden": HISTORY_HIDDEN,
            "page": 1,
            "pages": 1,
            "played_total": 0,
        }
    places = standings.places_of_user(db, user_id, [one.tournament_id for one in found.rows])
    return {
        "played": found.rows,
        "places": places,
        "history_hidden": "",
        "page": number,
        "pages": max(1, -(-found.total // LISTED_MAX)),
        "played_total": found.total,
    }


def _page_number(visit: PageRequest) -> int:
    """A page that the list can have; anything else is the first."""
    text = visit.query.get("page", "1")
    return int(text) if text.isascii() and text.isdigit() and 1 <= len(text) <= 3 and int(text) > 0 else 1


def _opponents_context(db: Db, user_id: int, visit: PageRequest) -> dict[str, Any]:
    """Whom the user met most, and the one who was asked for."""
    met = summaries.frequent_opponents(db, user_id, None)
    wanted = visit.query.get("against", "")
    against = next((one for one in met if str(one.user_id) == wanted), None)
    return {"met": met, "met_shown": met[:MET_SHOWN_MAX], "against": against, "was_asked": bool(wanted)}


def _organized_context(db: Db, user_id: int) -> dict[str, Any]:
    query = tournaments.TournamentQuery(owner=user_id, limit=ORGANIZED_MAX)
    found = tournaments.tournaments_page(db, query, None)
    own = series.series_page(db, series.SeriesQuery(owner=user_id), None)
    return {"organized": found.rows, "organized_total": found.total, "series": own.rows}


@page("GET", "/users/{user_id}/rating.svg", for_guests=True)
def rating_chart(visit: PageRequest) -> Response:
    user_id = parse_path_id("user_id", visit.ids["user_id"])
    with visit.site.store.read() as db:
        found = ratings.rating_bundle(db, "users", user_id, None)
    picture = chart.render_chart(found.rating, found.rating_history)
    # The picture brings its colours along; nothing else may be in it.
    headers = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"}
    return Response(picture, media_type=SVG, headers=headers)


@page("GET", "/users/{user_id}/calendar.ics", for_guests=True)
def organizer_calendar(visit: PageRequest) -> Response:
    user_id = parse_path_id("user_id", visit.ids["user_id"])
    with visit.site.store.read() as db:
        name = users.find_user(db, user_id, None).name
        listed: list[Any] = []
        for number in range(1, CALENDAR_PAGES_MAX + 1):
            query = tournaments.TournamentQuery(owner=user_id, limit=CALENDAR_PER_PAGE, page=number)
            listed += tournaments.tournaments_page(db, query, None).rows
            if len(listed) < number * CALENDAR_PER_PAGE:
                break
    content = calendar.calendar_file(f"Tournaments of {name}", listed, visit.site.base_url)
    headers = {
        "content-disposition": f'inline; filename="silverball-{user_id}.ics"',
        "content-type": calendar.CONTENT_TYPE,
    }
    return Response(content, headers=headers)
