"""The pages as one ASGI app: which exist, what they may load, what a visitor sees when something fails."""

from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus
from random import Random
from secrets import SystemRandom
from types import ModuleType

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Mount, Route, compile_path
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from silverball.kit.edge.write_requests import WriteRequests
from silverball.settings import Settings
from silverball.store import faults, idempotency, revisions
from silverball.store.engine import Store
from silverball.web import page_request, site
from silverball.web.account import claims, profile
from silverball.web.account import pages as account_pages
from silverball.web.book import pages as book_pages
from silverball.web.console import devices, webhook_secrets
from silverball.web.console import pages as console_pages
from silverball.web.console import tournaments as console_tournaments
from silverball.web.page_request import PageRoute
from silverball.web.public import code_pages, home, print_sheets, profiles, series
from silverball.web.sign_in_throttle import SignInLimiter
from silverball.web.site import Site

# Every module with pages. A new one is one import and one entry here.
PAGE_MODULES: tuple[ModuleType, ...] = (
    home,
    account_pages,
    profile,
    claims,
    console_tournaments,
    console_pages,
    devices,
    book_pages,
    profiles,
    series,
    print_sheets,
    code_pages,
    webhook_secrets,
)
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
IMMUTABLE = "public, max-age=31536000, immutable"


def build(
    store: Store,
    settings: Settings,
    *,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    dice: Random | None = None,
) -> ASGIApp:
    """The pages over one database."""
    rows = [row for module in PAGE_MODULES for row in vars(module).values() if isinstance(row, PageRoute)]
    writing = WriteRequests(
        read=store.read,
        write=store.write,
        revision_of=revisions.current_revision,
        idempotency_store=idempotency,
        now=now,
    )
    dice = dice or SystemRandom()
    built = Site(store, settings, now, dice, SignInLimiter(), writing, _page_finder(rows))
    routes = [Route(row.path, page_request.page_endpoint(built, row), methods=[row.method]) for row in rows]
    app = Starlette(
        routes=[*routes, Mount("/static", StaticFiles(directory=site.STATIC))],
        exception_handlers={
            HTTPException: _http_error_page,
            page_request.FormTooLarge: _too_large_page,
            ClientDisconnect: _client_disconnected,
            Exception: _server_error_page,
        },
    )
    # Its redirect would name the host that the request claims to be for.
    app.router.redirect_slashes = False
    return SecurityHeaders(app)


def _page_finder(rows: list[PageRoute]) -> Callable[[str, str], tuple[PageRoute, dict[str, str]] | None]:
    """Finds a page by method and path, as the router does."""
    patterns = [(row, compile_path(row.path)[0]) for row in rows]

    def find(method: str, path: str) -> tuple[PageRoute, dict[str, str]] | None:
        for row, pattern in patterns:
            if row.method == method and (matched := pattern.match(path)):
                return row, matched.groupdict()
        return None

    return find


class SecurityHeaders:
    """Adds the headers that keep a page to itself, to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("content-security-policy", site.POLICY)
                if "cache-control" not in headers:
                    # Another version's address is answered, but not for good: that file is not here.
                    address = f"{scope['path']}?{scope['query_string'].decode('latin-1')}"
                    headers["cache-control"] = IMMUTABLE if address in site.static_urls() else "no-cache"
            await send(message)

        await self.app(scope, receive, send_guarded)


async def _http_error_page(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == HTTPStatus.NOT_FOUND:
        return page_request.not_found_page()
    answer = site.message_page(error.status_code, error.detail, "This address cannot be used in that way.")
    answer.headers.update(error.headers or {})
    return answer


async def _too_large_page(_request: Request, _error: Exception) -> Response:
    sentence = "What was sent is larger than any form of this site. Nothing was changed."
    return site.message_page(413, "This is too large", sentence)


async def _client_disconnected(_request: Request, _error: Exception) -> Response:
    return Response(status_code=400)


async def _server_error_page(_request: Request, error: Exception) -> Response:
    if faults.is_transient(error):
        busy = "The database could not serve this just now. Nothing was changed; send it again in a moment."
        answer = site.message_page(503, "One moment", busy)
        answer.headers["retry-after"] = "1"
        return answer
    sentence = "This is our fault and has been written down. Try again in a moment."
    return site.message_page(500, "Something went wrong", sentence)
