"""The page that a link of an administrator or of a mail opens: a new account, or a new password."""

from starlette.responses import Response

from silverball.kit import passwords
from silverball.kit.errors import Conflict, Invalid
from silverball.service.account_links import reads as links
from silverball.service.account_links import writes as link_writes
from silverball.service.account_links.reads import AccountLink
from silverball.service.users import writes as users
from silverball.store import audit
from silverball.web import sessions
from silverball.web.forms import FormState
from silverball.web.page_request import GUEST, SIGN_IN, PageRequest, page, redirect
from silverball.web.site import message_page

# The secret is a query parameter: paths are logged, queries are not.
PATH, FIELD = "/account/link", "link"
FORM = "link"
SECRET_LETTERS_MAX = 100
MAYBE_MAILED = (
    "This link was used, withdrawn, or has expired. If it came by mail, get a new one with “Forgot your"
    " password?” at the sign-in; otherwise ask whoever gave it to you."
)
DIFFERENT = "The two passwords differ. Type the same one twice."


@page("GET", PATH, for_guests=True)
def open_link(request: PageRequest) -> Response:
    secret = request.query.get(FIELD, "")
    link = _find_link(request, secret)
    return _gone_page(request) if link is None else _render(request, link, secret)


@page("POST", PATH, for_guests=True)
def use_link(request: PageRequest) -> Response:
    """Make the account of an invitation, or set the password of a recovery. Each link works once."""
    secret = request.field(FIELD)
    link = _find_link(request, secret)
    if link is None:
        return _gone_page(request)
    password = request.field("new")
    names = (
        (request.field("name"), request.field("email")) if link.role else (link.name or "", link.email or "")
    )
    fault = passwords.fault(password, names)
    if fault is None and password != request.field("again"):
        fault = DIFFERENT
    if fault is not None:
        return _render(request, link, secret, fault)
    # Hashed outside of the transaction, since it is slow by design.
    password_hash = passwords.hash_password(password)
    try:
        if link.role is None:
            _recover(request, secret, password_hash)
            return redirect(f"{SIGN_IN}?said=recovered")
        user_id = _accept_invitation(request, secret, password_hash)
    except Invalid as refusal:
        return _render(request, link, secret, refusal.text())
    except Conflict:
        return _gone_page(request)
    return sessions.start_session(request, user_id, "/account")


def _recover(request: PageRequest, secret: str, password_hash: str) -> None:
    now = request.site.now()
    with request.site.store.write() as transaction:
        db = transaction.connection
        user_id = link_writes.use_recovery(db, secret, now)
        users.set_password(db, user_id, password_hash)
        audit.record(db, "password-set", at=now, user_id=user_id, source=request.client_address)


def _accept_invitation(request: PageRequest, secret: str, password_hash: str) -> int:
    now = request.site.now()
    with request.site.store.write() as transaction:
        db = transaction.connection
        user_id = users.create_user(
            db,
            name=request.field("name").strip(),
            email=request.field("email"),
            role=link_writes.use_invitation(db, secret, now),
            now=now,
            source=request.client_address,
        )
        users.set_password(db, user_id, password_hash)
    return user_id


def _find_link(request: PageRequest, secret: str) -> AccountLink | None:
    if len(secret) > SECRET_LETTERS_MAX:
        return None
    with request.site.store.read() as db:
        return links.find_link(db, secret, request.site.now())


def _render(request: PageRequest, link: AccountLink, secret: str, fault: str = "") -> Response:
    response = request.render(
        "account/link.html",
        422 if fault else 200,
        link=link,
        secret=secret,
        form=FORM,
        form_state=FormState(FORM if fault else "", request.form, fault),
        limits=passwords,
    )
    request.set_cookie(response, GUEST, request.guest_secret, None)
    return response


def _gone_page(request: PageRequest) -> Response:
    is_maybe_mailed = request.site.ask_for_recovery is not None
    sentence = MAYBE_MAILED if is_maybe_mailed else link_writes.LinkUsedUp.sentence
    return message_page(410, "This link leads nowhere any more", sentence)
