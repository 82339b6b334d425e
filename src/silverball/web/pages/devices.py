"""Scorekeepers' devices: a link is made, shown once, opened by a browser, and given up again."""

import re
from typing import Any

from starlette.responses import Response

from silverball.kit import tokens
from silverball.kit.routing import path_id
from silverball.service import access, enact
from silverball.service.devices import reads, writes
from silverball.service.devices.reads import Known
from silverball.web import site
from silverball.web.console.doing import Done
from silverball.web.pages import sheets
from silverball.web.visit import Visit, device_cookie, page, see

# Queries are in no log, paths are.
OPENED, SECRET = "/d", "link"
LINK = re.compile(f"[A-Za-z0-9]{{{tokens.LETTERS_COUNT}}}", re.ASCII)
# Longer than any night; what ends a device sooner is its tournament, or its organizer.
KEPT_SECONDS = 14 * 24 * 60 * 60


def facts(visit: Visit, tournament_id: int) -> dict[str, Any]:
    """What the settings of a tournament show of its devices."""
    with visit.site.store.read() as db:
        codes = reads.codes_of(db, tournament_id)
        return {"devices": reads.listed(db, tournament_id), "codes": codes}


def link_shown(visit: Visit, done: Done) -> Response:
    """The one time that a link is shown; sent again, its form leads to the list."""
    link = f"{visit.site.base_url.rstrip('/')}{OPENED}?{SECRET}={done.secret}"
    name = visit.field("name").strip()
    return visit.shown("devices/link.html", 201, link=link, name=name, code=sheets.code_of, back=done.to)


@page("GET", OPENED, for_guests=True)
def opened(visit: Visit) -> Response:
    """The browser becomes the device: the secret goes from the address into a cookie."""
    secret = visit.query.get(SECRET, "")
    known = _found(visit, secret)
    if known is None:
        sentence = "Perhaps a letter is missing. Scan the code again, or ask the organizer for a new link."
        return site.message(404, "This link leads nowhere", sentence)
    if not known.works:
        return visit.told_over(known)
    answer = see(f"/t/{known.device.tournament_id}/run")
    if not _keeps_scores_already(visit, known):
        with visit.site.store.write(quiet=True) as db:
            writes.note_use(db, known.device.device_id, visit.site.now())
        visit.keep(answer, device_cookie(known.device.tournament_id), secret, KEPT_SECONDS)
    return answer


def _found(visit: Visit, secret: str) -> Known | None:
    if not LINK.fullmatch(secret):
        return None
    with visit.site.store.read() as db:
        return reads.find(db, secret)


def _keeps_scores_already(visit: Visit, known: Known) -> bool:
    """Whether somebody is signed in who may more: an organizer who tries his own link."""
    if visit.signed_in is None:
        return False
    with visit.site.store.read() as db:
        return access.may_score(visit.caller, enact.tournament_of(db, known.device.tournament_id))


@page("POST", "/t/{tournament_id}/device/stop", for_devices=True)
def stop(visit: Visit) -> Response:
    """This browser is no device any more; the link still works."""
    tournament_id = path_id("tournament_id", visit.ids["tournament_id"])
    answer = see(f"/t/{tournament_id}")
    visit.forget(answer, device_cookie(tournament_id))
    return answer


@page("GET", "/t/{tournament_id}/device/stop", for_guests=True)
def stop_opened(visit: Visit) -> Response:
    """Reloading or bookmarking what a form answered is not an error."""
    return see(f"/t/{path_id('tournament_id', visit.ids['tournament_id'])}")
