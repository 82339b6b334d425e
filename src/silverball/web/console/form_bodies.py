"""Bodies of the interface, built from the fields of the console's forms. The interface validates them."""

from collections.abc import Mapping
from typing import Any

from silverball.kit.errors import Invalid
from silverball.rules.registry import FORMATS
from silverball.web import forms
from silverball.web.console import pasted_names, settings_form
from silverball.web.form_values import (
    is_unchanged,
    number_fields,
    ordered_player_ids,
    parse_decimal,
    parse_number,
    parse_numbers,
    text_fields,
)
from silverball.web.forms import FormData

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
    return {**body, **settings_form.submitted_settings(type_, form)} if type_ in FORMATS else body


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
    settings = settings_form.submitted_settings(type_, form) if type_ in FORMATS else {}
    changed = {key: value for key, value in settings.items() if not _is_setting_unchanged(form, key)}
    return {**changed_texts, **changed}


def _is_setting_unchanged(form: FormData, key: str) -> bool:
    """Whether a setting has its former value; a table of points has several fields."""
    if key != settings_form.POINTS_MAP_KEY:
        return is_unchanged(form, settings_form.PREFIX + key)
    fields = (*settings_form.POINTS_FIELDS, *settings_form.CUSTOM_POINTS_KEYS)
    names = [settings_form.PREFIX + field for field in fields]
    return all(is_unchanged(form, name) for name in names if form.has(name))


def playoffs(form: FormData) -> Mapping[str, Any]:
    """Playoffs for players by name, for a band, or for the first so many."""
    body: dict[str, Any] = {**text_fields(form, "type", "name")}
    player_ids = form.values("playerId")
    if player_ids:
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
        "names": pasted_names.parse_names(form.value("names")),
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
    return {"names": names, "opdbIds": list(form.values("opdbId"))}


def arena(form: FormData) -> Mapping[str, Any]:
    """Changes of a lineup arena."""
    switches = ("bestGameBlocked", "bestGameQueueClosed")
    return {
        **text_fields(form, "status"),
        **({"dissolveQueue": True} if form.value("dissolveQueue") else {}),
        **{name: form.value(name) == "1" for name in switches if form.has(name)},
        **number_fields(form, "amazingRaceSeed"),
    }


# Rounds and games


def hole(form: FormData) -> Mapping[str, Any]:
    """The arena and the target of a round; an emptied field removes its value."""
    texts = {name: form.value(name).strip() for name in ("arenaId", "score") if form.has(name)}
    return {name: parse_number(text) if text else None for name, text in texts.items()}


def result(form: FormData) -> Mapping[str, Any]:
    """A result in the way that was entered: forfeit, strikes, games won, scores or a finishing order."""
    body: dict[str, Any] = {"seen": form.value("seen")}
    if form.value("forfeit"):
        body["forfeit"] = parse_number(form.value("forfeit"))
    elif form.has("striking"):
        body["strikes"] = parse_numbers(form.values("strike"))
    elif form.with_prefix("won-"):
        won = form.with_prefix("won-")
        body["games"] = {player_id: parse_number(text.strip() or "0") for player_id, text in won.items()}
    elif form.with_prefix("score-"):
        scores = form.with_prefix("score-")
        body["resultScores"] = {player_id: parse_number(text) for player_id, text in scores.items()}
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
    body: dict[str, Any] = number_fields(form, "score", "strokes")
    rolls = form.value("rolls").replace(",", " ").split()
    return {**body, "rolls": parse_numbers(rolls)} if rolls else body


def recorded_single_player_game(form: FormData) -> Mapping[str, Any]:
    """A result, and the revision of the game that the form was about."""
    return {"seen": form.value("seen"), **single_player_result(form)}


def new_single_player_game(form: FormData) -> Mapping[str, Any]:
    """A player, an arena or a round, and the result if there is one."""
    return {**number_fields(form, "playerId", "arenaId", "roundId"), **single_player_result(form)}


# Webhooks


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
