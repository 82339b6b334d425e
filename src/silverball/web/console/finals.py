"""The pages of finals, and the sheet for players who give up, leave or did not come."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from silverball.kit.values import replace
from silverball.rules.families.brackets import bracket_standing
from silverball.rules.format import PlayKind
from silverball.service.finals import reads
from silverball.service.finals.bodies import PlannedFinals
from silverball.service.tournaments import configuration
from silverball.web import deciding_ties, form_actions
from silverball.web.final_fields import HOW_MANY, USUAL, fields_of_way
from silverball.web.forms import FormData, format_titles
from silverball.web.page_request import PageRequest
from silverball.web.tournament_night import TournamentNight
from silverball_wire.finals import Final

NOTHING: Mapping[str, Any] = {"finals": None}
# The finals that the form of a new tournament offers; more are added on the night's own page.
NEW_NIGHT_FINALS = ("A final", "B final")


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


def finals_of_new_night(form: FormData) -> list[Mapping[str, Any]]:
    """The steps on the form of a new tournament, up to the first without a way."""
    steps: list[Mapping[str, Any]] = []
    for number, name in enumerate(NEW_NIGHT_FINALS):
        how = form.value(f"final-how-{number}")
        if not how:
            break
        steps.append(
            {
                "name": name,
                "type": form.value(f"final-type-{number}"),
                **fields_of_way(how, form.value(f"final-number-{number}")),
            }
        )
    return steps


def preview_finals(bodies: Sequence[Mapping[str, Any]], players: int) -> list[Final]:
    """The steps with size, rounds and byes for so many players. Raises Invalid for one that could not start.

    Who is within some points of the best shows only once they have played, and so does what comes after.
    """
    sent = msgspec.json.encode({"steps": bodies})
    steps = tuple(final.step for final in form_actions.body_parser(PlannedFinals).parse(sent).steps)
    configuration.check_finals(steps, "finals")
    rows = [bracket_standing(at + 1, at + 1, Decimal(players - at)) for at in range(players)]
    shown = [reads.shown_step(at, steps[: at + 1], rows, None) for at in range(len(steps))]
    open_from = next((at for at, step in enumerate(steps) if step.within is not None), len(steps))
    return [
        replace(each, qualified=(), byes=(), rounds=None) if at >= open_from else each
        for at, each in enumerate(shown)
    ]
