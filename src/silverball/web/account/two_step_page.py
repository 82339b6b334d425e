"""The page where people make their sign-in ask for a code of an app, and stop it."""

from urllib.parse import urlsplit

from starlette.responses import Response

from silverball.kit import one_time_codes
from silverball.kit.errors import Conflict, Invalid
from silverball.service.two_step import reads as two_step_reads
from silverball.service.two_step import writes as two_step_writes
from silverball.service.two_step.writes import TwoStepAlreadyOn
from silverball.web.account import code_proof, password_proof
from silverball.web.account.password_proof import PasswordFault
from silverball.web.error_pages import status_for
from silverball.web.page_request import PageRequest, page, page_that_redirects, redirect
from silverball.web.qr_codes import draw_qr_code

PATH = "/account/two-step"
NOTICES = {"again": "That took too long. Nothing has changed: begin again."}


@page("GET", PATH)
def two_step(request: PageRequest) -> Response:
    return _render(request)


@page("POST", "/account/two-step/begin")
def begin(request: PageRequest) -> Response:
    """Show a new secret, as text, as an address and as a QR code; it counts once a code was given."""
    proved = password_proof.require_recent(request)
    if isinstance(proved, PasswordFault):
        return proved.answer(_render(request, proved.status, proved.sentence))
    site, user_id = request.site, proved.account.user_id
    try:
        with site.store.write(quiet=True) as transaction:
            secret = two_step_writes.begin(transaction.connection, user_id, now=site.now(), dice=site.dice)
    except Conflict as refusal:
        return _render(proved, status_for(refusal), refusal.text())
    return _render_secret(proved, secret)


@page("POST", "/account/two-step/confirm")
def confirm(request: PageRequest) -> Response:
    """Turn it on with a first code, and show the recovery codes."""
    if not password_proof.is_recent(request):
        return redirect(f"{PATH}?said=again")
    site, user_id = request.site, request.account.user_id
    try:
        with site.store.write(quiet=True) as transaction:
            codes = two_step_writes.confirm(
                transaction.connection,
                user_id,
                request.field("code"),
                now=site.now(),
                dice=site.dice,
                source=request.client_address,
            )
    except TwoStepAlreadyOn:
        return redirect(PATH)
    except Invalid as refusal:
        with site.store.read() as db:
            secret = two_step_writes.unconfirmed_secret(db, user_id)
        return _render_secret(request, secret or "", 422, refusal.text())
    return request.render("account/recovery_codes.html", 201, codes=codes)


@page("POST", "/account/two-step/off")
def turn_off(request: PageRequest) -> Response:
    """Turn it off with the password and a code."""
    account, site = request.account, request.site
    fault = password_proof.find_fault(request) or code_proof.find_fault(
        request, account.user_id, account.email, browser=request.session_secret
    )
    if fault is not None:
        return fault.answer(_render(request, fault.status, fault.sentence))
    with site.store.write(quiet=True) as transaction:
        two_step_writes.turn_off(
            transaction.connection, account.user_id, now=site.now(), source=request.client_address
        )
    return redirect("/account?said=two-step-off")


begin_opened = page_that_redirects("/account/two-step/begin", PATH)
confirm_opened = page_that_redirects("/account/two-step/confirm", PATH)
off_opened = page_that_redirects("/account/two-step/off", PATH)


def _render(request: PageRequest, status: int = 200, fault: str = "") -> Response:
    with request.site.store.read() as db:
        found = two_step_reads.find_two_step(db, request.account.user_id)
    return request.render(
        "account/two_step.html",
        status,
        two_step=found,
        fault=fault,
        notice=NOTICES.get(request.query.get("said", "")),
        needs_password=not password_proof.is_recent(request),
    )


def _render_secret(request: PageRequest, secret: str, status: int = 201, fault: str = "") -> Response:
    host = urlsplit(request.base_url).hostname or ""
    uri = one_time_codes.otpauth_uri(secret, request.account.email, f"Silverball {host}".strip())
    return request.render(
        "account/two_step_secret.html",
        status,
        secret=one_time_codes.grouped(secret),
        uri=uri,
        qr_code=draw_qr_code(uri),
        fault=fault,
    )
