"""Views of the console: which parts a page has, and the data that its templates need."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from silverball.kit.errors import Refusal
from silverball.rules.mechanics import seeding
from silverball.rules.model.settings_protocols import HasStrokeLimit, has
from silverball.rules.registry import FORMATS
from silverball.service.arenas import reads as arena_reads
from silverball.service.banks import reads as bank_reads
from silverball.service.devices import reads as device_reads
from silverball.service.federation.reads import records
from silverball.service.federation.reads.records import FederationPlayer
from silverball.service.games import guarded_writes as guarded_games
from silverball.service.locations import reads as location_reads
from silverball.service.machines import reads as machine_reads
from silverball.service.players import reads as player_reads
from silverball.service.series.reads import series as series_reads
from silverball.service.singleplayer import guarded_writes as guarded_attempts
from silverball.service.tournaments.reads import listing
from silverball.service.webhooks.reads import webhooks as webhook_reads
from silverball.service.worth.reads.estimates import Worth
from silverball.store.engine import Db
from silverball.web import deciding_ties, qr_codes, site, tournament_worth
from silverball.web.console import (
    correction,
    details,
    door,
    draw_preview,
    impossible_choices,
    navigation,
    night_sheets,
    paper,
    planner,
    prizes,
    settings_form,
)
from silverball.web.console.navigation import ConsoleView
from silverball.web.format_titles import format_title, format_titles
from silverball.web.forms import FormState
from silverball.web.page_request import PageRequest, not_found_page
from silverball.web.tournament_night import TournamentNight
from silverball.wire.tournaments import Tournament

MODULES = ("console.js",)
SEARCH_LETTERS_MAX = 100
FORMER_MAX = 50
# Fewer letters are in most names of the file.
FEDERATION_LETTERS_MIN = 2
# The buttons of a hole without a limit of strokes.
STROKES_MAX = 10
# Deliveries of each webhook; the interface has all of them.
DELIVERIES_SHOWN_MAX = 10
# The choices that the address of a page may hold.
QUERY_FIELDS = (
    *("round", "q", "former", "machine", "game", "player", "attempt", "show"),
    *correction.RESULT_FIELDS,
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
    """A page of the console, or the part of it that the address asks for."""
    view = VIEWS.get(name, VIEWS[""])
    if view.for_organizer and not night.is_organizer:
        return site.message_page(403, "This page is the organizer's", NOT_YOURS)
    part = request.query.get("part", "")
    if part and part not in view.parts:
        return not_found_page()
    response = request.render(
        "console/part.html" if part else "console/page.html",
        status,
        modules=MODULES,
        night=night,
        tournament=night.tournament,
        view=name,
        view_title=view.title,
        **navigation.links(VIEWS, name, night, shows_reported=request.query.get("show") == "reported"),
        parts=(part,) if part else view.parts,
        form_state=form or FormState(),
        outbox_account=_outbox_account(request),
        base_path=f"/t/{night.id}/run",
        page_path=_page_path(request, name),
        feed_key=site.feed_app_key(request.site.settings),
        format_title=format_title(night.tournament.type),
        choices=night.choices,
        player_choices=lambda player_ids: _player_choices(night, player_ids),
        game_revision=guarded_games.game_revision,
        attempt_revision=guarded_attempts.attempt_revision,
        result_text=details.result_text,
        machine_text=details.machine_text,
        **view.load_context(request, night),
    )
    response.headers["content-security-policy"] = site.feed_policy(request.base_url)
    return response


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


def _tonight_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    if night.tournament.status == "planned" and night.is_organizer:
        return {
            **_players_context(request, night),
            **_machines_context(request, night),
            "preview": draw_preview.preview_next_draw(request, night),
            "worth": _worth(request, night),
            "ending": None,
        }
    rounds = night.tournament.rounds_in_order
    round_id = request.query.get("round", "")
    chosen = next((round_ for round_ in rounds if str(round_.round_id) == round_id), None)
    if chosen is None:
        newest = rounds[-1] if rounds else None
        chosen = next((round_ for round_ in rounds if round_.status != "completed"), newest)
    idle = _idle_player_ids(night)
    context = {"hole": chosen, "strokes_max": _strokes_max(night), "idle": idle, "worth": None}
    return {**context, **deciding_ties.load_context(night), "ending": planner.ending_context(request, night)}


def _strokes_max(night: TournamentNight) -> int:
    settings = night.tournament.settings
    limit = settings.golf_stroke_limit if has(settings, HasStrokeLimit) else 0
    return limit or STROKES_MAX


def _idle_player_ids(night: TournamentNight) -> list[int]:
    """Active players who neither play nor wait."""
    busy = {player_id for game in night.open_games for player_id in game.player_ids}
    busy |= {spot.player_id for spot in night.tournament.waiting_spots}
    return [entrant.player_id for entrant in night.active_entrants if entrant.player_id not in busy]


def _game_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """The game, the players to swap with, and the players to add."""
    game_id = request.query.get("game")
    game = next((game for game in night.tournament.games if str(game.game_id) == game_id), None)
    if game is None:
        return {"game": None}
    others = [player_id for other in night.open_games if other != game for player_id in other.player_ids]
    free = [player_id for player_id in _idle_player_ids(night) if player_id not in game.player_ids]
    notes = night_sheets.notes_context(request, night, game)
    return {"game": game, "others": sorted(others, key=night.player_name), "free": free, **notes}


def _attempt_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    game_id = request.query.get("attempt")
    games = night.tournament.single_player_games
    return {"attempt": next((game for game in games if str(game.single_player_game_id) == game_id), None)}


def _entrant_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    player_id = request.query.get("player")
    entrant = next((entrant for entrant in night.roster if str(entrant.player_id) == player_id), None)
    return {
        "entrant": entrant,
        **night_sheets.leaving_context(night, None if entrant is None else entrant.player_id),
        "counts_from_zero": seeding.counts_from_zero(night.tournament.settings),
    }


def _players_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """Players of the book that a search or a former tournament offers, and of the federation's file."""
    words = request.query.get("q", "").replace("\x00", "").strip()[:SEARCH_LETTERS_MAX]
    former_id = request.query.get("former", "")
    organizer_id = night.tournament.details["organizer_id"]
    with request.site.store.read() as db:
        former = [
            tournament
            for tournament in _organizer_tournaments(db, request, organizer_id)
            if tournament.tournament_id != night.id
        ]
        offered: tuple[Any, ...] = ()
        in_federation: Sequence[FederationPlayer] = ()
        if words:
            offered = player_reads.search_players(db, organizer_id, words, request.caller)
            if len(words) >= FEDERATION_LETTERS_MIN:
                in_federation = records.search_records(db, words, organizer_id)
        elif any(str(tournament.tournament_id) == former_id for tournament in former):
            entrants = player_reads.entrants(db, int(former_id), request.caller)
            offered = tuple(player for player in entrants if player.organizer_id == organizer_id)
    entered = night.tournament.entrant_by_id
    return {
        **night_sheets.late_context(night),
        "door": door.door_summary(night.tournament),
        "words": words,
        "former": former,
        "former_id": former_id,
        "offered": [player for player in offered if player.player_id not in entered],
        # Once some of them are in, who is left was left out on purpose.
        "are_ticked": former_id != "" and not any(player.player_id in entered for player in offered),
        "in_federation": in_federation,
        "was_searched": bool(words or former_id),
    }


def _organizer_tournaments(db: Db, request: PageRequest, organizer_id: int) -> Sequence[Tournament]:
    query = listing.TournamentQuery(owner=organizer_id, limit=FORMER_MAX)
    return listing.tournaments_page(db, query, request.caller).rows


def _machines_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """Arenas of the organizer's book outside the tournament, and titles that a search finds."""
    words = request.query.get("machine", "").replace("\x00", "").strip()[:SEARCH_LETTERS_MAX]
    with request.site.store.read() as db:
        arenas = arena_reads.search_arenas(db, night.tournament.details["organizer_id"], words)
        machines = machine_reads.search_machines(db, words) if words else []
    in_lineup = {arena.arena_id for arena in night.tournament.lineup}
    return {
        "machine_words": words,
        "arenas_offered": [arena for arena in arenas if arena.arena_id not in in_lineup],
        "machines_found": machines,
    }


def _arenas_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """Arenas, titles, and the organizer's banks inside and outside the tournament."""
    query = bank_reads.BankQuery(status="active")
    with request.site.store.read() as db:
        banks = bank_reads.banks_in_tournament(db, night.id)
        owned = bank_reads.owned_by(db, night.tournament.details["organizer_id"], query).rows
    used_ids = {bank.bank_id for bank in banks}
    offered = [(bank.bank_id, bank.name) for bank in owned if bank.bank_id not in used_ids]
    return {
        **_machines_context(request, night),
        **night_sheets.broken_context(night),
        "banks": banks,
        "banks_offered": offered,
    }


def _draw_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    return {"preview": draw_preview.preview_next_draw(request, night)}


def _settings_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """The settings and details, with the organizer's locations, series and tournaments to choose from."""
    tournament = night.tournament
    stored = tournament.details
    with request.site.store.read() as db:
        locations = location_reads.location_names(db, stored["organizer_id"])
        series = series_reads.series_names(db, stored["organizer_id"])
        others = _organizer_tournaments(db, request, stored["organizer_id"])
        codes = device_reads.current_codes(db, night.id)
        devices = device_reads.active_devices(db, night.id)
    excluded = {night.id, *(link["linked_tournament_id"] for link in stored["links"])}
    return {
        "fields": impossible_choices.possible_fields(
            tournament.type,
            settings_form.setting_fields(tournament.type, tournament.settings, stored["points_map_custom"]),
        ),
        "impossible": impossible_choices.as_data(tournament.type),
        "locations": details.with_current(locations, stored["location_id"]),
        "series": details.with_current(series, stored["series_id"]),
        "linkable": [
            (other.tournament_id, other.name) for other in others if other.tournament_id not in excluded
        ],
        "link_types": details.LINK_TYPES,
        "registration": details.registration_values(stored),
        "flags": details.REGISTRATION_FLAGS,
        "prices": details.price_values(stored),
        "sign_up_link": door.sign_up_link(request, tournament),
        "qr_code": qr_codes.draw_qr_code,
        "devices": devices,
        "codes": codes,
    }


def _worth(request: PageRequest, night: TournamentNight) -> Worth | None:
    with request.site.store.read() as db:
        return tournament_worth.shown_worth(db, night.tournament)


def _standings_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    # The usual playoffs are a bracket of groups.
    playoffs_type = next(type_ for type_, format_ in FORMATS.items() if format_.group_stages is not None)
    return {
        "formats": format_titles(),
        "playoffs_type": playoffs_type,
        **deciding_ties.load_context(night),
        "worth": _worth(request, night),
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


# Each part is a template in console/; `?part=NAME` answers with that part alone.
VIEWS: Mapping[str, ConsoleView] = {
    "": ConsoleView("Now", TONIGHT_PARTS, _tonight_context, for_organizer=False, is_in_bar=True),
    "standings": ConsoleView(
        "Standings",
        ("status", "standings", "ties", "finish", "worth"),
        _standings_context,
        for_organizer=False,
        is_in_bar=True,
    ),
    "players": ConsoleView(
        "Players", ("status", "undo", "late", "roster", "doors", "people"), _players_context, is_in_bar=True
    ),
    "arenas": ConsoleView(
        "Machines",
        ("status", "undo", "broken", "lineup", "machines", "banks"),
        _arenas_context,
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
        "From paper", ("status", "undo", "paper"), paper.load_context, about="a round, typed in one list"
    ),
    "settings": ConsoleView(
        "Settings",
        ("status", "settings", "about", "links", "prices", "registration", "directors", "keepers", "remove"),
        _settings_context,
        about="format, time and place, registration, directors, scorekeepers and their devices",
    ),
    "door": ConsoleView(
        "Check-in", ("status", "undo", "door"), door.load_context, about="who is here, who paid, who waits"
    ),
    "prizes": ConsoleView(
        "Prize money", ("status", "prizes"), prizes.load_context, about="pot, shares, and who was paid"
    ),
    "webhooks": ConsoleView(
        "Notifications", ("status", "webhooks"), _webhooks_context, about="to a chat or a program"
    ),
    "journal": ConsoleView(
        "History", ("status", "undo", "journal"), _no_context, about="everything that was done, and by whom"
    ),
    "draw": ConsoleView("Next draw", ("status", "draw"), _draw_context, is_hidden=True),
    "game": ConsoleView(
        "A game", ("status", "undo", "game", "notes"), _game_context, for_organizer=False, is_hidden=True
    ),
    "attempt": ConsoleView(
        "A game", ("status", "undo", "attempt"), _attempt_context, for_organizer=False, is_hidden=True
    ),
    "correct": ConsoleView(
        "Correct a result", ("status", "undo", "correct"), correction.load_context, is_hidden=True
    ),
    "player": ConsoleView("A player", ("status", "undo", "player"), _entrant_context, is_hidden=True),
}
