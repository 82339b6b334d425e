"""Change what the site says of itself. Administrators do."""

import re
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlalchemy import Connection

from silverball.kit.errors import Invalid
from silverball.store.people import audit, site_details
from silverball.store.people.site_details import SiteDetails

# Each field's length at most, and what it is called on the page.
LENGTHS = {
    "name": (100, "name"),
    "contact": (254, "contact"),
    "imprint": (10_000, "imprint"),
    "privacy": (10_000, "privacy text"),
    "zone": (64, "time zone"),
}
# What a line of security.txt can hold, with `mailto:` before an e-mail.
CONTACT = re.compile(r"[^\s@<>,/]+@[^\s@<>,/]+|https://[^\s<>,]+", re.ASCII)


def change_site(
    db: Connection, details: SiteDetails, *, user_id: int, now: datetime, source: str
) -> SiteDetails:
    """Note what the site says of itself, and return it as it is kept. Raises Invalid."""
    kept = SiteDetails(**{name: _plain(getattr(details, name)) for name in LENGTHS})
    faults = {name: [sentence] for name, sentence in _faults(kept).items()}
    if faults:
        raise Invalid(faults)
    site_details.note_site_details(db, kept)
    audit.record(db, "site-changed", at=now, user_id=user_id, source=source)
    return kept


def _plain(text: str) -> str:
    """Text as a browser sends it, with lines that end alike and nothing that a database refuses."""
    return text.replace("\r\n", "\n").replace("\x00", "").strip()


def _faults(details: SiteDetails) -> dict[str, str]:
    faults = {
        name: f"The {word} may have {length:,} letters at most."
        for name, (length, word) in LENGTHS.items()
        if len(getattr(details, name)) > length
    }
    if not details.name.isprintable():
        faults["name"] = "The name must be one line of text."
    if details.contact and not CONTACT.fullmatch(details.contact):
        faults["contact"] = "The contact must be an e-mail address, or an address that begins with https://."
    if details.zone and not _is_zone(details.zone):
        faults["zone"] = "There is no such time zone. Its name is like Europe/Stockholm."
    return faults


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
