"""The page where administrators confirm federation numbers, and withdraw them."""

from starlette.responses import Response

from silverball.kit.errors import Conflict
from silverball.kit.http.router import parse_path_id
from silverball.service.numbers import reads
from silverball.service.numbers.reads import NumberQuery
from silverball.service.pages import ROWS_DEEP_MAX
from silverball.service.periods.writes import numbers
from silverball.web.page_request import PageRequest, not_found_page, page, page_that_redirects, redirect

PATH = "/account/numbers"
PAGES_MAX = ROWS_DEEP_MAX // reads.PER_PAGE
NOTICES = {
    "confirmed": "Confirmed. The next rating run joins the ratings.",
    "withdrawn": "Withdrawn. The next rating run parts the ratings.",
}


@page("GET", PATH)
def federation_numbers(request: PageRequest) -> Response:
    return _render(request)


@page("POST", "/account/numbers/confirm")
def confirm(request: PageRequest) -> Response:
    """Confirm the number in the form for the account in the form."""
    return _change(request, is_confirmed=True)


@page("POST", "/account/numbers/withdraw")
def withdraw(request: PageRequest) -> Response:
    """Withdraw the number of the account in the form."""
    return _change(request, is_confirmed=False)


confirm_opened = page_that_redirects("/account/numbers/confirm", PATH)
withdraw_opened = page_that_redirects("/account/numbers/withdraw", PATH)


def _change(request: PageRequest, *, is_confirmed: bool) -> Response:
    if not request.caller.is_admin:
        return not_found_page()
    site, by = request.site, request.account.user_id
    user_id = parse_path_id("user_id", request.field("user_id").strip())
    now, source = site.now(), request.client_address
    try:
        with site.store.write() as transaction:
            if is_confirmed:
                number = parse_path_id("number", request.field("number").strip())
                numbers.confirm_number(transaction, user_id, number, now=now, source=source, by_user_id=by)
            else:
                numbers.withdraw_number(transaction, user_id, now=now, source=source, by_user_id=by)
    except Conflict as refusal:
        return _render(request, 409, refusal.text())
    status = "" if is_confirmed else "&status=confirmed"
    return redirect(f"{PATH}?said={'confirmed' if is_confirmed else 'withdrawn'}{status}")


def _render(request: PageRequest, status: int = 200, fault: str = "") -> Response:
    if not request.caller.is_admin:
        return not_found_page()
    text = request.query.get("page", "1")
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 3 else 1
    shows_confirmed = request.query.get("status") == "confirmed"
    query = NumberQuery(
        status="confirmed" if shows_confirmed else "waiting", page=min(max(number, 1), PAGES_MAX)
    )
    with request.site.store.read() as db:
        listed = reads.numbers_page(db, query, request.caller)
    return request.render(
        "account/numbers.html",
        status,
        numbers=listed.rows,
        total=listed.total,
        shows_confirmed=shows_confirmed,
        number=query.page,
        pages=min(PAGES_MAX, -(-listed.total // reads.PER_PAGE)),
        fault=fault,
        notice=NOTICES.get(request.query.get("said", "")),
    )
