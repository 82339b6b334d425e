"""The pages of finals, and the sheet for players who give up, leave or did not come."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from silverball.rules.format import CountedIn, PlayKind
from silverball.rules.registry import FORMATS
from silverball.service.finals import reads
from silverball.web import deciding_ties
from silverball.web.forms import FormData, format_titles, parse_number, text_fields
from silverball.web.page_request import PageRequest
from silverball.web.tournament_night import TournamentNight

# The format that is chosen first for a final: groups whose best go on.
USUAL = next(
    type_ for type_, form in FORMATS.items() if form.group_stages and form.counted_in is CountedIn.POINTS
)
NOTHING: Mapping[str, Any] = {"finals": None}
HOW_MANY = (("players", "So many"), ("half", "The upper half"), ("within", "All within so many points"))


def now_context(request: PageRequest, night: TournamentNight) -> Mapping[str, Any]:
    """The finals for the page Now: once all is played, and where a final differs from its source."""
    state = night.tournament.state
    if not night.is_organizer or not (state.planned_finals or state.final_source):
        return NOTHING
    is_ended = night.is_over or night.tournament.status == "completed"
    return {**load_context(request, night), "shows_steps": is_ended}


def load_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """The finals of the night, with the formats to choose from."""
    with request.site.store.read() as db:
        found = reads.finals_of(db, night.tournament, request.caller)
    return {
        "finals": found,
        "formats": format_titles(),
        "usual_format": USUAL,
        "how_many": HOW_MANY,
        "shows_steps": True,
        **deciding_ties.load_context(night),
    }


def gone_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """The players of the game in the address, of the open game of a player, or that player alone."""
    game_id, attempt_id = request.query.get("game"), request.query.get("attempt")
    player_id = request.query.get("player")
    tournament = night.tournament
    game = next((each for each in tournament.open_games if str(each.game_id) == game_id), None)
    attempts = [each for each in tournament.single_player_games if each.status != "completed"]
    attempt = next((each for each in attempts if str(each.single_player_game_id) == attempt_id), None)
    if game is not None:
        player_ids = list(game.player_ids)
    elif attempt is not None:
        player_ids = [attempt.player_id]
    else:
        player_ids = [each.player_id for each in tournament.entrants if str(each.player_id) == player_id]
    return {
        "game": game,
        "attempt": attempt,
        "going_ids": player_ids,
        "has_open_games": {each for open_ in tournament.open_games for each in open_.player_ids}
        | {each.player_id for each in attempts},
        "is_race": night.kind is PlayKind.RACE,
    }


# Bodies of the interface from the forms of these pages


def new_final(form: FormData) -> Mapping[str, Any]:
    """A step to a final; the number belongs to the way that was chosen."""
    body: dict[str, Any] = {**text_fields(form, "name", "type")}
    how, number = form.value("how"), form.value("number").strip()
    if how == "half":
        body["half"] = True
    elif how == "within":
        body["within"] = _decimal(number)
    else:
        body["players"] = parse_number(number)
    return body


def _decimal(text: str) -> Decimal | str:
    try:
        return Decimal(text.replace(",", "."))
    except InvalidOperation:
        return text
