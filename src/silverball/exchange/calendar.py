"""Tournaments as a calendar (RFC 5545) that other programs subscribe to. icalendar is imported when used.

A tournament keeps its UID whatever becomes of it, so a subscribed calendar moves it and adds no second
one. Nothing in the file depends on when it was asked for.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from silverball.kit.texts import cleaned
from silverball.wire.locations import Location
from silverball.wire.tournaments import Tournament

CONTENT_TYPE = "text/calendar; charset=utf-8"
PRODUCER = "-//Silverball//Tournaments//EN"
# How often a program should look again.
LOOK_AGAIN = timedelta(hours=1)


def file_of(name: str, tournaments: Iterable[Tournament], base_url: str) -> bytes:
    """The calendar with this name; test tournaments are left out."""
    import icalendar

    calendar = icalendar.Calendar()
    calendar.add("prodid", PRODUCER)
    calendar.add("version", "2.0")
    calendar.add("method", "PUBLISH")
    # Names that begin with an X are not escaped unless they are said to be text.
    calendar.add("x-wr-calname", icalendar.vText(_line(name)))
    calendar.add("refresh-interval", LOOK_AGAIN, parameters={"value": "DURATION"})
    for one in tournaments:
        if not one.test:
            calendar.add_component(_event(one, base_url))
    content: bytes = calendar.to_ical()
    return content


def _event(one: Tournament, base_url: str) -> Any:
    import icalendar

    event = icalendar.Event()
    starts, changed = _moment(one.start_utc), _changed(one)
    event.add("uid", f"tournament-{one.tournament_id}@{urlsplit(base_url).hostname}")
    event.add("dtstamp", changed)
    event.add("last-modified", changed)
    event.add("summary", _line(one.name))
    event.add("dtstart", starts)
    if one.end_utc is not None and _moment(one.end_utc) > starts:
        event.add("dtend", _moment(one.end_utc))
    if one.description:
        event.add("description", cleaned(one.description))
    if isinstance(one.location, Location):
        _place(event, one.location)
    event.add("url", f"{base_url.rstrip('/')}/t/{one.tournament_id}")
    return event


def _place(event: Any, location: Location) -> None:
    event.add("location", _line(", ".join(part for part in (location.name, location.address) if part)))
    if location.lat is not None and location.lng is not None:
        event.add("geo", (location.lat, location.lng))


def _line(text: str) -> str:
    """The text on one line, without what cannot be seen."""
    return " ".join(cleaned(text).split())


def _changed(one: Tournament) -> datetime:
    said = one.updated_at if isinstance(one.updated_at, str) else one.start_utc
    moment = datetime.fromisoformat(said)
    # This field alone comes without a zone, and is in UTC.
    return _second(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _moment(text: str) -> datetime:
    return _second(datetime.fromisoformat(text))


def _second(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(microsecond=0)
