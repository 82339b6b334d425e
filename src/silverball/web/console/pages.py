"""Pages of the console: tournaments of an account, the console of one, and its forms."""

import re
from typing import Any
from urllib.parse import parse_qsl

from starlette.responses import Response

from silverball.kit.errors import Conflict, Invalid, NotAllowed, NotFound, Refusal
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import TOURNAMENT, AbilityMissing
from silverball.kit.values import replace
from silverball.rules.registry import FORMATS
from silverball.service.tournaments import configuration
from silverball.service.webhooks import writes as webhooks_writes
from silverball.service.webhooks.writes import WEBHOOK
from silverball.web import form_actions, forms, people_import, score_fields, site, tournament_night
from silverball.web.console import actions, conflicts, crew, draw_preview, new_tournament, views, ways
from silverball.web.console import finals as console_finals
from silverball.web.console import settings as console_settings
from silverball.web.forms import PAGE, FormData, FormState
from silverball.web.page_request import PageRequest, not_found_page, page, redirect
from silverball.web.site import needs_new_key, status_for
from silverball.web.tournament_night import TournamentNight

FIELDS_MAX = 1200
CONSOLE = "/t/{tournament_id}/run"
FORM = CONSOLE + "/do/{action}"
GONE = "What this form was about is not there any more. This is how it stands now."
LISTED_NAME = re.compile(r"names\.(\d{1,6})", re.ASCII)
NAME_SHOWN_MAX = 40
NAME_RULE = "A name has one line of at most 100 characters, all of which can be seen. Nobody was added."
SECRET = CONSOLE + "/webhooks/{webhook_id}/secret"


# Tournaments of the account, and a new one


@page("GET", "/run")
def own_tournaments(request: PageRequest) -> Response:
    return new_tournament.render_own_tournaments(request)


@page("GET", "/run/new")
def new_form(request: PageRequest) -> Response:
    past = new_tournament.load_past_night(request, request.query.get("like", ""))
    type_ = past.tournament.type if past else request.query.get("type", "")
    if type_ not in FORMATS:
        return new_tournament.render_formats(request)
    return new_tournament.render_new_form(request, type_, FormState(), past=past)


def _render_new_again(
    request: PageRequest, type_: str, form: FormState, status: int, **context: Any
) -> Response:
    """The form of a new tournament as it was sent."""
    past = new_tournament.load_past_night(request, request.field("like"))
    if past is not None and past.tournament.type != type_:
        past = None
    return new_tournament.render_new_form(request, type_, form, status, past=past, **context)


def _new_form_state(request: PageRequest, fault: str = "", *, needs_new_key: bool = False) -> FormState:
    return FormState(new_tournament.NEW_FORM, request.form, fault, needs_new_key)


def _rerender_new(request: PageRequest, sentence: str) -> Response:
    type_ = request.field("type")
    if type_ not in FORMATS:
        return redirect("/run/new")
    return _render_new_again(request, type_, _new_form_state(request, sentence), 419)


@page("POST", "/run/new", fields_max=FIELDS_MAX, rerender=_rerender_new)
def create_tournament(request: PageRequest) -> Response:
    type_ = request.field("type")
    if type_ not in FORMATS:
        return redirect("/run/new")
    if request.field("preview"):
        return _preview_new(request, type_)
    try:
        return redirect(form_actions.run_action(request, actions.CREATE_TOURNAMENT, None).to)
    except Refusal as refusal:
        form = _new_form_state(request, site.refusal_text(refusal), needs_new_key=needs_new_key(refusal))
        return _render_new_again(request, type_, form, status_for(refusal))


def _preview_new(request: PageRequest, type_: str) -> Response:
    """The form as it was sent, with the first draw for a number of sample players."""
    wanted = forms.parse_number(request.field("sample"))
    players = wanted if isinstance(wanted, int) else draw_preview.PLAYERS_DEFAULT
    players = min(max(players, draw_preview.PLAYERS_MIN), draw_preview.PLAYERS_MAX)
    try:
        settings = configuration.build_settings(
            type_, console_settings.submitted_settings(type_, request.form)
        )
        preview = draw_preview.preview_first_draw(type_, settings, players, request.site.now())
        finals = console_finals.preview_finals(console_finals.finals_of_new_night(request.form), players)
    except Refusal as refusal:
        return _render_new_again(request, type_, _new_form_state(request, site.refusal_text(refusal)), 422)
    form = _new_form_state(request)
    return _render_new_again(request, type_, form, 200, preview=preview, finals=finals, players=players)


# The console of one tournament


@page("GET", CONSOLE, for_devices=True)
def tonight(request: PageRequest) -> Response:
    return _view_page(request, "")


@page("GET", CONSOLE + "/{view}", for_devices=True)
def other_view(request: PageRequest) -> Response:
    return _view_page(request, request.ids["view"])


def _view_page(request: PageRequest, name: str) -> Response:
    if name not in views.VIEWS or (name == "" and request.path.endswith("/")):
        return not_found_page()
    try:
        night = _load_night(request)
    except (NotAllowed, Conflict) as refusal:
        return views.render_no_access(refusal)
    return views.render_view(request, name, night)


def _load_night(request: PageRequest) -> TournamentNight:
    return tournament_night.load_night(request.site, request.path_id(TOURNAMENT), request.caller)


def _rerender(request: PageRequest, sentence: str) -> Response:
    """The page that the form was on, with the form as it was sent."""
    try:
        night = _load_night(request)
    except (NotAllowed, Conflict) as closed:
        return views.render_no_access(closed)
    form = FormState(request.field("form"), request.form, sentence)
    return _render_form_page(request, night, form, 419)


@page("POST", FORM, for_devices=True, fields_max=FIELDS_MAX, rerender=_rerender, opens=CONSOLE)
def run_form(request: PageRequest) -> Response:
    action = actions.ACTIONS.get(request.ids["action"])
    if action is None:
        return not_found_page()
    if request.field(people_import.MAY_BE_LIST):
        shown = people_import.look_first(request, request.path_id(TOURNAMENT))
        if shown is not None:
            return shown
    try:
        result = form_actions.run_action(request, action, request.path_id(TOURNAMENT))
    except Refusal as refusal:
        if isinstance(refusal, NotFound) and refusal.facts["model"] == "Tournament":
            raise
        return _render_refusal(request, refusal)
    if not result.secret:
        return redirect(result.to)
    if request.ids["action"] == "director-link":
        return crew.render_director_link(request, result)
    return crew.render_device_link(request, result)


def _render_refusal(request: PageRequest, refusal: Refusal) -> Response:
    try:
        night = _load_night(request)
    except (NotAllowed, Conflict) as closed:
        return views.render_no_access(closed)
    sentence = _refusal_text(refusal, night, request.form)
    standing = conflicts.standing_result(refusal, night, request.form)
    entered = request.form
    if isinstance(refusal, score_fields.ScoreShortened):
        entered = score_fields.with_offered(entered, refusal)
    way = ways.find_way(refusal, night, request.form)
    form = FormState(request.field("form"), entered, sentence, needs_new_key(refusal), standing, way)
    return _render_form_page(request, night, form, status_for(refusal))


def _render_form_page(request: PageRequest, night: TournamentNight, form: FormState, status: int) -> Response:
    """The page that the form was on, with its choices and the form as it was sent."""
    page_path = request.field(PAGE) if form_actions.CONSOLE_PATH.fullmatch(request.field(PAGE)) else ""
    path, _, query = page_path.partition("?")
    request = replace(request, query=dict(parse_qsl(query)))
    return views.render_view(request, path.removeprefix("/"), night, status=status, form=form)


def _refusal_text(refusal: Refusal, night: TournamentNight, form: FormData) -> str:
    if isinstance(refusal, NotFound):
        return GONE
    if type(refusal) in {NotAllowed, AbilityMissing}:
        return views.NOT_YOURS
    if isinstance(refusal, Invalid):
        return _name_fault(refusal, form) or night.refusal_text(refusal)
    return night.refusal_text(refusal)


def _name_fault(refusal: Invalid, form: FormData) -> str:
    """The sentence about the first faulty name of a pasted list; empty for other faults."""
    faulty = next(filter(None, (LISTED_NAME.fullmatch(name) for name in refusal.errors)), None)
    names = list(forms.nonempty_lines(form.value("names")))
    if faulty is None or int(faulty[1]) >= len(names):
        return ""
    number = int(faulty[1]) + 1
    shown = "".join(letter if letter.isprintable() else "?" for letter in names[number - 1][:NAME_SHOWN_MAX])
    return f"Name {number} of the list, “{shown}”, cannot be stored. {NAME_RULE}"


# The secret of a webhook, which is shown once and stored nowhere


@page("POST", SECRET, opens=CONSOLE + "/webhooks")
def replace_secret(request: PageRequest) -> Response:
    ids = {name: request.path_id(name) for name in (TOURNAMENT, WEBHOOK)}
    try:
        if not request.caller.may("manage"):
            raise NotAllowed
        with request.site.store.write(ids[TOURNAMENT], quiet=True) as transaction:
            call = form_actions.build_call(request, ids, Body(), transaction=transaction)
            _, secret = webhooks_writes.replace_secret(call, request.site.dice)
    except NotAllowed:
        sentence = "Only the organizer can see a new secret."
        return site.message_page(403, "This page is the organizer's", sentence)
    return_path = f"/t/{ids[TOURNAMENT]}/run/webhooks"
    return request.render("console/secret.html", 201, secret=secret, return_path=return_path)
