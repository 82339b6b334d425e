"""Tournaments as a calendar (RFC 5545) that other programs subscribe to. icalendar is imported on use.

A tournament keeps its UID when it changes, so a subscribed calendar moves the entry and adds no second
one. The file does not depend on the time of the request.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from silverball.kit.texts import clean
from silverball.service.tournaments.reads.listing import DatedTournament
from silverball_wire.locations import Location

CONTENT_TYPE = "text/calendar; charset=utf-8"
PRODUCER = "-//Silverball//Tournaments//EN"
# How often a program should fetch the file again.
REFRESH_INTERVAL = timedelta(hours=1)
# A row of a folded line: a space comes before it, and programs expect escaped letters undivided.
FOLDED_ROW = re.compile(r".{1,73}[^\\^]|.{1,74}", re.DOTALL)


def calendar_file(name: str, tournaments: Iterable[DatedTournament], base_url: str) -> bytes:
    """The content of a calendar file, without test tournaments."""
    import icalendar

    calendar = icalendar.Calendar()
    calendar.add("prodid", PRODUCER)
    calendar.add("version", "2.0")
    calendar.add("method", "PUBLISH")
    # A property whose name begins with X is only escaped when it is marked as text.
    calendar.add("x-wr-calname", icalendar.vText(_single_line(name)))
    calendar.add("refresh-interval", REFRESH_INTERVAL, parameters={"value": "DURATION"})
    for tournament in tournaments:
        if not tournament.test:
            calendar.add_component(_calendar_event(tournament, base_url))
    return b"".join(_folded(name, value) + b"\r\n" for name, value in calendar.property_items())


def _folded(name: str, value: Any) -> bytes:
    """The content line of a property in rows of 75 octets at most (RFC 5545, section 3.1).

    icalendar looks at every letter, for half of the time of a file; letters of one octet can be counted off.
    """
    # Where a component begins and ends, its name is encoded already.
    is_property = not isinstance(value, bytes)
    # A place on the map is encoded as text, all others as bytes.
    encoded: bytes | str = value.to_ical() if is_property else value
    if is_property and (value.params or not encoded.isascii()):
        from icalendar.parser import Contentline

        folded: bytes = Contentline.from_parts(name, value.params, value).to_ical()
        return folded
    text = encoded if isinstance(encoded, str) else encoded.decode()
    return "\r\n ".join(FOLDED_ROW.findall(f"{name}:{text}")).encode()


def _calendar_event(tournament: DatedTournament, base_url: str) -> Any:
    import icalendar

    # `add` would find the class of each value, which takes longer than the value.
    event = icalendar.Event()
    starts, changed = _parse_moment(tournament.start_utc), _parse_moment(tournament.updated_at)
    event["UID"] = icalendar.vText(f"tournament-{tournament.tournament_id}@{urlsplit(base_url).hostname}")
    event["DTSTAMP"] = event["LAST-MODIFIED"] = icalendar.vDatetime(changed)
    event["SUMMARY"] = icalendar.vText(_single_line(tournament.name))
    event["DTSTART"] = icalendar.vDatetime(starts)
    if tournament.end_utc is not None and _parse_moment(tournament.end_utc) > starts:
        event["DTEND"] = icalendar.vDatetime(_parse_moment(tournament.end_utc))
    if tournament.description:
        event["DESCRIPTION"] = icalendar.vText(clean(tournament.description))
    if tournament.location is not None:
        _add_place(event, tournament.location)
    event["URL"] = icalendar.vUri(f"{base_url.rstrip('/')}/t/{tournament.tournament_id}")
    return event


def _add_place(event: Any, location: Location) -> None:
    import icalendar

    place = ", ".join(part for part in (location.name, location.address) if part)
    event["LOCATION"] = icalendar.vText(_single_line(place))
    if location.lat is not None and location.lng is not None:
        event["GEO"] = icalendar.vGeo((location.lat, location.lng))


def _single_line(text: str) -> str:
    """The text on one line, without invisible characters."""
    return " ".join(clean(text).split())


def _parse_moment(text: str) -> datetime:
    return _whole_second(datetime.fromisoformat(text))


def _whole_second(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(microsecond=0)
