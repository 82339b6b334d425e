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
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from silverball.settings import Settings
from silverball.store.engine import Store
from silverball.web import site, visit
from silverball.web.pages import account
from silverball.web.site import Site
from silverball.web.throttle import SignIns
from silverball.web.visit import Page

# Every module with pages. A new one is one import and one entry here.
PAGE_MODULES: tuple[ModuleType, ...] = (account,)
# Nothing from elsewhere, no script at all.
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self';"
    " frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
KEEP_FOR_GOOD = "public, max-age=31536000, immutable"


def build(
    store: Store,
    settings: Settings,
    *,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    dice: Random | None = None,
) -> ASGIApp:
    """The pages over one database."""
    built = Site(store, settings.base_url, now, dice or SystemRandom(), SignIns())
    rows = [row for module in PAGE_MODULES for row in vars(module).values() if isinstance(row, Page)]
    routes = [Route(row.path, visit.endpoint_of(built, row), methods=[row.method]) for row in rows]
    app = Starlette(
        routes=[*routes, Mount("/static", StaticFiles(directory=site.STATIC))],
        exception_handlers={
            HTTPException: _wrong_address,
            visit.TooLarge: _too_large,
            ClientDisconnect: _nobody_is_left,
            Exception: _failed,
        },
    )
    # Its redirect would name the host that the request claims to be for.
    app.router.redirect_slashes = False
    return Guarded(app)


class Guarded:
    """Adds the headers that keep a page to itself, to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if "cache-control" not in headers:
                    # Another version's address is answered, but not for good: that file is not here.
                    address = f"{scope['path']}?{scope['query_string'].decode('latin-1')}"
                    headers["cache-control"] = KEEP_FOR_GOOD if address in site.addresses() else "no-cache"
            await send(message)

        await self.app(scope, receive, send_guarded)


async def _wrong_address(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == HTTPStatus.NOT_FOUND:
        return visit.nothing_here()
    answer = site.message(error.status_code, error.detail, "This address cannot be used in that way.")
    answer.headers.update(error.headers or {})
    return answer


async def _too_large(_request: Request, _error: Exception) -> Response:
    sentence = "What was sent is larger than any form of this site. Nothing was changed."
    return site.message(413, "This is too large", sentence)


async def _nobody_is_left(_request: Request, _error: Exception) -> Response:
    return Response(status_code=400)


async def _failed(_request: Request, _error: Exception) -> Response:
    sentence = "This is our fault and has been written down. Try again in a moment."
    return site.message(500, "Something went wrong", sentence)
