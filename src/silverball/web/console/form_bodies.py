"""Bodies of the interface, built from the fields of the console's forms. The interface validates them."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec
from msgspec import Struct, UnsetType

from silverball.kit.errors import Invalid, Refusal
from silverball.kit.http.body import Body, BodyParser
from silverball.kit.http.endpoints import TOURNAMENT
from silverball.rules.model.tournament import Game, SinglePlayerGame
from silverball.rules.registry import FORMATS
from silverball.service.core.calls import Write
from silverball.service.games import writes as games
from silverball.service.games.bodies import EnteredResult
from silverball.service.sheets.names import parse_names
from silverball.service.single_player import writes as single_player_writes
from silverball.service.single_player.writes import ReplacedAttemptResult
from silverball.web import form_actions, forms, score_fields
from silverball.web.console import settings as console_settings
from silverball.web.console.finals import finals_of_new_night
from silverball.web.forms import (
    FormData,
    is_unchanged,
    number_fields,
    ordered_player_ids,
    parse_decimal,
    parse_number,
    parse_numbers,
    text_fields,
)
from silverball.web.page_request import PageRequest
from silverball.web.tournament_night import TournamentNight
from silverball_wire.singleplayer import Correction

MINUTE_SECONDS = 60
# Set by who sends a list again on purpose after others of it were added elsewhere.
SKIPS_PRESENT = "skipsPresent"

# Tournaments


def new_tournament(form: FormData) -> Mapping[str, Any]:
    """A new tournament with its settings, and the ticked players and machines of a past one."""
    type_ = form.value("type")
    texts = text_fields(form, "name", "description", "startLocal", "timezone")
    body: dict[str, Any] = {"type": type_, **texts, **number_fields(form, "locationId", "seriesId")}
    body["playerIds"] = parse_numbers(form.values("playerId"))
    body["arenaIds"] = parse_numbers(form.values("arenaId"))
    if form.value("test"):
        body["test"] = True
    if finals := finals_of_new_night(form):
        body["finals"] = finals
    return {**body, **console_settings.submitted_settings(type_, form)} if type_ in FORMATS else body


def tournament_changes(form: FormData) -> Mapping[str, Any]:
    """The name, the texts and the settings that were changed in the form.

    Unchanged fields are left out, so that a page that was open since yesterday does not take back
    changes that it never showed.
    """
    texts: dict[str, Any] = dict(text_fields(form, "name"))
    for name in ("description", "motdText"):
        if form.has(name):
            texts[name] = form.value(name).strip() or None
    changed_texts = {name: text for name, text in texts.items() if not is_unchanged(form, name)}
    type_ = form.value("type")
    settings = console_settings.submitted_settings(type_, form) if type_ in FORMATS else {}
    changed = {key: value for key, value in settings.items() if not _is_setting_unchanged(form, key)}
    return {**changed_texts, **changed}


def _is_setting_unchanged(form: FormData, key: str) -> bool:
    """Whether a setting has its former value; a table of points has several fields."""
    if key != console_settings.POINTS_MAP_KEY:
        return is_unchanged(form, console_settings.PREFIX + key)
    fields = (*console_settings.POINTS_FIELDS, *console_settings.CUSTOM_POINTS_KEYS)
    names = [console_settings.PREFIX + field for field in fields]
    return all(is_unchanged(form, name) for name in names if form.has(name))


def playoffs(form: FormData) -> Mapping[str, Any]:
    """Playoffs for players by name, for a band, or for the first so many."""
    body: dict[str, Any] = {**text_fields(form, "type", "name")}
    player_ids = form.values("playerId")
    if form.value("final"):
        body["final"] = parse_number(form.value("final"))
    elif player_ids:
        body["players"] = parse_numbers(player_ids)
    elif form.value("band").strip():
        body["band"] = parse_number(form.value("band"))
    else:
        body.update(number_fields(form, "players"))
    return body


def new_link(form: FormData) -> Mapping[str, Any]:
    return {**text_fields(form, "linkType"), **number_fields(form, "tournamentId")}


# Players and arenas


def new_players(form: FormData) -> Mapping[str, Any]:
    """Players by name, one a line, and ticked players of the book and of the federation's file."""
    return {
        "names": parse_names(form.value("names")),
        "playerIds": parse_numbers(form.values("playerId")),
        "ifpaIds": parse_numbers(form.values("ifpaId")),
        **number_fields(form, "strikes", "gameId"),
        "skipsPresent": form.value(SKIPS_PRESENT) == "on",
    }


def player(form: FormData) -> Mapping[str, Any]:
    """Changes of an entrant."""
    adjustments = text_fields(form, "pointsAdjustment", "scoreAdjustment")
    return {
        **text_fields(form, "status", "openGame"),
        **number_fields(form, "awayRounds"),
        **_seed(form),
        **_labels(form),
        **{name: parse_decimal(text) for name, text in adjustments.items()},
    }


def _seed(form: FormData) -> dict[str, Any]:
    """The seed as the interface takes it: pages count from 1, and 0 takes a seed away."""
    fields: dict[str, Any] = number_fields(form, "seed")
    if form.value("countsFromZero") and isinstance(fields.get("seed"), int):
        fields["seed"] = fields["seed"] - 1 if fields["seed"] else None
    return fields


def _labels(form: FormData) -> dict[str, Any]:
    """Labels with commas between them, and their colour."""
    body: dict[str, Any] = {}
    if form.has("labels"):
        body["labels"] = [label.strip() for label in form.value("labels").split(",") if label.strip()]
    if form.has("labelColor"):
        body["labelColor"] = form.value("labelColor").strip().lower() or None
    return body


def entries(form: FormData) -> Mapping[str, Any]:
    """Entries bought, given or refunded."""
    return {**text_fields(form, "type"), **number_fields(form, "quantity")}


def lineup(form: FormData) -> Mapping[str, Any]:
    """Ticked arenas for the lineup."""
    arena_ids = parse_numbers(form.values("arenaId"))
    if not arena_ids:
        raise Invalid({"arenas": ["Tick at least one machine."]})
    return {"arenas": [{"arenaId": arena_id} for arena_id in arena_ids]}


def machines(form: FormData) -> Mapping[str, Any]:
    """Machines by name, one a line, and ticked titles of the machine database."""
    names = list(forms.nonempty_lines(form.value("names")))
    second = {"secondOnes": True} if form.value("secondOnes") else {}
    return {"names": names, "opdbIds": list(form.values("opdbId")), **second}


def arena(form: FormData) -> Mapping[str, Any]:
    """Changes of a lineup arena."""
    switches = ("bestGameBlocked", "bestGameQueueClosed")
    return {
        **text_fields(form, "status"),
        **{name: True for name in ("dissolveQueue", "removeScores") if form.value(name)},
        **{name: form.value(name) == "1" for name in switches if form.has(name)},
        **number_fields(form, "amazingRaceSeed"),
    }


# Rounds and games


def hole(form: FormData) -> Mapping[str, Any]:
    """The arena and the target of a round; an emptied field removes its value."""
    body: dict[str, Any] = {name: None for name in ("arenaId", "score") if form.has(name)}
    return {**body, **number_fields(form, "arenaId"), **score_fields.read_scores(form, ("score",))}


def result(form: FormData) -> Mapping[str, Any]:
    """A result in the way that was entered: forfeit, strikes, games won, scores or a finishing order."""
    body: dict[str, Any] = {"seen": form.value("seen")}
    if form.value("forfeit"):
        gone = parse_numbers(form.values("forfeit"))
        body["forfeit"] = gone if len(gone) > 1 else gone[0]
    elif form.has("striking"):
        body["strikes"] = parse_numbers(form.values("strike"))
    elif form.with_prefix("won-"):
        won = form.with_prefix("won-")
        body["games"] = {player_id: parse_number(text.strip() or "0") for player_id, text in won.items()}
    elif form.with_prefix(score_fields.SCORE_PREFIX):
        body["resultScores"] = score_fields.scores_of_players(form)
    else:
        body["resultPositions"] = ordered_player_ids(form)
    return body


def new_leg(form: FormData) -> Mapping[str, Any]:
    """The winner of the next single game of a match, and its machine where one was chosen."""
    number = number_fields(form, "number")
    return {**number, "resultPositions": ordered_player_ids(form), **_leg_arena(form)}


def leg(form: FormData) -> Mapping[str, Any]:
    """The winner and the machine of a single game of a match."""
    return {"resultPositions": ordered_player_ids(form), **_leg_arena(form)}


def _leg_arena(form: FormData) -> dict[str, Any]:
    """The machine; an emptied field removes it, and without a field it is the expected one."""
    if not form.has("arenaId"):
        return {}
    return {"arenaId": parse_number(form.value("arenaId")) if form.value("arenaId") else None}


def game(form: FormData) -> Mapping[str, Any]:
    """Another arena, another player or another order for an open game."""
    body: dict[str, Any] = {}
    if form.value("withPlayerId"):
        body["swap"] = number_fields(form, "playerId", "withPlayerId")
    if form.has("arenaId"):
        body["arenaId"] = parse_number(form.value("arenaId")) if form.value("arenaId") else None
    if form.with_prefix("place-"):
        body["playerIds"] = ordered_player_ids(form)
    return body


def new_game(form: FormData) -> Mapping[str, Any]:
    """The players of a new game, and its arena if there is one."""
    return {"playerIds": parse_numbers(form.values("playerId")), **number_fields(form, "arenaId")}


def tie(form: FormData) -> Mapping[str, Any]:
    """A tiebreak game, an order by hand or by lot, or the end of such an order."""
    way = form.value("way")
    if way == "order":
        return {"order": ordered_player_ids(form)}
    if way == "draw":
        return {"draw": parse_numbers(form.values("of"))}
    if way == "forget":
        return {"forget": parse_numbers(form.values("of"))}
    return {"playerIds": parse_numbers(form.values("playerId"))}


def more_time(form: FormData) -> Mapping[str, Any]:
    """The minutes of the form, as seconds."""
    minutes = parse_number(form.value("minutes"))
    return {"seconds": minutes * MINUTE_SECONDS if isinstance(minutes, int) else minutes}


# Single player games


def single_player_result(form: FormData) -> Mapping[str, Any]:
    """A score, strokes or rolls."""
    body = {**number_fields(form, "strokes"), **score_fields.read_scores(form, ("score",))}
    rolls = form.value("rolls").replace(",", " ").split()
    return {**body, "rolls": parse_numbers(rolls)} if rolls else body


def recorded_single_player_game(form: FormData) -> Mapping[str, Any]:
    """A result, and the revision of the game that the form was about."""
    return {"seen": form.value("seen"), **single_player_result(form)}


def new_single_player_game(form: FormData) -> Mapping[str, Any]:
    """A player, an arena or a round, and the result if there is one."""
    return {**number_fields(form, "playerId", "arenaId", "roundId"), **single_player_result(form)}


# Webhooks


def kept_devices(form: FormData) -> Mapping[str, Any]:
    """The devices that stay of those on the page: all that are not ticked to end."""
    ended = form.values("ended")
    kept = [word for word in form.values("device") if word not in ended]
    return {"deviceIds": [int(word) for word in kept if word.isascii() and word.isdigit()]}


def new_webhook(form: FormData) -> Mapping[str, Any]:
    return {**_webhook_fields(form), "events": list(form.values("events"))}


def webhook_changes(form: FormData) -> Mapping[str, Any]:
    """Changes of a webhook; its switch sends the state to change to."""
    is_active = {"isActive": form.value("isActive") == "on"} if form.has("isActive") else {}
    return {**_webhook_fields(form), **is_active}


def _webhook_fields(form: FormData) -> dict[str, str]:
    # The field `form` names the form on the page, so the webhook's form is in `kind`.
    kind = {"form": form.value("kind")} if form.value("kind") else {}
    return {**text_fields(form, "url", "name"), **kind}


# The page of a correction: the right result first, then whom it moves, and then the reason.


# The fields of the address that hold the right result.
RESULT_FIELDS = ("order", "score", "strokes", "rolls")
# The entry of the device's outbox that the correction settles.
ENTRY = "entry"
# Between the players of a finishing order in the address.
SEPARATOR = "."


class CorrectionPreview(Struct, frozen=True, kw_only=True):
    """The changes that a correction would make, or the reason why it cannot be made."""

    effects: Correction | None = None
    sentence: str = ""


class ChosenOrder(Body, frozen=True, kw_only=True):
    """The right finishing order of a game, for its preview."""

    result_positions: tuple[int | str, ...]
    entry: str = ""


def preview_path(call: Write[ChosenOrder]) -> str:
    """The path of the preview with the chosen order; nothing is written."""
    order = SEPARATOR.join(map(str, call.body.result_positions))
    entry = f"&{urlencode({ENTRY: call.body.entry})}" if call.body.entry else ""
    return f"/t/{call.ids[TOURNAMENT]}/run/correct?game={call.ids[games.GAME]}&order={order}{entry}"


def chosen_order(form: FormData) -> Mapping[str, Any]:
    """The right order, with the entry of the outbox that it came from."""
    return {**forms.finishing_order(form), **text_fields(form, ENTRY)}


def corrected_game(form: FormData) -> Mapping[str, Any]:
    """A finishing order with the reason, and what becomes of those who are back in or out."""
    return {"resultPositions": _parse_order(form.value("order")), "correction": _correction(form)}


def corrected_attempt(form: FormData) -> Mapping[str, Any]:
    """The result of a single player game with the reason."""
    return {**single_player_result(form), "correction": _correction(form)}


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
        "entry": request.query.get(ENTRY, ""),
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
    request: PageRequest, night: TournamentNight, attempt: SinglePlayerGame, entered: dict[str, str]
) -> CorrectionPreview:
    """The preview of the score as entered; a shortened one is put in full into `entered`."""
    ids = {TOURNAMENT: night.id, single_player_writes.SINGLE_PLAYER_GAME: attempt.single_player_game_id}
    try:
        result = single_player_result(FormData(tuple(entered.items())))
    except Invalid as refusal:
        entered.update(refusal.fields if isinstance(refusal, score_fields.ScoreShortened) else {})
        return CorrectionPreview(sentence=night.refusal_text(refusal))
    body = {**result, "dryRun": True}
    return _preview(
        request, night, ids, ReplacedAttemptResult, body, single_player_writes.record_single_player_game
    )


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
