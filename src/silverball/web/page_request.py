"""One request for a page, with its account or device known and its form checked.

A page is a plain function that runs in a worker thread:

    @page("POST", "/account/tokens")
    def create_token(request: PageRequest) -> Response: ...

A form is checked against the CSRF token of its session, device or guest cookie before the page runs.
"""

import contextvars
import hmac
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from silverball.kit import tokens
from silverball.kit.edge.work_queue import Importance, Overloaded
from silverball.kit.errors import NotFound
from silverball.service import access
from silverball.service.access import AuthenticatedCaller
from silverball.service.devices import reads as device_reads
from silverball.service.devices.reads import KnownDevice
from silverball.service.sessions import reads as session_reads
from silverball.service.sessions.reads import SignedInUser
from silverball.web import forms, session_use
from silverball.web.forms import FormData
from silverball.web.site import Site, message_page, render

BODY_BYTES_MAX = 64 * 1024
FIELDS_MAX = 50
FORM_TYPE = "application/x-www-form-urlencoded"
# The cookies: of a sign-in, of a visitor, of a scorekeeper's device, of a browser that signed in before.
SESSION, GUEST, DEVICE, BROWSER = "session", "guest", "device", "browser"
SIGN_IN = "/account/sign-in"
# Notices that an address asks for with `?said=`; other words are ignored.
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


@dataclass(frozen=True)
class PageRequest:
    """A request for a page, read and checked."""

    site: Site
    # A proxy on this machine is trusted to say where the request came from.
    client_address: str
    # Where links begin.
    base_url: str
    ids: dict[str, str]
    path: str
    query: dict[str, str]
    form: FormData
    session_secret: str
    guest_secret: str
    # Of the cookie that a browser keeps after its first sign-in; empty without.
    browser_secret: str
    session: SignedInUser | None
    find_page: "PageFinder"
    # Whether the browser says that the form was on one of our pages.
    is_same_origin: bool = False
    # The scorekeeper's device, which takes precedence over the account.
    device: KnownDevice | None = None
    # A device that may not act here, or not any more.
    inactive_device: KnownDevice | None = None
    device_secret: str = ""
    user_agent: str = ""

    @property
    def account(self) -> SignedInUser:
        """The signed-in account; only for pages that are closed to guests."""
        assert self.session is not None
        return self.session

    @property
    def caller(self) -> AuthenticatedCaller:
        """The device, or the account with the highest ability of its role."""
        if self.device is not None:
            return access.device_caller(self.device.device)
        account = self.account
        ability = access.HIGHEST_ABILITY[account.role]
        return AuthenticatedCaller(user_id=account.user_id, role=account.role, ability=ability)

    @property
    def csrf(self) -> str:
        """The CSRF token of the device, the session, or the guest's cookie."""
        if self.device_secret:
            return tokens.digest(f"form {self.device_secret}")
        return self.session.csrf if self.session else tokens.digest(self.guest_secret)

    def field(self, name: str) -> str:
        return self.form.value(name)

    def render(self, template: str, status: int = 200, **context: Any) -> Response:
        """A page with this request's account, device and CSRF token."""
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
        self, hidden_fields: Mapping[str, str], status: int = 200, fault: str | None = None
    ) -> Response:
        """The sign-in form; the hidden fields say how to go on afterwards."""
        notice = FORM_KEPT if hidden_fields.get("kept") else SIGN_IN_NOTICES.get(self.query.get("said", ""))
        if status == 401 and not hidden_fields:
            notice = FORM_TOO_LONG
        response = self.render(
            "sign_in.html",
            status,
            email=self.field("email"),
            fault=fault,
            notice=notice,
            hidden_fields=hidden_fields,
        )
        self.set_cookie(response, GUEST, self.guest_secret, None)
        return response

    def render_inactive_device(self, known: KnownDevice, form: FormData | None = None) -> Response:
        """The page for a device that may not act here; it can send its form again from there."""
        status, title, sentence = _inactive_device_message(known, self.ids.get("tournament_id", ""))
        fields = [] if form is None else [pair for pair in form.pairs if pair[0] != forms.CSRF]
        return self.render(
            "devices/over.html",
            status,
            title=title,
            sentence=sentence,
            is_revoked=known.is_revoked,
            hidden_fields=fields,
            path=self.path,
            live=f"/t/{known.device.tournament_id}",
        )

    def set_cookie(self, response: Response, name: str, value: str, seconds: int | None) -> None:
        """Set one of our cookies; without seconds it lasts until the browser is closed."""
        response.set_cookie(
            self.site.cookie_name(name),
            value,
            max_age=seconds,
            path="/",
            secure=self.site.is_https,
            httponly=True,
            samesite="lax",
        )

    def delete_cookie(self, response: Response, name: str) -> None:
        self.set_cookie(response, name, "", 0)


@dataclass(frozen=True)
class PageRoute:
    """A page: method, path, and the function that answers."""

    method: str
    path: str
    handler: Callable[[PageRequest], Response]
    for_guests: bool = False
    # Whether devices of the tournament in the path may use it, too.
    for_devices: bool = False
    fields_max: int = FIELDS_MAX
    # Shows the submitted form again with a sentence; it must change nothing.
    rerender: Callable[[PageRequest, str], Response] | None = None


# Finds the page at a method and path, and the ids in the path.
PageFinder: TypeAlias = Callable[[str, str], tuple[PageRoute, dict[str, str]] | None]


def page(
    method: str,
    path: str,
    *,
    for_guests: bool = False,
    for_devices: bool = False,
    fields_max: int = FIELDS_MAX,
    rerender: Callable[[PageRequest, str], Response] | None = None,
) -> Callable[[Callable[[PageRequest], Response]], PageRoute]:
    """Declare a page; a page that is closed to guests makes them sign in first."""
    return lambda handler: PageRoute(method, path, handler, for_guests, for_devices, fields_max, rerender)


class FormTooLarge(Exception):
    """A form larger than any of ours."""


def page_endpoint(
    site: Site, route: PageRoute, find_page: PageFinder
) -> Callable[[Request], Awaitable[Response]]:
    """The page as an endpoint for Starlette."""

    def answer(http_request: Request, form: FormData) -> Response:
        request = _build_page_request(site, route, http_request, form, find_page)
        if request.session is not None:
            site.known_cookies.add(request.session_secret)
        if request.device is not None:
            site.known_cookies.add(request.device_secret)
        response = _answer_page(request, route)
        if request.session is not None and request.session.is_use_due:
            session_use.record_after(response, site, request.session_secret)
        return response

    async def endpoint(http_request: Request) -> Response:
        importance = _importance(site, http_request)
        if not site.threads.admits(importance):
            # Before the form is read.
            raise Overloaded
        form = await _read_form(http_request, route.fields_max) if route.method == "POST" else FormData()
        run = contextvars.copy_context().run
        return await site.threads.submit(importance, run, answer, http_request, form)

    return endpoint


def redirect(path: str) -> Response:
    """A redirect that the browser follows with a GET."""
    return RedirectResponse(path, 303, {"cache-control": "no-store"})


def _answer_page(request: PageRequest, route: PageRoute) -> Response:
    if request.session is None and request.device is None and not route.for_guests:
        return _require_sign_in(request, route)
    # A guest cookie created for this request cannot have been in the form.
    token, expected = request.field("csrf").encode(), request.csrf.encode()
    is_csrf_valid = route.method != "POST" or hmac.compare_digest(token, expected)
    try:
        if is_csrf_valid:
            return route.handler(request)
        # Another session has started since; the form is shown for review before it is sent.
        if route.rerender and request.is_same_origin:
            return route.rerender(request, FORM_RESTORED)
        return _stale_form_page()
    except NotFound:
        return not_found_page()


def _require_sign_in(request: PageRequest, route: PageRoute) -> Response:
    """Ask for a sign-in first; a form sent from one of our pages is carried along."""
    if request.inactive_device is not None:
        form = request.form if request.is_same_origin else None
        return request.render_inactive_device(request.inactive_device, form)
    if route.rerender is not None and request.is_same_origin:
        packed = request.form.pack()
        return request.render_sign_in({"kept": packed, "kept_path": request.path} if packed else {}, 401)
    parameters = {"said": "over"} if request.session_secret else {}
    if route.method == "GET" and route.path != "/account":
        query = urlencode(request.query)
        parameters["next"] = f"{request.path}?{query}" if query else request.path
    return redirect(f"{SIGN_IN}?{urlencode(parameters, safe='/')}" if parameters else SIGN_IN)


def _is_same_origin(site: Site, http_request: Request) -> bool:
    """Whether the browser says that the request comes from one of our pages."""
    headers = http_request.headers
    if "sec-fetch-site" in headers:
        return headers["sec-fetch-site"] == "same-origin"
    ours = {site.base_url.rstrip("/"), f"{http_request.url.scheme}://{headers.get('host', '')}"}
    return headers.get("origin") in ours


def _importance(site: Site, http_request: Request) -> Importance:
    """The importance of a request for a page, as far as its cookies tell."""
    session, device = site.cookie_name(SESSION), site.cookie_name(f"{DEVICE}_")
    secrets = [
        value for name, value in http_request.cookies.items() if name == session or name.startswith(device)
    ]
    if any(secret in site.known_cookies for secret in secrets):
        return Importance.SCOREKEEPER if http_request.method == "POST" else Importance.WRITER
    return Importance.READER if any(secrets) else Importance.VISITOR


def _find_device(site: Site, route: PageRoute, http_request: Request) -> tuple[KnownDevice | None, str]:
    """The browser's device in the tournament of the path, and its secret."""
    secret = ""
    if route.for_devices:
        name = device_cookie_name(http_request.path_params["tournament_id"])
        secret = http_request.cookies.get(site.cookie_name(name), "")
    if not secret:
        return None, ""
    with site.store.read() as db:
        return device_reads.find_device(db, secret), secret


def device_cookie_name(tournament_id: object) -> str:
    """The cookie that holds a browser's device secret for this tournament."""
    return f"{DEVICE}_{tournament_id}"


def _inactive_device_message(known: KnownDevice, tournament_id: str) -> tuple[int, str, str]:
    """Status, title and sentence for a device that may not act here."""
    name = known.tournament_name
    if tournament_id not in ("", str(known.device.tournament_id)):
        sentence = f"It keeps the scores of {name}, and of nothing else."
        return 403, "This link is for another tournament", sentence
    if known.is_revoked:
        sentence = (
            f"Its link to {name} was revoked. Ask the organizer for a new one, and open it in this browser."
        )
        return 410, "This device keeps no scores any more", sentence
    if known.is_over:
        sentence = (
            f"{name} is completed, and its results are final. If it is reopened, this device works again."
        )
        return 410, "The tournament is over", sentence
    sentence = f"Scorekeepers are switched off in {name}. The organizer can switch them on under Settings."
    return 403, "This device keeps no scores at the moment", sentence


def _build_page_request(
    site: Site, route: PageRoute, http_request: Request, form: FormData, find_page: PageFinder
) -> PageRequest:
    cookies, path_ids = http_request.cookies, http_request.path_params
    secret = cookies.get(site.cookie_name(SESSION), "")
    session = None
    if secret:
        with site.store.read() as db:
            limit = session_use.idle_limit(site)
            session = session_reads.find_signed_in_user(db, secret, site.now(), limit)
    known, device_secret = _find_device(site, route, http_request)
    is_usable = (
        known is not None and known.is_usable and path_ids["tournament_id"] == str(known.device.tournament_id)
    )
    headers = dict(http_request.headers.raw)
    return PageRequest(
        site=site,
        client_address=site.proxies.client_address(http_request.scope, headers),
        base_url=site.find_base_url(headers) or site.base_url,
        ids=dict(path_ids),
        path=http_request.url.path,
        query=dict(http_request.query_params),
        form=form,
        session_secret=secret,
        browser_secret=cookies.get(site.cookie_name(BROWSER), ""),
        guest_secret=cookies.get(site.cookie_name(GUEST), "") or tokens.new_cookie_secret(site.dice),
        session=session,
        find_page=find_page,
        is_same_origin=_is_same_origin(site, http_request),
        device=known if is_usable else None,
        inactive_device=None if is_usable else known,
        device_secret=device_secret if is_usable else "",
        user_agent=http_request.headers.get("user-agent", ""),
    )


async def _read_form(http_request: Request, fields_max: int) -> FormData:
    """The fields of a form. Raises FormTooLarge."""
    body = bytearray()
    async for chunk in http_request.stream():
        body += chunk
        if len(body) > BODY_BYTES_MAX:
            raise FormTooLarge
    if http_request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM_TYPE:
        return FormData()
    try:
        pairs = parse_qsl(
            body.decode("utf-8", "replace"),
            keep_blank_values=True,
            errors="replace",
            max_num_fields=fields_max,
        )
    except ValueError as error:
        raise FormTooLarge from error
    return FormData(tuple(pairs))


def not_found_page() -> Response:
    return message_page(404, "Nothing is here", "This page or this thing does not exist, or no longer.")


def _stale_form_page() -> Response:
    return message_page(
        419,
        "This form can no longer be sent",
        "The page was open for too long, was left by signing in or out, or your browser keeps no cookies."
        " Nothing was changed. Open your account and try again.",
    )
