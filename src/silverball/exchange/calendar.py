"""Tournaments as a calendar (RFC 5545) that other programs subscribe to. icalendar is imported when used.

A tournament keeps its UID whatever becomes of it, so a subscribed calendar moves it and adds no second
one. Nothing in the file depends on when it was asked for.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from silverball.kit.texts import clean
from silverball.wire.locations import Location
from silverball.wire.tournaments import Tournament

CONTENT_TYPE = "text/calendar; charset=utf-8"
PRODUCER = "-//Silverball//Tournaments//EN"
# How often a program should look again.
REFRESH_INTERVAL = timedelta(hours=1)


def calendar_file(name: str, tournaments: Iterable[Tournament], base_url: str) -> bytes:
    """The calendar with this name; test tournaments are left out."""
    import icalendar

    calendar = icalendar.Calendar()
    calendar.add("prodid", PRODUCER)
    calendar.add("version", "2.0")
    calendar.add("method", "PUBLISH")
    # Names that begin with an X are not escaped unless they are said to be text.
    calendar.add("x-wr-calname", icalendar.vText(_single_line(name)))
    calendar.add("refresh-interval", REFRESH_INTERVAL, parameters={"value": "DURATION"})
    for one in tournaments:
        if not one.test:
            calendar.add_component(_calendar_event(one, base_url))
    content: bytes = calendar.to_ical()
    return content


def _calendar_event(one: Tournament, base_url: str) -> Any:
    import icalendar

    event = icalendar.Event()
    starts, changed = _parse_moment(one.start_utc), _changed_at(one)
    event.add("uid", f"tournament-{one.tournament_id}@{urlsplit(base_url).hostname}")
    event.add("dtstamp", changed)
    event.add("last-modified", changed)
    event.add("summary", _single_line(one.name))
    event.add("dtstart", starts)
    if one.end_utc is not None and _parse_moment(one.end_utc) > starts:
        event.add("dtend", _parse_moment(one.end_utc))
    if one.description:
        event.add("description", clean(one.description))
    if isinstance(one.location, Location):
        _add_place(event, one.location)
    event.add("url", f"{base_url.rstrip('/')}/t/{one.tournament_id}")
    return event


def _add_place(event: Any, location: Location) -> None:
    event.add("location", _single_line(", ".join(part for part in (location.name, location.address) if part)))
    if location.lat is not None and location.lng is not None:
        event.add("geo", (location.lat, location.lng))


def _single_line(text: str) -> str:
    """The text on one line, without what cannot be seen."""
    return " ".join(clean(text).split())


def _changed_at(one: Tournament) -> datetime:
    said = one.updated_at if isinstance(one.updated_at, str) else one.start_utc
    moment = datetime.fromisoformat(said)
    # This field alone comes without a zone, and is in UTC.
    return _whole_second(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _parse_moment(text: str) -> datetime:
    return _whole_second(datetime.fromisoformat(text))


def _whole_second(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(microsecond=0)
