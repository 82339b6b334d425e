"""All pages as one ASGI app, with their security headers and error pages."""

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

from silverball.kit.edge.proxies import FindBaseUrl, TrustedProxies, base_url_finder
from silverball.kit.edge.work_queue import THREADS_PER_LOCK, Overloaded, WorkQueue
from silverball.kit.edge.write_requests import WriteRequests
from silverball.kit.errors import Refusal
from silverball.kit.security.encryption import EncryptionKeyUnknown, KeyFileUnusable, NoEncryptionKey
from silverball.kit.values import replace
from silverball.service.accounts import downloads
from silverball.service.core import commands
from silverball.service.sheets import sources
from silverball.service.sheets.sources import ListSource, ReadList
from silverball.settings import Settings
from silverball.store.counts import idempotency
from silverball.store.counts.sign_in_failures import StoredFailures
from silverball.store.database import faults
from silverball.store.database.deadlines import OutcomeUnknown
from silverball.store.database.engine import Store
from silverball.store.database.faults import DatabaseUnavailable
from silverball.store.revisions import revisions
from silverball.web import handbook, machines_import, page_endpoint, page_request, people_import, site
from silverball.web.account import history_page, passwords, people, site_page, two_step
from silverball.web.account import pages as account_pages
from silverball.web.book import pages as book_pages
from silverball.web.console import crew, now
from silverball.web.console import door as door_pages
from silverball.web.console import federation as federation_pages
from silverball.web.console import pages as console_pages
from silverball.web.console import prizes as prize_pages
from silverball.web.handbook import busy_page
from silverball.web.page_request import PageFinder, PageRoute
from silverball.web.public import machine_page, nights_page, sign_up_page
from silverball.web.public import pages as public_pages
from silverball.web.sign_in_throttle import MAILS_TRIED_MAX, RECOVERIES_MAX, HourlyLimiter, SignInLimiter
from silverball.web.site import KnownCookies, OncePerMinute, Site

# All modules with pages. A new one needs an import and an entry here.
PAGE_MODULES: tuple[ModuleType, ...] = (
    public_pages,
    nights_page,
    machine_page,
    sign_up_page,
    account_pages,
    # Its addresses are those of sections and views with other words.
    people_import,
    machines_import,
    people,
    passwords,
    site_page,
    history_page,
    two_step,
    console_pages,
    now,
    prize_pages,
    federation_pages,
    door_pages,
    crew,
    book_pages,
)
# Pages have their own threads, so that slow password checks do not delay the interface.
THREADS = 8
IMMUTABLE = "public, max-age=31536000, immutable"


def build(
    store: Store,
    settings: Settings,
    *,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    dice: Random | None = None,
    follows_host: bool = False,
    ask_for_recovery: site.AskForRecovery | None = None,
    note_download: Callable[[int, str], None] | None = None,
    read_list: Callable[[ListSource], ReadList] = sources.read_list,
) -> ASGIApp:
    """The pages of one database; `follows_host`: links begin with the Host of each request.

    `ask_for_recovery` has links to new passwords mailed, where the site can. `note_download` writes down that
    an account's data was downloaded, where the pages themselves only read. `read_list` reads files of people.
    """
    pages = declared_pages()
    if page_endpoint.note_commit not in store.after_commit:
        store.after_commit.append(page_endpoint.note_commit)
    shared = _shared_site(
        store,
        settings,
        now=now,
        dice=dice or SystemRandom(),
        find_base_url=base_url_finder(follows_host=follows_host),
        ask_for_recovery=ask_for_recovery,
        note_download=note_download
        or (lambda user_id, source: downloads.note_download(store, user_id, source, now())),
        read_list=read_list,
    )
    find_page = _page_finder(pages)
    routes = [
        Route(page.path, page_endpoint.page_endpoint(shared, page, find_page), methods=[page.method])
        for page in pages
    ]
    app = Starlette(
        routes=[
            *routes,
            *handbook.routes(),
            handbook.route(),
            Mount("/static", StaticFiles(directory=site.STATIC)),
        ],
        exception_handlers={
            HTTPException: _http_error_page,
            page_endpoint.FormTooLarge: _too_large_page,
            Overloaded: _overloaded_page,
            **dict.fromkeys((EncryptionKeyUnknown, KeyFileUnusable, NoEncryptionKey), _key_missing_page),
            ClientDisconnect: _client_disconnected,
            Exception: _server_error_page,
        },
    )
    # The redirect would contain the request's Host header, which anybody can forge.
    app.router.redirect_slashes = False
    return SecurityHeaders(app)


def declared_pages() -> list[PageRoute]:
    """The pages of all modules."""
    declared = [
        page for module in PAGE_MODULES for page in vars(module).values() if isinstance(page, PageRoute)
    ]
    twins = [replace(page, path=f"{page.path}/") for page in declared if page.has_slash_twin]
    return [
        page
        for route in [*declared, *twins]
        for page in ((route, route.opened_form()) if route.opens else (route,))
    ]


def _shared_site(
    store: Store,
    settings: Settings,
    *,
    now: Callable[[], datetime],
    dice: Random,
    find_base_url: FindBaseUrl,
    ask_for_recovery: site.AskForRecovery | None,
    note_download: Callable[[int, str], None],
    read_list: Callable[[ListSource], ReadList],
) -> Site:
    """The parts that the pages share."""
    writes = WriteRequests(
        read=store.read,
        write=store.write,
        revision_of=revisions.current_revision,
        idempotency_store=idempotency,
        refuse_replay=commands.refuse_replay,
        now=now,
    )
    # One process has an SQLite database, and counts for itself.
    failures = None if store.is_sqlite else StoredFailures(store.engine)
    return Site(
        store,
        settings,
        now,
        dice,
        SignInLimiter(failures),
        TrustedProxies.parse(settings.trusted_proxies),
        OncePerMinute(),
        writes,
        find_base_url,
        WorkQueue(
            THREADS, "silverball-pages", threads_per_scope=None if store.is_sqlite else THREADS_PER_LOCK
        ),
        KnownCookies(),
        HourlyLimiter("recovery", RECOVERIES_MAX, failures),
        HourlyLimiter("mail-test", MAILS_TRIED_MAX, failures),
        ask_for_recovery,
        note_download,
        read_list,
    )


def _page_finder(pages: list[PageRoute]) -> PageFinder:
    """A function that finds a page by method and path, as the router does."""
    patterns = [(page, compile_path(page.path)[0]) for page in pages]

    def find(method: str, path: str) -> tuple[PageRoute, dict[str, str]] | None:
        for page, pattern in patterns:
            if page.method == method and (match := pattern.match(path)):
                return page, match.groupdict()
        return None

    return find


class SecurityHeaders:
    """Middleware that adds the security headers to all answers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(site.HEADERS)
                headers.setdefault("content-security-policy", site.POLICY)
                if "cache-control" not in headers:
                    # A URL of another version gets this version's file, so it must not stay cached.
                    address = f"{scope['path']}?{scope['query_string'].decode('latin-1')}"
                    headers["cache-control"] = IMMUTABLE if address in site.static_urls() else "no-cache"
            await send(message)

        await self.app(scope, receive, send_with_headers)


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


async def _overloaded_page(_request: Request, _error: Exception) -> Response:
    return busy_page()


async def _key_missing_page(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return site.message_page(503, "Not now", error.text())


async def _client_disconnected(_request: Request, _error: Exception) -> Response:
    return Response(status_code=400)


async def _server_error_page(_request: Request, error: Exception) -> Response:
    if faults.is_transient(error):
        sentence = (
            "The database could not serve this just now. Nothing was changed; send it again in a moment."
        )
        if isinstance(error, OutcomeUnknown):
            # The form that is sent again has the same key.
            sentence = "This may or may not have been stored. Reload the page to send it again: it acts once."
        elif isinstance(error, DatabaseUnavailable):
            sentence = error.text()
        answer = site.message_page(503, "One moment", sentence)
        answer.headers["retry-after"] = "1"
        return answer
    sentence = "This is our fault and has been written down. Try again in a moment."
    return site.message_page(500, "Something went wrong", sentence)
