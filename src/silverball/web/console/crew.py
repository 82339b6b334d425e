"""Scorekeepers' devices: a link is shown once, a browser opens it, and stops being a device again."""

import re
from typing import Any

from starlette.responses import Response

from silverball.kit.errors import Refusal
from silverball.kit.http.router import parse_path_id
from silverball.kit.security import tokens
from silverball.service.core import access, loaded
from silverball.service.core.calls import Write
from silverball.service.users import reads as users_reads
from silverball.service.users import writes as users_writes
from silverball.service.users.reads import DirectorLink, KnownDevice
from silverball.web import form_actions, site
from silverball.web.form_actions import ActionResult, FormAction
from silverball.web.forms import texts
from silverball.web.page_request import PageRequest, device_cookie_name, page, redirect
from silverball.web.qr_codes import qr_code
from silverball.web.site import status_for

# The secret is a query parameter: paths are logged, queries are not.
LINK_PATH, LINK_FIELD = "/d", "link"
LINK_SECRET = re.compile(f"[A-Za-z0-9]{{{tokens.LETTERS_COUNT}}}", re.ASCII)
# Longer than any tournament; its end or the organizer revokes the device sooner.
COOKIE_SECONDS = 14 * 24 * 60 * 60


def render_device_link(request: PageRequest, result: ActionResult) -> Response:
    """The page that shows a new link; sent again, its form leads to the list of devices."""
    link = f"{request.base_url.rstrip('/')}{LINK_PATH}?{LINK_FIELD}={result.secret}"
    name = request.field("name").strip()
    return request.render(
        "devices/link.html", 201, link=link, name=name, qr_code=qr_code, return_path=result.to
    )


@page("GET", LINK_PATH, for_guests=True)
def open_device_link(request: PageRequest) -> Response:
    """Make the browser a device: the secret moves from the address into a cookie."""
    secret = request.query.get(LINK_FIELD, "")
    known = _find_device(request, secret)
    if known is None:
        sentence = "Perhaps a letter is missing. Scan the code again, or ask the organizer for a new link."
        return site.message_page(404, "This link leads nowhere", sentence)
    if not known.is_usable:
        return request.render_inactive_device(known)
    tournament_id = known.device.tournament_id
    response = redirect(f"/t/{tournament_id}/run")
    if not _can_already_score(request, tournament_id):
        with request.site.store.write(quiet=True) as transaction:
            users_writes.record_device_use(transaction.connection, known.device.device_id, request.site.now())
        request.set_cookie(response, device_cookie_name(tournament_id), secret, COOKIE_SECONDS)
    return response


def _find_device(request: PageRequest, secret: str) -> KnownDevice | None:
    if not LINK_SECRET.fullmatch(secret):
        return None
    with request.site.store.read() as db:
        return users_reads.find_device(db, secret)


def _can_already_score(request: PageRequest, tournament_id: int) -> bool:
    """Whether the account may score here anyway, as an organizer who tries their own link."""
    if request.session is None:
        return False
    with request.site.store.read() as db:
        return access.may_score(request.caller, loaded.load_tournament(db, tournament_id))


@page("POST", "/t/{tournament_id}/device/stop", for_devices=True)
def stop_device(request: PageRequest) -> Response:
    """Forget the device in this browser; the link stays valid."""
    tournament_id = request.path_id("tournament_id")
    response = redirect(f"/t/{tournament_id}")
    request.delete_cookie(response, device_cookie_name(tournament_id))
    return response


@page("GET", "/t/{tournament_id}/device/stop", for_guests=True)
def stop_opened(request: PageRequest) -> Response:
    """Reloading or bookmarking the address of a form is not an error."""
    return redirect(f"/t/{parse_path_id('tournament_id', request.ids['tournament_id'])}")


# Directors: a link is shown once, and makes the organizer who opens it a director.


# The secret is a query parameter: paths are logged, queries are not.
PATH, FIELD = "/direct", "link"
SECRET_LETTERS_MAX = 100


def _console_path(call: Write[Any]) -> str:
    users_writes.accept_link(call)
    return f"/t/{call.ids['tournament_id']}/run"


ACCEPT = FormAction(
    write=_console_path,
    body=users_writes.AcceptedLink,
    build_body=texts(FIELD),
    redirect_to=lambda path: path,
)


def render_director_link(request: PageRequest, result: ActionResult) -> Response:
    """The page that shows a new link; sent again, its form leads back to the console."""
    link = f"{request.base_url.rstrip('/')}{PATH}?{FIELD}={result.secret}"
    return request.render("directors/made.html", 201, link=link, qr_code=qr_code, return_path=result.to)


@page("GET", PATH)
def open_director_link(request: PageRequest) -> Response:
    """Ask before the account becomes a director: whoever opens a link may not know what it is."""
    secret = request.query.get(FIELD, "")
    link = _find_link(request, secret)
    return _gone_page() if link is None else _render(request, link, secret)


@page("POST", PATH)
def accept_link(request: PageRequest) -> Response:
    """Make the account a director, and go to the console."""
    secret = request.field(FIELD)
    link = _find_link(request, secret)
    try:
        if link is not None:
            return redirect(form_actions.run_action(request, ACCEPT, link.tournament_id).to)
    except users_writes.DirectorLinkUsedUp:
        return _gone_page()
    except Refusal as refusal:
        return site.message_page(status_for(refusal), "This does not work", refusal.text())
    return _gone_page()


def _find_link(request: PageRequest, secret: str) -> DirectorLink | None:
    if not 0 < len(secret) <= SECRET_LETTERS_MAX:
        return None
    with request.site.store.read() as db:
        return users_reads.find_link(db, secret, request.site.now())


def _render(request: PageRequest, link: DirectorLink, secret: str) -> Response:
    may_direct = request.caller.may("manage")
    return request.render("directors/accept.html", link=link, secret=secret, may_direct=may_direct)


def _gone_page() -> Response:
    return site.message_page(404, "This link leads nowhere", users_writes.DirectorLinkUsedUp.sentence)
