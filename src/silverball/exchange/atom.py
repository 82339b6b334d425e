"""Past nights of a club as a feed (Atom, RFC 4287) that readers subscribe to.

A night keeps its id, so a reader shows it once. The file does not depend on the time of the request.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import urlsplit
from xml.etree import ElementTree

from silverball.kit.texts import clean
from silverball.service.tournaments.reads.club_nights import ClubNight

CONTENT_TYPE = "application/atom+xml; charset=utf-8"
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
