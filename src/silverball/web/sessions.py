"""Signing a browser in, and going on with the page or the form that the sign-in interrupted."""

from urllib.parse import urlsplit

from starlette.responses import Response

from silverball.kit.errors import NotFound
from silverball.kit.values import replace
from silverball.service.sessions import reads as session_reads
from silverball.service.sessions import writes as session_writes
from silverball.store import audit
from silverball.web import forms, session_use
from silverball.web.page_request import (
    BROWSER,
    FORM_RESTORED,
    GUEST,
    SESSION,
    PageRequest,
    not_found_page,
    redirect,
)

BROWSER_SECONDS = 365 * 24 * 3600


def start_session(request: PageRequest, user_id: int, path: str = "") -> Response:
    """Sign the user in, then go to the path, the interrupted form, or the page that was asked for."""
    site = request.site
    with site.store.write(quiet=True) as transaction:
        db = transaction.connection
        # The cookie from before the sign-in must not stay valid.
        session_writes.end_session(db, request.session_secret)
        started = session_writes.start_session(
            db,
            user_id,
            now=site.now(),
            lifetime=session_use.lifetime(site),
            dice=site.dice,
            network=session_use.shorten_address(request.client_address),
            browser=session_use.name_browser(request.user_agent),
        )
        limit = session_use.idle_limit(site)
        session = session_reads.find_signed_in_user(db, started.secret, site.now(), limit)
        browser_secret = request.browser_secret
        if not session_reads.is_known_browser(db, user_id, browser_secret):
            browser_secret = session_writes.remember_browser(db, user_id, now=site.now(), dice=site.dice)
        audit.record(db, "sign-in", at=site.now(), user_id=user_id, source=request.client_address)
    request = replace(request, session=session, session_secret=started.secret)
    if path:
        response = redirect(path)
    else:
        response = resume_interrupted_form(request) or redirect(path_after_sign_in(request))
    lifetime_seconds = int(session_use.lifetime(site).total_seconds())
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
