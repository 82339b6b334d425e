"""Signing a browser in, and going on with the page or the form that the sign-in interrupted."""

import ipaddress
import logging
from datetime import timedelta
from urllib.parse import urlsplit

from starlette.background import BackgroundTask
from starlette.responses import Response

from silverball.kit.errors import NotFound
from silverball.kit.values import replace
from silverball.service.accounts import reads as accounts_reads
from silverball.service.accounts.writes import sessions
from silverball.store.people import audit
from silverball.web import forms
from silverball.web.page_request import (
    BROWSER,
    FORM_RESTORED,
    GUEST,
    PageRequest,
    not_found_page,
    redirect,
)
from silverball.web.site import Site
from silverball.web.visitors import SESSION

# Where a session is used: its network and kind of browser, and when it was last seen.


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
            sessions.record_use(transaction.connection, secret, site.now())
    except Exception as error:  # the page is answered; only the time is less exact
        LOG.error("the use of a session could not be recorded", exc_info=error)


BROWSER_SECONDS = 365 * 24 * 3600


def start_session(request: PageRequest, user_id: int, path: str = "") -> Response:
    """Sign the user in, then go to the path, the interrupted form, or the page that was asked for."""
    site = request.site
    with site.store.write(quiet=True) as transaction:
        db = transaction.connection
        # The cookie from before the sign-in must not stay valid.
        sessions.end_session(db, request.session_secret)
        started = sessions.start_session(
            db,
            user_id,
            now=site.now(),
            lifetime=lifetime(site),
            dice=site.dice,
            network=shorten_address(request.client_address),
            browser=name_browser(request.user_agent),
        )
        limit = idle_limit(site)
        session = accounts_reads.find_signed_in_user(db, started.secret, site.now(), limit)
        browser_secret = request.browser_secret
        if not accounts_reads.is_known_browser(db, user_id, browser_secret):
            browser_secret = sessions.remember_browser(db, user_id, now=site.now(), dice=site.dice)
        audit.record(db, "sign-in", at=site.now(), user_id=user_id, source=request.client_address)
    request = replace(request, session=session, session_secret=started.secret)
    if path:
        response = redirect(path)
    else:
        response = resume_interrupted_form(request) or redirect(path_after_sign_in(request))
    lifetime_seconds = int(lifetime(site).total_seconds())
    request.set_cookie(response, SESSION, started.secret, lifetime_seconds)
    request.set_cookie(response, BROWSER, browser_secret, BROWSER_SECONDS)
    request.delete_cookie(response, GUEST)
    return response


def sign_in_fields(request: PageRequest) -> dict[str, str]:
    """The hidden fields of the sign-in form: the page to go to, or the form that was interrupted."""
    fields = {name: request.field(name) for name in ("next", "kept", "kept_path")}
    fields["next"] = fields["next"] or request.query.get("next", "")
    return {name: value for name, value in fields.items() if value}


def resume_interrupted_form(request: PageRequest) -> Response | None:
    """The page that the sign-in interrupted, with its form filled; None when there was none."""
    path = request.field("kept_path")
    match = request.find_page("POST", path)
    if match is None or match[0].rerender is None:
        return None
    route, ids = match
    form = forms.unpack(request.field("kept"), route.fields_max)
    interrupted = replace(request, path=path, ids=ids, form=form, query={})
    try:
        assert route.rerender is not None
        return route.rerender(interrupted, FORM_RESTORED)
    except NotFound:
        return not_found_page()


def path_after_sign_in(request: PageRequest) -> str:
    """The page that was asked for before the sign-in, if it is one of ours; else the account."""
    path = request.field("next")
    match = request.find_page("GET", urlsplit(path).path) if path.startswith("/") else None
    return path if match is not None and not path.startswith("//") else "/account"
