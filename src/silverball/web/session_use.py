"""Where a session is used: its network and kind of browser, and when it was last seen."""

import ipaddress
import logging
from datetime import timedelta

from starlette.background import BackgroundTask
from starlette.responses import Response

from silverball.service.sessions import writes as session_writes
from silverball.web.site import Site

LOG = logging.getLogger("silverball.app")
ADDRESS_MAX = 45
# Part of a User-Agent -> name. The first that is found counts: most browsers name others, too.
BROWSERS = {
    "Edg": "Edge",
    "OPR/": "Opera",
    "SamsungBrowser/": "Samsung Internet",
    "Firefox/": "Firefox",
    "FxiOS/": "Firefox",
    "CriOS/": "Chrome",
    "Chrome/": "Chrome",
    "Safari/": "Safari",
}
SYSTEMS = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "Macintosh": "Mac",
    "CrOS": "Chrome OS",
    "Linux": "Linux",
}


def shorten_address(address: str) -> str:
    """The network of an address: enough to recognise a place, and no more."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:ADDRESS_MAX]
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    return str(ipaddress.ip_network((parsed, 24 if parsed.version == 4 else 48), strict=False))


def name_browser(user_agent: str) -> str:
    """The kind of browser and system; empty when neither is known."""
    names = [
        next((name for part, name in known.items() if part in user_agent), "")
        for known in (BROWSERS, SYSTEMS)
    ]
    return " on ".join(filter(None, names))


def lifetime(site: Site) -> timedelta:
    """How long a session lasts at most."""
    return timedelta(days=site.settings.sign_in_days)


def idle_limit(site: Site) -> timedelta:
    """How long a session lasts without a request."""
    return timedelta(hours=site.settings.sign_in_idle_hours)


def record_after(response: Response, site: Site, secret: str) -> None:
    """Record the use of the session after the response: a page must not wait behind a long write."""
    if response.background is None:
        response.background = BackgroundTask(_record_use, site, secret)


def _record_use(site: Site, secret: str) -> None:
    try:
        with site.store.write(quiet=True) as transaction:
            session_writes.record_use(transaction.connection, secret, site.now())
    except Exception as error:  # the page is answered; only the time is less exact
        LOG.error("the use of a session could not be recorded", exc_info=error)
