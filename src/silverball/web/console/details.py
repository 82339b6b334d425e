"""What a tournament has beside its format's settings: where, when, what it belongs to, prices, registration.

From the fields of a form to the body that the interface takes; nothing is judged here.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id
from silverball.service.calls import Write
from silverball.service.core import commands
from silverball.service.tournaments import bodies
from silverball.service.tournaments.writes import tournaments
from silverball.web import forms
from silverball.web.console import form_bodies, settings_form
from silverball.web.forms import FormData
from silverball.wire.values import LinkType

# Link type -> how a form calls it.
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
# What a form of the console carries along unseen.
HIDDEN_FIELDS = ("type", "selfCheckinStatus")
WALL_CLOCK = "%Y-%m-%d %H:%M"


class NewTournamentLink(Body, frozen=True, kw_only=True):
    """A tournament to link, and what it is to this one."""

    tournament_id: Id
    link_type: LinkType


class LinkToRemove(Body, frozen=True, kw_only=True):
    """A linked tournament."""

    linked_id: Id


def place_and_time(form: FormData) -> Mapping[str, Any]:
    """Location, series and time, as far as somebody changed them."""
    given: dict[str, Any] = {}
    for name in ("locationId", "seriesId"):
        if form.has(name) and not form_bodies.is_unchanged(form, name):
            given[name] = settings_form.parse_number(form.value(name)) if form.value(name).strip() else None
    for name in ("startLocal", "endLocal", "timezone"):
        if form.has(name) and not form_bodies.is_unchanged(form, name):
            given[name] = form.value(name).strip() or None
    return given


def entry_prices(form: FormData) -> Mapping[str, Any]:
    """How entries are given and sold: `10 25` on a line is ten entries for 25."""
    bundles = []
    for line in forms.nonempty_lines(form.value("bundles")):
        entries, _, price = line.partition(" ")
        bundles.append({"entries": settings_form.parse_number(entries), "price": _parse_amount(price)})
    said: dict[str, Any] = {"limited": bool(form.value("limited")), "bundles": bundles}
    said |= form_bodies.number_fields(form, "automaticEntries")
    said |= {
        "price": _parse_amount(form.value("price")),
        "currency": form.value("currency").strip().upper() or None,
    }
    return {"entryConfiguration": said}


def _parse_amount(text: str) -> float | int | str | None:
    """A price as it is typed; whole ones stay whole."""
    amount = form_bodies.parse_decimal(text.strip()) if text.strip() else None
    return int(amount) if isinstance(amount, float) and amount.is_integer() else amount


def registration(form: FormData) -> Mapping[str, Any]:
    """How players register."""
    said: dict[str, Any] = {
        **form_bodies.text_fields(form, "status", *HIDDEN_FIELDS),
        **{name: bool(form.value(name)) for name in REGISTRATION_FLAGS},
        **{name: form.value(name).strip() or None for name in QUESTIONS},
        **form_bodies.number_fields(form, "playerLimit"),
    }
    for name in ("openAt", "closeAt"):
        if form.value(name).strip():
            said[f"{name}Utc"] = _moment_text(form.value(name).strip(), form.value("timezone"))
    return {"rsvpConfiguration": said}


def _moment_text(text: str, zone: str) -> str:
    """A wall clock of the place as a moment; what is none stays as it is, for a refusal."""
    try:
        return datetime.strptime(text, WALL_CLOCK).replace(tzinfo=ZoneInfo(zone)).isoformat()
    except (ValueError, KeyError, OSError, OverflowError):
        return text


def add_link(call: Write[Any]) -> Any:
    """One more linked tournament. Raises what a change of the links raises."""
    new = bodies.TournamentLink(tournament_id=call.body.tournament_id, link_type=call.body.link_type)
    return _replace_links(call, [*_current_links(call), new])


def remove_link(call: Write[Any]) -> Any:
    """One linked tournament less. Raises Invalid when it is not linked."""
    links = _current_links(call)
    kept = [one for one in links if one.tournament_id != call.body.linked_id]
    if len(kept) == len(links):
        raise Invalid({"linkedId": ["That tournament is not linked here."]})
    return _replace_links(call, kept)


def _current_links(call: Write[Any]) -> list[bodies.TournamentLink]:
    kept = commands.load_tournament(call).details["links"]
    return [
        bodies.TournamentLink(
            tournament_id=one["linked_tournament_id"],
            link_type=one["link_type"],
            link_index=one["link_index"],
        )
        for one in kept
    ]


def _replace_links(call: Write[Any], links: list[bodies.TournamentLink]) -> Any:
    body = msgspec.convert({"links": msgspec.to_builtins(links)}, bodies.ChangedTournament)
    return tournaments.edit_tournament(replace(call, body=body))


def registration_values(details: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the form of the registration shows: what is kept, or what a new one begins with."""
    kept = details["rsvp_configuration"]
    shown = dict(kept or msgspec.to_builtins(bodies.Registration(status="inactive")))
    for name in ("openAt", "closeAt"):
        shown[name] = (shown.get(f"{name}Local") or "")[:16]
    return shown


def price_values(details: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the form of the entries shows."""
    kept = details["entry_configuration"] or msgspec.to_builtins(bodies.EntrySales(limited=False))
    bundles = "\n".join(f"{one['entries']} {one['price']}" for one in kept["bundles"])
    return {**kept, "bundles": bundles}
