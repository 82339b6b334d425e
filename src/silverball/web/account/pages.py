"""Pages of an account: signing in and out, API tokens, profile, entries in books, data, deletion."""

import asyncio

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from silverball.exchange import own_data
from silverball.kit import passwords
from silverball.kit.errors import Conflict, Invalid, NotFound, Refusal
from silverball.kit.http.router import parse_path_id
from silverball.service.accounts import erasing
from silverball.service.accounts import reads as account_reads
from silverball.service.sessions import reads as session_reads
from silverball.service.sessions import writes as session_writes
from silverball.service.tokens import reads as token_reads
from silverball.service.tokens import writes as token_writes
from silverball.service.users import writes as user_writes
from silverball.store import audit, known_revisions
from silverball.store.engine import Store
from silverball.web import form_actions, refusal_counts, sessions
from silverball.web.account import actions, password_proof, sign_in_code, views
from silverball.web.error_pages import needs_new_key, status_for
from silverball.web.forms import FormState
from silverball.web.page_request import (
    SESSION,
    PageRequest,
    not_found_page,
    page,
    page_that_redirects,
    redirect,
)
from silverball.web.sign_in_throttle import too_many_attempts
from silverball.web.site import message_page

CREATED_BEFORE = (
    "This token was made when the form was sent before, and was shown then. If you have not copied it,"
    " revoke it and create another."
)
NOT_SURE = "Tick that you are sure."
SUSPENDED = "This account is suspended. Ask whoever runs this site."
NOTHING_DELETED = "Nothing was deleted."
ENTRY_GONE = "This entry is not there any more."
DELETED = "Your name and everything that only you needed is gone. Results stay, under a pseudonym."


class HeldResponse(Response):
    """A response that is sent later, without a thread that waits."""

    def __init__(self, response: Response, seconds: float) -> None:
        super().__init__()
        self._response = response
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(self._seconds)
        await self._response(scope, receive, send)


def _hold_until_hidden(store: Store, response: Response) -> Response:
    """The response to a form that hid something, sent when no node answers from before any more."""
    return HeldResponse(response, known_revisions.hiding_seconds(store))


@page("GET", "/account")
def overview(request: PageRequest) -> Response:
    return views.render_overview(request)


# Signing in and out


@page("GET", "/account/sign-in", for_guests=True)
def sign_in_form(request: PageRequest) -> Response:
    if request.session is not None:
        return redirect("/account")
    return request.render_sign_in(sessions.sign_in_fields(request))


@page("POST", "/account/sign-in", for_guests=True)
def sign_in(request: PageRequest) -> Response:
    site, email, password = request.site, request.field("email"), request.field("password")
    with site.store.read() as db:
        credentials = session_reads.find_credentials(db, email)
        is_known = credentials is not None and session_reads.is_known_browser(
            db, credentials.user_id, request.browser_secret
        )
    browser = request.browser_secret if is_known else ""
    seconds = site.sign_in_limiter.seconds_to_wait(request.client_address, email, site.now(), device=browser)
    if seconds:
        refusal_counts.count_refusal(request, "too-many-sign-ins")
        return _too_many_attempts(request, seconds)
    # Also checked without an account, so that both take equally long; and outside any transaction.
    is_correct = passwords.is_correct(password, credentials.password_hash if credentials else None)
    if credentials is None or not is_correct:
        owner_id = credentials.user_id if credentials else None
        refusal_counts.count_refusal(request, "sign-in-refused", owner_id)
        return request.render_sign_in(
            sessions.sign_in_fields(request), 422, "The e-mail or the password is wrong."
        )
    if credentials.is_suspended:
        # Said only to who knows the password.
        refusal_counts.count_refusal(request, "sign-in-refused", credentials.user_id)
        return request.render_sign_in(sessions.sign_in_fields(request), 403, SUSPENDED)
    site.sign_in_limiter.record_success(request.client_address, email, device=browser)
    _renew_hash(request, credentials, password)
    if credentials.needs_code:
        return sign_in_code.ask_for_code(request, credentials.user_id)
    return sessions.start_session(request, credentials.user_id)


@page("POST", "/account/sign-out")
def sign_out(request: PageRequest) -> Response:
    with request.site.store.write(quiet=True) as transaction:
        session_writes.end_session(transaction.connection, request.session_secret)
    response = redirect("/account/sign-in?said=out")
    request.delete_cookie(response, SESSION)
    return response


def _too_many_attempts(request: PageRequest, seconds: int) -> Response:
    response = request.render_sign_in(sessions.sign_in_fields(request), 429, too_many_attempts(seconds))
    response.headers["retry-after"] = str(seconds)
    return response


def _renew_hash(request: PageRequest, credentials: session_reads.Credentials, password: str) -> None:
    if passwords.is_outdated(credentials.password_hash):
        renewed = passwords.hash_password(password)
        with request.site.store.write(quiet=True) as transaction:
            user_writes.rehash_password(
                transaction.connection, credentials.user_id, old=credentials.password_hash, new=renewed
            )


# API tokens


def _rerender_tokens(request: PageRequest, sentence: str) -> Response:
    return views.render_overview(request, 419, faults={"name": sentence})


@page("POST", "/account/tokens", rerender=_rerender_tokens)
def create_token(request: PageRequest) -> Response:
    proved = password_proof.require_recent(request)
    if isinstance(proved, password_proof.PasswordFault):
        faults = {"password": proved.sentence}
        return proved.answer(views.render_overview(request, proved.status, faults=faults))
    request = proved
    try:
        created = actions.create_token(request)
    except Invalid as refusal:
        if needs_new_key(refusal):
            # The idempotency key has no field on the page, so its fault is shown at the first field.
            return views.render_overview(request, 422, faults={"name": refusal.text()}, needs_new_key=True)
        faults = {field: sentences[0] for field, sentences in refusal.errors.items()}
        return views.render_overview(request, 422, faults=faults)
    except Conflict as refusal:
        return views.render_overview(request, 409, faults={"name": refusal.text()})
    if not created.text:
        return views.render_overview(request, notice=CREATED_BEFORE)
    name = request.field("name").strip()
    return request.render("token.html", 201, token=created.text, name=name, base_url=request.base_url)


@page("POST", "/account/tokens/{token_id}/rotate")
def rotate_token(request: PageRequest) -> Response:
    """Give a token a new secret; the old one works no longer."""
    token_id = parse_path_id("token_id", request.ids["token_id"])
    proved = password_proof.require_recent(request)
    if isinstance(proved, password_proof.PasswordFault):
        faults = {f"rotate-{token_id}": proved.sentence}
        return proved.answer(views.render_overview(request, proved.status, faults=faults))
    site, user_id = request.site, request.account.user_id
    # Not quiet: this process drops what it remembers of the token.
    with site.store.write() as transaction:
        issued = token_writes.rotate_token(
            transaction,
            token_id,
            user_id=user_id,
            now=site.now(),
            dice=site.dice,
            source=request.client_address,
        )
        name = token_reads.find_token(transaction.connection, user_id, token_id).name
    return request.render("token.html", 201, token=issued.text, name=name, base_url=request.base_url)


@page("POST", "/account/tokens/{token_id}/revoke")
def revoke_token(request: PageRequest) -> Response:
    token_id = parse_path_id("token_id", request.ids["token_id"])
    # Not quiet: this process drops what it remembers of the token.
    with request.site.store.write() as transaction:
        token_writes.revoke_token(
            transaction,
            token_id,
            user_id=request.account.user_id,
            now=request.site.now(),
            source=request.client_address,
        )
    return redirect("/account?said=revoked")


sign_out_opened = page_that_redirects("/account/sign-out", "/account")
tokens_opened = page_that_redirects("/account/tokens", "/account")
rotate_opened = page_that_redirects("/account/tokens/{token_id}/rotate", "/account")
revoke_opened = page_that_redirects("/account/tokens/{token_id}/revoke", "/account")


# The profile, and entries in organizers' books


@page("GET", "/account/profile")
def profile(request: PageRequest) -> Response:
    return views.render_profile(request, FormState())


def _rerender_profile(request: PageRequest, sentence: str) -> Response:
    return views.render_profile(request, FormState(views.PROFILE, request.form, sentence), 419)


@page("POST", "/account/profile", rerender=_rerender_profile)
def save_profile(request: PageRequest) -> Response:
    try:
        hides = actions.save_profile(request)
    except Invalid as refusal:
        return views.render_profile(request, FormState(views.PROFILE, request.form, refusal.text()), 422)
    saved = redirect("/account/profile?said=saved")
    return _hold_until_hidden(request.site.store, saved) if hides else saved


@page("GET", actions.ENTRIES)
def entries(request: PageRequest) -> Response:
    return views.render_entries(request, FormState())


def _rerender_entries(request: PageRequest, sentence: str) -> Response:
    return views.render_entries(request, FormState(request.field("form"), request.form, sentence), 419)


@page("POST", "/account/entries/do/{action}", rerender=_rerender_entries)
def run_claim_form(request: PageRequest) -> Response:
    action = actions.CLAIM_ACTIONS.get(request.ids["action"])
    if action is None:
        return not_found_page()
    try:
        return redirect(form_actions.run_action(request, action, None).to)
    except Refusal as refusal:
        sentence = ENTRY_GONE if isinstance(refusal, NotFound) else refusal.text()
        form = FormState(request.field("form"), request.form, sentence, needs_new_key(refusal))
        return views.render_entries(request, form, status_for(refusal))


@page("GET", "/account/entries/do/{action}")
def claim_form_opened(_request: PageRequest) -> Response:
    """Reloading or bookmarking the address of a form is not an error."""
    return redirect(actions.ENTRIES)


# The account's data


@page("GET", "/account/data")
def own_data_page(request: PageRequest) -> Response:
    return views.render_data(request)


@page("GET", "/account/data.zip")
def download_data(request: PageRequest) -> Response:
    user_id, site = request.account.user_id, request.site
    with site.store.read() as db:
        data = account_reads.account_data(db, user_id)
        name, content = own_data.account_file(user_id, data, site.now())
    with site.store.write(quiet=True) as transaction:
        audit.count(
            transaction.connection,
            "data-exported",
            at=site.now(),
            user_id=user_id,
            source=request.client_address,
        )
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return Response(content, media_type=own_data.CONTENT_TYPE, headers=headers)


@page("POST", "/account/sessions/end")
def end_sessions(request: PageRequest) -> Response:
    """End the session that the form names, or all but this without a name."""
    site, user_id, label = request.site, request.account.user_id, request.field("label")
    with site.store.write(quiet=True) as transaction:
        db = transaction.connection
        if label:
            ended = session_writes.end_named_session(db, user_id, label)
            number = 0 if ended is None else 1
        else:
            number = session_writes.end_other_sessions(db, user_id, request.session_secret)
        if number:
            audit.record(
                db,
                "sign-ins-ended",
                at=site.now(),
                user_id=user_id,
                source=request.client_address,
                detail=str(number),
            )
    return redirect("/account/data?said=ended-one" if label else "/account/data?said=ended")


@page("POST", "/account/delete")
def delete_account(request: PageRequest) -> Response:
    """Delete the account; the password is asked for, so that an open browser is not enough."""
    site = request.site
    if not request.field("sure"):
        return views.render_data(request, 422, NOT_SURE)
    fault = password_proof.find_fault(request)
    if fault is not None:
        return fault.answer(views.render_data(request, fault.status, f"{fault.sentence} {NOTHING_DELETED}"))
    try:
        erasing.erase_account(site.store, request.account.user_id, site.now())
    except Conflict as refusal:
        return views.render_data(request, 409, refusal.text())
    response = message_page(200, "Your account is deleted", DELETED)
    request.delete_cookie(response, SESSION)
    return _hold_until_hidden(request.site.store, response)


sessions_opened = page_that_redirects("/account/sessions/end", "/account/data")
delete_opened = page_that_redirects("/account/delete", "/account/data")
