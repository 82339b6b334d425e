"""Directors: a link is shown once, and makes the organizer who opens it a director."""

from typing import Any

from starlette.responses import Response

from silverball.kit.errors import Refusal
from silverball.service.calls import Write
from silverball.service.directors import reads, writes
from silverball.service.directors.reads import DirectorLink
from silverball.web import form_actions, site
from silverball.web.error_pages import status_for
from silverball.web.form_actions import ActionResult, FormAction
from silverball.web.form_values import texts
from silverball.web.page_request import PageRequest, page, redirect
from silverball.web.qr_codes import qr_code

# The secret is a query parameter: paths are logged, queries are not.
PATH, FIELD = "/direct", "link"
SECRET_LETTERS_MAX = 100


def _console_path(call: Write[Any]) -> str:
    writes.accept_link(call)
    return f"/t/{call.ids['tournament_id']}/run"


ACCEPT = FormAction(
    write=_console_path, body=writes.AcceptedLink, build_body=texts(FIELD), redirect_to=lambda path: path
)


def render_link(request: PageRequest, result: ActionResult) -> Response:
    """The page that shows a new link; sent again, its form leads back to the console."""
    link = f"{request.base_url.rstrip('/')}{PATH}?{FIELD}={result.secret}"
    return request.render("directors/made.html", 201, link=link, qr_code=qr_code, return_path=result.to)


@page("GET", PATH)
def open_link(request: PageRequest) -> Response:
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
    except writes.DirectorLinkUsedUp:
        return _gone_page()
    except Refusal as refusal:
        return site.message_page(status_for(refusal), "This does not work", refusal.text())
    return _gone_page()


def _find_link(request: PageRequest, secret: str) -> DirectorLink | None:
    if not 0 < len(secret) <= SECRET_LETTERS_MAX:
        return None
    with request.site.store.read() as db:
        return reads.find_link(db, secret, request.site.now())


def _render(request: PageRequest, link: DirectorLink, secret: str) -> Response:
    may_direct = request.caller.may("manage")
    return request.render("directors/accept.html", link=link, secret=secret, may_direct=may_direct)


def _gone_page() -> Response:
    return site.message_page(404, "This link leads nowhere", writes.DirectorLinkUsedUp.sentence)
