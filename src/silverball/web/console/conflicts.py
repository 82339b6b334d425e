"""The result that stands in place of a refused one: shown beside it, so that a person can choose."""

import json

from silverball.kit.errors import Conflict, Refusal
from silverball.rules.commands.tournament import PlayerAlreadyEntered
from silverball.rules.model.tournament import Game, SinglePlayerGame
from silverball.service.core.person_numbers import PlayerEnteredAlready
from silverball.service.games import writes as games
from silverball.service.roster import writes as roster
from silverball.service.sheets.names import parse_names
from silverball.service.single_player import writes as single_player_writes
from silverball.store.people import names
from silverball.web.console import details, form_bodies
from silverball.web.forms import FormData, StandingResult
from silverball.web.score_fields import ScoreShortened
from silverball.web.tournament_night import TournamentNight

# Somebody else has added them meanwhile.
PRESENT = (PlayerAlreadyEntered, PlayerEnteredAlready, roster.NameAlreadyEntered)
OUTDATED = (
    games.ResultAlreadyRecorded,
    games.GameChangedMeanwhile,
    games.LegAlreadyRecorded,
    single_player_writes.AttemptAlreadyRecorded,
)


def standing_result(refusal: Refusal, night: TournamentNight, form: FormData) -> StandingResult | None:
    """The games, players or full scores that can stand in place of a refused form; None for other forms."""
    if isinstance(refusal, ScoreShortened):
        scores = " and ".join(refusal.fields.values())
        return StandingResult("", json.dumps(dict(refusal.fields)), f"Save {scores}")
    if isinstance(refusal, PRESENT):
        return _standing_players(night, form)
    if not isinstance(refusal, Conflict):
        return None
    game_id, attempt_id = form.value("game_id"), form.value("single_player_game_id")
    for game in night.tournament.games:
        if str(game.game_id) == game_id:
            return _standing_game(refusal, night, game)
    for attempt in night.tournament.single_player_games:
        if str(attempt.single_player_game_id) == attempt_id:
            return _standing_attempt(refusal, attempt)
    return None


def _standing_players(night: TournamentNight, form: FormData) -> StandingResult:
    wanted = {names.name_key(name) for name in parse_names(form.value("names"))}
    present = [
        night.player_name(entrant.player_id)
        for entrant in night.roster
        if str(entrant.player_id) in form.values("playerId")
        or names.name_key(night.player_name(entrant.player_id)) in wanted
    ]
    # The refusal names the first of them.
    text = f"In already: {', '.join(present)}." if len(present) > 1 else ""
    return StandingResult(text, json.dumps({form_bodies.SKIPS_PRESENT: "on"}), "Add the others")


def _standing_game(refusal: Refusal, night: TournamentNight, game: Game) -> StandingResult:
    order = [night.player_name(player_id) for player_id in night.finishing_order(game)]
    if game.status != "completed":
        text = f"It stands open: {night.game_title(game)}."
    elif len(order) == 2:
        text = f"Recorded: {order[0]} won."
    else:
        places = ", ".join(f"{place}. {name}" for place, name in enumerate(order, start=1))
        text = f"Recorded: {places}." if places else "It is completed."
    fields = {"seen": games.game_revision(game), "number": str(len(game.legs) + 1)}
    may_replace = game.status != "completed" or (night.is_organizer and not night.is_past_correction(game))
    return StandingResult(text, _renewal(refusal, fields) if may_replace else "")


def _standing_attempt(refusal: Refusal, attempt: SinglePlayerGame) -> StandingResult:
    recorded = details.result_text(attempt)
    text = f"Recorded: {recorded}." if attempt.status == "completed" and recorded else "It stands open."
    return StandingResult(text, _renewal(refusal, {"seen": single_player_writes.attempt_revision(attempt)}))


def _renewal(refusal: Refusal, fields: dict[str, str]) -> str:
    """The fields to send again on purpose, as JSON; empty when the same would be refused again."""
    return json.dumps(fields) if isinstance(refusal, OUTDATED) else ""
