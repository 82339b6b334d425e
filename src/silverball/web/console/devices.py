"""Scorekeepers' devices: a link is made, shown once, opened by a browser, and given up again."""

import re
from typing import Any

from starlette.responses import Response

from silverball.kit import tokens
from silverball.kit.http.router import parse_path_id
from silverball.service import access
from silverball.service.core import enact
from silverball.service.devices import reads, writes
from silverball.service.devices.reads import KnownDevice
from silverball.web import site
from silverball.web.console.dispatch import ActionResult
from silverball.web.page_request import PageRequest, device_cookie_name, page, redirect
from silverball.web.public import print_sheets

# Queries are in no log, paths are.
LINK_PATH, LINK_FIELD = "/d", "link"
LINK_SECRET = re.compile(f"[A-Za-z0-9]{{{tokens.LETTERS_COUNT}}}", re.ASCII)
# Longer than any night; what ends a device sooner is its tournament, or its organizer.
COOKIE_SECONDS = 14 * 24 * 60 * 60


def devices_context(visit: PageRequest, tournament_id: int) -> dict[str, Any]:
    """What the settings of a tournament show of its devices."""
    with visit.site.store.read() as db:
        codes = reads.current_codes(db, tournament_id)
        return {"devices": reads.active_devices(db, tournament_id), "codes": codes}


def render_link(visit: PageRequest, done: ActionResult) -> Response:
    """The one time that a link is shown; sent again, its form leads to the list."""
    link = f"{visit.site.base_url.rstrip('/')}{LINK_PATH}?{LINK_FIELD}={done.secret}"
    name = visit.field("name").strip()
    return visit.render(
        "devices/link.html", 201, link=link, name=name, code=print_sheets.qr_code, back=done.to
    )


@page("GET", LINK_PATH, for_guests=True)
def open_link(visit: PageRequest) -> Response:
    """The browser becomes the device: the secret goes from the address into a cookie."""
    secret = visit.query.get(LINK_FIELD, "")
    known = _find_device(visit, secret)
    if known is None:
        sentence = "Perhaps a letter is missing. Scan the code again, or ask the organizer for a new link."
        return site.message_page(404, "This link leads nowhere", sentence)
    if not known.is_usable:
        return visit.render_inactive_device(known)
    answer = redirect(f"/t/{known.device.tournament_id}/run")
    if not _can_already_score(visit, known):
        with visit.site.store.write(quiet=True) as transaction:
            writes.record_use(transaction.connection, known.device.device_id, visit.site.now())
        visit.set_cookie(answer, device_cookie_name(known.device.tournament_id), secret, COOKIE_SECONDS)
    return answer


def _find_device(visit: PageRequest, secret: str) -> KnownDevice | None:
    if not LINK_SECRET.fullmatch(secret):
        return None
    with visit.site.store.read() as db:
        return reads.find_device(db, secret)


def _can_already_score(visit: PageRequest, known: KnownDevice) -> bool:
    """Whether somebody is signed in who may more: an organizer who tries his own link."""
    if visit.session is None:
        return False
    with visit.site.store.read() as db:
        return access.may_score(visit.caller, enact.load_tournament(db, known.device.tournament_id))


@page("POST", "/t/{tournament_id}/device/stop", for_devices=True)
def stop_device(visit: PageRequest) -> Response:
    """This browser is no device any more; the link still works."""
    tournament_id = parse_path_id("tournament_id", visit.ids["tournament_id"])
    answer = redirect(f"/t/{tournament_id}")
    visit.delete_cookie(answer, device_cookie_name(tournament_id))
    return answer


@page("GET", "/t/{tournament_id}/device/stop", for_guests=True)
def stop_opened(visit: PageRequest) -> Response:
    """Reloading or bookmarking what a form answered is not an error."""
    return redirect(f"/t/{parse_path_id('tournament_id', visit.ids['tournament_id'])}")
