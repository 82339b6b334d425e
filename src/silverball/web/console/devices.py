"""Scorekeepers' devices: a link is shown once, a browser opens it, and stops being a device again."""

import re

from starlette.responses import Response

from silverball.kit import tokens
from silverball.kit.http.router import parse_path_id
from silverball.service import access
from silverball.service.core import loaded
from silverball.service.devices import reads, writes
from silverball.service.devices.reads import KnownDevice
from silverball.web import site
from silverball.web.form_actions import ActionResult
from silverball.web.page_request import PageRequest, device_cookie_name, page, redirect
from silverball.web.qr_codes import qr_code

# The secret is a query parameter: paths are logged, queries are not.
LINK_PATH, LINK_FIELD = "/d", "link"
LINK_SECRET = re.compile(f"[A-Za-z0-9]{{{tokens.LETTERS_COUNT}}}", re.ASCII)
# Longer than any tournament; its end or the organizer revokes the device sooner.
COOKIE_SECONDS = 14 * 24 * 60 * 60


def render_link(request: PageRequest, result: ActionResult) -> Response:
    """The page that shows a new link; sent again, its form leads to the list of devices."""
    link = f"{request.base_url.rstrip('/')}{LINK_PATH}?{LINK_FIELD}={result.secret}"
    name = request.field("name").strip()
    return request.render(
        "devices/link.html", 201, link=link, name=name, qr_code=qr_code, return_path=result.to
    )


@page("GET", LINK_PATH, for_guests=True)
def open_link(request: PageRequest) -> Response:
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
            writes.record_use(transaction.connection, known.device.device_id, request.site.now())
        request.set_cookie(response, device_cookie_name(tournament_id), secret, COOKIE_SECONDS)
    return response


def _find_device(request: PageRequest, secret: str) -> KnownDevice | None:
    if not LINK_SECRET.fullmatch(secret):
        return None
    with request.site.store.read() as db:
        return reads.find_device(db, secret)


def _can_already_score(request: PageRequest, tournament_id: int) -> bool:
    """Whether the account may score here anyway, as an organizer who tries their own link."""
    if request.session is None:
        return False
    with request.site.store.read() as db:
        return access.may_score(request.caller, loaded.load_tournament(db, tournament_id))


@page("POST", "/t/{tournament_id}/device/stop", for_devices=True)
def stop_device(request: PageRequest) -> Response:
    """Forget the device in this browser; the link stays valid."""
    tournament_id = parse_path_id("tournament_id", request.ids["tournament_id"])
    response = redirect(f"/t/{tournament_id}")
    request.delete_cookie(response, device_cookie_name(tournament_id))
    return response


@page("GET", "/t/{tournament_id}/device/stop", for_guests=True)
def stop_opened(request: PageRequest) -> Response:
    """Reloading or bookmarking the address of a form is not an error."""
    return redirect(f"/t/{parse_path_id('tournament_id', request.ids['tournament_id'])}")
