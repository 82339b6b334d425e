"""The page where administrators find accounts, give roles, invite, suspend, and help to a new password."""

from collections.abc import Callable, Mapping
from typing import get_args

from msgspec import Struct
from starlette.responses import Response

from silverball.kit.errors import Conflict, Invalid
from silverball.kit.http.router import parse_path_id
from silverball.kit.security import passwords as security_passwords
from silverball.service.accounts import reads as accounts_reads
from silverball.service.accounts.reads import AccountLink
from silverball.service.accounts.writes import accounts as writes_accounts
from silverball.service.accounts.writes import links as link_writes
from silverball.service.accounts.writes import sessions as writes_sessions
from silverball.service.accounts.writes.links import AdminAct, NewAccountLink
from silverball.service.core import access
from silverball.service.core.calls import ROWS_DEEP_MAX
from silverball.service.journal.reads import audit as reads_audit
from silverball.service.numbers import reads as numbers
from silverball.service.numbers import writes as number_writes
from silverball.service.numbers.reads import PER_PAGE_MAX, NumberQuery
from silverball.service.numbers.writes import Actor
from silverball.service.users import reads as users
from silverball.service.users import writes as users_writes
from silverball.store.database.transaction import Transaction
from silverball.store.people import audit
from silverball.store.people.audit import SecurityEvent
from silverball.web import sessions
from silverball.web.account import passwords
from silverball.web.forms import FormState
from silverball.web.page_request import (
    GUEST,
    SIGN_IN,
    PageRequest,
    page,
    redirect,
)
from silverball.web.qr_codes import qr_code
from silverball.web.site import message_page

# The page that a link of an administrator or of a mail opens: a new account, or a new password.


# The secret is a query parameter: paths are logged, queries are not.
LINK_PATH, FIELD = "/account/link", "link"
FORM = "link"
SECRET_LETTERS_MAX = 100
MAYBE_MAILED = (
    "This link was used, withdrawn, or has expired. If it came by mail, get a new one with “Forgot your"
    " password?” at the sign-in; otherwise ask whoever gave it to you."
)
DIFFERENT = "The two passwords differ. Type the same one twice."


@page("GET", LINK_PATH, for_guests=True)
def open_link(request: PageRequest) -> Response:
    secret = request.query.get(FIELD, "")
    link = _find_link(request, secret)
    return _gone_page(request) if link is None else _render_link(request, link, secret)


@page("POST", LINK_PATH, for_guests=True)
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
    fault = security_passwords.fault(password, (*names, request.host))
    if fault is None and password != request.field("again"):
        fault = DIFFERENT
    if fault is not None:
        return _render_link(request, link, secret, fault)
    # Hashed outside of the transaction, since it is slow by design.
    password_hash = security_passwords.hash_password(password)
    try:
        if link.role is None:
            _recover(request, secret, password_hash)
            return redirect(f"{SIGN_IN}?said=recovered")
        user_id = _accept_invitation(request, secret, password_hash)
    except Invalid as refusal:
        return _render_link(request, link, secret, refusal.text())
    except Conflict:
        return _gone_page(request)
    return sessions.start_session(request, user_id, "/account")


def _recover(request: PageRequest, secret: str, password_hash: str) -> None:
    now = request.site.now()
    with request.site.store.write() as transaction:
        db = transaction.connection
        user_id = link_writes.use_recovery(db, secret, now)
        users_writes.set_password(db, user_id, password_hash)
        audit.record(db, "password-set", at=now, user_id=user_id, source=request.client_address)


def _accept_invitation(request: PageRequest, secret: str, password_hash: str) -> int:
    now = request.site.now()
    with request.site.store.write() as transaction:
        db = transaction.connection
        user_id = users_writes.create_user(
            db,
            name=request.field("name").strip(),
            email=request.field("email"),
            role=link_writes.use_invitation(db, secret, now),
            now=now,
            source=request.client_address,
        )
        users_writes.set_password(db, user_id, password_hash)
    return user_id


def _find_link(request: PageRequest, secret: str) -> AccountLink | None:
    if len(secret) > SECRET_LETTERS_MAX:
        return None
    with request.site.store.read() as db:
        return accounts_reads.find_link(db, secret, request.site.now())


def _render_link(request: PageRequest, link: AccountLink, secret: str, fault: str = "") -> Response:
    response = request.render(
        "account/link.html",
        422 if fault else 200,
        link=link,
        secret=secret,
        form=FORM,
        form_state=FormState(FORM if fault else "", request.form, fault),
        limits=security_passwords,
    )
    request.set_cookie(response, GUEST, request.guest_secret, None)
    return response


def _gone_page(request: PageRequest) -> Response:
    is_maybe_mailed = request.site.ask_for_recovery is not None
    sentence = MAYBE_MAILED if is_maybe_mailed else link_writes.LinkUsedUp.sentence
    return message_page(410, "This link leads nowhere any more", sentence)


PATH = "/account/accounts"
WORDS_MAX = 254
NOTICES = {
    "suspended": "Suspended: signed out, tokens and devices refused, webhooks off.",
    "lifted": "The suspension is lifted. Webhooks stay off until they are switched on.",
    "role": "The account has another role.",
    "withdrawn": "The link is withdrawn.",
    "demanded": "Saved: it holds from the next request of each account on.",
}


class FormFault(Struct, frozen=True):
    """The id of the form that was refused, and the reason."""

    form_id: str
    sentence: str
    status: int


@page("GET", PATH, for_admins=True)
def accounts(request: PageRequest) -> Response:
    return _render_accounts(request)


@page("POST", "/account/accounts/{user_id}/suspend", for_admins=True, opens=PATH)
def suspend(request: PageRequest) -> Response:
    """Suspend the account in the path."""
    return _change_suspension(request, is_suspended=True)


@page("POST", "/account/accounts/{user_id}/unsuspend", for_admins=True, opens=PATH)
def unsuspend(request: PageRequest) -> Response:
    """Lift the suspension of the account in the path."""
    return _change_suspension(request, is_suspended=False)


@page("POST", "/account/accounts/{user_id}/role", for_admins=True, opens=PATH)
def change_role(request: PageRequest) -> Response:
    """Give the account in the path another role, with the password."""
    user_id = request.path_id("user_id")
    fault = _proof_fault(request, f"role-{user_id}")
    if fault is not None:
        return fault

    def change(transaction: Transaction) -> None:
        link_writes.change_role(transaction, user_id, request.field("role"), _act(request))

    return _change(request, f"role-{user_id}", change, f"{PATH}?said=role&q={user_id}")


@page("POST", "/account/accounts/{user_id}/recovery", for_admins=True, opens=PATH)
def make_recovery(request: PageRequest) -> Response:
    """Show a link with which the person of the account sets a new password."""
    user_id = request.path_id("user_id")
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
        return _render_accounts(request, FormFault(form_id, refusal.text(), 409))
    return _render_account_link(request, new, name=name)


@page("POST", "/account/accounts/invite", for_admins=True, opens=PATH)
def invite(request: PageRequest) -> Response:
    """Show a link with which somebody makes an account of the chosen role."""
    fault = _proof_fault(request, "invite")
    if fault is not None:
        return fault
    role = request.field("role")
    try:
        with request.site.store.write(quiet=True) as transaction:
            new = link_writes.invite(transaction.connection, role, _act(request), request.site.dice)
    except (Conflict, Invalid) as refusal:
        return _render_accounts(request, FormFault("invite", refusal.text(), 422))
    return _render_account_link(request, new, role=role)


@page("POST", "/account/accounts/links/{label}/withdraw", for_admins=True, opens=PATH)
def withdraw_link(request: PageRequest) -> Response:
    """Withdraw an invitation or a link to a new password."""
    with request.site.store.write(quiet=True) as transaction:
        link_writes.withdraw(transaction.connection, request.ids["label"], _act(request))
    return redirect(f"{PATH}?said=withdrawn")


@page("POST", "/account/accounts/two-step", for_admins=True, opens=PATH)
def demand_two_step(request: PageRequest) -> Response:
    """Say of whom the site demands two-step sign-in."""
    fault = _proof_fault(request, "two-step")
    if fault is not None:
        return fault
    act = _act(request)

    def change(transaction: Transaction) -> None:
        writes_sessions.demand_two_step(
            transaction.connection, request.field("of"), now=act.now, user_id=act.user_id, source=act.source
        )

    return _change(request, "two-step", change, f"{PATH}?said=demanded")


def _act(request: PageRequest) -> AdminAct:
    return AdminAct(user_id=request.account.user_id, source=request.client_address, now=request.site.now())


def _change_suspension(request: PageRequest, *, is_suspended: bool) -> Response:
    user_id, act = request.path_id("user_id"), _act(request)
    change = writes_accounts.suspend if is_suspended else writes_accounts.unsuspend
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
        return _render_accounts(request, FormFault(form_id, refusal.text(), status))
    return redirect(path)


def _proof_fault(request: PageRequest, form_id: str) -> Response | None:
    """The page that asks for the password, unless it was given a moment ago."""
    proved = passwords.require_recent(request)
    if not isinstance(proved, passwords.PasswordFault):
        return None
    return proved.answer(_render_accounts(request, FormFault(form_id, proved.sentence, proved.status)))


def _render_account_link(
    request: PageRequest, new: NewAccountLink, *, name: str = "", role: str = ""
) -> Response:
    link = f"{request.base_url.rstrip('/')}{LINK_PATH}?{FIELD}={new.secret}"
    return request.render(
        "account/link_made.html",
        201,
        link=link,
        name=name,
        role=role,
        expires_at=new.expires_at,
        qr_code=qr_code,
    )


def _render_accounts(request: PageRequest, fault: FormFault | None = None) -> Response:
    words = request.query.get("q", "").replace("\x00", "").strip()[:WORDS_MAX]
    role = request.query.get("role", "")
    role = role if role in access.ROLES else ""
    if fault is not None and "user_id" in request.ids:
        words = request.ids["user_id"]
    with request.site.store.read() as db:
        found = users.find_accounts(db, words, request.caller, role=role)
        open_links = accounts_reads.open_links(db, request.site.now())
        demand = accounts_reads.two_step_demand(db)
    return request.render(
        "account/accounts.html",
        fault.status if fault else 200,
        words=words,
        demand=demand,
        role="" if words else role,
        roles=access.ROLES,
        accounts=found,
        accounts_max=users.ACCOUNTS_LISTED_MAX,
        links=open_links,
        fault=fault,
        needs_password=not passwords.is_recent(request),
        notice=NOTICES.get(request.query.get("said", "")),
    )


# The audit log as a page for administrators, in words.


PAGES_MAX = ROWS_DEEP_MAX // reads_audit.PER_PAGE
EVENT_WORDS: Mapping[SecurityEvent, str] = {
    "account-cleaned": "Spam of an account deleted",
    "account-erased": "Account deleted",
    "account-made": "Account made",
    "account-suspended": "Account suspended",
    "account-unsuspended": "Suspension lifted",
    "backup-made": "Backup made",
    "data-exported": "Own data downloaded",
    "encryption-key-changed": "Encryption key changed",
    "encryption-key-forgotten": "Lost encryption key given up",
    "first-code-refused": "Code of the first account refused",
    "invitation-made": "Invitation made",
    "invitation-withdrawn": "Invitation withdrawn",
    "password-refused": "Password refused",
    "network-blocked": "Network blocked",
    "network-unblocked": "Network allowed again",
    "number-confirmed": "Federation number confirmed",
    "number-withdrawn": "Federation number withdrawn",
    "password-set": "Password set",
    "recovery-code-used": "Recovery code used",
    "recovery-link-made": "Link to a new password made",
    "recovery-mail-refused": "Mail with a link to a new password refused",
    "recovery-mailed": "Link to a new password mailed",
    "role-changed": "Role changed",
    "sign-in": "Signed in",
    "sign-in-code-refused": "Sign-in code refused",
    "sign-in-refused": "Sign-in refused",
    "sign-ins-ended": "Signed out elsewhere",
    "site-changed": "Site details changed",
    "token-made": "Token made",
    "token-revoked": "Token revoked",
    "token-rotated": "Token replaced",
    "too-many-sign-ins": "Too many sign-ins",
    "tournament-restored": "Tournament restored",
    "two-step-demanded": "Two-step sign-in demanded, or no longer",
    "two-step-off": "Two-step sign-in switched off",
    "two-step-on": "Two-step sign-in switched on",
}
EVENTS: Mapping[str, SecurityEvent] = {event: event for event in get_args(SecurityEvent)}


@page("GET", "/account/audit", for_admins=True)
def audit_log(request: PageRequest) -> Response:
    event = EVENTS.get(request.query.get("event", ""))
    query = reads_audit.AuditQuery(page=min(request.page_number, PAGES_MAX), event=event)
    with request.site.store.read() as db:
        listed = reads_audit.audit_page(db, query, request.caller)
        accounts = {entry.user_id for entry in listed.rows if entry.user_id is not None}
        names = {user.user_id: user.name for user in users.existing_users(db, list(accounts), request.caller)}
    return request.render(
        "account/audit.html",
        entries=listed.rows,
        words=EVENT_WORDS,
        names=names,
        event=event,
        chosen=f"event={event}&" if event else "",
        number=query.page,
        pages=min(PAGES_MAX, -(-listed.total // reads_audit.PER_PAGE)),
    )


# The page where administrators confirm federation numbers, and withdraw them.


NUMBERS_PATH = "/account/numbers"

NUMBERS_NOTICES = {
    "confirmed": "Confirmed. The next rating run joins the ratings.",
    "withdrawn": "Withdrawn. The next rating run parts the ratings.",
    "batch": "These are confirmed. The next rating run joins the ratings.",
    "taken-back": "The batch is taken back. The next rating run parts the ratings.",
}
NONE_READY = "None of these can be confirmed together any more. See what is in the way of each."
OBSTACLE_WORDS: Mapping[str, str] = {
    "confirmed": "the number or the account is confirmed already",
    "not-claimed": "the account claims it no more",
    "other-account": "another account claims it too",
    "other-number": "the account claims another number too",
    "not-in-file": "not in the federation file",
    "other-name": "another name in the federation file",
    "suspended": "the account is suspended",
}
NUMBERS_PER_PAGE = PER_PAGE_MAX
NUMBER_PAGES_MAX = ROWS_DEEP_MAX // NUMBERS_PER_PAGE


@page("GET", NUMBERS_PATH, for_admins=True)
def federation_numbers(request: PageRequest) -> Response:
    return _render_numbers(request)


@page("POST", "/account/numbers/confirm", for_admins=True, opens=NUMBERS_PATH)
def confirm(request: PageRequest) -> Response:
    """Confirm the number in the form for the account in the form."""
    return _change_numbers(request, is_confirmed=True)


@page("POST", "/account/numbers/confirm-shown", for_admins=True, opens=NUMBERS_PATH)
def confirm_shown(request: PageRequest) -> Response:
    """Confirm those of the numbers on the page that nothing stands in the way of."""
    pairs = [_shown_pair(text) for text in request.field("numbers").split()]
    with request.site.store.write() as transaction:
        done = number_writes.confirm_ready_numbers(transaction, pairs[:NUMBERS_PER_PAGE], _actor(request))
    if done.batch_id is None:
        return _render_numbers(request, 409, NONE_READY)
    return redirect(f"{NUMBERS_PATH}?said=batch&batch={done.batch_id}")


@page("POST", "/account/numbers/take-back", for_admins=True, opens=NUMBERS_PATH)
def take_back_batch(request: PageRequest) -> Response:
    """Withdraw all numbers of the batch in the form."""
    batch_id = parse_path_id("batch", request.field("batch").strip())
    with request.site.store.write() as transaction:
        number_writes.withdraw_batch(transaction, batch_id, _actor(request))
    return redirect(f"{NUMBERS_PATH}?said=taken-back")


def _shown_pair(text: str) -> tuple[int, int]:
    user_id, _, number = text.partition(":")
    return parse_path_id("user_id", user_id), parse_path_id("number", number)


def _actor(request: PageRequest) -> Actor:
    return Actor(request.site.now(), request.client_address, request.account.user_id)


@page("POST", "/account/numbers/withdraw", for_admins=True, opens=NUMBERS_PATH)
def withdraw(request: PageRequest) -> Response:
    """Withdraw the number of the account in the form."""
    return _change_numbers(request, is_confirmed=False)


def _change_numbers(request: PageRequest, *, is_confirmed: bool) -> Response:
    site, by = request.site, request.account.user_id
    user_id = parse_path_id("user_id", request.field("user_id").strip())
    now, source = site.now(), request.client_address
    try:
        with site.store.write() as transaction:
            if is_confirmed:
                number = parse_path_id("number", request.field("number").strip())
                number_writes.confirm_number(
                    transaction, user_id, number, now=now, source=source, by_user_id=by
                )
            else:
                number_writes.withdraw_number(transaction, user_id, now=now, source=source, by_user_id=by)
    except Conflict as refusal:
        return _render_numbers(request, 409, refusal.text())
    status = "" if is_confirmed else "&status=confirmed"
    return redirect(f"{NUMBERS_PATH}?said={'confirmed' if is_confirmed else 'withdrawn'}{status}")


def _render_numbers(request: PageRequest, status: int = 200, fault: str = "") -> Response:
    batch = request.query.get("batch", "")
    batch_id = parse_path_id("batch", batch) if batch else None
    shows_confirmed = batch_id is not None or request.query.get("status") == "confirmed"
    query = NumberQuery(
        status="confirmed" if shows_confirmed else "waiting",
        batch_id=batch_id,
        limit=NUMBERS_PER_PAGE,
        page=min(request.page_number, NUMBER_PAGES_MAX),
    )
    with request.site.store.read() as db:
        listed = numbers.numbers_page(db, query, request.caller)
    return request.render(
        "account/numbers.html",
        status,
        numbers=listed.rows,
        total=listed.total,
        shows_confirmed=shows_confirmed,
        number=query.page,
        pages=min(NUMBER_PAGES_MAX, -(-listed.total // NUMBERS_PER_PAGE)),
        ready=[item for item in listed.rows if not item.obstacles],
        obstacle_words=OBSTACLE_WORDS,
        batch_id=batch_id,
        fault=fault,
        notice=NUMBERS_NOTICES.get(request.query.get("said", "")),
    )
