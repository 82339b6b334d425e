"""The code of an app, or a recovery code, asked for besides the password."""

from silverball.service.two_step import writes as two_step_writes
from silverball.web import refusal_counts
from silverball.web.account.password_proof import PasswordFault
from silverball.web.page_request import PageRequest
from silverball.web.sign_in_throttle import too_many_attempts

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
    with site.store.write(quiet=True) as transaction:
        is_right = two_step_writes.accept_code(
            transaction.connection, user_id, request.field("code"), now=now, source=address
        )
    if not is_right:
        refusal_counts.count_refusal(request, "sign-in-code-refused", user_id)
        return PasswordFault(WRONG)
    site.sign_in_limiter.record_success(address, email, device=device)
    return None
