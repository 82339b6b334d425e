"""The page where people make their sign-in ask for a code of an app, and stop it."""

from starlette.responses import Response

from silverball.kit.errors import Conflict, Invalid, ServiceUnavailable
from silverball.kit.security import tokens
from silverball.service.accounts import reads as accounts_reads
from silverball.service.accounts.writes import sessions
from silverball.service.accounts.writes.sessions import AppCodesUnreadable, TwoStepAlreadyOn
from silverball.web import refusal_counts
from silverball.web import sessions as web_sessions
from silverball.web.account import passwords
from silverball.web.account.passwords import PasswordFault
from silverball.web.page_request import PageRequest, page, redirect
from silverball.web.qr_codes import draw_qr_code
from silverball.web.sign_in_throttle import too_many_attempts
from silverball.web.site import status_for

# The code of an app, or a recovery code, asked for besides the password.


WRONG = "This code is wrong, or was used before. The app shows a new one every half minute."


def find_fault(request: PageRequest, user_id: int, email: str, *, browser: str) -> PasswordFault | None:
    """Use up the code in the field `code`; None when it is right.

    `browser` is the secret of a browser that this account knows. All others have one count: only who knows
    the password is asked for a code, so wrong ones are counted for the account and not for each address.
    """
    site, now, address = request.site, request.site.now(), request.client_address
    device = f"code {browser}"
    seconds = site.sign_in_limiter.seconds_to_wait(address, email, now, device=device)
    if seconds:
        refusal_counts.count_refusal(request, "too-many-sign-ins")
        return PasswordFault(too_many_attempts(seconds), 429, seconds)
    typed = request.field("code")
    with site.store.read() as db:
        hash_recovery_code = sessions.recovery_hash_of(db, user_id, typed)
    recovery_hash = hash_recovery_code()
    try:
        with site.store.write(quiet=True) as transaction:
            is_right = sessions.accept_code(
                transaction.connection, user_id, typed, recovery_hash, now=now, source=address
            )
    except AppCodesUnreadable as refusal:
        return PasswordFault(refusal.text(), status_for(refusal))
    if not is_right:
        refusal_counts.count_refusal(request, "sign-in-code-refused", user_id)
        return PasswordFault(WRONG)
    site.sign_in_limiter.record_success(address, email, device=device)
    return None


PATH = "/account/two-step"
NOTICES = {
    "demanded": "This site demands two-step sign-in. Turn it on here; then everything else opens again.",
    "again": "That took too long. Nothing has changed: begin again.",
}


@page("GET", PATH)
def two_step(request: PageRequest) -> Response:
    return _render(request)


@page("POST", "/account/two-step/begin", opens=PATH)
def begin(request: PageRequest) -> Response:
    """Show a new secret, as text, as an address and as a QR code; it counts once a code was given."""
    proved = passwords.require_recent(request)
    if isinstance(proved, PasswordFault):
        return proved.answer(_render(request, proved.status, proved.sentence))
    site, user_id = request.site, proved.account.user_id
    try:
        with site.store.write(quiet=True) as transaction:
            secret = sessions.begin(transaction.connection, user_id, now=site.now(), dice=site.dice)
    except (Conflict, ServiceUnavailable) as refusal:
        return _render(proved, status_for(refusal), refusal.text())
    return _render_secret(proved, secret)


@page("POST", "/account/two-step/confirm", opens=PATH)
def confirm(request: PageRequest) -> Response:
    """Turn it on with a first code, and show the recovery codes."""
    if not passwords.is_recent(request):
        return redirect(f"{PATH}?said=again")
    site, user_id = request.site, request.account.user_id
    typed, now = request.field("code"), site.now()
    try:
        with site.store.read() as db:
            sessions.first_step(db, user_id, typed, now)
        recovery = sessions.new_recovery_codes(site.dice)
        with site.store.write(quiet=True) as transaction:
            sessions.confirm(
                transaction.connection, user_id, typed, recovery, now=now, source=request.client_address
            )
            sessions.note_ended_others(
                transaction.connection,
                user_id,
                request.session_secret,
                now=now,
                source=request.client_address,
            )
    except TwoStepAlreadyOn:
        return redirect(PATH)
    except Invalid as refusal:
        with site.store.read() as db:
            secret = sessions.unconfirmed_secret(db, user_id)
        return _render_secret(request, secret or "", 422, refusal.text())
    return request.render("account/recovery_codes.html", 201, codes=recovery.codes)


@page("POST", "/account/two-step/off", opens=PATH)
def turn_off(request: PageRequest) -> Response:
    """Turn it off with the password and a code."""
    account, site = request.account, request.site
    fault = passwords.find_fault(request) or find_fault(
        request, account.user_id, account.email, browser=request.session_secret
    )
    if fault is not None:
        return fault.answer(_render(request, fault.status, fault.sentence))
    request = passwords.renew_session(request)
    with site.store.write(quiet=True) as transaction:
        sessions.turn_off(
            transaction.connection, account.user_id, now=site.now(), source=request.client_address
        )
        sessions.note_ended_others(
            transaction.connection,
            account.user_id,
            request.session_secret,
            now=site.now(),
            source=request.client_address,
        )
    return redirect("/account?said=two-step-off")


def _render(request: PageRequest, status: int = 200, fault: str = "") -> Response:
    with request.site.store.read() as db:
        found = accounts_reads.find_two_step(db, request.account.user_id)
    return request.render(
        "account/two_step.html",
        status,
        two_step=found,
        fault=fault,
        notice=NOTICES.get(request.query.get("said", "")),
        needs_password=not passwords.is_recent(request),
    )


def _render_secret(request: PageRequest, secret: str, status: int = 201, fault: str = "") -> Response:
    uri = tokens.otpauth_uri(secret, request.account.email, f"Silverball {request.host}".strip())
    return request.render(
        "account/two_step_secret.html",
        status,
        secret=tokens.grouped(secret),
        uri=uri,
        qr_code=draw_qr_code(uri),
        fault=fault,
    )


# The second step of a sign-in: the code of an app, where the account asks for one.


# The field with the secret of a sign-in whose password was right.
HALF = "half"
TOO_LATE = "That took too long, or the code was given elsewhere. Sign in again."


def ask_for_code(request: PageRequest, user_id: int) -> Response:
    """The form that asks for the code, after the password was right."""
    site = request.site
    with site.store.write(quiet=True) as transaction:
        secret = sessions.begin_half_sign_in(transaction.connection, user_id, now=site.now(), dice=site.dice)
    return _render_sign_in_code(request, secret)


@page("POST", "/account/sign-in/code", for_guests=True)
def give_code(request: PageRequest) -> Response:
    """Sign in with the code. A browser that the account knows is asked for it, too."""
    secret, site = request.field(HALF), request.site
    with site.store.read() as db:
        found = accounts_reads.find_half_sign_in(db, secret, site.now())
        is_known = found is not None and accounts_reads.is_known_browser(
            db, found.user_id, request.browser_secret
        )
    if found is None:
        return request.render_sign_in(web_sessions.sign_in_fields(request), 422, TOO_LATE)
    browser = request.browser_secret if is_known else ""
    fault = find_fault(request, found.user_id, found.email, browser=browser)
    if fault is not None:
        return fault.answer(_render_sign_in_code(request, secret, fault.status, fault.sentence))
    return web_sessions.start_session(request, found.user_id)


@page("GET", "/account/sign-in/code", for_guests=True)
def code_opened(request: PageRequest) -> Response:
    """Begin again: reloading the address of a form is not an error."""
    return redirect("/account") if request.session else request.render_sign_in({})


def _render_sign_in_code(request: PageRequest, secret: str, status: int = 200, fault: str = "") -> Response:
    hidden_fields = {**web_sessions.sign_in_fields(request), HALF: secret}
    return request.render("sign_in_code.html", status, fault=fault, hidden_fields=hidden_fields)
