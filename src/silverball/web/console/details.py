"""Details of a tournament besides its settings: place and time, prices of entries, registration."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from silverball.rules.model.tournament import SinglePlayerGame
from silverball.service.tournaments import bodies
from silverball.web import forms
from silverball.web.forms import (
    FormData,
    is_unchanged,
    number_fields,
    parse_decimal,
    parse_number,
    text_fields,
)
from silverball_wire.machines import OpdbEntry

# The kinds of messages that a webhook may get.
WEBHOOK_FORMS = (("text", "A chat: sentences"), ("events", "A program: events, signed"))
# The events to choose from here; the interface accepts every event.
WEBHOOK_EVENTS = (
    ("TournamentUpdated", "Start, end, message to everybody"),
    ("RoundCreatedOrUpdated", "Rounds"),
    ("GameCreatedOrUpdated", "Results of games"),
)
# Link type -> label.
LINK_TYPES: Mapping[str, str] = {
    "playoff": "its playoffs",
    "qualifying": "its qualifying",
    "series": "of the same series",
    "arena": "shares machines with it",
    "queue": "shares queues with it",
    "entry": "shares entries with it",
}
REGISTRATION_FLAGS: Mapping[str, str] = {
    "hasWaitlist": "Who comes when it is full goes on a waiting list",
    "publicList": "Everybody may see who is registered",
    "showDescription": "Show the description of the tournament",
    "requestEmail": "Ask for an e-mail address",
    "requestPhone": "Ask for a telephone number",
    "hasSelfCheckin": "Players check themselves in",
}
QUESTIONS = ("custom1", "custom2", "custom3")
HIDDEN_FIELDS = ("type", "selfCheckinStatus")
LOCAL_TIME = "%Y-%m-%d %H:%M"


def place_and_time(form: FormData) -> Mapping[str, Any]:
    """The body that changes location, series, ranking and times, without unchanged fields."""
    changed = [name for name, _ in form.pairs if not is_unchanged(form, name)]
    body: dict[str, Any] = {}
    for name in ("locationId", "seriesId"):
        if name in changed:
            body[name] = parse_number(form.value(name)) if form.value(name).strip() else None
    for name in ("startLocal", "endLocal", "timezone"):
        if name in changed:
            body[name] = form.value(name).strip() or None
    if "womens" in changed:
        body["womens"] = form.value("womens") == "1"
    return body


def entry_prices(form: FormData) -> Mapping[str, Any]:
    """The body that changes the prices of entries: a line `10 25` is ten entries for 25."""
    bundles = []
    for line in forms.nonempty_lines(form.value("bundles")):
        entries, _, price = line.partition(" ")
        bundles.append({"entries": parse_number(entries), "price": _parse_amount(price)})
    configuration: dict[str, Any] = {
        "limited": bool(form.value("limited")),
        "bundles": bundles,
        **number_fields(form, "automaticEntries"),
        "price": _parse_amount(form.value("price")),
        "currency": form.value("currency").strip().upper() or None,
    }
    return {"entryConfiguration": configuration}


def _parse_amount(text: str) -> float | int | str | None:
    """A price; whole amounts are integers."""
    amount = parse_decimal(text.strip()) if text.strip() else None
    return int(amount) if isinstance(amount, float) and amount.is_integer() else amount


def registration(form: FormData) -> Mapping[str, Any]:
    """The body that changes how players register."""
    configuration: dict[str, Any] = {
        **text_fields(form, "status", *HIDDEN_FIELDS),
        **{name: bool(form.value(name)) for name in REGISTRATION_FLAGS},
        **{name: form.value(name).strip() or None for name in QUESTIONS},
        **number_fields(form, "playerLimit"),
    }
    for name in ("openAt", "closeAt"):
        if form.value(name).strip():
            configuration[f"{name}Utc"] = iso_time(
                form.value(name).strip(), form.value("timezone"), f"{name}Utc"
            )
    return {"rsvpConfiguration": configuration}


def iso_time(text: str, zone: str, field: str) -> str:
    """A local time as ISO 8601; other text as it is, so that the interface refuses it.

    Raises Invalid with the field for a time that the clocks leave out.
    """
    try:
        local_time = datetime.strptime(text, LOCAL_TIME).replace(tzinfo=ZoneInfo(zone))
        bodies.existing_moment(field, local_time, zone)
        return local_time.isoformat()
    except (ValueError, KeyError, OSError, OverflowError):
        return text


def local_minute(moment: datetime | None, zone: str) -> str:
    """A time on the clock of the zone, as forms show it; empty for none."""
    return "" if moment is None else moment.astimezone(ZoneInfo(zone)).strftime(LOCAL_TIME)


def registration_values(details: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values of the registration form: stored ones, or those of a new registration."""
    stored = details["rsvp_configuration"]
    values = dict(stored or msgspec.to_builtins(bodies.Registration(status="inactive")))
    for name in ("openAt", "closeAt"):
        values[name] = (values.get(f"{name}Local") or "")[:16]
    return values


def price_values(details: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values of the form of entry prices."""
    stored = details["entry_configuration"] or msgspec.to_builtins(bodies.EntrySales(limited=False))
    bundles = "\n".join(f"{bundle['entries']} {bundle['price']}" for bundle in stored["bundles"])
    return {**stored, "bundles": bundles}


def result_text(game: SinglePlayerGame) -> str:
    """The result of a single player game in numbers."""
    if game.rolls:
        return " ".join(map(str, game.rolls))
    if game.score is not None:
        return f"{game.score:,}"
    return "safe" if game.is_advanced else "" if game.points is None else f"{game.points:.0f}"


def machine_text(machine: OpdbEntry) -> str:
    """A machine by title, maker and year."""
    maker = machine.manufacturer.name if machine.manufacturer else ""
    origin = ", ".join(str(part) for part in (maker, machine.year) if part)
    return f"{machine.name} ({origin})" if origin else machine.name


def with_current(choices: list[tuple[int, str]], current_id: int | None) -> list[tuple[int, str]]:
    """The choices, with the current one even where it is not offered any more."""
    if current_id is None or any(current_id == choice_id for choice_id, _ in choices):
        return choices
    return [*choices, (current_id, f"As it is (number {current_id})")]
