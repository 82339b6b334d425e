"""Tournaments as a calendar (RFC 5545) that other programs subscribe to. icalendar is imported on use.

A tournament keeps its UID when it changes, so a subscribed calendar moves the entry and adds no second
one. The file does not depend on the time of the request.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

from silverball.kit.values import clean
from silverball.service.tournaments.reads.listing import ClubNight, DatedTournament
from silverball_wire.arenas import Location

CONTENT_TYPE = "text/calendar; charset=utf-8"
PRODUCER = "-//Silverball//Tournaments//EN"
# How often a program should fetch the file again.
REFRESH_INTERVAL = timedelta(hours=1)
# How long a night without an end is in the file: without one, programs show it as a moment.
LENGTH_WITHOUT_END = timedelta(hours=3)
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
    ends = starts if tournament.end_utc is None else _parse_moment(tournament.end_utc)
    event["DTEND"] = icalendar.vDatetime(ends if ends > starts else starts + LENGTH_WITHOUT_END)
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


# Past nights of a club as a feed (Atom, RFC 4287) that readers subscribe to.
#
# A night keeps its id, so a reader shows it once. The file does not depend on the time of the request.


ATOM_CONTENT_TYPE = "application/atom+xml; charset=utf-8"
NAMESPACE = "http://www.w3.org/2005/Atom"
# Characters that no XML 1.0 document may have, beside those that `clean` takes out.
FORBIDDEN = re.compile("[\x00\ud800-\udfff\ufffe\uffff]")
# The feed of a club without a night has never changed.
NEVER = datetime(1970, 1, 1, tzinfo=UTC)


def feed_file(user_id: int, name: str, nights: Sequence[ClubNight], base_url: str) -> bytes:
    """The content of a feed with these nights, newest first."""
    base = base_url.rstrip("/")
    feed = ElementTree.Element("feed", xmlns=NAMESPACE)
    _add_text(feed, "id", _tag(base, f"nights-{user_id}"))
    _add_text(feed, "title", f"Nights of {name}")
    _add_text(feed, "updated", _moment(max((_ended_at(night) for night in nights), default=NEVER)))
    author = ElementTree.SubElement(feed, "author")
    _add_text(author, "name", name)
    ElementTree.SubElement(feed, "link", href=f"{base}/users/{user_id}/nights")
    ElementTree.SubElement(feed, "link", rel="self", href=f"{base}/users/{user_id}/nights.atom")
    for night in nights:
        entry = ElementTree.SubElement(feed, "entry")
        _add_text(entry, "id", _tag(base, f"tournament-{night.tournament_id}"))
        _add_text(entry, "title", night.name)
        _add_text(entry, "updated", _moment(_ended_at(night)))
        ElementTree.SubElement(entry, "link", href=f"{base}/t/{night.tournament_id}")
        _add_text(entry, "summary", f"{night.start_local[:10]}, {night.player_count} players")
    content: bytes = ElementTree.tostring(feed, encoding="utf-8", xml_declaration=True)
    return content


def _ended_at(night: ClubNight) -> datetime:
    # A night that came from elsewhere may have no end.
    return night.completed_at or night.start_utc


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")


def _tag(base: str, name: str) -> str:
    """An id that stays, also when the address of the service gets another path."""
    return f"tag:{urlsplit(base).hostname},2026:{name}"


def _add_text(parent: ElementTree.Element, name: str, text: str) -> None:
    ElementTree.SubElement(parent, name).text = " ".join(FORBIDDEN.sub("", clean(text)).split())
