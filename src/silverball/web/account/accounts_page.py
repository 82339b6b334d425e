"""The page where administrators find accounts, give roles, invite, suspend, and help to a new password."""

from collections.abc import Callable

from msgspec import Struct
from starlette.responses import Response

from silverball.kit.errors import Conflict, Invalid
from silverball.kit.http.router import parse_path_id
from silverball.service import access
from silverball.service.account_links import reads as links
from silverball.service.account_links import writes as link_writes
from silverball.service.account_links.writes import AdminAct, NewAccountLink
from silverball.service.accounts.writes import suspension
from silverball.service.users import reads as users
from silverball.store.transaction import Transaction
from silverball.web.account import link_page, password_proof
from silverball.web.page_request import PageRequest, not_found_page, page, page_that_redirects, redirect
from silverball.web.qr_codes import qr_code

PATH = "/account/accounts"
WORDS_MAX = 254
NOTICES = {
    "suspended": "Suspended: signed out, tokens and devices refused, webhooks off.",
    "lifted": "The suspension is lifted. Webhooks stay off until they are switched on.",
    "role": "The account has another role.",
    "withdrawn": "The link is withdrawn.",
}


class FormFault(Struct, frozen=True):
    """The id of the form that was refused, and the reason."""

    form_id: str
    sentence: str
    status: int


@page("GET", PATH)
def accounts(request: PageRequest) -> Response:
    return _render(request)


@page("POST", "/account/accounts/{user_id}/suspend")
def suspend(request: PageRequest) -> Response:
    """Suspend the account in the path."""
    return _change_suspension(request, is_suspended=True)


@page("POST", "/account/accounts/{user_id}/unsuspend")
def unsuspend(request: PageRequest) -> Response:
    """Lift the suspension of the account in the path."""
    return _change_suspension(request, is_suspended=False)


@page("POST", "/account/accounts/{user_id}/role")
def change_role(request: PageRequest) -> Response:
    """Give the account in the path another role, with the password."""
    if not request.caller.is_admin:
        return not_found_page()
    user_id = _user_id(request)
    fault = _proof_fault(request, f"role-{user_id}")
    if fault is not None:
        return fault

    def change(transaction: Transaction) -> None:
        link_writes.change_role(transaction, user_id, request.field("role"), _act(request))

    return _change(request, f"role-{user_id}", change, f"{PATH}?said=role&q={user_id}")


@page("POST", "/account/accounts/{user_id}/recovery")
def make_recovery(request: PageRequest) -> Response:
    """Show a link with which the person of the account sets a new password."""
    if not request.caller.is_admin:
        return not_found_page()
    user_id = _user_id(request)
    form_id = f"recovery-{user_id}"
    fault = _proof_fault(request, form_id)
    if fault is not None:
        return fault
    try:
        with request.site.store.write(quiet=True) as transaction:
            db = transaction.connection
            new = link_writes.make_recovery(db, user_id, _act(request), request.site.dice)
            name = users.name_and_email(db, user_id)[0]
    except Conflict as refusal:
        return _render(request, FormFault(form_id, refusal.text(), 409))
    return _render_link(request, new, name=name)


@page("POST", "/account/accounts/invite")
def invite(request: PageRequest) -> Response:
    """Show a link with which somebody makes an account of the chosen role."""
    if not request.caller.is_admin:
        return not_found_page()
    fault = _proof_fault(request, "invite")
    if fault is not None:
        return fault
    role = request.field("role")
    try:
        with request.site.store.write(quiet=True) as transaction:
            new = link_writes.invite(transaction.connection, role, _act(request), request.site.dice)
    except (Conflict, Invalid) as refusal:
        return _render(request, FormFault("invite", refusal.text(), 422))
    return _render_link(request, new, role=role)


@page("POST", "/account/accounts/links/{label}/withdraw")
def withdraw_link(request: PageRequest) -> Response:
    """Withdraw an invitation or a link to a new password."""
    if not request.caller.is_admin:
        return not_found_page()
    with request.site.store.write(quiet=True) as transaction:
        link_writes.withdraw(transaction.connection, request.ids["label"], _act(request))
    return redirect(f"{PATH}?said=withdrawn")


suspend_opened = page_that_redirects("/account/accounts/{user_id}/suspend", PATH)
unsuspend_opened = page_that_redirects("/account/accounts/{user_id}/unsuspend", PATH)
role_opened = page_that_redirects("/account/accounts/{user_id}/role", PATH)
recovery_opened = page_that_redirects("/account/accounts/{user_id}/recovery", PATH)
invite_opened = page_that_redirects("/account/accounts/invite", PATH)
withdraw_opened = page_that_redirects("/account/accounts/links/{label}/withdraw", PATH)


def _user_id(request: PageRequest) -> int:
    return parse_path_id("user_id", request.ids["user_id"])


def _act(request: PageRequest) -> AdminAct:
    return AdminAct(user_id=request.account.user_id, source=request.client_address, now=request.site.now())


def _change_suspension(request: PageRequest, *, is_suspended: bool) -> Response:
    if not request.caller.is_admin:
        return not_found_page()
    user_id, act = _user_id(request), _act(request)
    change = suspension.suspend if is_suspended else suspension.unsuspend
    notice = "suspended" if is_suspended else "lifted"
    return _change(
        request,
        "",
        lambda transaction: change(
            transaction, user_id, now=act.now, by_user_id=act.user_id, source=act.source
        ),
        f"{PATH}?said={notice}&q={user_id}",
    )


def _change(
    request: PageRequest, form_id: str, change: Callable[[Transaction], object], path: str
) -> Response:
    try:
        # Not quiet: this process drops what it remembers of the account.
        with request.site.store.write() as transaction:
            change(transaction)
    except (Conflict, Invalid) as refusal:
        status = 409 if isinstance(refusal, Conflict) else 422
        return _render(request, FormFault(form_id, refusal.text(), status))
    return redirect(path)


def _proof_fault(request: PageRequest, form_id: str) -> Response | None:
    """The page that asks for the password, unless it was given a moment ago."""
    proved = password_proof.require_recent(request)
    if not isinstance(proved, password_proof.PasswordFault):
        return None
    return proved.answer(_render(request, FormFault(form_id, proved.sentence, proved.status)))


def _render_link(request: PageRequest, new: NewAccountLink, *, name: str = "", role: str = "") -> Response:
    link = f"{request.base_url.rstrip('/')}{link_page.PATH}?{link_page.FIELD}={new.secret}"
    return request.render(
        "account/link_made.html",
        201,
        link=link,
        name=name,
        role=role,
        expires_at=new.expires_at,
        qr_code=qr_code,
    )


def _render(request: PageRequest, fault: FormFault | None = None) -> Response:
    if not request.caller.is_admin:
        return not_found_page()
    words = request.query.get("q", "").replace("\x00", "").strip()[:WORDS_MAX]
    role = request.query.get("role", "")
    role = role if role in access.ROLES else ""
    if fault is not None and "user_id" in request.ids:
        words = request.ids["user_id"]
    with request.site.store.read() as db:
        found = users.find_accounts(db, words, request.caller, role=role)
        open_links = links.open_links(db, request.site.now())
    return request.render(
        "account/accounts.html",
        fault.status if fault else 200,
        words=words,
        role="" if words else role,
        roles=access.ROLES,
        accounts=found,
        accounts_max=users.ACCOUNTS_LISTED_MAX,
        links=open_links,
        fault=fault,
        needs_password=not password_proof.is_recent(request),
        notice=NOTICES.get(request.query.get("said", "")),
    )
