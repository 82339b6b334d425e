"""Pages without an account: start page, profiles, series, printed sheets, pages of printed codes."""

from starlette.responses import Response

from silverball.exchange import calendar
from silverball.kit import passwords
from silverball.kit.errors import Conflict, Invalid
from silverball.kit.http.endpoints import SVG
from silverball.kit.http.router import parse_path_id
from silverball.service.ratings import chart
from silverball.service.ratings.reads import history as ratings
from silverball.service.tournaments.reads import listing
from silverball.service.users import reads as users
from silverball.service.users.writes import FirstCodeWrong
from silverball.web import refusal_counts, sessions
from silverball.web.page_request import PageRequest, not_found_page, page, redirect
from silverball.web.public import actions, print_sheets, report_page, views
from silverball.web.public.report_page import ReportPage
from silverball.web.sign_in_throttle import too_many_attempts

# Counted like failed sign-ins with one e-mail address.
FIRST_CODE_ATTEMPTS = "the first account"
ALREADY_SET_UP = "This server has an account by now. Sign in, or ask whoever runs it."
# A calendar holds the newest tournaments.
CALENDAR_TOURNAMENTS_MAX = 300
PRINT = "/t/{tournament_id}/print"
PLAYER = "/t/{tournament_id}/players/{player_id}"
GAME = "/t/{tournament_id}/games/{game_id}"


# The start page, and the first account of a new server


@page("GET", "/", for_guests=True)
def home(request: PageRequest) -> Response:
    return views.render_home(request)


@page("GET", "/account/first", for_guests=True)
def first_account_form(request: PageRequest) -> Response:
    with request.site.store.read() as db:
        if not users.is_new_site(db):
            return redirect("/account/sign-in")
    return views.render_first_form(request)


@page("POST", "/account/first", for_guests=True)
def first_account(request: PageRequest) -> Response:
    """Create the admin of a new server, for whoever can read its log."""
    wait = request.site.sign_in_limiter.seconds_to_wait(
        request.client_address, FIRST_CODE_ATTEMPTS, request.site.now()
    )
    if wait:
        return views.render_first_form(request, 429, too_many_attempts(wait))
    password = request.field("password")
    fault = passwords.fault(password, (request.field("name"), request.field("email")))
    if fault is None and password != request.field("again"):
        fault = "The two passwords differ. Type the same one twice."
    if fault is not None:
        return views.render_first_form(request, 422, fault)
    with request.site.store.read() as db:
        if not users.is_new_site(db):
            return views.render_first_form(request, 409, ALREADY_SET_UP)
    # Hashed outside of the transaction, since it is slow by design.
    password_hash = passwords.hash_password(password)
    try:
        user_id = actions.create_first_admin(request, password_hash)
    except Invalid as refusal:
        return views.render_first_form(request, 422, refusal.text())
    except FirstCodeWrong as refusal:
        refusal_counts.count_refusal(request, "first-code-refused")
        return views.render_first_form(request, 403, refusal.text())
    except Conflict:
        return views.render_first_form(request, 409, ALREADY_SET_UP)
    return sessions.start_session(request, user_id, "/run")


# Users and series


@page("GET", "/users/{user_id}", for_guests=True)
def profile(request: PageRequest) -> Response:
    return views.render_profile(request, _user_id(request))


@page("GET", "/users/{user_id}/rating.svg", for_guests=True)
def rating_chart(request: PageRequest) -> Response:
    if not views.shows_profiles_to(request):
        return not_found_page()
    with request.site.store.read() as db:
        bundle = ratings.rating_bundle(db, "users", _user_id(request), None)
    picture = chart.render_chart(bundle.rating, bundle.rating_history)
    # The picture has its own styles and may load nothing.
    headers = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"}
    return Response(picture, media_type=SVG, headers=headers)


@page("GET", "/users/{user_id}/calendar.ics", for_guests=True)
def organizer_calendar(request: PageRequest) -> Response:
    user_id = _user_id(request)
    with request.site.store.read() as db:
        name = users.find_user(db, user_id, None).name
        query = listing.TournamentQuery(owner=user_id)
        newest = listing.dated_tournaments(db, query, limit=CALENDAR_TOURNAMENTS_MAX)
    content = calendar.calendar_file(f"Tournaments of {name}", newest, request.base_url)
    headers = {
        "content-disposition": f'inline; filename="silverball-{user_id}.ics"',
        "content-type": calendar.CONTENT_TYPE,
    }
    return Response(content, headers=headers)


def _user_id(request: PageRequest) -> int:
    return parse_path_id("user_id", request.ids["user_id"])


@page("GET", "/s/{series_id}", for_guests=True)
def series_page(request: PageRequest) -> Response:
    return views.render_series(request, parse_path_id("series_id", request.ids["series_id"]))


# Printed sheets


@page("GET", PRINT, for_guests=True)
def print_index(request: PageRequest) -> Response:
    return print_sheets.render_sheet(request, "index")


@page("GET", PRINT + "/round", for_guests=True)
def round_sheet(request: PageRequest) -> Response:
    return print_sheets.render_sheet(request, "round")


@page("GET", PRINT + "/scores", for_guests=True)
def score_sheets(request: PageRequest) -> Response:
    return print_sheets.render_sheet(request, "scores")


@page("GET", PRINT + "/names", for_guests=True)
def name_list(request: PageRequest) -> Response:
    return print_sheets.render_sheet(request, "names")


@page("GET", PRINT + "/codes", for_guests=True)
def code_slips(request: PageRequest) -> Response:
    return print_sheets.render_sheet(request, "codes")


# A player, for readers of a printed code


@page("GET", PLAYER, for_guests=True)
def player_page(request: PageRequest) -> Response:
    has_code = bool(report_page.submitted_code(request))
    return _render_player(request, _load_for_player(request) if has_code else None)


def _rerender_player(request: PageRequest, _sentence: str) -> Response:
    return _render_player(request, report_page.with_unsent_form(request, _load_for_player(request)))


@page("POST", PLAYER + "/report", for_guests=True, rerender=_rerender_player)
def report_for_player(request: PageRequest) -> Response:
    """Report a game of the player with the code."""
    report = _load_for_player(request)
    refused = actions.submit_report(request, report)
    if refused is None:
        return redirect(report_page.page_path(report, request.path.removesuffix("/report")))
    return _render_player(request, refused)


@page("GET", PLAYER + "/report", for_guests=True)
def player_report_opened(request: PageRequest) -> Response:
    """Reloading or bookmarking the address of a form is not an error."""
    tournament_id, player_id = _path_ids(request, "player_id")
    return redirect(f"/t/{tournament_id}/players/{player_id}")


def _load_for_player(request: PageRequest) -> ReportPage:
    tournament_id, player_id = _path_ids(request, "player_id")
    return report_page.load_report_page(request, tournament_id, player_id=player_id)


def _render_player(request: PageRequest, report: ReportPage | None) -> Response:
    tournament_id, player_id = _path_ids(request, "player_id")
    return views.render_player(request, tournament_id, player_id, report)


# A game, for readers of a printed code


@page("GET", GAME, for_guests=True)
def game_page(request: PageRequest) -> Response:
    return _render_game(request, _load_for_game(request))


def _rerender_game(request: PageRequest, _sentence: str) -> Response:
    return _render_game(request, report_page.with_unsent_form(request, _load_for_game(request)))


@page("POST", GAME + "/report", for_guests=True, rerender=_rerender_game)
def report_for_game(request: PageRequest) -> Response:
    """Report the game with the code."""
    report = _load_for_game(request)
    refused = actions.submit_report(request, report)
    if refused is None:
        return redirect(report_page.page_path(report, request.path.removesuffix("/report")))
    return _render_game(request, refused)


@page("GET", GAME + "/report", for_guests=True)
def game_report_opened(request: PageRequest) -> Response:
    """Reloading or bookmarking the address of a form is not an error."""
    tournament_id, game_id = _path_ids(request, "game_id")
    return redirect(f"/t/{tournament_id}/games/{game_id}")


def _load_for_game(request: PageRequest) -> ReportPage:
    tournament_id, game_id = _path_ids(request, "game_id")
    return report_page.load_report_page(request, tournament_id, game_id=game_id)


def _render_game(request: PageRequest, report: ReportPage) -> Response:
    tournament_id, game_id = _path_ids(request, "game_id")
    return views.render_game(request, tournament_id, game_id, report)


def _path_ids(request: PageRequest, name: str) -> tuple[int, int]:
    return parse_path_id("tournament_id", request.ids["tournament_id"]), parse_path_id(
        name, request.ids[name]
    )
