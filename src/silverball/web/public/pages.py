"""Pages without an account: start page, profiles, series, printed sheets, pages of printed codes."""

from starlette.responses import Response

from silverball.exchange import calendars
from silverball.kit.errors import Conflict, Invalid, NotAllowed, Refusal
from silverball.kit.http.endpoints import SVG
from silverball.kit.security import passwords
from silverball.kit.values import replace
from silverball.service.games import bodies as game_bodies
from silverball.service.games import writes as games_writes
from silverball.service.ratings import chart
from silverball.service.ratings import reads as ratings_reads
from silverball.service.tournaments.reads import listing
from silverball.service.users import reads as users
from silverball.service.users import writes as users_writes
from silverball.service.users.writes import FirstCodeWrong
from silverball.web import form_actions, forms, refusal_counts, sessions
from silverball.web.form_actions import FormAction
from silverball.web.forms import FormState
from silverball.web.page_request import PageRequest, not_found_page, page, redirect
from silverball.web.public import print_sheets, report_page, views
from silverball.web.public.report_page import CODE_WRONG, ReportPage
from silverball.web.sign_in_throttle import too_many_attempts
from silverball.web.site import needs_new_key, status_for

# Actions without an account: report a result with a printed code, create the first account.


CODE_FORBIDDEN = "This code does not report the result of that game."
# The form of a page that was opened with a printed code.
REPORT_RESULT = FormAction(
    write=games_writes.suggest_result,
    ability="score",
    id_fields=("game_id",),
    body=game_bodies.ReportedResult,
    build_body=forms.finishing_order,
)


def submit_report(request: PageRequest, report: ReportPage) -> ReportPage | None:
    """Report the result of the form. None when it is done; otherwise the page to show."""
    form = FormState(request.field("form"), request.form)
    if report.code_device is None or not report.is_open:
        status = 410 if report.status == 200 else report.status
        return replace(report, status=status, sentence=report.sentence or CODE_WRONG, form_state=form)
    try:
        with_device = replace(request, device=report.code_device)
        form_actions.run_action(with_device, REPORT_RESULT, report.night.id)
    except Refusal as refusal:
        fault = CODE_FORBIDDEN if isinstance(refusal, NotAllowed) else report.night.refusal_text(refusal)
        form = replace(form, fault=fault, needs_new_key=needs_new_key(refusal))
        return replace(report, status=status_for(refusal), form_state=form)
    return None


def create_first_admin(request: PageRequest, password_hash: str) -> int:
    """Create the admin of a new server; returns the user id. Raises Invalid and Conflict."""
    with request.site.store.write() as transaction:
        return users_writes.create_first_admin(
            transaction.connection,
            code=request.field("code"),
            name=request.field("name"),
            email=request.field("email"),
            password_hash=password_hash,
            now=request.site.now(),
            source=request.client_address,
        )


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
    fault = passwords.fault(password, (request.field("name"), request.field("email"), request.host))
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
        user_id = create_first_admin(request, password_hash)
    except Invalid as refusal:
        return views.render_first_form(request, 422, refusal.text())
    except FirstCodeWrong as refusal:
        refusal_counts.count_refusal(request, "first-code-refused")
        return views.render_first_form(request, 403, refusal.text())
    except Conflict:
        return views.render_first_form(request, 409, ALREADY_SET_UP)
    return sessions.start_session(request, user_id, "/account/site?said=first")


# Users and series


@page("GET", "/users/{user_id}", for_guests=True)
def profile(request: PageRequest) -> Response:
    return views.render_profile(request, request.path_id("user_id"))


@page("GET", "/users/{user_id}/rating.svg", for_guests=True)
def rating_chart(request: PageRequest) -> Response:
    if not views.shows_profiles_to(request):
        return not_found_page()
    with request.site.store.read() as db:
        bundle = ratings_reads.rating_bundle(db, "users", request.path_id("user_id"), None)
    picture = chart.render_chart(bundle.rating, bundle.rating_history)
    # The picture has its own styles and may load nothing.
    nothing_else = "base-uri 'none'; frame-ancestors 'none'"
    headers = {"content-security-policy": f"default-src 'none'; style-src 'unsafe-inline'; {nothing_else}"}
    return Response(picture, media_type=SVG, headers=headers)


@page("GET", "/users/{user_id}/calendar.ics", for_guests=True)
def organizer_calendar(request: PageRequest) -> Response:
    user_id = request.path_id("user_id")
    with request.site.store.read() as db:
        name = users.find_user(db, user_id, None).name
        query = listing.TournamentQuery(owner=user_id)
        newest = listing.dated_tournaments(db, query, limit=CALENDAR_TOURNAMENTS_MAX)
    content = calendars.calendar_file(f"Tournaments of {name}", newest, request.base_url)
    headers = {
        "content-disposition": f'inline; filename="silverball-{user_id}.ics"',
        "content-type": calendars.CONTENT_TYPE,
    }
    return Response(content, headers=headers)


@page("GET", "/s/{series_id}", for_guests=True)
def series_page(request: PageRequest) -> Response:
    return views.render_series(request, request.path_id("series_id"))


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


@page("POST", PLAYER + "/report", for_guests=True, rerender=_rerender_player, opens=PLAYER)
def report_for_player(request: PageRequest) -> Response:
    """Report a game of the player with the code."""
    report = _load_for_player(request)
    refused = submit_report(request, report)
    if refused is None:
        return redirect(report_page.page_path(report, request.path.removesuffix("/report")))
    return _render_player(request, refused)


def _load_for_player(request: PageRequest) -> ReportPage:
    tournament_id, player_id = request.path_id("tournament_id"), request.path_id("player_id")
    return report_page.load_report_page(request, tournament_id, player_id=player_id)


def _render_player(request: PageRequest, report: ReportPage | None) -> Response:
    tournament_id, player_id = request.path_id("tournament_id"), request.path_id("player_id")
    return views.render_player(request, tournament_id, player_id, report)


# A game, for readers of a printed code


@page("GET", GAME, for_guests=True)
def game_page(request: PageRequest) -> Response:
    return _render_game(request, _load_for_game(request))


def _rerender_game(request: PageRequest, _sentence: str) -> Response:
    return _render_game(request, report_page.with_unsent_form(request, _load_for_game(request)))


@page("POST", GAME + "/report", for_guests=True, rerender=_rerender_game, opens=GAME)
def report_for_game(request: PageRequest) -> Response:
    """Report the game with the code."""
    report = _load_for_game(request)
    refused = submit_report(request, report)
    if refused is None:
        return redirect(report_page.page_path(report, request.path.removesuffix("/report")))
    return _render_game(request, refused)


def _load_for_game(request: PageRequest) -> ReportPage:
    tournament_id, game_id = request.path_id("tournament_id"), request.path_id("game_id")
    return report_page.load_report_page(request, tournament_id, game_id=game_id)


def _render_game(request: PageRequest, report: ReportPage) -> Response:
    tournament_id, game_id = request.path_id("tournament_id"), request.path_id("game_id")
    return views.render_game(request, tournament_id, game_id, report)
