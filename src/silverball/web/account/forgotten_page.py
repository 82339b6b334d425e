"""The page where somebody who forgot their password asks for a mail with a link to a new one."""

from starlette.responses import Response

from silverball.web.page_request import GUEST, PageRequest, not_found_page, page
from silverball.web.sign_in_throttle import too_many_attempts

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
