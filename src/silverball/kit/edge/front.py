"""The front door: an ASGI application in front of everything else.

It identifies the caller, counts the request, and sends a cached response with a few lookups, without a
thread or the database. Other responses are computed in worker threads, equal requests once.
"""

import asyncio
import contextlib
import hashlib
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from silverball.kit import logs
from silverball.kit.edge import backend
from silverball.kit.edge.access_log import RequestCounts, log_request
from silverball.kit.edge.backend import Backend, FrontDoorLimits
from silverball.kit.edge.caller_cache import CachedCaller, CallerCache
from silverball.kit.edge.hosts import base_url_finder
from silverball.kit.edge.page_door import PageDoor
from silverball.kit.edge.quotas import Quotas
from silverball.kit.edge.rate_limit import RequestQuota
from silverball.kit.edge.request_ids import RequestIds
from silverball.kit.edge.response_cache import CachedResponse, CacheKey, ResponseCache
from silverball.kit.edge.shared_responses import SharedResponses, needs_compression
from silverball.kit.edge.work_queue import Importance, Overloaded, WorkQueue
from silverball.kit.http.asgi import (
    CACHE_CONTROL,
    CORS,
    PREFLIGHT,
    Headers,
    Message,
    Receive,
    Scope,
    Send,
    body_message,
    start_message,
)
from silverball.kit.http.async_routes import (
    ClientDisconnected,
    Stream,
    run_while_connected,
    send_chunks,
    stream_start,
)
from silverball.kit.http.endpoints import READ_METHODS, HttpResponse, Request
from silverball.kit.http.refusals import BodyTooLarge, TooManyAttempts, refusal_response
from silverball.kit.http.router import RouteNotFound

# The two ASGI messages of an answer: its start and its body.
Reply = tuple[dict[str, Any], dict[str, Any]]

# Writers have threads of their own, so that waiting for a lock never holds up reads.
WRITE_THREADS = 8
EMPTY_BODY = body_message(b"")
TOO_MANY_ATTEMPTS = refusal_response(TooManyAttempts())
BODY_TOO_LARGE = refusal_response(BodyTooLarge())
OVERLOADED = refusal_response(Overloaded())


class FrontDoor:
    """The ASGI application."""

    def __init__(
        self,
        program: Backend,
        limits: FrontDoorLimits,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._backend = program
        self._clock = clock
        self._proxies = limits.proxies
        self._revision_of = program.revision_of
        # The fast path knows only fixed paths; per-user paths with an id take the slow path.
        self._own_paths = frozenset(path for path in program.per_user_paths if "{" not in path)
        self._is_async = backend.path_pattern(program.async_paths).fullmatch
        self._is_own = backend.path_pattern(program.per_user_paths).fullmatch
        self.cache = ResponseCache(limits.cache_bytes)
        self._workers = WorkQueue(program.workers, "silverball")
        self._write_workers = WorkQueue(WRITE_THREADS, "silverball-writer")
        self._quotas = Quotas(program, limits, self._workers, wall_clock)
        self._responses = SharedResponses(
            self.cache, self._workers, revision_of=program.revision_of, refresh=program.refresh
        )
        self._callers = CallerCache(program, self._workers, clock)
        self._find_base_url = base_url_finder(follows_host=program.follows_host)
        self._request_id_header = RequestIds().header
        self._pages = PageDoor(program, self._responses, self._quotas, self._request_id_header, clock)
        self._counts = RequestCounts(clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._pages.serve(scope, receive, send)
            return
        path = scope["path"]
        if not path.startswith("/api/") and path != "/api":
            await self._pages.serve(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        now = self._clock()
        authorization = headers.get(b"authorization")
        caller = self._callers.known(authorization, now)
        if (
            caller is not None
            and scope["method"] == "GET"
            and b"x-tournament-revision" not in headers
            and b"content-length" not in headers
            and b"transfer-encoding" not in headers
        ):
            viewer = caller.private_viewer if path in self._own_paths else caller.viewer
            key = (path, scope["query_string"], viewer + self._find_base_url(headers))
            cached = self.cache.get(key)
            if (
                cached is not None
                and cached.revision == self._revision_of(cached.scope_id)
                and not needs_compression(cached, headers)
                and self._quotas.is_known(caller, cached.scope_id)
            ):
                self.cache.touch(key)
                self._counts.from_memory += 1
                quota = self._quotas.quota_for(caller, scope, headers, cached.scope_id)
                start, body = self._cached_reply(cached, quota, scope, headers, now)
                await send(start)
                await send(body)
                return
        await self._serve_from_workers(scope, receive, send, headers)

    def count_for_address(self, address: str) -> bool:
        """Count a resume over a socket like a request without a token; False when nothing remained."""
        return self._quotas.take_for_address(address, self._clock())

    def close(self) -> None:
        """Wait for the requests that are being computed, then stop the threads."""
        self._write_workers.close()
        self._workers.close()

    # Replies

    def _cached_reply(
        self,
        cached: CachedResponse,
        quota: RequestQuota,
        scope: Scope,
        headers: dict[bytes, bytes],
        now: float,
        remaining: int | None = None,
    ) -> Reply:
        """The cached response, a 304 or a 429. `remaining` is None while the request is not counted."""
        if_none_match = headers.get(b"if-none-match")
        request_id_header = self._request_id_header(headers)
        is_match = cached.matches_etag(if_none_match)
        if remaining is None:
            # A cached response is free for who knows it already; `*` matches whatever there is.
            is_free = is_match and if_none_match != b"*"
            remaining = quota.remaining(now) if is_free else quota.take(now)
            if remaining < 0:
                return self._rate_limited_reply(scope, headers, quota, now)
        if is_match:
            quota_headers = quota.headers(remaining)
            return start_message(304, [*cached.common_headers, request_id_header, *quota_headers]), EMPTY_BODY
        if cached.is_throttled and if_none_match is None:
            wait_seconds = self._quotas.seconds_to_standings(scope, headers, cached.scope_id, now)
            if wait_seconds:
                return self._retry_later_reply(scope, headers, wait_seconds, quota.headers(remaining))
        response_headers, body = cached.headers_and_body(headers)
        start = start_message(200, [*response_headers, request_id_header, *quota.headers(remaining)])
        return start, body if scope["method"] == "GET" else EMPTY_BODY

    def _uncached_reply(
        self,
        response: HttpResponse,
        scope: Scope,
        headers: dict[bytes, bytes],
        extra: Headers,
    ) -> Reply:
        """A response that is not cached: a refusal, or the answer to a write."""
        response_headers = [
            (b"content-type", response.content_type.encode()),
            (b"content-length", b"%d" % len(response.body)),
            CACHE_CONTROL,
            *CORS,
            *response.headers,
            *extra,
            self._request_id_header(headers),
        ]
        body = EMPTY_BODY if scope["method"] == "HEAD" else body_message(response.body)
        return start_message(response.status, response_headers), body

    def _failed_reply(self, error: Exception, scope: Scope, headers: dict[bytes, bytes]) -> Reply:
        if isinstance(error, Overloaded):
            self._counts.shed += 1
            return self._uncached_reply(OVERLOADED, scope, headers, [])
        return self._uncached_reply(self._backend.answer_error(error), scope, headers, [])

    def _rate_limited_reply(
        self, scope: Scope, headers: dict[bytes, bytes], quota: RequestQuota, now: float
    ) -> Reply:
        return self._retry_later_reply(scope, headers, quota.seconds_to_wait(now), quota.headers(0))

    def _retry_later_reply(
        self, scope: Scope, headers: dict[bytes, bytes], wait_seconds: int, quota_headers: Headers
    ) -> Reply:
        self._counts.turned_away += 1
        extra = [*self._quotas.retry_headers(wait_seconds), *quota_headers]
        return self._uncached_reply(TOO_MANY_ATTEMPTS, scope, headers, extra)

    def _options_reply(self, scope: Scope, headers: dict[bytes, bytes]) -> Reply:
        methods = self._backend.methods_for(scope["path"])
        if b"access-control-request-method" in headers:
            # Also for an unknown path: a page can read the 404 only after its preflight.
            status, response_headers = 204, PREFLIGHT
        elif not methods:
            return self._uncached_reply(refusal_response(RouteNotFound(scope["path"])), scope, headers, [])
        else:
            allowed = ",".join(methods).encode()
            status = 200
            response_headers = [(b"allow", allowed), (b"content-length", b"0"), CACHE_CONTROL, *CORS]
        return start_message(status, [*response_headers, self._request_id_header(headers)]), EMPTY_BODY

    # Requests that the cache cannot answer

    async def _serve_from_workers(
        self, scope: Scope, receive: Receive, send: Send, headers: dict[bytes, bytes]
    ) -> None:
        self._counts.report_when_due(len(self.cache), self.cache.bytes_used)
        if scope["method"] == "OPTIONS":
            start, body = self._options_reply(scope, headers)
        elif scope["method"] in READ_METHODS and self._is_async(scope["path"]):
            with contextlib.suppress(ClientDisconnected):
                await self._serve_async(scope, receive, send, headers)
            return
        elif self._sheds_visitor(scope, headers):
            start, body = self._failed_reply(Overloaded(), scope, headers)
        else:
            try:
                start, body = await self._computed_reply(scope, receive, headers)
            except Exception as error:  # noqa: BLE001  # the edge: every failure is answered in JSON
                start, body = self._failed_reply(error, scope, headers)
        await send(start)
        await send(body)

    def _sheds_visitor(self, scope: Scope, headers: dict[bytes, bytes]) -> bool:
        """Whether to refuse a read without a token at once, as refusing must cost next to nothing."""
        if b"authorization" in headers or scope["method"] != "GET":
            return False
        key = (scope["path"], scope["query_string"], "nobody" + self._find_base_url(headers))
        return not self._responses.admits(key, self._backend.scope_for(scope["path"]), Importance.VISITOR)

    async def _serve_async(
        self, scope: Scope, receive: Receive, send: Send, headers: dict[bytes, bytes]
    ) -> None:
        """Answer on a route that waits. It is counted like any other and ends when the client leaves."""
        started_at = self._clock()
        try:
            caller = await self._callers.find(headers.get(b"authorization"))
        except Exception as error:  # noqa: BLE001  # the edge: every failure is answered in JSON
            for message in self._failed_reply(error, scope, headers):
                await send(message)
            return
        quota = self._quotas.quota_for(caller, scope, headers, 0)
        remaining = quota.take(started_at)
        body: Message | None = EMPTY_BODY
        response = (
            await self._await_async_route(scope, headers, caller, receive)
            if remaining >= 0
            else TOO_MANY_ATTEMPTS
        )
        if remaining < 0:
            start, body = self._rate_limited_reply(scope, headers, quota, started_at)
        elif isinstance(response, Stream):
            start = stream_start(response, [*quota.headers(remaining), self._request_id_header(headers)])
            body = None if scope["method"] == "GET" else EMPTY_BODY
        elif response.status == 200:
            cached = CachedResponse(response, scope_id=0, revision=0)
            start, body = self._cached_reply(cached, quota, scope, headers, started_at, remaining)
        else:
            start, body = self._uncached_reply(response, scope, headers, quota.headers(remaining))
        log_request(scope, caller.user_id or None, start, self._clock() - started_at)
        await send(start)
        if body is not None:
            await send(body)
        elif isinstance(response, Stream):
            await run_while_connected(send_chunks(response, send), receive)

    async def _await_async_route(
        self, scope: Scope, headers: dict[bytes, bytes], caller: CachedCaller, receive: Receive
    ) -> HttpResponse | Stream:
        assert self._backend.answer_async is not None
        request = self._build_request(scope, headers, caller, b"")
        try:
            response: HttpResponse | Stream = await run_while_connected(
                self._backend.answer_async(request), receive
            )
        except ClientDisconnected:
            raise
        except Exception as error:  # noqa: BLE001  # the edge: every failure is answered in JSON
            response = self._backend.answer_error(error)
        return response

    async def _computed_reply(self, scope: Scope, receive: Receive, headers: dict[bytes, bytes]) -> Reply:
        started_at = self._clock()
        if backend.is_declared_too_large(headers):
            return self._uncached_reply(BODY_TOO_LARGE, scope, headers, [])
        caller = await self._callers.find(headers.get(b"authorization"))
        scope_id = self._backend.scope_for(scope["path"])
        await self._quotas.load_ownership(caller, scope_id)
        is_write = scope["method"] not in READ_METHODS
        importance = caller.importance(scope_id, is_write=is_write)
        if is_write and not self._write_workers.admits(importance):
            raise Overloaded
        quota = self._quotas.quota_for(caller, scope, headers, scope_id)
        remaining = None
        if is_write or backend.has_body(headers):
            # Counted before the body is read, so that a caller without quota cannot send large ones.
            remaining = quota.take(self._clock())
            if remaining < 0:
                return self._rate_limited_reply(scope, headers, quota, self._clock())
        body = await backend.read_body(scope["method"], receive, headers)
        if body is None:
            return self._uncached_reply(BODY_TOO_LARGE, scope, headers, [])
        request = self._build_request(scope, headers, caller, body)
        key = self._cache_key(request, caller)
        revision_min = backend.parse_revision(headers.get(b"x-tournament-revision"))
        if not is_write and revision_min <= self._revision_of(scope_id):
            cached = self._responses.find_cached(key)
            if cached is not None:
                await self._responses.compress(key, cached, headers)
                return self._cached_reply(cached, quota, scope, headers, self._clock(), remaining)
        if not is_write and not self._responses.admits(key, scope_id, importance):
            raise Overloaded
        if remaining is None:
            remaining = quota.take(self._clock())
        if remaining < 0:
            return self._rate_limited_reply(scope, headers, quota, self._clock())
        request_id = self._request_id_header(headers)[1]
        response = await self._compute(request, key, scope_id, revision_min, request_id, importance)
        if isinstance(response, CachedResponse):
            await self._responses.compress(key, response, headers)
            start, message = self._cached_reply(response, quota, scope, headers, self._clock(), remaining)
        else:
            start, message = self._uncached_reply(response, scope, headers, quota.headers(remaining))
        log_request(scope, caller.user_id or None, start, self._clock() - started_at)
        return start, message

    def _build_request(
        self, scope: Scope, headers: dict[bytes, bytes], caller: CachedCaller, body: bytes
    ) -> Request:
        return Request(
            method=scope["method"],
            path=scope["path"],
            query=scope["query_string"],
            caller=caller.caller,
            body=body,
            content_type=headers.get(b"content-type", b""),
            base_url=self._find_base_url(headers),
            source=self._proxies.client_address(scope, headers),
            idempotency_key=headers.get(b"idempotency-key"),
            if_match=headers.get(b"if-match"),
            last_event_id=headers.get(b"last-event-id"),
        )

    def _cache_key(self, request: Request, caller: CachedCaller) -> CacheKey:
        parameters = request.query
        if request.body:
            parameters += b"\n" + hashlib.blake2b(request.body, digest_size=16).digest()
        viewer = caller.private_viewer if self._is_own(request.path) else caller.viewer
        return request.path, parameters, viewer + request.base_url

    async def _compute(
        self,
        request: Request,
        key: CacheKey,
        scope_id: int,
        revision_min: int,
        request_id: bytes,
        importance: Importance,
    ) -> CachedResponse | HttpResponse:
        """Run a write, or compute a read together with equal requests at the same revision."""
        if request.method not in READ_METHODS:
            response = await self._write_workers.submit(
                importance, self._answer_in_worker, request, request_id
            )
            if response.hides:
                await asyncio.sleep(self._backend.hiding_seconds)
            return response
        read = replace(request, method="GET")
        return await self._responses.load(
            key,
            scope_id,
            lambda: self._answer_in_worker(read, request_id),
            importance=importance,
            revision_min=revision_min,
        )

    def _answer_in_worker(self, request: Request, request_id: bytes) -> HttpResponse:
        logs.request_id.set(request_id.decode())
        return self._backend.answer(request)
