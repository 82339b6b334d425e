"""The password asked for again, so that an open browser is not enough for what matters."""

from datetime import timedelta

from msgspec import Struct
from starlette.responses import Response

from silverball.kit import passwords
from silverball.kit.values import replace
from silverball.service.sessions import reads as session_reads
from silverball.service.sessions import writes as session_writes
from silverball.web import refusal_counts
from silverball.web.page_request import PageRequest
from silverball.web.sign_in_throttle import too_many_attempts

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
        credentials = session_reads.find_credentials(db, email)
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
    fault = find_fault(request)
    if fault is not None:
        return fault
    now = request.site.now()
    with request.site.store.write(quiet=True) as transaction:
        session_writes.record_proof(transaction.connection, request.session_secret, now)
    return replace(request, session=replace(request.account, proved_at=now))
