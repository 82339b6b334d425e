"""One request for a page: who is there, what was sent, and whether the form is really ours.

A page is a plain function that runs in a worker thread:

    @page("POST", "/account/tokens")
    def create_token(visit: Visit) -> Response: ...

Before it is called, the visitor is known and the form is checked.
"""

import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import parse_qsl

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from silverball.kit import requests, tokens
from silverball.kit.errors import NotFound
from silverball.service.sessions import reads as session_reads
from silverball.service.sessions.reads import SignedIn
from silverball.web.site import Site, message, rendered

BODY_BYTES_MAX = 64 * 1024
FIELDS_MAX = 50
FORM_TYPE = "application/x-www-form-urlencoded"
SESSION, GUEST = "session", "guest"
# Pages have threads of their own: slow passwords must not hold up the interface.
THREADS_MAX = 8


@dataclass(frozen=True)
class Visit:
    """A request, read and checked."""

    site: Site
    # Where the request came from; a proxy on this machine is believed.
    address: str
    ids: dict[str, str]
    query: dict[str, str]
    form: dict[str, str]
    session_secret: str
    guest_secret: str
    signed_in: SignedIn | None

    @property
    def who(self) -> SignedIn:
        """The account; only for pages that are not for guests."""
        assert self.signed_in is not None
        return self.signed_in

    @property
    def csrf(self) -> str:
        """What every form of this visitor must carry: of the session, or of a guest's own cookie."""
        return self.signed_in.csrf if self.signed_in else tokens.digest(self.guest_secret)

    def field(self, name: str) -> str:
        return self.form.get(name, "")

    def shown(self, template: str, status: int = 200, **context: object) -> Response:
        """A page for this visitor."""
        return rendered(template, status, csrf=self.csrf, signed_in=self.signed_in, **context)

    def keep(self, answer: Response, name: str, value: str, seconds: int | None) -> None:
        """Set one of our cookies; without seconds it goes when the browser is closed."""
        answer.set_cookie(
            self.site.cookie(name),
            value,
            max_age=seconds,
            path="/",
            secure=self.site.is_https,
            httponly=True,
            samesite="lax",
        )

    def forget(self, answer: Response, name: str) -> None:
        self.keep(answer, name, "", 0)


@dataclass(frozen=True)
class Page:
    """One row of the table of pages."""

    method: str
    path: str
    answer: Callable[[Visit], Response]
    for_guests: bool


def page(
    method: str, path: str, *, for_guests: bool = False
) -> Callable[[Callable[[Visit], Response]], Page]:
    """Declare a page; one that is not for guests sends them to sign in."""
    return lambda answer: Page(method, path, answer, for_guests)


class TooLarge(Exception):
    """The form is larger than any of ours."""


def endpoint_of(site: Site, row: Page) -> Callable[[Request], Awaitable[Response]]:
    """The page as Starlette wants it."""
    threads = anyio.CapacityLimiter(THREADS_MAX)

    async def answer(request: Request) -> Response:
        form = await _form(request) if row.method == "POST" else {}
        return await anyio.to_thread.run_sync(_answered, site, row, request, form, limiter=threads)

    return answer


def see(path: str) -> Response:
    """Go there with a GET."""
    return RedirectResponse(path, 303, {"cache-control": "no-store"})


def _answered(site: Site, row: Page, request: Request, form: dict[str, str]) -> Response:
    visit = _visit(site, request, form)
    if visit.signed_in is None and not row.for_guests:
        had_cookie = bool(visit.session_secret)
        return see("/account/sign-in?said=over" if had_cookie else "/account/sign-in")
    # A guest's cookie that was made a moment ago cannot have been in the form.
    if row.method == "POST" and not hmac.compare_digest(visit.field("csrf").encode(), visit.csrf.encode()):
        return _not_ours()
    try:
        return row.answer(visit)
    except NotFound:
        return nothing_here()


def _visit(site: Site, request: Request, form: dict[str, str]) -> Visit:
    secret = request.cookies.get(site.cookie(SESSION), "")
    signed_in = None
    if secret:
        with site.store.read() as db:
            signed_in = session_reads.find(db, secret, site.now())
    return Visit(
        site=site,
        address=requests.address_of(request.scope, dict(request.headers.raw)),
        ids=dict(request.path_params),
        query=dict(request.query_params),
        form=form,
        session_secret=secret,
        guest_secret=request.cookies.get(site.cookie(GUEST), "") or tokens.new_cookie(site.dice),
        signed_in=signed_in,
    )


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form. Raises TooLarge."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_BYTES_MAX:
            raise TooLarge
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM_TYPE:
        return {}
    try:
        sent = parse_qsl(
            body.decode("utf-8", "replace"),
            keep_blank_values=True,
            errors="replace",
            max_num_fields=FIELDS_MAX,
        )
    except ValueError as error:
        raise TooLarge from error
    return dict(sent)


def nothing_here() -> Response:
    return message(404, "Nothing is here", "This page or this thing does not exist, or no longer.")


def _not_ours() -> Response:
    return message(
        419,
        "This form can no longer be sent",
        "The page was open for too long, was left by signing in or out, or your browser keeps no cookies."
        " Nothing was changed. Open your account and try again.",
    )
