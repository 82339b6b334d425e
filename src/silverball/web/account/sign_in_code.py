"""The second step of a sign-in: the code of an app, where the account asks for one."""

from starlette.responses import Response

from silverball.service.sessions import reads as session_reads
from silverball.service.two_step import reads as two_step_reads
from silverball.service.two_step import writes as two_step_writes
from silverball.web import sessions
from silverball.web.account import code_proof
from silverball.web.page_request import PageRequest, page, redirect

# The field with the secret of a sign-in whose password was right.
HALF = "half"
TOO_LATE = "That took too long, or the code was given elsewhere. Sign in again."


def ask_for_code(request: PageRequest, user_id: int) -> Response:
    """The form that asks for the code, after the password was right."""
    site = request.site
    with site.store.write(quiet=True) as transaction:
        secret = two_step_writes.begin_half_sign_in(
            transaction.connection, user_id, now=site.now(), dice=site.dice
        )
    return _render(request, secret)


@page("POST", "/account/sign-in/code", for_guests=True)
def give_code(request: PageRequest) -> Response:
    """Sign in with the code. A browser that the account knows is asked for it, too."""
    secret, site = request.field(HALF), request.site
    with site.store.read() as db:
        found = two_step_reads.find_half_sign_in(db, secret, site.now())
        is_known = found is not None and session_reads.is_known_browser(
            db, found.user_id, request.browser_secret
        )
    if found is None:
        return request.render_sign_in(sessions.sign_in_fields(request), 422, TOO_LATE)
    browser = request.browser_secret if is_known else ""
    fault = code_proof.find_fault(request, found.user_id, found.email, browser=browser)
    if fault is not None:
        return fault.answer(_render(request, secret, fault.status, fault.sentence))
    return sessions.start_session(request, found.user_id)


@page("GET", "/account/sign-in/code", for_guests=True)
def code_opened(request: PageRequest) -> Response:
    """Begin again: reloading the address of a form is not an error."""
    return redirect("/account") if request.session else request.render_sign_in({})


def _render(request: PageRequest, secret: str, status: int = 200, fault: str = "") -> Response:
    hidden_fields = {**sessions.sign_in_fields(request), HALF: secret}
    return request.render("sign_in_code.html", status, fault=fault, hidden_fields=hidden_fields)
