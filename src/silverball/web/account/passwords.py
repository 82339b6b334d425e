"""The page where people change their password."""

from datetime import timedelta

from msgspec import Struct
from starlette.responses import Response

from silverball.kit.security import passwords
from silverball.kit.values import replace
from silverball.service.accounts import reads as accounts_reads
from silverball.service.accounts.writes import sessions as writes_sessions
from silverball.service.users import writes as user_writes
from silverball.store.people import audit
from silverball.web import refusal_counts, sessions
from silverball.web.page_request import GUEST, PageRequest, not_found_page, page
from silverball.web.sign_in_throttle import too_many_attempts

# The password asked for again, so that an open browser is not enough for what matters.


WRONG = "The password is wrong."
NEEDED = "Enter your password once more."
RECENT = timedelta(minutes=10)


class PasswordFault(Struct, frozen=True):
    """The reason why somebody is not taken for the owner of the account."""

    sentence: str
    status: int = 422
    retry_after_seconds: int = 0

    def answer(self, response: Response) -> Response:
        """The page with this fault, and with the header that says how long to wait."""
        if self.retry_after_seconds:
            response.headers["retry-after"] = str(self.retry_after_seconds)
        return response


def find_fault(request: PageRequest) -> PasswordFault | None:
    """Compare the field `password` with the account's password; None when it is the same."""
    site, email = request.site, request.account.email
    # Whoever is signed in has a count of their own.
    browser = request.session_secret
    seconds = site.sign_in_limiter.seconds_to_wait(request.client_address, email, site.now(), device=browser)
    if seconds:
        return PasswordFault(too_many_attempts(seconds), 429, seconds)
    with site.store.read() as db:
        credentials = accounts_reads.find_credentials(db, email)
    if not passwords.is_correct(
        request.field("password"), credentials.password_hash if credentials else None
    ):
        refusal_counts.count_refusal(request, "password-refused", request.account.user_id)
        return PasswordFault(WRONG)
    site.sign_in_limiter.record_success(request.client_address, email, device=browser)
    return None


def is_recent(request: PageRequest) -> bool:
    """Whether the password was given in this session within the last minutes."""
    proved_at = request.account.proved_at
    return proved_at is not None and request.site.now() - proved_at < RECENT


def require_recent(request: PageRequest) -> PageRequest | PasswordFault:
    """Ask for the password on the form unless it was given recently; return the request, now recent."""
    if is_recent(request):
        return request
    if not request.field("password"):
        return PasswordFault(NEEDED)
    return find_fault(request) or renew_session(request)


def renew_session(request: PageRequest) -> PageRequest:
    """The request in its session, which has a new secret because the password was given again."""
    site, now = request.site, request.site.now()
    with site.store.write(quiet=True) as transaction:
        renewed = writes_sessions.renew_session(
            transaction.connection, request.session_secret, now=now, dice=site.dice
        )
    request.renewed_secrets.append(renewed.secret)
    proved = replace(request.account, proved_at=now)
    return replace(request, session=proved, session_secret=renewed.secret)


DIFFERENT = "The two new passwords differ. Type the same one twice."


@page("GET", "/account/password")
def password_form(request: PageRequest) -> Response:
    return request.render("account/password.html", limits=passwords, fault="")


@page("POST", "/account/password")
def change_password(request: PageRequest) -> Response:
    """Change the password, end all other sign-ins, and give this browser a new one."""
    account, new = request.account, request.field("new")
    fault = passwords.fault(new, (account.name, account.email, request.host))
    if fault is None and new != request.field("again"):
        fault = DIFFERENT
    if fault is not None:
        return _render_fault(request, fault)
    wrong = find_fault(request)
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


# The page where somebody who forgot their password asks for a mail with a link to a new one.


PATH = "/account/forgotten"
# The same whether there is such an account or not.
ASKED = (
    "If there is an account with this e-mail, a link is on its way to it. It works once, for an hour. Look"
    " among the unwanted mail, too."
)
NOTHING_TYPED = "Enter the e-mail of your account."


@page("GET", PATH, for_guests=True)
def forgotten(request: PageRequest) -> Response:
    if request.site.ask_for_recovery is None:
        return not_found_page()
    return _render(request)


@page("POST", PATH, for_guests=True)
def ask_for_link(request: PageRequest) -> Response:
    """Have the mail sent in the background, so that this takes equally long with and without an account."""
    ask, email = request.site.ask_for_recovery, request.field("email")
    if ask is None:
        return not_found_page()
    if not email.strip():
        return _render(request, 422, fault=NOTHING_TYPED)
    seconds = request.site.recovery_limiter.seconds_to_wait(request.client_address, request.site.now())
    if seconds:
        response = _render(request, 429, fault=too_many_attempts(seconds))
        response.headers["retry-after"] = str(seconds)
        return response
    ask(email, request.client_address)
    return _render(request, notice=ASKED)


def _render(request: PageRequest, status: int = 200, *, fault: str = "", notice: str = "") -> Response:
    email = request.field("email")
    response = request.render("account/forgotten.html", status, fault=fault, notice=notice, email=email)
    request.set_cookie(response, GUEST, request.guest_secret, None)
    return response
