"""The data of Now and of its single games and players."""

from typing import Any

from silverball.rules.mechanics import seeding
from silverball.rules.model.settings_protocols import HasStrokeLimit, has
from silverball.web import deciding_ties, tournament_worth
from silverball.web.console import draw_preview, night_sheets, people_and_machines, planner
from silverball.web.page_request import PageRequest
from silverball.web.tournament_night import TournamentNight

# The buttons of a hole without a limit of strokes.
STROKES_MAX = 10


def load_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    if night.tournament.status == "planned" and night.is_organizer:
        return {
            **people_and_machines.players_context(request, night),
            **people_and_machines.machines_context(request, night),
            "preview": draw_preview.preview_next_draw(request, night),
            "worth": tournament_worth.worth_of_night(request, night),
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


def game_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """The game, the players to swap with, and the players to add."""
    game_id = request.query.get("game")
    game = next((game for game in night.tournament.games if str(game.game_id) == game_id), None)
    if game is None:
        return {"game": None}
    others = [player_id for other in night.open_games if other != game for player_id in other.player_ids]
    free = [player_id for player_id in _idle_player_ids(night) if player_id not in game.player_ids]
    notes = night_sheets.notes_context(request, night, game)
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
        **night_sheets.leaving_context(night, None if entrant is None else entrant.player_id),
        "counts_from_zero": seeding.counts_from_zero(night.tournament.settings),
    }
