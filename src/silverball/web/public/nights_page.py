"""The past nights of a club, by month, and the standings of a night as a file."""

from datetime import date, timedelta
from decimal import Decimal
from itertools import groupby
from urllib.parse import urlencode, urlsplit

from starlette.responses import Response

from silverball.exchange import calendars
from silverball.service.core import loaded
from silverball.service.standings.reads import standings
from silverball.service.tables import sheet
from silverball.service.tournaments.reads import listing
from silverball.service.users import reads as users
from silverball.web import exports, icons, tournament_night
from silverball.web.forms import FormState, format_title
from silverball.web.page_request import PageRequest, not_found_page, page

TEXT_MAX = 100
STANDINGS_HEADER = ("position", "playerId", "name", "points", "strikes")


@page("GET", "/users/{user_id}/nights", for_guests=True)
def past_nights(request: PageRequest) -> Response:
    """The completed tournaments of an organizer. Raises NotFound."""
    user_id = request.path_id("user_id")
    text = request.query.get("q", "").strip()[:TEXT_MAX]
    number = request.page_number
    with request.site.store.read() as db:
        organizer = users.find_user(db, user_id, None)
        nights = listing.club_nights(db, user_id, text, number)
    months = [
        (_month_title(month), list(rows)) for month, rows in groupby(nights.rows, key=lambda row: row.month)
    ]
    return request.render(
        "people/nights.html",
        organizer=organizer,
        text=text,
        months=months,
        total=nights.total,
        number=number,
        pages=max(1, -(-nights.total // listing.NIGHTS_PER_PAGE)),
        search=urlencode({"q": text}) if text else "",
        format_title=format_title,
    )


@page("GET", "/users/{user_id}/nights.atom", for_guests=True)
def nights_feed(request: PageRequest) -> Response:
    """The newest completed tournaments of an organizer as a feed. Raises NotFound."""
    user_id = request.path_id("user_id")
    with request.site.store.read() as db:
        organizer = users.find_user(db, user_id, None)
        nights = listing.club_nights(db, user_id, "", 1)
    content = calendars.feed_file(user_id, organizer.name, nights.rows, request.base_url)
    return Response(content, headers={"content-type": calendars.ATOM_CONTENT_TYPE})


def _month_title(month: str) -> str:
    """`August 2026`."""
    return date.fromisoformat(f"{month}-01").strftime("%B %Y")


@page("GET", "/t/{tournament_id}/standings.csv", for_guests=True)
def standings_file(request: PageRequest) -> Response:
    """The standings as CSV, as the live page shows them. Raises NotFound."""
    tournament_id = request.path_id("tournament_id")
    with request.site.store.read() as db:
        tournament = loaded.load_tournament(db, tournament_id)
        night = tournament_night.public_night(db, tournament, request.site.now())
        rows = standings.decoded_standings(db, tournament_id)
    file = sheet.csv_file(
        f"standings-{tournament_id}.csv",
        STANDINGS_HEADER,
        [
            (
                row.position,
                row.player_id,
                night.player_name(row.player_id),
                None if row.points is None else Decimal(str(row.points)),
                row.strike_count if night.has_strikes else None,
            )
            for row in rows
        ],
    )
    return exports.file_response(file)


# The page of all components in both themes, on a server that only its own machine can reach.


SAMPLE_MINUTES = timedelta(minutes=12)
LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})


@page("GET", "/style", for_guests=True)
def style_page(request: PageRequest) -> Response:
    """Show each component once per theme; there is no such page on a site for others."""
    if urlsplit(request.site.settings.base_url).hostname not in LOOPBACK_HOSTS:
        return not_found_page()
    now = request.site.now()
    return request.render(
        "style.html",
        modules=("timer.js",),
        form_state=FormState(),
        base_path="/style",
        page_path="",
        opened_at=now - SAMPLE_MINUTES,
        ends_at=now + SAMPLE_MINUTES,
        icons=sorted(icons.symbols()),
    )
