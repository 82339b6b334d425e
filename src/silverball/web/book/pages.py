"""Pages of the book: an organizer's tournaments, players, machines, locations and series."""

import re

from starlette.responses import Response

from silverball.kit.errors import NotAllowed, NotFound, Refusal
from silverball.kit.http.router import parse_path_id
from silverball.kit.values import replace
from silverball.web import error_pages, form_actions
from silverball.web.book import views
from silverball.web.book.actions import ACTIONS
from silverball.web.book.sections import SECTIONS
from silverball.web.error_pages import needs_new_key, status_for
from silverball.web.forms import PAGE, FormState
from silverball.web.page_request import PageRequest, not_found_page, page, redirect

GONE = "What this form was about is not there any more."
# A page of the book that a form was on.
BOOK_PATH = re.compile(r"/home/([a-z]{1,12})(?:/([0-9]{1,19}))?", re.ASCII)


@page("GET", "/home")
def home(request: PageRequest) -> Response:
    return views.render_home(request)


@page("GET", "/home/do/{action}")
def action_opened(_request: PageRequest) -> Response:
    """Reloading or bookmarking the address of a form is not an error."""
    return redirect("/home")


@page("GET", "/home/{section}")
def section_page(request: PageRequest) -> Response:
    section = SECTIONS.get(request.ids["section"])
    return not_found_page() if section is None else views.render_section(request, section)


@page("GET", "/home/{section}/{item_id}")
def item_page(request: PageRequest) -> Response:
    section = SECTIONS.get(request.ids["section"])
    if section is None:
        return not_found_page()
    return views.render_item(request, section, parse_path_id(section.id_field, request.ids["item_id"]))


def _rerender(request: PageRequest, sentence: str) -> Response:
    form = FormState(request.field("form"), request.form, sentence)
    return _render_form_page(request, form, 419)


@page("POST", "/home/do/{action}", rerender=_rerender)
def run_form(request: PageRequest) -> Response:
    action = ACTIONS.get(request.ids["action"])
    if action is None:
        return not_found_page()
    try:
        return redirect(form_actions.run_action(request, action, None).to)
    except Refusal as refusal:
        sentence = _refusal_text(request, refusal)
        form = FormState(request.field("form"), request.form, sentence, needs_new_key(refusal))
        return _render_form_page(request, form, status_for(refusal))


def _render_form_page(request: PageRequest, form: FormState, status: int) -> Response:
    """The page that the form was on, with the form as it was sent."""
    match = BOOK_PATH.fullmatch(request.field(PAGE))
    section = SECTIONS.get(match[1]) if match else None
    if match is None or section is None:
        return redirect("/home")
    request = replace(request, query={})
    if match[2]:
        try:
            item_id = parse_path_id(section.id_field, match[2])
            return views.render_item(request, section, item_id, status, form)
        except NotFound:
            form = replace(form, fault=GONE)
    return views.render_section(request, section, status, form)


def _refusal_text(request: PageRequest, refusal: Refusal) -> str:
    if isinstance(refusal, NotFound):
        return GONE
    if isinstance(refusal, NotAllowed) and not request.caller.may("manage"):
        return views.NOT_YOURS
    return error_pages.refusal_text(refusal)
