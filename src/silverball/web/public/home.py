"""What this server is, what runs now, and the first account of a new one."""

from datetime import datetime

from starlette.responses import Response

import silverball
from silverball.kit import passwords
from silverball.kit.errors import Conflict, Invalid
from silverball.service.tournaments.reads import tournaments
from silverball.service.users import reads as user_reads
from silverball.service.users import writes as user_writes
from silverball.web.console import settings_form
from silverball.web.forms import FormState
from silverball.web.page_request import GUEST, PageRequest, page, redirect, start_session

RUNNING_MAX = 50
FORM = "first"
ALREADY_SET_UP = "This server has an account by now. Sign in, or ask whoever runs it."


@page("GET", "/", for_guests=True)
def home(visit: PageRequest) -> Response:
    running = tournaments.TournamentQuery(status="started", limit=RUNNING_MAX)
    with visit.site.store.read() as db:
        is_new = not user_reads.can_anybody_sign_in(db)
        found = tournaments.tournaments_page(db, running, None)
    return visit.render(
        "home.html",
        running=found.rows,
        running_total=found.total,
        is_new=is_new,
        version=silverball.__version__,
        title_of=settings_form.format_title,
    )


@page("GET", "/account/first", for_guests=True)
def first_account_form(visit: PageRequest) -> Response:
    with visit.site.store.read() as db:
        if user_reads.can_anybody_sign_in(db):
            return redirect("/account/sign-in")
    return _render_first_form(visit)


@page("POST", "/account/first", for_guests=True)
def first_account(visit: PageRequest) -> Response:
    """The admin of a new server: only while nobody at all can sign in."""
    site, password = visit.site, visit.field("password")
    fault = passwords.fault(password)
    if fault is None and password != visit.field("again"):
        fault = "The two passwords differ. Type the same one twice."
    if fault is not None:
        return _render_first_form(visit, 422, fault)
    with site.store.read() as db:
        if user_reads.can_anybody_sign_in(db):
            return _render_first_form(visit, 409, ALREADY_SET_UP)
    # Made outside of the transaction: it takes long by design.
    stored = passwords.hash_password(password)
    try:
        user_id = _create_admin(visit, stored, site.now())
    except Invalid as refused:
        return _render_first_form(
            visit, 422, " ".join(one for said in refused.errors.values() for one in said)
        )
    except Conflict:
        return _render_first_form(visit, 409, ALREADY_SET_UP)
    return start_session(visit, user_id, "/run")


def _create_admin(visit: PageRequest, password_hash: str, now: datetime) -> int:
    with visit.site.store.write() as transaction:
        return user_writes.create_first_admin(
            transaction.connection,
            name=visit.field("name"),
            email=visit.field("email"),
            password_hash=password_hash,
            now=now,
        )


def _render_first_form(visit: PageRequest, status: int = 200, fault: str = "") -> Response:
    typed = FormState(FORM, visit.form, fault)
    answer = visit.render("first.html", status, typed=typed, form=FORM)
    visit.set_cookie(answer, GUEST, visit.guest_secret, None)
    return answer
