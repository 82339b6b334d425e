"""The page where people change their password."""

from starlette.responses import Response

from silverball.kit import passwords
from silverball.service.users import writes as user_writes
from silverball.store import audit
from silverball.web import sessions
from silverball.web.account import password_proof
from silverball.web.page_request import PageRequest, page

DIFFERENT = "The two new passwords differ. Type the same one twice."


@page("GET", "/account/password")
def password_form(request: PageRequest) -> Response:
    return request.render("account/password.html", limits=passwords, fault="")


@page("POST", "/account/password")
def change_password(request: PageRequest) -> Response:
    """Change the password, end all other sign-ins, and give this browser a new one."""
    account, new = request.account, request.field("new")
    fault = passwords.fault(new, (account.name, account.email))
    if fault is None and new != request.field("again"):
        fault = DIFFERENT
    if fault is not None:
        return _render_fault(request, fault)
    wrong = password_proof.find_fault(request)
    if wrong is not None:
        return wrong.answer(_render_fault(request, wrong.sentence, wrong.status))
    # Hashed outside of the transaction, since it is slow by design.
    password_hash = passwords.hash_password(new)
    site, address = request.site, request.client_address
    with site.store.write(quiet=True) as transaction:
        db = transaction.connection
        user_writes.set_password(db, account.user_id, password_hash)
        audit.record(db, "password-set", at=site.now(), user_id=account.user_id, source=address)
    return sessions.start_session(request, account.user_id, "/account?said=password")


def _render_fault(request: PageRequest, sentence: str, status: int = 422) -> Response:
    return request.render("account/password.html", status, limits=passwords, fault=sentence)
