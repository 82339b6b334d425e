"""Views of the console: which parts a page has, and the data that its templates need."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import urlencode

from msgspec import Struct
from starlette.responses import Response

from silverball.kit.errors import Refusal
from silverball.rules.registry import FORMATS
from silverball.service.games import writes as games
from silverball.service.single_player import writes as single_player_writes
from silverball.service.webhooks import reads as webhook_reads
from silverball.web import deciding_ties, next_step, site, tournament_worth
from silverball.web.console import (
    actions,
    details,
    door,
    draw_preview,
    end,
    federation,
    finals,
    form_bodies,
    now,
    people,
    prizes,
    settings,
)
from silverball.web.forms import FormState, format_title, format_titles
from silverball.web.page_request import PageRequest, not_found_page
from silverball.web.tournament_night import TournamentNight

# The way through the console: its bar, the list of More, and the filters of the games.


ContextLoader: TypeAlias = Callable[[PageRequest, TournamentNight], dict[str, Any]]
# Address, text, and whether it is the current page.
BarLink: TypeAlias = tuple[str, str, bool]
# Up to so many open games have their rows open, as there is room for them.
GAMES_OPEN_MAX = 2


class ConsoleView(Struct, frozen=True):
    """A page of the console: its title, its parts in order, what loads their data, and where it is found."""

    title: str
    parts: tuple[str, ...]
    load_context: ContextLoader
    for_organizer: bool = True
    # Whether the bar at the bottom has it; otherwise the list of More has.
    is_in_bar: bool = False
    # Whether neither has it.
    is_hidden: bool = False
    # A line about it in the list of More.
    about: str = ""


def links(
    views: Mapping[str, ConsoleView], name: str, night: TournamentNight, *, shows_reported: bool
) -> dict[str, Any]:
    """The links that a page of the console has, for its templates."""
    reported_ids = {suggestion.game_id for suggestion in night.tournament.suggestions}
    reported_ids &= {game.game_id for game in night.open_games}
    return {
        "bar": _bar_links(views, name, night),
        "more_links": _more_links(views, night),
        "game_chips": _game_chips(name, night, len(reported_ids), shows_reported=shows_reported),
        "reported_ids": reported_ids,
        "shows_reported": shows_reported and bool(reported_ids),
        "games_open_max": GAMES_OPEN_MAX,
    }


def _bar_links(views: Mapping[str, ConsoleView], name: str, night: TournamentNight) -> list[BarLink]:
    """The views of the bar; a scorekeeper's has the few that they may open."""
    if not night.is_organizer:
        shown = [key for key, view in views.items() if not view.for_organizer and not view.is_hidden]
    else:
        shown = [key for key, view in views.items() if view.is_in_bar]
    # The page of a game belongs to Now, the pages that More leads to belong to More.
    parents = {"game": "", "attempt": "", "draw": "", "correct": "", "gone": "", "player": "players"}
    current = name if name in shown else parents.get(name, "more")
    return [(_path(night, key), views[key].title, key == current) for key in shown]


def _more_links(views: Mapping[str, ConsoleView], night: TournamentNight) -> list[tuple[str, str, str]]:
    """Address, title and line of each view that the bar has no room for."""
    return [
        (_path(night, key), view.title, view.about)
        for key, view in views.items()
        if not (view.is_in_bar or view.is_hidden)
    ]


def _game_chips(name: str, night: TournamentNight, reported: int, *, shows_reported: bool) -> list[BarLink]:
    """Open, reported and done games with their numbers; each has its place also while there are none."""
    is_reported = shows_reported and reported > 0
    done = sum(game.status == "completed" and not game.is_bye for game in night.tournament.games)
    return [
        (_path(night, ""), f"Open {len(night.open_games)}", name == "" and not is_reported),
        (f"{_path(night, '')}?show=reported", f"Reported {reported}", is_reported),
        (_path(night, "results"), f"Done {done}", name == "results"),
    ]


def _path(night: TournamentNight, key: str) -> str:
    return f"/t/{night.id}/run{'/' + key if key else ''}"


MODULES = ("console.js",)
# Deliveries of each webhook; the interface has all of them.
DELIVERIES_SHOWN_MAX = 10
# The choices that the address of a page may hold.
QUERY_FIELDS = (
    *("round", "q", "former", "machine", "game", "player", "attempt", "show", federation.PLAYERS),
    *form_bodies.RESULT_FIELDS,
    form_bodies.ENTRY,
)
TONIGHT_PARTS = ("status", "undo", "prepare", "play", "ending", "worth")
NOT_YOURS = "You may not do this here. The organizer of the tournament can."


def render_view(
    request: PageRequest,
    name: str,
    night: TournamentNight,
    *,
    status: int = 200,
    form: FormState | None = None,
) -> Response:
    """A page of the console, or those of its parts that the address asks for."""
    view = VIEWS.get(name, VIEWS[""])
    if view.for_organizer and not night.is_organizer:
        return site.message_page(403, "This page is the organizer's", NOT_YOURS)
    chosen = tuple(filter(None, request.query.get("part", "").split(",")))
    if not set(chosen) <= set(view.parts):
        return not_found_page()
    response = request.render(
        "console/parts.html" if chosen else "console/page.html",
        status,
        modules=MODULES,
        night=night,
        tournament=night.tournament,
        view=name,
        view_title=view.title,
        **links(VIEWS, name, night, shows_reported=request.query.get("show") == "reported"),
        parts=tuple(dict.fromkeys(chosen)) or view.parts,
        form_state=form or FormState(),
        outbox_account=_outbox_account(request),
        base_path=f"/t/{night.id}/run",
        page_path=_page_path(request, name),
        feed_key=site.feed_app_key(request.site.settings),
        format_title=format_title(night.tournament.type),
        choices=night.choices,
        player_choices=lambda player_ids: _player_choices(night, player_ids),
        game_revision=games.game_revision,
        attempt_revision=single_player_writes.attempt_revision,
        row_seen=lambda action, **ids: _row_revision(night, action, ids),
        result_text=details.result_text,
        machine_text=details.machine_text,
        **view.load_context(request, night),
    )
    response.headers["content-security-policy"] = site.feed_policy(request.base_url)
    return response


def _row_revision(night: TournamentNight, action: str, ids: Mapping[str, int]) -> str:
    """Return what the row of an action shows, as the action compares it."""
    revision = actions.ACTIONS[action].revision
    return "" if revision is None else revision(night.tournament, ids)


def _outbox_account(request: PageRequest) -> str:
    """Name the sender of what this browser has kept: the scorekeeper's device, or the account."""
    return (
        f"device-{request.device.device.device_id}" if request.device else f"user-{request.account.user_id}"
    )


def render_no_access(refusal: Refusal) -> Response:
    return site.message_page(403, "This console is not open to you", refusal.text())


def _page_path(request: PageRequest, name: str) -> str:
    """The path of the page below the console's, with the choices in its address."""
    chosen = {key: request.query[key] for key in QUERY_FIELDS if request.query.get(key)}
    return (f"/{name}" if name else "") + (f"?{urlencode(chosen)}" if chosen else "")


def _player_choices(night: TournamentNight, player_ids: Sequence[int]) -> list[tuple[int, str]]:
    return [(player_id, night.player_name(player_id)) for player_id in player_ids]


# The data of each page


def _now_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    made = finals.now_context(request, night)
    steps = made["finals"].steps if made["finals"] else ()
    return {
        **now.load_context(request, night),
        **made,
        **end.load_context(request, night),
        "next": next_step.next_step(night, steps),
    }


def _draw_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    return {"preview": draw_preview.preview_next_draw(request, night)}


def _standings_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    # The usual playoffs are a bracket of groups.
    playoffs_type = next(type_ for type_, format_ in FORMATS.items() if format_.group_stages is not None)
    return {
        "formats": format_titles(),
        "playoffs_type": playoffs_type,
        "is_played_out": next_step.is_played_out(night),
        **deciding_ties.load_context(night),
        "worth": tournament_worth.worth_of_night(request, night),
    }


def _webhooks_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    with request.site.store.read() as db:
        return {
            "webhooks": webhook_reads.tournament_webhooks(db, night.id),
            "deliveries": webhook_reads.newest_deliveries(db, night.id, DELIVERIES_SHOWN_MAX),
            "webhooks_max": webhook_reads.WEBHOOKS_MAX,
            "webhook_forms": details.WEBHOOK_FORMS,
            "webhook_events": details.WEBHOOK_EVENTS,
        }


def _no_context(_request: PageRequest, _night: TournamentNight) -> dict[str, Any]:
    return {}


# Each part is a template in console/; `?part=NAME,NAME` answers with those parts alone.
VIEWS: Mapping[str, ConsoleView] = {
    "": ConsoleView("Now", TONIGHT_PARTS, _now_context, for_organizer=False, is_in_bar=True),
    "standings": ConsoleView(
        "Standings",
        ("status", "standings", "ties", "finish", "worth"),
        _standings_context,
        for_organizer=False,
        is_in_bar=True,
    ),
    "players": ConsoleView(
        "Players",
        ("status", "undo", "late", "roster", "doors", "people"),
        people.players_context,
        is_in_bar=True,
    ),
    "arenas": ConsoleView(
        "Machines",
        ("status", "undo", "broken", "lineup", "machines", "banks"),
        people.arenas_context,
        is_in_bar=True,
    ),
    "more": ConsoleView("More", ("status", "more"), _no_context, is_in_bar=True),
    "results": ConsoleView(
        "Results",
        ("status", "undo", "results"),
        _no_context,
        for_organizer=False,
        about="to correct one",
    ),
    "paper": ConsoleView(
        "From paper", ("status", "undo", "paper"), people.load_context, about="a round, typed in one list"
    ),
    "settings": ConsoleView(
        "Settings",
        ("status", "settings", "about", "entry", "helpers", "ends"),
        settings.load_context,
        about="format, time and place, registration, directors, scorekeepers and their devices",
    ),
    "door": ConsoleView(
        "Check-in", ("status", "undo", "door"), door.load_context, about="who is here, who paid, who waits"
    ),
    "finals": ConsoleView(
        "Finals", ("status", "undo", "finals"), finals.load_context, about="who goes on, and into what"
    ),
    "prizes": ConsoleView(
        "Prize money", ("status", "prizes"), prizes.load_context, about="pot, shares, and who was paid"
    ),
    "federation": ConsoleView(
        "Results for the federation",
        ("status", "federation"),
        federation.load_context,
        about="places and numbers to paste, after the end",
    ),
    "apart": ConsoleView(
        "Pairs apart", ("status", "undo", "apart"), people.apart_context, about="who should not meet"
    ),
    "webhooks": ConsoleView(
        "Notifications", ("status", "webhooks"), _webhooks_context, about="to a chat or a program"
    ),
    "journal": ConsoleView(
        "History", ("status", "undo", "journal"), _no_context, about="everything that was done, and by whom"
    ),
    "draw": ConsoleView("Next draw", ("status", "draw"), _draw_context, is_hidden=True),
    "game": ConsoleView(
        "A game", ("status", "undo", "game", "notes"), now.game_context, for_organizer=False, is_hidden=True
    ),
    "gone": ConsoleView(
        "Gives up, leaves",
        ("status", "undo", "gone"),
        finals.gone_context,
        for_organizer=False,
        is_hidden=True,
    ),
    "attempt": ConsoleView(
        "A game", ("status", "undo", "attempt"), now.attempt_context, for_organizer=False, is_hidden=True
    ),
    "correct": ConsoleView(
        "Correct a result", ("status", "undo", "correct"), form_bodies.load_context, is_hidden=True
    ),
    "player": ConsoleView("A player", ("status", "undo", "player"), now.entrant_context, is_hidden=True),
}
