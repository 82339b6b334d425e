"""The console of one tournament: pages made of named parts, and one address for everything that is done."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.responses import Response

from silverball.kit.errors import Conflict, Invalid, NotAllowed, NotFound, Refusal
from silverball.kit.http.endpoints import AbilityMissing
from silverball.kit.http.router import parse_path_id
from silverball.rules.model.tournament import SinglePlayerGame
from silverball.service.arenas import reads as arena_reads
from silverball.service.banks import reads as bank_reads
from silverball.service.locations import reads as location_reads
from silverball.service.machines import reads as machine_reads
from silverball.service.players import reads as player_reads
from silverball.service.series.reads import series as series_reads
from silverball.service.tournaments.reads import tournaments as tournament_reads
from silverball.web import site
from silverball.web.console import details, devices, dispatch, draw_preview, settings_form, webhook_forms
from silverball.web.console import night as nights
from silverball.web.console.actions import ACTIONS
from silverball.web.console.night import TournamentNight
from silverball.web.error_pages import needs_new_key, status_for
from silverball.web.forms import PAGE, FormState
from silverball.web.page_request import PageRequest, not_found_page, page, redirect
from silverball.wire.machines import OpdbEntry

FIELDS_MAX = 1200
WORDS_MAX = 100
FORMER_MAX = 50
# A page with a list of places for each of more players is larger than a phone wants to load.
ORDER_MAX = 16
# Without a limit of its own a hole is offered so many strokes.
STROKES_MAX = 10
MODULES = ("console.js",)
# What a page of the console may be asked for.
QUERY_FIELDS = ("round", "q", "former", "machine", "game", "player", "attempt")
GONE = "What this form was about is not there any more. This is how it stands now."
NOT_YOURS = "You may not do this here. The organizer of the tournament can."
# Refusals that say no more than that.
GENERIC_REFUSALS = frozenset({AbilityMissing.sentence, NotAllowed().message})
ContextLoader = Callable[[PageRequest, TournamentNight], dict[str, Any]]


@dataclass(frozen=True)
class ConsoleView:
    """One page of the console: its title, its parts in order, and what these need beside the night."""

    title: str
    parts: tuple[str, ...]
    load_context: ContextLoader
    for_organizer: bool = True
    # Reached from a list only.
    is_hidden: bool = False


def _tonight_context(visit: PageRequest, night: TournamentNight) -> dict[str, Any]:
    if night.tournament.status == "planned" and night.is_organizer:
        return {
            **_book_context(visit, night),
            **_machines_context(visit, night),
            "preview": draw_preview.preview_next_draw(visit, night),
        }
    chosen = visit.query.get("round", "")
    rounds = night.tournament.rounds_in_order
    shown = next((one for one in rounds if str(one.round_id) == chosen), None)
    if shown is None:
        shown = next((one for one in rounds if one.status != "completed"), rounds[-1] if rounds else None)
    return {"hole": shown, "strokes_max": _strokes_max(night), "idle": _idle_player_ids(night)}


def _strokes_max(night: TournamentNight) -> int:
    return getattr(night.tournament.settings, "golf_stroke_limit", 0) or STROKES_MAX


def _idle_player_ids(night: TournamentNight) -> list[int]:
    """Active players who neither play nor wait."""
    busy = {one for game in night.open_games for one in game.player_ids}
    busy |= {spot.player_id for spot in night.tournament.waiting_spots}
    return [one.player_id for one in night.active_entrants if one.player_id not in busy]


def _game_context(visit: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """The game, who could be swapped into it, and who could be added."""
    game = next((one for one in night.tournament.games if str(one.game_id) == visit.query.get("game")), None)
    if game is None:
        return {"game": None}
    elsewhere = [one for other in night.open_games if other != game for one in other.player_ids]
    free = [one for one in _idle_player_ids(night) if one not in game.player_ids]
    return {"game": game, "others": sorted(elsewhere, key=night.player_name), "free": free}


def _attempt_context(visit: PageRequest, night: TournamentNight) -> dict[str, Any]:
    wanted = visit.query.get("attempt")
    found = night.tournament.single_player_games
    return {"attempt": next((one for one in found if str(one.single_player_game_id) == wanted), None)}


def _player_context(visit: PageRequest, night: TournamentNight) -> dict[str, Any]:
    wanted = visit.query.get("player")
    return {"entrant": next((one for one in night.roster if str(one.player_id) == wanted), None)}


def _book_context(visit: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """Players of the book that a search or a former tournament offers."""
    words = visit.query.get("q", "").replace("\x00", "").strip()[:WORDS_MAX]
    former_id = visit.query.get("former", "")
    organizer_id = night.tournament.details["organizer_id"]
    query = tournament_reads.TournamentQuery(owner=organizer_id, limit=FORMER_MAX)
    with visit.site.store.read() as db:
        former = [
            one
            for one in tournament_reads.tournaments_page(db, query, visit.caller).rows
            if one.tournament_id != night.id
        ]
        offered: tuple[Any, ...] = ()
        if words:
            offered = player_reads.search_players(db, organizer_id, words, visit.caller)
        elif any(str(one.tournament_id) == former_id for one in former):
            listed = player_reads.entrants(db, int(former_id), visit.caller)
            offered = tuple(one for one in listed if one.organizer_id == organizer_id)
    known = night.tournament.entrant_by_id
    return {
        "words": words,
        "former": former,
        "former_id": former_id,
        "offered": [one for one in offered if one.player_id not in known],
        "was_searched": bool(words or former_id),
    }


def _machines_context(visit: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """Arenas of the organizer's book that are not in the tournament, and machines that a search finds."""
    words = visit.query.get("machine", "").replace("\x00", "").strip()[:WORDS_MAX]
    known = {one.arena_id for one in night.tournament.lineup}
    with visit.site.store.read() as db:
        listed = arena_reads.search_arenas(db, night.tournament.details["organizer_id"], words)
        found = machine_reads.search_machines(db, words) if words else []
    return {
        "machine_words": words,
        "arenas_offered": [one for one in listed if one.arena_id not in known],
        "machines_found": found,
    }


def _arenas_context(visit: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """Those, and the banks."""
    with visit.site.store.read() as db:
        here = bank_reads.banks_in_tournament(db, night.id)
        query = bank_reads.BankQuery(status="active")
        owned = bank_reads.owned_by(db, night.tournament.details["organizer_id"], query).rows
    known = {one.bank_id for one in here}
    offered = [(one.bank_id, one.name) for one in owned if one.bank_id not in known]
    return {**_machines_context(visit, night), "banks": here, "banks_offered": offered}


def _draw_context(visit: PageRequest, night: TournamentNight) -> dict[str, Any]:
    return {"preview": draw_preview.preview_next_draw(visit, night)}


def _settings_context(visit: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """The settings, and what can be chosen beside them: locations, series, other tournaments."""
    t, organizer_id = night.tournament, night.tournament.details["organizer_id"]
    query = tournament_reads.TournamentQuery(owner=organizer_id, limit=FORMER_MAX)
    with visit.site.store.read() as db:
        places = location_reads.location_names(db, organizer_id)
        together = series_reads.series_names(db, organizer_id)
        others = tournament_reads.tournaments_page(db, query, visit.caller).rows
    linked = {one["linked_tournament_id"] for one in t.details["links"]}
    return {
        "fields": settings_form.setting_fields(t.type, t.settings, t.details["points_map_custom"]),
        "places": _with_current(places, t.details["location_id"]),
        "together": _with_current(together, t.details["series_id"]),
        "linkable": [
            (one.tournament_id, one.name) for one in others if one.tournament_id not in {night.id, *linked}
        ],
        "link_kinds": details.LINK_TYPES,
        "registration": details.registration_values(t.details),
        "flags": details.REGISTRATION_FLAGS,
        "prices": details.price_values(t.details),
        **devices.devices_context(visit, night.id),
    }


def _with_current(choices: list[tuple[int, str]], now: int | None) -> list[tuple[int, str]]:
    """What is chosen can be left as it is, even where it would not be offered any more."""
    is_offered = now is None or any(now == one for one, _ in choices)
    return choices if is_offered or now is None else [*choices, (now, f"As it is (number {now})")]


def _standings_context(_visit: PageRequest, _night: TournamentNight) -> dict[str, Any]:
    return {"formats": settings_form.TITLES, "order_max": ORDER_MAX}


def _no_context(_visit: PageRequest, _night: TournamentNight) -> dict[str, Any]:
    return {}


# Each part is a template in console/; `?part=NAME` answers with that part alone.
VIEWS: Mapping[str, ConsoleView] = {
    "": ConsoleView("Tonight", ("status", "undo", "prepare", "play"), _tonight_context, for_organizer=False),
    "draw": ConsoleView("Next draw", ("status", "draw"), _draw_context, is_hidden=True),
    "results": ConsoleView("Results", ("status", "undo", "results"), _no_context, for_organizer=False),
    "players": ConsoleView("Players", ("status", "undo", "roster", "people"), _book_context),
    "arenas": ConsoleView("Machines", ("status", "undo", "lineup", "machines", "banks"), _arenas_context),
    "standings": ConsoleView(
        "Standings", ("status", "standings", "ties", "finish"), _standings_context, for_organizer=False
    ),
    "settings": ConsoleView(
        "Settings",
        ("status", "settings", "about", "links", "prices", "registration", "keepers", "remove"),
        _settings_context,
    ),
    "game": ConsoleView(
        "A game", ("status", "undo", "game"), _game_context, for_organizer=False, is_hidden=True
    ),
    "attempt": ConsoleView(
        "A game", ("status", "undo", "attempt"), _attempt_context, for_organizer=False, is_hidden=True
    ),
    "player": ConsoleView("A player", ("status", "undo", "player"), _player_context, is_hidden=True),
    "webhooks": ConsoleView("Notifications", ("status", "webhooks"), webhook_forms.webhooks_context),
    "journal": ConsoleView("What was done", ("status", "undo", "journal"), _no_context),
}


@page("GET", "/t/{tournament_id}/run", for_devices=True)
def tonight(visit: PageRequest) -> Response:
    return _view_page(visit, "")


@page("GET", "/t/{tournament_id}/run/{view}", for_devices=True)
def other_view(visit: PageRequest) -> Response:
    return _view_page(visit, visit.ids["view"])


def _view_page(visit: PageRequest, name: str) -> Response:
    if name not in VIEWS or (name == "" and visit.path.endswith("/")):
        return not_found_page()
    return _render_view(visit, name)


def _rerender(visit: PageRequest, sentence: str) -> Response:
    """The page that the form stood on, with the form as it was."""
    return _render_refusal(visit, Conflict(sentence), 419)


def _render_refusal(visit: PageRequest, refused: Refusal, status: int) -> Response:
    stood = visit.field(PAGE) if dispatch.CONSOLE_PATH.fullmatch(visit.field(PAGE)) else ""
    path, _, asked = stood.partition("?")
    query = dict(parse_qsl(asked))
    try:
        night = nights.load_night(visit.site, _tournament_id(visit), visit.caller)
    except (NotAllowed, Conflict) as closed:
        return _no_access_page(closed)
    is_new = needs_new_key(refused)
    typed = FormState(visit.field("form"), visit.form, _refusal_text(refused, night), is_new)
    then = replace(visit, query=query)
    return _render_view(then, path.removeprefix("/"), status, typed, night)


def _no_access_page(refused: Refusal) -> Response:
    return site.message_page(403, "This console is not open to you", refused.message)


def _refusal_text(refused: Refusal, night: TournamentNight) -> str:
    if isinstance(refused, NotFound):
        return GONE
    if isinstance(refused, NotAllowed) and refused.message in GENERIC_REFUSALS:
        return NOT_YOURS
    if isinstance(refused, Invalid):
        listed = [sentence for sentences in refused.errors.values() for sentence in sentences]
        return night.with_names(" ".join(listed))
    return night.with_names(refused.message)


@page("POST", "/t/{tournament_id}/run/do/{deed}", for_devices=True, fields_max=FIELDS_MAX, rerender=_rerender)
def run_form(visit: PageRequest) -> Response:
    deed = ACTIONS.get(visit.ids["deed"])
    if deed is None:
        return not_found_page()
    try:
        done = dispatch.run_action_once(visit, deed, _tournament_id(visit))
        return devices.render_link(visit, done) if done.secret else redirect(done.to)
    except Refusal as refused:
        if isinstance(refused, NotFound) and "Tournament]" in refused.message:
            raise
        status = status_for(refused)
        return _render_refusal(visit, refused, status)


@page("GET", "/t/{tournament_id}/run/do/{deed}", for_devices=True)
def action_opened(visit: PageRequest) -> Response:
    """Reloading or bookmarking what a form answered is not an error."""
    return redirect(f"/t/{_tournament_id(visit)}/run")


def _tournament_id(visit: PageRequest) -> int:
    return parse_path_id("tournament_id", visit.ids["tournament_id"])


def _render_view(
    visit: PageRequest,
    name: str,
    status: int = 200,
    typed: FormState | None = None,
    night: TournamentNight | None = None,
) -> Response:
    view = VIEWS.get(name, VIEWS[""])
    try:
        night = night or nights.load_night(visit.site, _tournament_id(visit), visit.caller)
    except (NotAllowed, Conflict) as closed:
        return _no_access_page(closed)
    if view.for_organizer and not night.is_organizer:
        return site.message_page(403, "This page is the organizer's", NOT_YOURS)
    part = visit.query.get("part", "")
    if part and part not in view.parts:
        return not_found_page()
    parts = (part,) if part else view.parts
    answer = visit.render(
        "console/part.html" if part else "console/page.html",
        status,
        modules=MODULES,
        night=night,
        t=night.tournament,
        view=name,
        view_title=view.title,
        views={key: one for key, one in VIEWS.items() if _is_listed(one, night)},
        parts=parts,
        typed=typed or FormState(),
        at=f"/t/{night.id}/run",
        stood=_view_path(visit, name),
        key=site.feed_app_key(visit.site.settings),
        format_title=settings_form.format_title(night.tournament.type),
        names=night.choices,
        people=lambda ids: [(one, night.player_name(one)) for one in ids],
        told=_result_text,
        told_machine=_machine_text,
        **view.load_context(visit, night),
    )
    answer.headers["content-security-policy"] = site.feed_policy(visit.site.base_url)
    return answer


def _is_listed(view: ConsoleView, night: TournamentNight) -> bool:
    return not view.is_hidden and (night.is_organizer or not view.for_organizer)


def _result_text(one: SinglePlayerGame) -> str:
    """A result in numbers."""
    if one.rolls:
        return " ".join(map(str, one.rolls))
    if one.score is not None:
        return f"{one.score:,}"
    return "safe" if one.is_advanced else "" if one.points is None else f"{one.points:.0f}"


def _machine_text(one: OpdbEntry) -> str:
    """A machine by name, maker and year."""
    maker = one.manufacturer.name if one.manufacturer else ""
    about = ", ".join(str(part) for part in (maker, one.year) if part)
    return f"{one.name} ({about})" if about else one.name


def _view_path(visit: PageRequest, name: str) -> str:
    """The page as a form on it names it, so that it comes back to the same choice."""
    chosen = {key: visit.query[key] for key in QUERY_FIELDS if visit.query.get(key)}
    return (f"/{name}" if name else "") + (f"?{urlencode(chosen)}" if chosen else "")
