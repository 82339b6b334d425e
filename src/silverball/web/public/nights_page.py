"""The past nights of a club, by month, and the standings of a night as a file."""

from datetime import date
from decimal import Decimal
from itertools import groupby
from urllib.parse import urlencode

from starlette.responses import Response

from silverball.exchange import atom
from silverball.kit.http.router import parse_path_id
from silverball.service.core import loaded
from silverball.service.exports import sheet
from silverball.service.standings import reads as standings
from silverball.service.tournaments.reads import club_nights
from silverball.service.users import reads as users
from silverball.web import downloads, load_nights
from silverball.web.format_titles import format_title
from silverball.web.page_request import PageRequest, page

TEXT_MAX = 100
STANDINGS_HEADER = ("position", "playerId", "name", "points", "strikes")


@page("GET", "/users/{user_id}/nights", for_guests=True)
def past_nights(request: PageRequest) -> Response:
    """The completed tournaments of an organizer. Raises NotFound."""
    user_id = parse_path_id("user_id", request.ids["user_id"])
    text = request.query.get("q", "").strip()[:TEXT_MAX]
    number = _page_number(request.query.get("page", "1"))
    with request.site.store.read() as db:
        organizer = users.find_user(db, user_id, None)
        nights = club_nights.club_nights(db, user_id, text, number)
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
        pages=max(1, -(-nights.total // club_nights.NIGHTS_PER_PAGE)),
        search=urlencode({"q": text}) if text else "",
        format_title=format_title,
    )


@page("GET", "/users/{user_id}/nights.atom", for_guests=True)
def nights_feed(request: PageRequest) -> Response:
    """The newest completed tournaments of an organizer as a feed. Raises NotFound."""
    user_id = parse_path_id("user_id", request.ids["user_id"])
    with request.site.store.read() as db:
        organizer = users.find_user(db, user_id, None)
        nights = club_nights.club_nights(db, user_id, "", 1)
    content = atom.feed_file(user_id, organizer.name, nights.rows, request.base_url)
    return Response(content, headers={"content-type": atom.CONTENT_TYPE})


def _page_number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 3 and int(text) > 0 else 1


def _month_title(month: str) -> str:
    """`August 2026`."""
    return date.fromisoformat(f"{month}-01").strftime("%B %Y")


@page("GET", "/t/{tournament_id}/standings.csv", for_guests=True)
def standings_file(request: PageRequest) -> Response:
    """The standings as CSV, as the live page shows them. Raises NotFound."""
    tournament_id = parse_path_id("tournament_id", request.ids["tournament_id"])
    with request.site.store.read() as db:
        tournament = loaded.load_tournament(db, tournament_id)
        night = load_nights.public_night(db, tournament, request.site.now())
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
    return downloads.file_response(file)
