"""Requests outside of /api: cached public pages, and all other pages behind them.

Public pages look the same to every visitor and are cached like the interface's answers. They have no caller,
and headers of their own, which their 304 repeats. Only pages that have to be computed are counted, for the
account, device or code that asks, or the address of a stranger.
"""

import contextlib
from collections.abc import Callable, Sequence

from silverball.kit import logs
from silverball.kit.edge import backend
from silverball.kit.edge.access_log import log_request
from silverball.kit.edge.backend import Backend, SeenRevision
from silverball.kit.edge.computing_line import Cost, Question
from silverball.kit.edge.costly_answers import CostlyAnswers
from silverball.kit.edge.given_answers import GivenAnswers
from silverball.kit.edge.proxies import base_url_finder
from silverball.kit.edge.quotas import Quotas
from silverball.kit.edge.response_cache import CachedResponse, CacheKey
from silverball.kit.edge.shared_responses import OutdatedResponse, SharedResponses
from silverball.kit.edge.shares import DUTY
from silverball.kit.edge.visitors import VisitorCache
from silverball.kit.edge.work_queue import Importance
from silverball.kit.errors import Refusal
from silverball.kit.http.asgi import (
    AsgiApp,
    Headers,
    Message,
    Receive,
    Scope,
    Send,
    body_message,
    start_message,
)
from silverball.kit.http.endpoints import READ_METHODS, ClientDisconnected, HttpResponse, Request
from silverball.kit.http.refusals import PageNotFound, refusal_response
from silverball.kit.measures import RequestMeasures

RequestIdHeader = tuple[bytes, bytes]
VARY = (b"vary", b"accept-encoding")
EMPTY_BODY = body_message(b"")
# The viewer in the cache keys of these pages.
PUBLIC_VIEWER = "everybody"
QUERY_BYTES_MAX = 1000
# Headers of a page that do not hold for a copy of it with a note.
UNDATED = frozenset({b"etag", b"content-length", b"cache-control"})
AS_IT_WAS = [(b"cache-control", b"no-store")]
URI_TOO_LONG = HttpResponse(414, b"This address is too long.", "text/plain; charset=utf-8")
# Health checks come every few seconds and would fill the log.
HEALTH_PATHS = frozenset({"/up", "/ready"})
# Files that browsers keep are not counted as pages.
STATIC_PATHS = ("/static/", "/handbook/")
PAGE_NOT_FOUND = refusal_response(PageNotFound())
# Of a page that the computing process makes: its bytes are sent as the front door sends all.
UNSENT_HEADERS = frozenset({b"accept-encoding", b"if-none-match", b"if-modified-since", b"range"})
UNSHARED_HEADERS = UNSENT_HEADERS | {b"cookie", b"user-agent", b"authorization"}
PAGE_SCOPE = (
    *("type", "asgi", "http_version", "scheme", "path", "raw_path", "root_path"),
    *("query_string", "client", "server"),
)
OVERLOADED_PAGE = HttpResponse(
    503,
    b"The site is busy. Try again in a moment.",
    "text/plain; charset=utf-8",
    headers=((b"retry-after", b"1"),),
)


class PageDoor:
    """Serves every path outside of /api."""

    def __init__(
        self,
        program: Backend,
        responses: SharedResponses,
        costly: CostlyAnswers,
        quotas: Quotas,
        given: GivenAnswers,
        visitors: VisitorCache,
        measures: RequestMeasures,
        request_id_header: Callable[[dict[bytes, bytes]], RequestIdHeader],
        clock: Callable[[], float],
    ) -> None:
        self._backend = program
        self._responses = responses
        self._costly = costly
        self._quotas = quotas
        self._given = given
        self._measures = measures
        self._request_id_header = request_id_header
        self._clock = clock
        self._visitors = visitors
        self._find_base_url = base_url_finder(follows_host=program.follows_host)
        self._matches_path = backend.path_pattern(program.public_paths).fullmatch

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand a websocket and the lifespan to the pages' application."""
        pages = self._backend.pages
        if scope["type"] != "http":
            if pages is not None:
                await pages(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        request_id_header = self._request_id_header(headers)
        cost = self._costly.cost_of(scope)
        if cost is not None:
            await self._serve_costly_page(cost, scope, receive, send, headers, request_id_header)
        elif self._is_public(scope):
            await self._serve_public_page(scope, send, headers, request_id_header)
        elif pages is None:
            await _send_response(PAGE_NOT_FOUND, scope, send, request_id_header)
        else:
            wait_seconds = await self._seconds_to_wait(scope, headers)
            if wait_seconds:
                self._measures.count(scope["method"], scope["path"], 429, None)
                await _send_response(too_many_pages(wait_seconds), scope, send, request_id_header)
            else:
                duty: list[bool] = []
                inner_scope = {**scope, DUTY: duty}
                await self._serve_other_page(pages, inner_scope, receive, send, request_id_header)
                if duty:
                    self._quotas.note_duty(scope, headers, self._clock())
                if scope["method"] not in READ_METHODS:
                    await self._show_writer_the_truth(scope, headers)

    async def _show_writer_the_truth(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        """Let an account that sent a form see its change in whatever its tokens ask for next."""
        # Who cannot be looked up just now has a token that cannot be either.
        with contextlib.suppress(Exception):
            visitor = await self._visitors.find(scope, headers)
            if visitor is not None:
                self._given.forget_owner(visitor.key)

    async def _serve_public_page(
        self, scope: Scope, send: Send, headers: dict[bytes, bytes], request_id_header: RequestIdHeader
    ) -> None:
        try:
            messages = await self._public_page(scope, headers, request_id_header)
        except Exception as error:  # noqa: BLE001  # the edge: the database may be gone
            messages = uncached_messages(self._backend.answer_error(error), scope, request_id_header)
            self._measures.count(scope["method"], scope["path"], messages[0]["status"], None)
        for message in messages:
            await send(message)

    def _is_public(self, scope: Scope) -> bool:
        """Whether this is a request for a public page."""
        is_readable = self._backend.answer_public is not None and scope["method"] in READ_METHODS
        return is_readable and self._matches_path(scope["path"]) is not None

    async def _public_page(
        self, scope: Scope, headers: dict[bytes, bytes], request_id_header: RequestIdHeader
    ) -> Sequence[Message]:
        """The two ASGI messages of the answer, which is counted."""
        started_at = self._clock()
        query = scope["query_string"]
        if len(query) > QUERY_BYTES_MAX:
            return self._refuse(URI_TOO_LONG, scope, request_id_header)
        if query:
            query = self._backend.normalize_public_query(query)
        base_url = self._find_base_url(headers)
        key = (scope["path"], query, PUBLIC_VIEWER + base_url)
        scope_id = self._backend.scope_for(scope["path"])
        is_behind = self._is_behind(SeenRevision.parse(headers.get(b"cookie")), scope_id)
        found = None if is_behind else self._responses.find_cached(key)
        if found is not None:
            messages = await self._messages(found, key, scope, headers, request_id_header)
            found.counts.count_found(messages[0]["status"])
            return messages
        outdated = None if is_behind else self._responses.find_outdated(key)
        if outdated is not None:
            messages = self._outdated_messages(outdated, scope, request_id_header)
            outdated.response.counts.count_found(messages[0]["status"])
            return messages
        if not self._responses.admits(key, scope_id, Importance.VISITOR):
            return self._refuse(OVERLOADED_PAGE, scope, request_id_header)
        visitor = await self._visitors.find(scope, headers)
        wait_seconds = self._quotas.seconds_to_page(scope, headers, started_at, visitor)
        if wait_seconds:
            return self._refuse(too_many_pages(wait_seconds), scope, request_id_header)
        request = Request(method="GET", path=scope["path"], query=query, base_url=base_url)
        response = await self._responses.load(
            key,
            scope_id,
            lambda: self._compute(request, request_id_header),
            importance=Importance.VISITOR,
            is_behind=is_behind,
            common_headers=_common_headers,
        )
        messages = await self._messages(response, key, scope, headers, request_id_header)
        seconds = self._clock() - started_at
        log_request(scope, messages[0]["status"], seconds, request_id_header[1])
        counts = self._measures.count(scope["method"], scope["path"], messages[0]["status"], seconds)
        if isinstance(response, CachedResponse):
            response.counts = counts
        return messages

    async def _serve_costly_page(
        self,
        cost: Cost,
        scope: Scope,
        receive: Receive,
        send: Send,
        headers: dict[bytes, bytes],
        request_id_header: RequestIdHeader,
    ) -> None:
        started_at = self._clock()
        try:
            messages = await self._costly_page(cost, scope, receive, headers, request_id_header)
        except ClientDisconnected:
            return
        except Exception as error:  # noqa: BLE001  # the edge: a refusal of the line is answered in text
            messages = uncached_messages(_plain_refusal(error), scope, request_id_header)
        status, seconds = messages[0]["status"], self._clock() - started_at
        log_request(scope, status, seconds, request_id_header[1])
        self._measures.count(scope["method"], scope["path"], status, seconds)
        for message in messages:
            await send(message)

    async def _costly_page(
        self,
        cost: Cost,
        scope: Scope,
        receive: Receive,
        headers: dict[bytes, bytes],
        request_id_header: RequestIdHeader,
    ) -> Sequence[Message]:
        """The two ASGI messages of a page of the line; those without a cookie are kept."""
        if len(scope["query_string"]) > QUERY_BYTES_MAX:
            return uncached_messages(URI_TOO_LONG, scope, request_id_header)
        left_out = UNSHARED_HEADERS if cost.is_for_everybody else UNSENT_HEADERS
        sent = {name: value for name, value in headers.items() if name not in left_out}
        cookie = sent.get(b"cookie", b"")
        viewer = f"{cookie!r} " if cookie else PUBLIC_VIEWER
        query = scope["query_string"]
        if query and self._is_public(scope):
            query = self._backend.normalize_public_query(query)
        key = (scope["path"], query, viewer + self._find_base_url(headers))
        scope_id = self._backend.scope_for(scope["path"])
        is_behind = self._is_behind(SeenRevision.parse(headers.get(b"cookie")), scope_id)
        found = None if cookie or is_behind else self._responses.find_cached(key)
        if found is not None:
            return await self._messages(found, key, scope, headers, request_id_header)
        visitor = await self._visitors.find(scope, headers)
        wait_seconds = self._quotas.seconds_to_page(scope, headers, self._clock(), visitor)
        if wait_seconds:
            return uncached_messages(too_many_pages(wait_seconds), scope, request_id_header)
        if is_behind:
            # What others wait for at the version known so far may have been read before it, too.
            await self._responses.catch_up(scope_id, Importance.VISITOR)
        question = Question(
            page={name: scope[name] for name in PAGE_SCOPE if name in scope}
            | {"method": "GET", "query_string": query, "headers": list(sent.items())},
            scope_id=scope_id,
            request_id=request_id_header[1].decode(),
        )
        payer = self._quotas.payer_of_page(scope, headers, visitor)
        response, more = await self._costly.load(
            key, question, receive, payer=payer, is_kept=not cookie, common_headers=_common_headers
        )
        if cost.is_by_second and more:
            self._quotas.charge_page(scope, headers, more, self._clock(), visitor)
        return await self._messages(response, key, scope, headers, request_id_header)

    def _is_behind(self, seen: SeenRevision | None, scope_id: int) -> bool:
        """Whether a page of this scope may be older here than what its reader has seen."""
        # Each of these pages is below one tournament, and a form about another has changed nothing here.
        return seen is not None and seen.scope_id in (0, scope_id) and not self._backend.has_reached(seen)

    def _refuse(
        self, refusal: HttpResponse, scope: Scope, request_id_header: RequestIdHeader
    ) -> Sequence[Message]:
        self._measures.count(scope["method"], scope["path"], refusal.status, None)
        return uncached_messages(refusal, scope, request_id_header)

    def _compute(self, request: Request, request_id_header: RequestIdHeader) -> HttpResponse:
        logs.request_id.set(request_id_header[1].decode())
        assert self._backend.answer_public is not None
        return self._backend.answer_public(request)

    async def _messages(
        self,
        response: CachedResponse | HttpResponse,
        key: CacheKey,
        scope: Scope,
        headers: dict[bytes, bytes],
        request_id_header: RequestIdHeader,
    ) -> Sequence[Message]:
        if isinstance(response, HttpResponse):
            return uncached_messages(response, scope, request_id_header)
        if_none_match = headers.get(b"if-none-match")
        if if_none_match is not None and response.matches_etag(if_none_match):
            return start_message(304, [*response.common_headers, request_id_header]), EMPTY_BODY
        await self._responses.compress(key, response, headers)
        response_headers, body = response.headers_and_body(headers)
        start = start_message(200, [*response_headers, request_id_header])
        return start, body if scope["method"] == "GET" else EMPTY_BODY

    def _outdated_messages(
        self, outdated: OutdatedResponse, scope: Scope, request_id_header: RequestIdHeader
    ) -> Sequence[Message]:
        """The page with a note of its age, which browsers must not keep."""
        response = outdated.response
        body = self._backend.date_public_page(response.body["body"], outdated.seconds)
        dated = [*(header for header in response.headers if header[0] not in UNDATED), *AS_IT_WAS]
        headers = [*dated, (b"content-length", b"%d" % len(body)), outdated.age_header, request_id_header]
        message = EMPTY_BODY if scope["method"] == "HEAD" else body_message(body)
        return start_message(200, headers), message

    async def _seconds_to_wait(self, scope: Scope, headers: dict[bytes, bytes]) -> int:
        path = scope["path"]
        if path in HEALTH_PATHS or path.startswith(STATIC_PATHS):
            return 0
        visitor = await self._visitors.find(scope, headers)
        return self._quotas.seconds_to_page(scope, headers, self._clock(), visitor)

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


def too_many_pages(wait_seconds: int) -> HttpResponse:
    """The answer to a visitor who asks for more pages than are computed for them."""
    text = f"Too many pages at once. Try again in {wait_seconds} s."
    retry_after = (b"retry-after", b"%d" % wait_seconds)
    return HttpResponse(429, text.encode(), "text/plain; charset=utf-8", headers=(retry_after,))


def _plain_refusal(error: Exception) -> HttpResponse:
    """A refusal as text, as a page costs more than many of them; an error that is none is raised."""
    if not isinstance(error, Refusal):
        raise error
    refused = refusal_response(error)
    text = error.message.encode()
    return HttpResponse(refused.status, text, "text/plain; charset=utf-8", headers=refused.headers)


def _common_headers(response: HttpResponse) -> Headers:
    return [VARY, *response.headers]


def uncached_messages(
    response: HttpResponse, scope: Scope, request_id_header: RequestIdHeader
) -> Sequence[Message]:
    """The two ASGI messages of a response that is not cached."""
    content_type = (b"content-type", response.content_type.encode())
    content_length = (b"content-length", b"%d" % len(response.body))
    headers = [content_type, content_length, *response.headers, request_id_header]
    body = EMPTY_BODY if scope["method"] == "HEAD" else body_message(response.body)
    return start_message(response.status, headers), body


async def _send_response(
    response: HttpResponse, scope: Scope, send: Send, request_id_header: RequestIdHeader
) -> None:
    for message in uncached_messages(response, scope, request_id_header):
        await send(message)
