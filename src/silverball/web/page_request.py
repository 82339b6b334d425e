"""One request for a page: who is there, what was sent, and whether the form is really ours.

A page is a plain function that runs in a worker thread:

    @page("POST", "/account/tokens")
    def create_token(visit: Visit) -> Response: ...

Before it is called, the visitor is known and the form is checked.
"""

import hmac
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from silverball.kit import tokens
from silverball.kit.edge import backend
from silverball.kit.errors import NotFound
from silverball.service import access
from silverball.service.access import AuthenticatedCaller
from silverball.service.devices import reads as device_reads
from silverball.service.devices.reads import KnownDevice
from silverball.service.sessions import reads as session_reads
from silverball.service.sessions import writes as session_writes
from silverball.service.sessions.reads import SignedInUser
from silverball.web import forms
from silverball.web.forms import FormData
from silverball.web.site import Site, message_page, render

BODY_BYTES_MAX = 64 * 1024
FIELDS_MAX = 50
FORM_TYPE = "application/x-www-form-urlencoded"
SESSION, GUEST, DEVICE = "session", "guest", "device"
SIGN_IN = "/account/sign-in"
# What a page may tell the next one by a word in its address; other words are ignored.
SIGN_IN_NOTICES = {"out": "You are signed out.", "over": "Your session is over. Sign in again."}
FORM_KEPT = (
    "You were signed out in the meantime. Sign in again: what you entered is kept, and you can look at it"
    " before it is sent."
)
FORM_TOO_LONG = (
    "You were signed out in the meantime, and what you entered is too long to be kept here. Sign in on"
    " another page of this site, then go back in your browser to what you entered and send it again."
)
FORM_RESTORED = (
    "This has not been sent yet: you were signed out in the meantime. Look at it and send it again."
)
# Pages have threads of their own: slow passwords must not hold up the interface.
THREADS_MAX = 8


@dataclass(frozen=True)
class PageRequest:
    """A request, read and checked."""

    site: Site
    # Where the request came from; a proxy on this machine is believed.
    client_address: str
    ids: dict[str, str]
    path: str
    query: dict[str, str]
    form: FormData
    session_secret: str
    guest_secret: str
    session: SignedInUser | None
    # Whether the browser says that the form stood on a page of ours.
    is_same_origin: bool = False
    # The device that acts here, before any account; and one that does not, or not any more.
    device: KnownDevice | None = None
    inactive_device: KnownDevice | None = None
    device_secret: str = ""

    @property
    def account(self) -> SignedInUser:
        """The account; only for pages that are not for guests."""
        assert self.session is not None
        return self.session

    @property
    def caller(self) -> AuthenticatedCaller:
        """The device, or the account as the interface knows its callers: it may what its best token may."""
        if self.device is not None:
            return access.device_caller(self.device.device)
        who = self.account
        return AuthenticatedCaller(
            user_id=who.user_id, role=who.role, ability=access.HIGHEST_ABILITY[who.role]
        )

    @property
    def csrf(self) -> str:
        """What every form of this visitor must carry: of the device, the session, or a guest's own cookie."""
        if self.device_secret:
            return tokens.digest(f"form {self.device_secret}")
        return self.session.csrf if self.session else tokens.digest(self.guest_secret)

    def field(self, name: str) -> str:
        return self.form.value(name)

    def render(self, template: str, status: int = 200, **context: Any) -> Response:
        """A page for this visitor."""
        return render(
            template,
            status,
            csrf=self.csrf,
            signed_in=self.session,
            device=self.device,
            new_key=lambda: tokens.new_cookie_secret(self.site.dice),
            **context,
        )

    def render_sign_in(
        self, kept: Mapping[str, str], status: int = 200, fault: str | None = None
    ) -> Response:
        """The form that signs in; `kept` is what is to happen afterwards."""
        said = FORM_KEPT if kept.get("kept") else SIGN_IN_NOTICES.get(self.query.get("said", ""))
        if status == 401 and not kept:
            said = FORM_TOO_LONG
        answer = self.render(
            "sign_in.html", status, email=self.field("email"), fault=fault, said=said, kept=kept
        )
        self.set_cookie(answer, GUEST, self.guest_secret, None)
        return answer

    def render_inactive_device(self, known: KnownDevice, kept: FormData | None = None) -> Response:
        """What a device is told that cannot act here; what was entered can be sent again from there."""
        status, title, sentence = _inactive_device_message(known, self.ids.get("tournament_id", ""))
        fields = [] if kept is None else [pair for pair in kept.pairs if pair[0] != forms.CSRF]
        told = {"title": title, "sentence": sentence, "is_revoked": known.is_revoked}
        return self.render(
            "devices/over.html",
            status,
            kept=fields,
            path=self.path,
            live=f"/t/{known.device.tournament_id}",
            **told,
        )

    def set_cookie(self, answer: Response, name: str, value: str, seconds: int | None) -> None:
        """Set one of our cookies; without seconds it goes when the browser is closed."""
        answer.set_cookie(
            self.site.cookie_name(name),
            value,
            max_age=seconds,
            path="/",
            secure=self.site.is_https,
            httponly=True,
            samesite="lax",
        )

    def delete_cookie(self, answer: Response, name: str) -> None:
        self.set_cookie(answer, name, "", 0)


@dataclass(frozen=True)
class PageRoute:
    """One row of the table of pages."""

    method: str
    path: str
    handler: Callable[[PageRequest], Response]
    for_guests: bool = False
    # Open to devices of the tournament in its path too.
    for_devices: bool = False
    fields_max: int = FIELDS_MAX
    # Shows the form again, filled with what was sent and with a sentence; it must change nothing.
    rerender: Callable[[PageRequest, str], Response] | None = None


def page(
    method: str,
    path: str,
    *,
    for_guests: bool = False,
    for_devices: bool = False,
    fields_max: int = FIELDS_MAX,
    rerender: Callable[[PageRequest, str], Response] | None = None,
) -> Callable[[Callable[[PageRequest], Response]], PageRoute]:
    """Declare a page; one that is not for guests sends them to sign in."""
    return lambda answer: PageRoute(method, path, answer, for_guests, for_devices, fields_max, rerender)


class FormTooLarge(Exception):
    """The form is larger than any of ours."""


def page_endpoint(site: Site, row: PageRoute) -> Callable[[Request], Awaitable[Response]]:
    """The page as Starlette wants it."""
    threads = anyio.CapacityLimiter(THREADS_MAX)

    async def answer(request: Request) -> Response:
        form = await _read_form(request, row.fields_max) if row.method == "POST" else FormData()
        return await anyio.to_thread.run_sync(_answer_page, site, row, request, form, limiter=threads)

    return answer


def redirect(path: str) -> Response:
    """Go there with a GET."""
    return RedirectResponse(path, 303, {"cache-control": "no-store"})


def _answer_page(site: Site, row: PageRoute, request: Request, form: FormData) -> Response:
    visit = _build_page_request(site, row, request, form)
    if visit.session is None and visit.device is None and not row.for_guests:
        return _require_sign_in(row, visit)
    # A guest's cookie that was made a moment ago cannot have been in the form.
    is_ours = row.method != "POST" or hmac.compare_digest(visit.field("csrf").encode(), visit.csrf.encode())
    try:
        if not is_ours:
            # Another session has begun since; nothing is done before somebody has looked at it.
            return (
                row.rerender(visit, FORM_RESTORED)
                if row.rerender and visit.is_same_origin
                else _stale_form_page()
            )
        return row.handler(visit)
    except NotFound:
        return not_found_page()


def _require_sign_in(row: PageRoute, visit: PageRequest) -> Response:
    """Sign in first; what was entered on a page of ours comes back afterwards."""
    if visit.inactive_device is not None:
        return visit.render_inactive_device(
            visit.inactive_device, visit.form if visit.is_same_origin else None
        )
    if row.rerender is not None and visit.is_same_origin:
        kept = visit.form.pack()
        return visit.render_sign_in({"kept": kept, "kept_path": visit.path} if kept else {}, 401)
    words = {"said": "over"} if visit.session_secret else {}
    if row.method == "GET" and row.path != "/account":
        asked = urlencode(visit.query)
        words["next"] = f"{visit.path}?{asked}" if asked else visit.path
    return redirect(f"{SIGN_IN}?{urlencode(words, safe='/')}" if words else SIGN_IN)


def start_session(visit: PageRequest, user_id: int, to: str = "") -> Response:
    """Signed in from now on; then the page that was interrupted, or the one that was wanted."""
    site = visit.site
    with site.store.write(quiet=True) as transaction:
        # What the browser carried before signing in is worth nothing afterwards.
        session_writes.end_session(transaction.connection, visit.session_secret)
        made = session_writes.start_session(transaction.connection, user_id, now=site.now(), dice=site.dice)
        known = session_reads.find_signed_in_user(transaction.connection, made.secret, site.now())
    then = replace(visit, session=known, session_secret=made.secret)
    answer = redirect(to) if to else resume_interrupted_form(then) or redirect(path_after_sign_in(then))
    visit.set_cookie(answer, SESSION, made.secret, int(session_writes.SESSION_LIFETIME.total_seconds()))
    visit.delete_cookie(answer, GUEST)
    return answer


def resume_interrupted_form(visit: PageRequest) -> Response | None:
    """The page that signing in interrupted, with its form as it was; None when there was none."""
    found = visit.site.find_page("POST", visit.field("kept_path"))
    if found is None or found[0].rerender is None:
        return None
    row, ids = found
    form = forms.unpack(visit.field("kept"), row.fields_max)
    then = replace(visit, path=visit.field("kept_path"), ids=ids, form=form, query={})
    try:
        assert row.rerender is not None
        return row.rerender(then, FORM_RESTORED)
    except NotFound:
        return not_found_page()


def path_after_sign_in(visit: PageRequest) -> str:
    """Where the visitor wanted to go before signing in, if that is a page of ours."""
    wanted = visit.field("next")
    found = visit.site.find_page("GET", urlsplit(wanted).path) if wanted.startswith("/") else None
    return wanted if found is not None and not wanted.startswith("//") else "/account"


def _is_same_origin(site: Site, request: Request) -> bool:
    """Whether a browser says so; what says nothing of it is not believed."""
    if "sec-fetch-site" in request.headers:
        return request.headers["sec-fetch-site"] == "same-origin"
    ours = {site.base_url.rstrip("/"), f"{request.url.scheme}://{request.headers.get('host', '')}"}
    return request.headers.get("origin") in ours


def _find_device(site: Site, row: PageRoute, request: Request) -> tuple[KnownDevice | None, str]:
    """The device that this browser is in the tournament of the path, and its secret."""
    secret = ""
    if row.for_devices:
        name = device_cookie_name(request.path_params["tournament_id"])
        secret = request.cookies.get(site.cookie_name(name), "")
    if not secret:
        return None, ""
    with site.store.read() as db:
        return device_reads.find_device(db, secret), secret


def device_cookie_name(tournament_id: object) -> str:
    """The name under which a browser keeps that it is a device of this tournament."""
    return f"{DEVICE}_{tournament_id}"


def _inactive_device_message(known: KnownDevice, tournament_id: str) -> tuple[int, str, str]:
    """Status, title and sentence for a device that cannot act here."""
    night = known.tournament_name
    if tournament_id not in ("", str(known.device.tournament_id)):
        return (
            403,
            "This link is for another tournament",
            f"It keeps the scores of {night}, and of nothing else.",
        )
    if known.is_revoked:
        sentence = (
            f"Its link to {night} was revoked. Ask the organizer for a new one, and open it in this browser."
        )
        return 410, "This device keeps no scores any more", sentence
    if known.is_over:
        sentence = (
            f"{night} is completed, and its results are final. If it is reopened, this device works again."
        )
        return 410, "The tournament is over", sentence
    sentence = f"Scorekeepers are switched off in {night}. The organizer can switch them on under Settings."
    return 403, "This device keeps no scores at the moment", sentence


def _build_page_request(site: Site, row: PageRoute, request: Request, form: FormData) -> PageRequest:
    secret = request.cookies.get(site.cookie_name(SESSION), "")
    signed_in = None
    if secret:
        with site.store.read() as db:
            signed_in = session_reads.find_signed_in_user(db, secret, site.now())
    known, device_secret = _find_device(site, row, request)
    is_here = known is not None and request.path_params["tournament_id"] == str(known.device.tournament_id)
    works = known is not None and known.is_usable and is_here
    return PageRequest(
        site=site,
        client_address=backend.client_address(request.scope, dict(request.headers.raw)),
        ids=dict(request.path_params),
        path=request.url.path,
        query=dict(request.query_params),
        form=form,
        session_secret=secret,
        guest_secret=request.cookies.get(site.cookie_name(GUEST), "") or tokens.new_cookie_secret(site.dice),
        session=signed_in,
        is_same_origin=_is_same_origin(site, request),
        device=known if works else None,
        inactive_device=None if works else known,
        device_secret=device_secret if works else "",
    )


async def _read_form(request: Request, fields_max: int) -> FormData:
    """The fields of a form. Raises TooLarge."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_BYTES_MAX:
            raise FormTooLarge
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM_TYPE:
        return FormData()
    try:
        sent = parse_qsl(
            body.decode("utf-8", "replace"),
            keep_blank_values=True,
            errors="replace",
            max_num_fields=fields_max,
        )
    except ValueError as error:
        raise FormTooLarge from error
    return FormData(tuple(sent))


def not_found_page() -> Response:
    return message_page(404, "Nothing is here", "This page or this thing does not exist, or no longer.")


def _stale_form_page() -> Response:
    return message_page(
        419,
        "This form can no longer be sent",
        "The page was open for too long, was left by signing in or out, or your browser keeps no cookies."
        " Nothing was changed. Open your account and try again.",
    )
