"""The data of Now and of its single games and players."""

from typing import Any
from zoneinfo import ZoneInfo

from starlette.responses import Response

from silverball.kit.errors import Invalid
from silverball.kit.http.query import QueryParser
from silverball.rules.mechanics import seeding
from silverball.rules.model.settings_protocols import HasStrokeLimit, has
from silverball.rules.planning.value import value_of_rated
from silverball.service.outlook.reads import planning
from silverball.service.outlook.reads.planning import PlanQuery
from silverball.web import deciding_ties, site, tournament_worth
from silverball.web.console import check, draw_preview, game_rows, people
from silverball.web.page_request import PageRequest, page
from silverball.web.tournament_night import TournamentNight
from silverball_wire.plans import Plan, PlanOption, PlanWorth

# The page that plans a night, and the projected end of a running one on its console.


FIELDS = ("players", "machines", "start", "closes")
HOUR_MINUTES = 60
_PARSER = QueryParser(PlanQuery)


@page("GET", "/run/plan")
def plan_page(request: PageRequest) -> Response:
    """Show the form, with the plan that its fields ask for."""
    sent = {name: request.query.get(name, "").strip() for name in FIELDS}
    planned: Plan | None = None
    fault, status = "", 200
    if any(sent.values()):
        try:
            query = _PARSER.parse([(name, value) for name, value in sent.items() if value]).query
            with request.site.store.read() as db:
                planned = planning.plan(db, query, request.account.user_id, request.site.now())
        except Invalid as refusal:
            fault, status = site.refusal_text(refusal), 422
    return request.render(
        "plan.html",
        status,
        sent=sent,
        planned=planned,
        fault=fault,
        length=length_text,
        clock=clock_text,
        by_worth=labels_by_worth,
        base_value=f"{value_of_rated(planned.players):.2f}" if planned else "",
        groups=_by_format(planned),
    )


def ending_context(request: PageRequest, night: TournamentNight) -> dict[str, str] | None:
    """The projected end of a running tournament in words; None for whoever does not organize it."""
    if night.tournament.status != "started" or not night.is_organizer or night.is_over:
        return None
    with request.site.store.read() as db:
        ending = planning.projected_end(db, night.tournament, night.format, night.now)
    if ending.note is not None or ending.expected is None or ending.line is None:
        return {"note": ending.note or ""}
    zone = ZoneInfo(night.tournament.details["timezone"])
    nights = f"your club's last {ending.nights} nights of this format"
    source = nights if ending.nights else "the published defaults"
    return {
        "note": "",
        "expected": f"{ending.expected.astimezone(zone):%H:%M}",
        "line": f"{ending.line.astimezone(zone):%H:%M}",
        "source": f"Lengths of games: {source}. Players count as equals.",
    }


def _by_format(planned: Plan | None) -> dict[str, list[PlanOption]]:
    groups: dict[str, list[PlanOption]] = {}
    for option in planned.options if planned else ():
        groups.setdefault(option.title, []).append(option)
    return groups


def labels_by_worth(options: list[PlanOption]) -> dict[PlanWorth, list[str]]:
    """The choices of a format in words, by what they are worth; without those that cannot be played."""
    labels: dict[PlanWorth, list[str]] = {}
    for option in options:
        if option.worth is not None:
            labels.setdefault(option.worth, []).append(option.label)
    return labels


def length_text(minutes: float) -> str:
    """Minutes in words: `3 h 05`, `45 min`."""
    hours, left = divmod(int(minutes), HOUR_MINUTES)
    return f"{hours} h {left:02}" if hours else f"{left} min"


def clock_text(moment: str | None) -> str:
    """The day and time of an end; empty without one."""
    return "" if moment is None else moment[:16].replace("T", " ")


# The buttons of a hole without a limit of strokes.
STROKES_MAX = 10


def load_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    if night.tournament.status == "planned" and night.is_organizer:
        return {
            **people.players_context(request, night),
            **people.machines_context(request, night),
            "preview": draw_preview.preview_next_draw(request, night),
            "warnings": check.warnings_before_start(request, night),
            "worth": tournament_worth.worth_of_night(request, night),
            "ending": None,
            "news": "",
        }
    rounds = night.tournament.rounds_in_order
    round_id = request.query.get("round", "")
    chosen = next((round_ for round_ in rounds if str(round_.round_id) == round_id), None)
    chosen = chosen or game_rows.round_of_kept(request, night)
    if chosen is None:
        newest = rounds[-1] if rounds else None
        chosen = next((round_ for round_ in rounds if round_.status != "completed"), newest)
    idle = _idle_player_ids(night)
    context = {"hole": chosen, "strokes_max": _strokes_max(night), "idle": idle, "worth": None}
    return {
        **context,
        **game_rows.load_context(request, night),
        **deciding_ties.load_context(night),
        "ending": ending_context(request, night),
    }


def _strokes_max(night: TournamentNight) -> int:
    settings = night.tournament.settings
    limit = settings.golf_stroke_limit if has(settings, HasStrokeLimit) else 0
    return limit or STROKES_MAX


def _idle_player_ids(night: TournamentNight) -> list[int]:
    """Active players who neither play nor wait."""
    busy = {player_id for game in night.open_games for player_id in game.player_ids}
    busy |= {spot.player_id for spot in night.tournament.waiting_spots}
    return [entrant.player_id for entrant in night.active_entrants if entrant.player_id not in busy]


def game_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """The game, the players to swap with, and the players to add."""
    game_id = request.query.get("game")
    game = next((game for game in night.tournament.games if str(game.game_id) == game_id), None)
    if game is None:
        return {"game": None}
    others = [player_id for other in night.open_games if other != game for player_id in other.player_ids]
    # A bye can be exchanged as well.
    newest = night.tournament.newest_round
    in_round = night.tournament.games_by_round.get(newest.round_id, ()) if newest is not None else ()
    others += [other.player_ids[0] for other in in_round if other.is_bye]
    free = [player_id for player_id in _idle_player_ids(night) if player_id not in game.player_ids]
    notes = people.notes_context(request, night, game)
    return {"game": game, "others": sorted(others, key=night.player_name), "free": free, **notes}


def attempt_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    game_id = request.query.get("attempt")
    games = night.tournament.single_player_games
    return {"attempt": next((game for game in games if str(game.single_player_game_id) == game_id), None)}


def entrant_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    player_id = request.query.get("player")
    entrant = next((entrant for entrant in night.roster if str(entrant.player_id) == player_id), None)
    return {
        "entrant": entrant,
        **people.leaving_context(night, None if entrant is None else entrant.player_id),
        "counts_from_zero": seeding.counts_from_zero(night.tournament.settings),
    }
