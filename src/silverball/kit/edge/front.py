"""The front door: who is asking, how often, and whether the answer is at hand already.

An ASGI callable before everything else. An answer that is at hand goes out from here: a few
lookups, no thread, no database. The rest is computed in worker threads, equal questions once.
"""

import asyncio
import contextlib
import hashlib
import itertools
import re
import secrets
import time
from collections.abc import Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from silverball.kit import logs
from silverball.kit.edge import backend
from silverball.kit.edge.access_log import RequestCounts, log_request
from silverball.kit.edge.backend import OWN_TOURNAMENTS_MAX, Backend, FrontDoorLimits, Receive, Scope, Send
from silverball.kit.edge.cached_pages import CachedPages
from silverball.kit.edge.caller_cache import CachedCaller, CallerCache
from silverball.kit.edge.rate_limit import MinimumInterval, RateLimiter, RequestQuota
from silverball.kit.edge.response_cache import (
    BODY_TOO_LARGE,
    CACHE_CONTROL,
    CORS,
    NOT_FOUND,
    PREFLIGHT,
    TOO_MANY_REQUESTS,
    CachedResponse,
    CacheKey,
    Headers,
    ResponseCache,
    body_message,
)
from silverball.kit.edge.shared_responses import SharedResponses, needs_compression
from silverball.kit.http.async_routes import (
    ClientDisconnected,
    Stream,
    run_while_connected,
    send_chunks,
    stream_start,
)
from silverball.kit.http.endpoints import READ_METHODS, HttpResponse, Request

Reply = tuple[dict[str, Any], dict[str, Any]]

# Of their own, so that writes which wait for a lock never hold up reads.
WRITE_THREADS = 8
REQUEST_ID = re.compile(rb"[A-Za-z0-9._\-]{1,64}")
EMPTY_BODY = body_message(b"")
# Asked every few seconds by whoever runs the program; a line for each says nothing.
HEALTH_PATHS = frozenset({"/up", "/ready"})


class FrontDoor:
    """The ASGI application."""

    def __init__(
        self,
        house: Backend,
        limits: FrontDoorLimits,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._backend = house
        self._clock = clock
        self._wall_clock = wall_clock
        self._revision_of = house.revision_of
        # The answers of the others have keys of their own too, and are found on the slow path.
        self._own_paths = frozenset(path for path in house.per_user_paths if "{" not in path)
        self._is_async = backend.path_pattern(house.async_paths).fullmatch
        self._is_own = backend.path_pattern(house.per_user_paths).fullmatch
        self.cache = ResponseCache(limits.cache_bytes)
        self._rate_limiter = RateLimiter(limits.rate_per_minute)
        self._own_rate_limiter = RateLimiter(max(limits.own_per_minute, limits.rate_per_minute))
        self._minimum_interval = MinimumInterval(limits.standings_interval_seconds)
        self._workers = ThreadPoolExecutor(house.workers, thread_name_prefix="silverball")
        self._responses = SharedResponses(
            self.cache, self._workers, revision_of=house.revision_of, refresh=house.refresh
        )
        self._public_pages = CachedPages(house, self._responses)
        self._write_workers = ThreadPoolExecutor(WRITE_THREADS, thread_name_prefix="silverball-writer")
        self._callers = CallerCache(house.find_caller, self._workers, clock)
        self._request_ids = itertools.count(1)
        self._process = secrets.token_hex(4).encode()
        self._counts = RequestCounts(clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._serve_page(scope, receive, send)
            return
        path = scope["path"]
        if not path.startswith("/api/") and path != "/api":
            await self._serve_page(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        now = self._clock()
        authorization = headers.get(b"authorization")
        guest = self._callers.anonymous if authorization is None else self._callers.get(authorization)
        if (
            guest is not None
            and now < guest.until
            and scope["method"] == "GET"
            and b"x-tournament-revision" not in headers
            and b"content-length" not in headers
            and b"transfer-encoding" not in headers
        ):
            kept_for = guest.own if path in self._own_paths else guest.viewer
            key = (path, scope["query_string"], kept_for)
            finished = self.cache.get(key)
            if (
                finished is not None
                and finished.revision == self._revision_of(finished.scope_id)
                and not needs_compression(finished, headers)
                and self._knows_quota(guest, finished.scope_id)
            ):
                self.cache.touch(key)
                self._counts.from_memory += 1
                purse = self._quota_for(guest, scope, headers, finished.scope_id)
                start, body = self._cached_reply(finished, purse, scope, headers, now)
                await send(start)
                await send(body)
                return
        await self._serve_from_workers(scope, receive, send, headers)

    def close(self) -> None:
        """Wait for what is being computed and let the threads go."""
        self._write_workers.shutdown()
        self._workers.shutdown()

    async def _serve_page(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if self._backend.pages is not None:
                await self._backend.pages(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        named = self._request_id_header(headers)
        if self._public_pages.handles(scope):
            try:
                shown = await self._public_pages.reply(scope, headers, named, self._clock)
            except Exception as error:  # noqa: BLE001  # the edge: the database may be gone
                shown = self._uncached_reply(self._backend.answer_error(error), scope, headers, [])
            for message in shown:
                await send(message)
            return
        if self._backend.pages is None:
            for message in self._uncached_reply(HttpResponse(404, NOT_FOUND), scope, headers, []):
                await send(message)
            return
        logs.request_id.set(named[1].decode())
        began = self._clock()

        async def send_named(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), named]
                if scope["path"] not in HEALTH_PATHS:
                    log_request(scope, None, message, self._clock() - began)
            await send(message)

        await self._backend.pages(scope, receive, send_named)

    # What goes out

    def _cached_reply(
        self,
        finished: CachedResponse,
        purse: RequestQuota,
        scope: Scope,
        headers: dict[bytes, bytes],
        now: float,
        left: int | None = None,
    ) -> Reply:
        """A finished answer, a 304 in its place, or a 429. `left` is given when the request was counted."""
        asked = headers.get(b"if-none-match")
        if finished.matches_etag(asked):
            if left is not None:
                purse.refund()
            out = [
                *finished.same_headers,
                self._request_id_header(headers),
                *purse.headers(purse.remaining(now)),
            ]
            return {"type": "http.response.start", "status": 304, "headers": out}, EMPTY_BODY
        if left is None:
            left = purse.take(now)
            if left < 0:
                return self._rate_limited_reply(scope, headers, purse, now)
        if finished.is_paced and asked is None:
            # By number and last word: `042` is the same tournament.
            paced = (purse.who, finished.scope_id, scope["path"].rpartition("/")[2])
            wait = self._minimum_interval.seconds_to_wait(paced, now)
            if wait:
                return self._retry_later_reply(scope, headers, wait, purse.headers(left))
        out, body = finished.headers_and_body(headers)
        out = [*out, self._request_id_header(headers), *purse.headers(left)]
        start = {"type": "http.response.start", "status": 200, "headers": out}
        return start, body if scope["method"] == "GET" else EMPTY_BODY

    def _uncached_reply(
        self,
        answer: HttpResponse,
        scope: Scope,
        headers: dict[bytes, bytes],
        extra: Headers,
    ) -> Reply:
        """An answer that is not kept: refusals, and answers to writes."""
        out = [
            (b"content-type", answer.content_type.encode()),
            (b"content-length", b"%d" % len(answer.body)),
            CACHE_CONTROL,
            *CORS,
            *answer.headers,
            *extra,
            self._request_id_header(headers),
        ]
        body = EMPTY_BODY if scope["method"] == "HEAD" else body_message(answer.body)
        return {"type": "http.response.start", "status": answer.status, "headers": out}, body

    def _rate_limited_reply(
        self, scope: Scope, headers: dict[bytes, bytes], purse: RequestQuota, now: float
    ) -> Reply:
        return self._retry_later_reply(scope, headers, purse.seconds_to_wait(now), purse.headers(0))

    def _retry_later_reply(
        self, scope: Scope, headers: dict[bytes, bytes], wait: int, counted: Headers
    ) -> Reply:
        self._counts.turned_away += 1
        return self._uncached_reply(TOO_MANY_REQUESTS, scope, headers, [*self._retry_headers(wait), *counted])

    # What it costs

    def _knows_quota(self, guest: CachedCaller, scope_id: int) -> bool:
        return not scope_id or guest.caller is None or scope_id in guest.runs or not self._rate_limiter.limit

    async def _load_ownership(self, guest: CachedCaller, scope_id: int) -> None:
        """Ask whether the tournament is one that the caller runs; remembered as long as the caller is."""
        caller = guest.caller
        if caller is None or self._knows_quota(guest, scope_id) or len(guest.runs) >= OWN_TOURNAMENTS_MAX:
            return
        loop = asyncio.get_running_loop()
        guest.runs[scope_id] = await loop.run_in_executor(
            self._workers, self._backend.has_own_quota, caller, scope_id
        )

    def _quota_for(
        self, guest: CachedCaller, scope: Scope, headers: dict[bytes, bytes], scope_id: int
    ) -> RequestQuota:
        is_free = scope["path"].endswith(backend.UNCOUNTED_SUFFIX)
        # The general limit of 0 means that nothing is counted at all.
        if guest.runs.get(scope_id):
            return RequestQuota(self._own_rate_limiter, (guest.user_id, scope_id), is_free=is_free)
        return RequestQuota(
            self._rate_limiter, guest.user_id or backend.client_address(scope, headers), is_free=is_free
        )

    def _retry_headers(self, wait: int) -> Headers:
        reset = int(self._wall_clock()) + wait
        return [(b"retry-after", b"%d" % wait), (b"x-ratelimit-reset", b"%d" % reset)]

    def _request_id_header(self, headers: dict[bytes, bytes]) -> tuple[bytes, bytes]:
        given = headers.get(b"x-request-id")
        if given is None or not REQUEST_ID.fullmatch(given):
            given = headers[b"x-request-id"] = b"%b-%x" % (self._process, next(self._request_ids))
        return (b"x-request-id", given)

    # What is not at hand

    async def _serve_from_workers(
        self, scope: Scope, receive: Receive, send: Send, headers: dict[bytes, bytes]
    ) -> None:
        self._counts.report_when_due(len(self.cache), self.cache.bytes_used)
        if scope["method"] == "OPTIONS":
            start, body = self._options_reply(scope["path"], headers)
        elif scope["method"] in READ_METHODS and self._is_async(scope["path"]):
            with contextlib.suppress(ClientDisconnected):
                await self._serve_async(scope, receive, send, headers)
            return
        else:
            try:
                start, body = await self._computed_reply(scope, receive, headers)
            except Exception as error:  # noqa: BLE001  # the edge: whatever fails is answered in JSON
                start, body = self._uncached_reply(self._backend.answer_error(error), scope, headers, [])
        await send(start)
        await send(body)

    async def _serve_async(
        self, scope: Scope, receive: Receive, send: Send, headers: dict[bytes, bytes]
    ) -> None:
        """A route that waits: counted like any other, and let go when the client hangs up."""
        began = self._clock()
        guest = await self._callers.find(headers.get(b"authorization"))
        purse = self._quota_for(guest, scope, headers, 0)
        left = purse.take(began)
        body: MutableMapping[str, Any] | None = EMPTY_BODY
        outcome = (
            await self._await_async_route(scope, headers, guest, receive) if left >= 0 else TOO_MANY_REQUESTS
        )
        if left < 0:
            start, body = self._rate_limited_reply(scope, headers, purse, began)
        elif isinstance(outcome, Stream):
            start = stream_start(outcome, [*purse.headers(left), self._request_id_header(headers)])
            body = None if scope["method"] == "GET" else EMPTY_BODY
        elif outcome.status == 200:
            finished = CachedResponse(outcome, scope_id=0, revision=0)
            start, body = self._cached_reply(finished, purse, scope, headers, began, left)
        else:
            start, body = self._uncached_reply(outcome, scope, headers, purse.headers(left))
        log_request(scope, guest.user_id or None, start, self._clock() - began)
        await send(start)
        if body is not None:
            await send(body)
        elif isinstance(outcome, Stream):
            await run_while_connected(send_chunks(outcome, send), receive)

    async def _await_async_route(
        self, scope: Scope, headers: dict[bytes, bytes], guest: CachedCaller, receive: Receive
    ) -> HttpResponse | Stream:
        assert self._backend.answer_async is not None
        request = self._build_request(scope, headers, guest, b"")
        try:
            outcome: HttpResponse | Stream = await run_while_connected(
                self._backend.answer_async(request), receive
            )
        except ClientDisconnected:
            raise
        except Exception as error:  # noqa: BLE001  # the edge: whatever fails is answered in JSON
            outcome = self._backend.answer_error(error)
        return outcome

    def _options_reply(self, path: str, headers: dict[bytes, bytes]) -> Reply:
        if b"access-control-request-method" in headers:
            status, out = 204, PREFLIGHT
        else:
            allowed = ",".join(self._backend.methods_for(path) or ("GET", "HEAD")).encode()
            status, out = 200, [(b"allow", allowed), (b"content-length", b"0"), CACHE_CONTROL, *CORS]
        return {
            "type": "http.response.start",
            "status": status,
            "headers": [*out, self._request_id_header(headers)],
        }, EMPTY_BODY

    async def _computed_reply(self, scope: Scope, receive: Receive, headers: dict[bytes, bytes]) -> Reply:
        began = self._clock()
        if backend.is_declared_too_large(headers):
            return self._uncached_reply(BODY_TOO_LARGE, scope, headers, [])
        guest = await self._callers.find(headers.get(b"authorization"))
        scope_id = backend.scope_id_for(scope["path"])
        await self._load_ownership(guest, scope_id)
        purse = self._quota_for(guest, scope, headers, scope_id)
        left = None
        if scope["method"] not in READ_METHODS:
            # A body is read only of who has something left.
            left = purse.take(self._clock())
            if left < 0:
                return self._rate_limited_reply(scope, headers, purse, self._clock())
        body = await backend.read_body(scope["method"], receive, headers)
        if body is None:
            return self._uncached_reply(BODY_TOO_LARGE, scope, headers, [])
        request = self._build_request(scope, headers, guest, body)
        key = self._cache_key(request, guest)
        wanted = backend.parse_revision(headers.get(b"x-tournament-revision"))
        if request.method in READ_METHODS and wanted <= self._revision_of(scope_id):
            finished = self._responses.find_cached(key)
            if finished is not None:
                await self._responses.compress(key, finished, headers)
                return self._cached_reply(finished, purse, scope, headers, self._clock())
        if left is None:
            left = purse.take(self._clock())
        if left < 0:
            return self._rate_limited_reply(scope, headers, purse, self._clock())
        outcome = await self._compute(request, key, scope_id, wanted, self._request_id_header(headers)[1])
        if isinstance(outcome, CachedResponse):
            await self._responses.compress(key, outcome, headers)
            start, message = self._cached_reply(outcome, purse, scope, headers, self._clock(), left)
        else:
            start, message = self._uncached_reply(outcome, scope, headers, purse.headers(left))
        log_request(scope, guest.user_id or None, start, self._clock() - began)
        return start, message

    def _build_request(
        self, scope: Scope, headers: dict[bytes, bytes], guest: CachedCaller, body: bytes
    ) -> Request:
        return Request(
            method=scope["method"],
            path=scope["path"],
            query=scope["query_string"],
            caller=guest.caller,
            body=body,
            source=backend.client_address(scope, headers),
            idempotency_key=headers.get(b"idempotency-key"),
            if_match=headers.get(b"if-match"),
            last_event_id=headers.get(b"last-event-id"),
        )

    def _cache_key(self, request: Request, guest: CachedCaller) -> CacheKey:
        asked = request.query
        if request.body:
            asked += b"\n" + hashlib.blake2b(request.body, digest_size=16).digest()
        return request.path, asked, guest.own if self._is_own(request.path) else guest.viewer

    async def _compute(
        self, request: Request, key: CacheKey, scope_id: int, wanted: int, request_id: bytes
    ) -> CachedResponse | HttpResponse:
        """Compute it, or wait for an equal question that is being computed at the same revision."""
        if request.method not in READ_METHODS:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(
                self._write_workers, self._answer_in_worker, request, request_id
            )
        asked = replace(request, method="GET")
        return await self._responses.load(
            key, scope_id, lambda: self._answer_in_worker(asked, request_id), revision_min=wanted
        )

    # In a worker thread

    def _answer_in_worker(self, request: Request, request_id: bytes) -> HttpResponse:
        logs.request_id.set(request_id.decode())
        return self._backend.answer(request)
