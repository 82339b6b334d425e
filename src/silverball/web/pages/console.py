"""The console of one tournament: pages made of named parts, and one address for everything that is done."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.responses import Response

from silverball.kit.api import NO_ABILITY
from silverball.kit.errors import Conflict, Invalid, NotAllowed, NotFound, Refusal
from silverball.kit.routing import path_id
from silverball.rules.tournament import SinglePlayerGame
from silverball.service.arenas import reads as arena_reads
from silverball.service.banks import reads as bank_reads
from silverball.service.locations import reads as location_reads
from silverball.service.machines import reads as machine_reads
from silverball.service.players import reads as player_reads
from silverball.service.series import reads as series_reads
from silverball.service.tournaments import reads as tournament_reads
from silverball.web import site
from silverball.web.console import doing, notifying, particulars, preview, setup
from silverball.web.console import night as nights
from silverball.web.console.deeds import DEEDS
from silverball.web.console.night import Night
from silverball.web.forms import PAGE, Typed
from silverball.web.pages import devices
from silverball.web.refused import needs_new_key, status_of
from silverball.web.visit import Visit, nothing_here, page, see
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
CHOICES = ("round", "q", "former", "machine", "game", "player", "attempt")
GONE = "What this form was about is not there any more. This is how it stands now."
NOT_YOURS = "You may not do this here. The organizer of the tournament can."
# Refusals that say no more than that.
UNTOLD = frozenset({NO_ABILITY, NotAllowed().message})
Facts = Callable[[Visit, Night], dict[str, Any]]


@dataclass(frozen=True)
class View:
    """One page of the console: its title, its parts in order, and what these need beside the night."""

    title: str
    parts: tuple[str, ...]
    facts: Facts
    for_organizer: bool = True
    # Reached from a list only.
    is_hidden: bool = False


def _tonight(visit: Visit, night: Night) -> dict[str, Any]:
    if night.tournament.status == "planned" and night.is_organizer:
        return {**_book(visit, night), **_machines(visit, night), "preview": preview.of_night(visit, night)}
    chosen = visit.query.get("round", "")
    rounds = night.tournament.rounds_in_order
    shown = next((one for one in rounds if str(one.round_id) == chosen), None)
    if shown is None:
        shown = next((one for one in rounds if one.status != "completed"), rounds[-1] if rounds else None)
    return {"hole": shown, "strokes_max": _strokes_max(night), "idle": _idle(night)}


def _strokes_max(night: Night) -> int:
    return getattr(night.tournament.settings, "golf_stroke_limit", 0) or STROKES_MAX


def _idle(night: Night) -> list[int]:
    """Active players who neither play nor wait."""
    busy = {one for game in night.open_games for one in game.player_ids}
    busy |= {spot.player_id for spot in night.tournament.spots_waiting}
    return [one.player_id for one in night.active if one.player_id not in busy]


def _game(visit: Visit, night: Night) -> dict[str, Any]:
    """The game, who could be swapped into it, and who could be added."""
    game = next((one for one in night.tournament.games if str(one.game_id) == visit.query.get("game")), None)
    if game is None:
        return {"game": None}
    elsewhere = [one for other in night.open_games if other != game for one in other.player_ids]
    free = [one for one in _idle(night) if one not in game.player_ids]
    return {"game": game, "others": sorted(elsewhere, key=night.player), "free": free}


def _attempt(visit: Visit, night: Night) -> dict[str, Any]:
    wanted = visit.query.get("attempt")
    found = night.tournament.single_player_games
    return {"attempt": next((one for one in found if str(one.single_player_game_id) == wanted), None)}


def _player(visit: Visit, night: Night) -> dict[str, Any]:
    wanted = visit.query.get("player")
    return {"entrant": next((one for one in night.roster if str(one.player_id) == wanted), None)}


def _book(visit: Visit, night: Night) -> dict[str, Any]:
    """Players of the book that a search or a former tournament offers."""
    words = visit.query.get("q", "").replace("\x00", "").strip()[:WORDS_MAX]
    former_id = visit.query.get("former", "")
    organizer_id = night.tournament.details["organizer_id"]
    query = tournament_reads.TournamentQuery(owner=organizer_id, limit=FORMER_MAX)
    with visit.site.store.read() as db:
        former = [
            one
            for one in tournament_reads.page(db, query, visit.caller).rows
            if one.tournament_id != night.id
        ]
        offered: tuple[Any, ...] = ()
        if words:
            offered = player_reads.found(db, organizer_id, words, visit.caller)
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


def _machines(visit: Visit, night: Night) -> dict[str, Any]:
    """Arenas of the organizer's book that are not in the tournament, and machines that a search finds."""
    words = visit.query.get("machine", "").replace("\x00", "").strip()[:WORDS_MAX]
    known = {one.arena_id for one in night.tournament.lineup}
    with visit.site.store.read() as db:
        listed = arena_reads.found(db, night.tournament.details["organizer_id"], words)
        found = machine_reads.search(db, words) if words else []
    return {
        "machine_words": words,
        "arenas_offered": [one for one in listed if one.arena_id not in known],
        "machines_found": found,
    }


def _arenas(visit: Visit, night: Night) -> dict[str, Any]:
    """Those, and the banks."""
    with visit.site.store.read() as db:
        here = bank_reads.of_tournament(db, night.id)
        query = bank_reads.BankQuery(status="active")
        owned = bank_reads.owned_by(db, night.tournament.details["organizer_id"], query).rows
    known = {one.bank_id for one in here}
    offered = [(one.bank_id, one.name) for one in owned if one.bank_id not in known]
    return {**_machines(visit, night), "banks": here, "banks_offered": offered}


def _draw(visit: Visit, night: Night) -> dict[str, Any]:
    return {"preview": preview.of_night(visit, night)}


def _settings(visit: Visit, night: Night) -> dict[str, Any]:
    """The settings, and what can be chosen beside them: locations, series, other tournaments."""
    t, organizer_id = night.tournament, night.tournament.details["organizer_id"]
    query = tournament_reads.TournamentQuery(owner=organizer_id, limit=FORMER_MAX)
    with visit.site.store.read() as db:
        places = location_reads.names(db, organizer_id)
        together = series_reads.names(db, organizer_id)
        others = tournament_reads.page(db, query, visit.caller).rows
    linked = {one["linked_tournament_id"] for one in t.details["links"]}
    return {
        "fields": setup.fields_of(t.type, t.settings, t.details["points_map_custom"]),
        "places": _with_present(places, t.details["location_id"]),
        "together": _with_present(together, t.details["series_id"]),
        "linkable": [
            (one.tournament_id, one.name) for one in others if one.tournament_id not in {night.id, *linked}
        ],
        "link_kinds": particulars.LINKS,
        "registration": particulars.registration_of(t.details),
        "flags": particulars.REGISTRATION_FLAGS,
        "prices": particulars.prices_of(t.details),
        **devices.facts(visit, night.id),
    }


def _with_present(choices: list[tuple[int, str]], now: int | None) -> list[tuple[int, str]]:
    """What is chosen can be left as it is, even where it would not be offered any more."""
    is_offered = now is None or any(now == one for one, _ in choices)
    return choices if is_offered or now is None else [*choices, (now, f"As it is (number {now})")]


def _standing(_visit: Visit, _night: Night) -> dict[str, Any]:
    return {"formats": setup.TITLES, "order_max": ORDER_MAX}


def _nothing(_visit: Visit, _night: Night) -> dict[str, Any]:
    return {}


# Each part is a template in console/; `?part=NAME` answers with that part alone.
VIEWS: Mapping[str, View] = {
    "": View("Tonight", ("status", "undo", "prepare", "play"), _tonight, for_organizer=False),
    "draw": View("Next draw", ("status", "draw"), _draw, is_hidden=True),
    "results": View("Results", ("status", "undo", "results"), _nothing, for_organizer=False),
    "players": View("Players", ("status", "undo", "roster", "people"), _book),
    "arenas": View("Machines", ("status", "undo", "lineup", "machines", "banks"), _arenas),
    "standings": View("Standings", ("status", "standings", "ties", "finish"), _standing, for_organizer=False),
    "settings": View(
        "Settings",
        ("status", "settings", "about", "links", "prices", "registration", "keepers", "remove"),
        _settings,
    ),
    "game": View("A game", ("status", "undo", "game"), _game, for_organizer=False, is_hidden=True),
    "attempt": View("A game", ("status", "undo", "attempt"), _attempt, for_organizer=False, is_hidden=True),
    "player": View("A player", ("status", "undo", "player"), _player, is_hidden=True),
    "webhooks": View("Notifications", ("status", "webhooks"), notifying.facts),
    "journal": View("What was done", ("status", "undo", "journal"), _nothing),
}


@page("GET", "/t/{tournament_id}/run", for_devices=True)
def tonight(visit: Visit) -> Response:
    return _asked(visit, "")


@page("GET", "/t/{tournament_id}/run/{view}", for_devices=True)
def other_view(visit: Visit) -> Response:
    return _asked(visit, visit.ids["view"])


def _asked(visit: Visit, name: str) -> Response:
    if name not in VIEWS or (name == "" and visit.path.endswith("/")):
        return nothing_here()
    return _shown(visit, name)


def _again(visit: Visit, sentence: str) -> Response:
    """The page that the form stood on, with the form as it was."""
    return _refused(visit, Conflict(sentence), 419)


def _refused(visit: Visit, refused: Refusal, status: int) -> Response:
    stood = visit.field(PAGE) if doing.BACK.fullmatch(visit.field(PAGE)) else ""
    path, _, asked = stood.partition("?")
    query = dict(parse_qsl(asked))
    try:
        night = nights.read(visit.site, _id(visit), visit.caller)
    except (NotAllowed, Conflict) as closed:
        return _closed(closed)
    is_new = needs_new_key(refused)
    typed = Typed(visit.field("form"), visit.form, _sentence(refused, night), is_new)
    then = replace(visit, query=query)
    return _shown(then, path.removeprefix("/"), status, typed, night)


def _closed(refused: Refusal) -> Response:
    return site.message(403, "This console is not open to you", refused.message)


def _sentence(refused: Refusal, night: Night) -> str:
    if isinstance(refused, NotFound):
        return GONE
    if isinstance(refused, NotAllowed) and refused.message in UNTOLD:
        return NOT_YOURS
    if isinstance(refused, Invalid):
        listed = [sentence for sentences in refused.errors.values() for sentence in sentences]
        return night.in_names(" ".join(listed))
    return night.in_names(refused.message)


@page("POST", "/t/{tournament_id}/run/do/{deed}", for_devices=True, fields_max=FIELDS_MAX, again=_again)
def do(visit: Visit) -> Response:
    deed = DEEDS.get(visit.ids["deed"])
    if deed is None:
        return nothing_here()
    try:
        done = doing.told_once(visit, deed, _id(visit))
        return devices.link_shown(visit, done) if done.secret else see(done.to)
    except Refusal as refused:
        if isinstance(refused, NotFound) and "Tournament]" in refused.message:
            raise
        status = status_of(refused)
        return _refused(visit, refused, status)


@page("GET", "/t/{tournament_id}/run/do/{deed}", for_devices=True)
def deed_opened(visit: Visit) -> Response:
    """Reloading or bookmarking what a form answered is not an error."""
    return see(f"/t/{_id(visit)}/run")


def _id(visit: Visit) -> int:
    return path_id("tournament_id", visit.ids["tournament_id"])


def _shown(
    visit: Visit, name: str, status: int = 200, typed: Typed | None = None, night: Night | None = None
) -> Response:
    view = VIEWS.get(name, VIEWS[""])
    try:
        night = night or nights.read(visit.site, _id(visit), visit.caller)
    except (NotAllowed, Conflict) as closed:
        return _closed(closed)
    if view.for_organizer and not night.is_organizer:
        return site.message(403, "This page is the organizer's", NOT_YOURS)
    part = visit.query.get("part", "")
    if part and part not in view.parts:
        return nothing_here()
    parts = (part,) if part else view.parts
    answer = visit.shown(
        "console/part.html" if part else "console/page.html",
        status,
        modules=MODULES,
        night=night,
        t=night.tournament,
        view=name,
        view_title=view.title,
        views={key: one for key, one in VIEWS.items() if _is_listed(one, night)},
        parts=parts,
        typed=typed or Typed(),
        at=f"/t/{night.id}/run",
        stood=_stood(visit, name),
        key=site.feed_key(visit.site.settings),
        format_title=setup.title_of(night.tournament.type),
        names=night.named,
        people=lambda ids: [(one, night.player(one)) for one in ids],
        told=_told,
        told_machine=_told_machine,
        **view.facts(visit, night),
    )
    answer.headers["content-security-policy"] = site.policy_following(visit.site.base_url)
    return answer


def _is_listed(view: View, night: Night) -> bool:
    return not view.is_hidden and (night.is_organizer or not view.for_organizer)


def _told(one: SinglePlayerGame) -> str:
    """A result in numbers."""
    if one.rolls:
        return " ".join(map(str, one.rolls))
    if one.score is not None:
        return f"{one.score:,}"
    return "safe" if one.is_advanced else "" if one.points is None else f"{one.points:.0f}"


def _told_machine(one: OpdbEntry) -> str:
    """A machine by name, maker and year."""
    maker = one.manufacturer.name if one.manufacturer else ""
    about = ", ".join(str(part) for part in (maker, one.year) if part)
    return f"{one.name} ({about})" if about else one.name


def _stood(visit: Visit, name: str) -> str:
    """The page as a form on it names it, so that it comes back to the same choice."""
    chosen = {key: visit.query[key] for key in CHOICES if visit.query.get(key)}
    return (f"/{name}" if name else "") + (f"?{urlencode(chosen)}" if chosen else "")
