"""The tournaments of whoever is signed in, and a new one."""

from collections.abc import Mapping
from secrets import SystemRandom
from typing import Any

from starlette.responses import Response

from silverball.kit.errors import Conflict, Invalid, NotAllowed, Refusal
from silverball.rules.registry import FORMATS
from silverball.service.tournaments import bodies, configuring
from silverball.service.tournaments import reads as tournaments
from silverball.service.tournaments import writes as tournament_writes
from silverball.service.tournaments.reads import staff
from silverball.web.console import asked, doing, preview, setup
from silverball.web.console.deeds import Deed
from silverball.web.forms import Form, Typed
from silverball.web.refused import needs_new_key
from silverball.web.visit import Visit, page, see

LISTED_MAX = 50
FORM = "new"
MODULES = ("console.js",)
TEXTS = ("name", "description", "startLocal", "timezone")


def said(form: Form) -> Mapping[str, Any]:
    """The body of a new tournament."""
    type_ = form.one("type")
    given: dict[str, Any] = {"type": type_, **asked.texts(form, *TEXTS)}
    if form.one("test"):
        given["test"] = True
    return {**given, **setup.settings_in(type_, form)} if type_ in FORMATS else given


NEW = Deed(
    # The write itself says who may, and whom to ask.
    ability="read",
    write=lambda call: tournament_writes.create(call, SystemRandom()),
    body=bodies.NewTournament,
    said=said,
    to=lambda made: f"/t/{made.tournament_id}/run",
)


@page("GET", "/run")
def own_tournaments(visit: Visit) -> Response:
    query = tournaments.TournamentQuery(owner=visit.who.user_id, limit=LISTED_MAX)
    with visit.site.store.read() as db:
        own = tournaments.page(db, query, visit.caller)
        keeping = staff.keeping(db, visit.who.user_id, visit.caller)
    return visit.shown(
        "run.html",
        own=own.rows,
        total=own.total,
        keeping=keeping,
        may_create=visit.caller.role in tournament_writes.CREATORS,
        title_of=setup.title_of,
    )


@page("GET", "/run/new")
def new_form(visit: Visit) -> Response:
    type_ = visit.query.get("type", "")
    if type_ not in FORMATS:
        return visit.shown("formats.html", formats=setup.TITLES)
    return _form(visit, type_, Typed())


def _again(visit: Visit, sentence: str) -> Response:
    return _form(visit, visit.field("type"), Typed(FORM, visit.form, sentence), 419)


@page("POST", "/run/new", again=_again)
def create(visit: Visit) -> Response:
    type_ = visit.field("type")
    if type_ not in FORMATS:
        return see("/run/new")
    if visit.field("preview"):
        return _previewed(visit, type_)
    try:
        return see(doing.done_once(visit, NEW, None))
    except Refusal as refused:
        status = {Invalid: 422, NotAllowed: 403, Conflict: 409}.get(type(refused), 400)
        is_new = needs_new_key(refused)
        typed = Typed(FORM, visit.form, _sentences(refused), is_new)
        return _form(visit, type_, typed, status)


def _previewed(visit: Visit, type_: str) -> Response:
    """The form as it is, and what its settings would draw for so many players."""
    wanted = setup.number(visit.field("sample"))
    players = wanted if isinstance(wanted, int) else preview.PLAYERS_USUAL
    players = min(max(players, preview.PLAYERS_MIN), preview.PLAYERS_MAX)
    try:
        settings = configuring.settings_of(type_, setup.settings_in(type_, visit.form))
        drawn = preview.of_thought(type_, settings, players, visit.site.now())
    except Refusal as refused:
        return _form(visit, type_, Typed(FORM, visit.form, _sentences(refused)), 422)
    return _form(visit, type_, Typed(FORM, visit.form), drawn=drawn, players=players)


def _sentences(refused: Refusal) -> str:
    if isinstance(refused, Invalid):
        return " ".join(sentence for listed in refused.errors.values() for sentence in listed)
    return refused.message


def _form(
    visit: Visit,
    type_: str,
    typed: Typed,
    status: int = 200,
    *,
    drawn: preview.Preview | None = None,
    players: int = preview.PLAYERS_USUAL,
) -> Response:
    if type_ not in FORMATS:
        return see("/run/new")
    return visit.shown(
        "new.html",
        status,
        modules=MODULES,
        type=type_,
        title=setup.title_of(type_),
        fields=setup.fields_of(type_),
        typed=typed,
        form=FORM,
        stood="",
        preview=drawn,
        players=players,
        limits=preview,
    )
