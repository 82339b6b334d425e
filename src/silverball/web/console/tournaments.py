"""The tournaments of whoever is signed in, and a new one."""

from collections.abc import Mapping
from secrets import SystemRandom
from typing import Any

from starlette.responses import Response

from silverball.kit.errors import Conflict, Invalid, NotAllowed, Refusal
from silverball.rules.registry import FORMATS
from silverball.service.tournaments import bodies, configuration
from silverball.service.tournaments.reads import staff, tournaments
from silverball.service.tournaments.writes import tournaments as tournament_writes
from silverball.web.console import dispatch, draw_preview, form_bodies, settings_form
from silverball.web.console.actions import FormAction
from silverball.web.error_pages import needs_new_key
from silverball.web.forms import FormData, FormState
from silverball.web.page_request import PageRequest, page, redirect

LISTED_MAX = 50
FORM = "new"
MODULES = ("console.js",)
TEXTS = ("name", "description", "startLocal", "timezone")


def new_tournament_body(form: FormData) -> Mapping[str, Any]:
    """The body of a new tournament."""
    type_ = form.value("type")
    given: dict[str, Any] = {"type": type_, **form_bodies.text_fields(form, *TEXTS)}
    if form.value("test"):
        given["test"] = True
    return {**given, **settings_form.submitted_settings(type_, form)} if type_ in FORMATS else given


CREATE_TOURNAMENT = FormAction(
    # The write itself says who may, and whom to ask.
    ability="read",
    write=lambda call: tournament_writes.create_tournament(call, SystemRandom()),
    body=bodies.NewTournament,
    build_body=new_tournament_body,
    redirect_to=lambda made: f"/t/{made.tournament_id}/run",
)


@page("GET", "/run")
def own_tournaments(visit: PageRequest) -> Response:
    query = tournaments.TournamentQuery(owner=visit.account.user_id, limit=LISTED_MAX)
    with visit.site.store.read() as db:
        own = tournaments.tournaments_page(db, query, visit.caller)
        keeping = staff.scorekeeping_tournaments(db, visit.account.user_id, visit.caller)
    return visit.render(
        "run.html",
        own=own.rows,
        total=own.total,
        keeping=keeping,
        may_create=visit.caller.role in tournament_writes.CREATOR_ROLES,
        title_of=settings_form.format_title,
    )


@page("GET", "/run/new")
def new_form(visit: PageRequest) -> Response:
    type_ = visit.query.get("type", "")
    if type_ not in FORMATS:
        return visit.render("formats.html", formats=settings_form.TITLES)
    return _render_form(visit, type_, FormState())


def _rerender(visit: PageRequest, sentence: str) -> Response:
    return _render_form(visit, visit.field("type"), FormState(FORM, visit.form, sentence), 419)


@page("POST", "/run/new", rerender=_rerender)
def create(visit: PageRequest) -> Response:
    type_ = visit.field("type")
    if type_ not in FORMATS:
        return redirect("/run/new")
    if visit.field("preview"):
        return _render_preview(visit, type_)
    try:
        return redirect(dispatch.run_action_for_path(visit, CREATE_TOURNAMENT, None))
    except Refusal as refused:
        status = {Invalid: 422, NotAllowed: 403, Conflict: 409}.get(type(refused), 400)
        is_new = needs_new_key(refused)
        typed = FormState(FORM, visit.form, _refusal_text(refused), is_new)
        return _render_form(visit, type_, typed, status)


def _render_preview(visit: PageRequest, type_: str) -> Response:
    """The form as it is, and what its settings would draw for so many players."""
    wanted = settings_form.parse_number(visit.field("sample"))
    players = wanted if isinstance(wanted, int) else draw_preview.PLAYERS_DEFAULT
    players = min(max(players, draw_preview.PLAYERS_MIN), draw_preview.PLAYERS_MAX)
    try:
        settings = configuration.build_settings(type_, settings_form.submitted_settings(type_, visit.form))
        drawn = draw_preview.preview_first_draw(type_, settings, players, visit.site.now())
    except Refusal as refused:
        return _render_form(visit, type_, FormState(FORM, visit.form, _refusal_text(refused)), 422)
    return _render_form(visit, type_, FormState(FORM, visit.form), drawn=drawn, players=players)


def _refusal_text(refused: Refusal) -> str:
    if isinstance(refused, Invalid):
        return " ".join(sentence for listed in refused.errors.values() for sentence in listed)
    return refused.message


def _render_form(
    visit: PageRequest,
    type_: str,
    typed: FormState,
    status: int = 200,
    *,
    drawn: draw_preview.DrawPreview | None = None,
    players: int = draw_preview.PLAYERS_DEFAULT,
) -> Response:
    if type_ not in FORMATS:
        return redirect("/run/new")
    return visit.render(
        "new.html",
        status,
        modules=MODULES,
        type=type_,
        title=settings_form.format_title(type_),
        fields=settings_form.setting_fields(type_),
        typed=typed,
        form=FORM,
        stood="",
        preview=drawn,
        players=players,
        limits=draw_preview,
    )
