"""Requests outside of /api: cached public pages, and all other pages behind them."""

from collections.abc import Callable

from silverball.kit import logs
from silverball.kit.edge.access_log import log_request
from silverball.kit.edge.backend import Backend
from silverball.kit.edge.cached_pages import CachedPages, too_many_pages, uncached_messages
from silverball.kit.edge.outdated_responses import OutdatedResponses
from silverball.kit.edge.quotas import Quotas
from silverball.kit.edge.response_cache import ResponseCache
from silverball.kit.edge.shared_responses import SharedResponses
from silverball.kit.http.asgi import AsgiApp, Message, Receive, Scope, Send
from silverball.kit.http.endpoints import HttpResponse
from silverball.kit.http.refusals import PageNotFound, refusal_response
from silverball.kit.measures import RequestMeasures

# Health checks come every few seconds and would fill the log.
HEALTH_PATHS = frozenset({"/up", "/ready"})
# Files that browsers keep are not counted as pages.
STATIC_PATHS = ("/static/", "/handbook/")
PAGE_NOT_FOUND = refusal_response(PageNotFound())
RequestIdHeader = tuple[bytes, bytes]


class PageDoor:
    """Serves every path outside of /api."""

    def __init__(
        self,
        program: Backend,
        responses: SharedResponses,
        quotas: Quotas,
        measures: RequestMeasures,
        request_id_header: Callable[[dict[bytes, bytes]], RequestIdHeader],
        clock: Callable[[], float],
        cache: ResponseCache,
    ) -> None:
        self._backend = program
        outdated = OutdatedResponses(program, cache)
        self._public_pages = CachedPages(program, responses, quotas, outdated, measures)
        self._quotas = quotas
        self._measures = measures
        self._request_id_header = request_id_header
        self._clock = clock

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand a websocket and the lifespan to the pages' application."""
        pages = self._backend.pages
        if scope["type"] != "http":
            if pages is not None:
                await pages(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        request_id_header = self._request_id_header(headers)
        if self._public_pages.handles(scope):
            await self._serve_public_page(scope, send, headers, request_id_header)
        elif pages is None:
            await _send_response(PAGE_NOT_FOUND, scope, send, request_id_header)
        else:
            wait_seconds = self._seconds_to_wait(scope, headers)
            if wait_seconds:
                self._measures.count(scope["method"], scope["path"], 429, None)
                await _send_response(too_many_pages(wait_seconds), scope, send, request_id_header)
            else:
                await self._serve_other_page(pages, scope, receive, send, request_id_header)

    async def _serve_public_page(
        self, scope: Scope, send: Send, headers: dict[bytes, bytes], request_id_header: RequestIdHeader
    ) -> None:
        try:
            messages = await self._public_pages.reply(scope, headers, request_id_header, self._clock)
        except Exception as error:  # noqa: BLE001  # the edge: the database may be gone
            messages = uncached_messages(self._backend.answer_error(error), scope, request_id_header)
            self._measures.count(scope["method"], scope["path"], messages[0]["status"], None)
        for message in messages:
            await send(message)

    def _seconds_to_wait(self, scope: Scope, headers: dict[bytes, bytes]) -> int:
        path = scope["path"]
        if path in HEALTH_PATHS or path.startswith(STATIC_PATHS):
            return 0
        return self._quotas.seconds_to_page(scope, headers, self._clock())

    async def _serve_other_page(
        self, pages: AsgiApp, scope: Scope, receive: Receive, send: Send, request_id_header: RequestIdHeader
    ) -> None:
        logs.request_id.set(request_id_header[1].decode())
        started_at = self._clock()

        async def send_with_request_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), request_id_header]
                seconds = self._clock() - started_at
                self._measures.count(scope["method"], scope["path"], message["status"], seconds)
                if scope["path"] not in HEALTH_PATHS:
                    log_request(scope, message["status"], seconds, request_id_header[1])
            await send(message)

        await pages(scope, receive, send_with_request_id)


async def _send_response(
    response: HttpResponse, scope: Scope, send: Send, request_id_header: RequestIdHeader
) -> None:
    for message in uncached_messages(response, scope, request_id_header):
        await send(message)
