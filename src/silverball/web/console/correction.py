"""The page of a correction: the right result first, then whom it moves, and then the reason."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct, UnsetType

from silverball.kit.errors import Refusal
from silverball.kit.http.body import Body, BodyParser
from silverball.kit.http.endpoints import TOURNAMENT
from silverball.rules.model.tournament import Game, SinglePlayerGame
from silverball.service.calls import Write
from silverball.service.games import writes as games
from silverball.service.games.bodies import EnteredResult
from silverball.service.singleplayer import writes as attempts
from silverball.service.singleplayer.writes import ReplacedAttemptResult
from silverball.web import form_actions
from silverball.web.console import form_bodies
from silverball.web.form_values import parse_number
from silverball.web.forms import FormData
from silverball.web.page_request import PageRequest
from silverball.web.tournament_night import TournamentNight
from silverball_wire.corrections import Correction

# The fields of the address that hold the right result.
RESULT_FIELDS = ("order", "score", "strokes", "rolls")
# Between the players of a finishing order in the address.
SEPARATOR = "."


class CorrectionPreview(Struct, frozen=True, kw_only=True):
    """The changes that a correction would make, or the reason why it cannot be made."""

    effects: Correction | None = None
    sentence: str = ""


class ChosenOrder(Body, frozen=True, kw_only=True):
    """The right finishing order of a game, for its preview."""

    result_positions: tuple[int | str, ...]


def preview_path(call: Write[ChosenOrder]) -> str:
    """The path of the preview with the chosen order; nothing is written."""
    order = SEPARATOR.join(map(str, call.body.result_positions))
    return f"/t/{call.ids[TOURNAMENT]}/run/correct?game={call.ids[games.GAME]}&order={order}"


def corrected_game(form: FormData) -> Mapping[str, Any]:
    """A finishing order with the reason, and what becomes of those who are back in or out."""
    return {"resultPositions": _parse_order(form.value("order")), "correction": _correction(form)}


def corrected_attempt(form: FormData) -> Mapping[str, Any]:
    """The result of a single player game with the reason."""
    return {**form_bodies.single_player_result(form), "correction": _correction(form)}


def _correction(form: FormData) -> dict[str, Any]:
    missed = form.with_prefix("missed-")
    return {
        "reason": form.value("reason").strip(),
        "missedRounds": {player_id: parse_number(text) for player_id, text in missed.items()},
        "takeOut": [parse_number(text) for text in form.values("takeOut")],
    }


def load_context(request: PageRequest, night: TournamentNight) -> dict[str, Any]:
    """The game or single player game, the right result so far, and what it would change."""
    found = night.tournament
    game = next((each for each in found.games if str(each.game_id) == request.query.get("game")), None)
    wanted = request.query.get("attempt")
    attempt = next(
        (each for each in found.single_player_games if str(each.single_player_game_id) == wanted), None
    )
    entered = {name: request.query.get(name, "").strip() for name in RESULT_FIELDS}
    preview = None
    if game is not None and entered["order"]:
        preview = _preview_game(request, night, game, entered["order"])
    elif attempt is not None and any(entered.values()):
        preview = _preview_attempt(request, night, attempt, entered)
    return {
        "game": game,
        "attempt": attempt,
        "entered": entered,
        "preview": preview,
        "order": _parse_order(entered["order"]),
        "playing": {player_id for each in night.open_games for player_id in each.player_ids},
    }


def _parse_order(text: str) -> list[int | str]:
    return [parse_number(part) for part in text.split(SEPARATOR) if part.strip()]


def _preview_game(request: PageRequest, night: TournamentNight, game: Game, order: str) -> CorrectionPreview:
    ids = {TOURNAMENT: night.id, games.GAME: game.game_id}
    body = {"resultPositions": _parse_order(order), "dryRun": True}
    return _preview(
        request, night, ids, EnteredResult, body, lambda call: games.record_result(call).correction
    )


def _preview_attempt(
    request: PageRequest, night: TournamentNight, attempt: SinglePlayerGame, entered: Mapping[str, str]
) -> CorrectionPreview:
    ids = {TOURNAMENT: night.id, attempts.SINGLE_PLAYER_GAME: attempt.single_player_game_id}
    result = form_bodies.single_player_result(FormData(tuple(entered.items())))
    body = {**result, "dryRun": True}
    return _preview(request, night, ids, ReplacedAttemptResult, body, attempts.record_single_player_game)


def _preview(
    request: PageRequest,
    night: TournamentNight,
    ids: dict[str, int],
    shape: type[Body],
    content: Mapping[str, Any],
    correct: Callable[[Write[Any]], Correction | UnsetType],
) -> CorrectionPreview:
    """Run the write as a dry run, which stores nothing."""
    try:
        body = BodyParser(shape).parse(msgspec.json.encode(content))
        with request.site.store.read() as db:
            effects = correct(form_actions.build_call(request, ids, body, db=db))
    except Refusal as refusal:
        return CorrectionPreview(sentence=night.refusal_text(refusal))
    return CorrectionPreview(effects=None if isinstance(effects, UnsetType) else effects)
