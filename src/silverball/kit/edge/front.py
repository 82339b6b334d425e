"""The front door: an ASGI application in front of everything else.

It identifies the caller, counts the request, and sends a cached response with a few lookups, without a
thread or the database. Other responses are computed in worker threads, equal requests once.
"""

import asyncio
import contextlib
import hashlib
import itertools
import re
import secrets
import time
from collections.abc import Callable, Coroutine, Hashable
from typing import Any

from silverball.kit import logs
from silverball.kit.edge import backend
from silverball.kit.edge.access_log import RequestCounts, log_request
from silverball.kit.edge.backend import Backend, FrontDoorLimits
from silverball.kit.edge.blocked_networks import BlockedNetworks
from silverball.kit.edge.caller_cache import CachedCaller, CallerCache
from silverball.kit.edge.computing_line import NO_DRY_RUN, Question
from silverball.kit.edge.connections import ConnectionPlace
from silverball.kit.edge.costly_answers import CostlyAnswers
from silverball.kit.edge.given_answers import GivenAnswers
from silverball.kit.edge.kept_answers import KeptAnswers
from silverball.kit.edge.page_door import PageDoor
from silverball.kit.edge.proxies import base_url_finder
from silverball.kit.edge.quotas import Quotas
from silverball.kit.edge.rate_limit import RequestQuota
from silverball.kit.edge.replies import TOO_MANY_ATTEMPTS, MemoryReplies, Replies, may_be_in_memory
from silverball.kit.edge.response_cache import CachedResponse, CacheKey, ResponseCache
from silverball.kit.edge.shared_responses import SharedResponses
from silverball.kit.edge.shares import CONNECTION, OpenCounts
from silverball.kit.edge.visitors import VisitorCache
from silverball.kit.edge.work_queue import Importance, Overloaded, WorkQueue
from silverball.kit.http.asgi import (
    CACHE_CONTROL,
    INTERFACE_HEADERS,
    PREFLIGHT,
    Headers,
    Receive,
    Scope,
    Send,
)
from silverball.kit.http.endpoints import (
    READ_METHODS,
    CallerRefused,
    ClientDisconnected,
    HttpResponse,
    Request,
    Stream,
    Unauthenticated,
    run_while_connected,
    send_chunks,
    stream_start,
)
from silverball.kit.http.refusals import EMPTY_BODY, BodyTooLarge, Reply, refusal_response, uncached_reply
from silverball.kit.http.router import RouteNotFound
from silverball.kit.values import replace

# The id of each request: in its answer and in its log line, so that a report can be found in the log.


REQUEST_ID = re.compile(rb"[A-Za-z0-9._\-]{1,64}")


class RequestIds:
    """Ids that no other process gives."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._process = secrets.token_hex(4).encode()

    def header(self, headers: dict[bytes, bytes]) -> tuple[bytes, bytes]:
        """The header with the client's request id, or with a new one, which `headers` then has too."""
        request_id = headers.get(b"x-request-id")
        if request_id is None or not REQUEST_ID.fullmatch(request_id):
            request_id = b"%b-%x" % (self._process, next(self._numbers))
            headers[b"x-request-id"] = request_id
        return (b"x-request-id", request_id)


# Writers have threads of their own, so that waiting for a lock never holds up reads.
WRITE_THREADS = 8
# Too many streams of one address: some end all the time.
STREAM_RETRY_SECONDS = 5
CLOSE = (b"connection", b"close")
BODY_TOO_LARGE = refusal_response(BodyTooLarge())
UNAUTHENTICATED = refusal_response(Unauthenticated())
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
        self._limits = limits
        self._proxies = limits.proxies
        self._is_async = backend.path_pattern(program.async_paths).fullmatch
        self._is_own = backend.path_pattern(program.per_user_paths).fullmatch
        self.cache = ResponseCache(limits.cache_bytes - limits.heads_bytes)
        self._workers = WorkQueue(program.workers, "silverball")
        self._write_workers = WorkQueue(
            WRITE_THREADS, "silverball-writer", threads_per_scope=program.writers_per_scope
        )
        self._quotas = Quotas(program, limits, self._workers, wall_clock)
        self._responses = SharedResponses(self.cache, self._workers, program)
        self._costly = CostlyAnswers(program, self.cache, self._write_workers)
        self._callers = CallerCache(program, self._workers, clock)
        self._visitors = VisitorCache(
            program, self._workers, limits.proxies, clock, lookups_per_minute=limits.pages_per_minute
        )
        self._find_base_url = base_url_finder(follows_host=program.follows_host)
        self._request_id_header = RequestIds().header
        self.measures = limits.measures
        self._measures = limits.measures.requests
        self.given = GivenAnswers(program, limits.proxies, limits.standings_interval_seconds)
        self._pages = PageDoor(
            program,
            self._responses,
            self._costly,
            self._quotas,
            self.given,
            self._visitors,
            self._measures,
            self._request_id_header,
            clock,
        )
        self._streams = OpenCounts(limits.streams_max)
        self._counts = RequestCounts(clock, self._measures)
        self._replies = Replies(self._quotas, self._counts, self._request_id_header, self.given)
        self._in_memory = MemoryReplies(
            program,
            self.cache,
            self._callers,
            self._quotas,
            self._counts,
            self._replies,
            self._find_base_url,
            self._responses,
            self.given,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._pages.serve(scope, receive, send)
            return
        path = scope["path"]
        place: ConnectionPlace | None = scope.get(CONNECTION)
        if place is not None and not place.has_owner and not await self._may_stay(place, scope):
            busy = self._uncached_reply(OVERLOADED, scope, dict(scope["headers"]), [CLOSE])
            await busy.send(send)
            return
        if not path.startswith("/api/") and path != "/api":
            await self._pages.serve(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if may_be_in_memory(scope, headers):
            now = self._clock()
            reply = self._in_memory.find(scope, headers, now) or self._in_memory.find_outdated(
                scope, headers, now
            )
            if reply is not None:
                await send(reply.start())
                await send(reply.body)
                return
        await self._serve_from_workers(scope, receive, send, headers)

    async def _may_stay(self, place: ConnectionPlace, scope: Scope) -> bool:
        """Give the connection to the account, device or code that it belongs to, as this request shows.

        False when it belongs to a stranger, and its place is kept for others.
        """
        headers: dict[bytes, bytes] = dict(scope["headers"])
        owner: Hashable = None
        if scope["path"].startswith("/api/"):
            with contextlib.suppress(Exception):
                owner = (await self._callers.find(headers.get(b"authorization"))).user_id or None
        else:
            visitor = await self._visitors.find(scope, headers)
            owner = None if visitor is None else visitor.key
        if owner is not None:
            place.give_to(owner)
        return place.has_owner or not place.is_reserved

    def count_for_address(self, address: str) -> bool:
        """Count a resume over a socket like a request without a token; False when nothing remained."""
        return self._quotas.take_for_address(address, self._clock())

    def kept_answers(self, blocked: BlockedNetworks) -> KeptAnswers:
        """Return the answers that leave from the connections of this process, for clients not blocked."""
        return KeptAnswers(
            self._in_memory, blocked, self._proxies, bytes_max=self._limits.heads_bytes, clock=self._clock
        )

    async def ask_writers(self, task: Callable[[], object]) -> None:
        """Wait until a thread for writes has run a task; raises what the task raises."""
        await self._write_workers.submit(Importance.SCOREKEEPER, task)

    @property
    def waiting(self) -> dict[str, int]:
        """The tasks that wait for a thread, by queue."""
        return {
            "reads": self._workers.waiting,
            "writes": self._write_workers.waiting,
            "costly": self._costly.waiting,
        }

    @property
    def are_counts_shared(self) -> bool:
        """Whether Redis has answered what this node and the others have counted."""
        counts = self._limits.shared_counts
        return counts is not None and counts.is_reachable

    @property
    def computing_process_ids(self) -> list[int]:
        """The ids of the processes that compute costly answers, as far as there are any."""
        return [] if self._costly.line is None else self._costly.line.process_ids

    def end_costly(self) -> None:
        """Refuse the costly answers that are being computed: a stop waits for none of them."""
        if self._costly.line is not None:
            self._costly.line.end_all()

    def close(self) -> None:
        """Wait for the requests that are being computed, then stop the threads."""
        if self._costly.line is not None:
            self._costly.line.close()
        self._write_workers.close()
        self._workers.close()

    # Replies

    def _uncached_reply(
        self, response: HttpResponse, scope: Scope, headers: dict[bytes, bytes], extra: Headers
    ) -> Reply:
        return uncached_reply(response, scope["method"], [*extra, self._request_id_header(headers)])

    def _failed_reply(self, error: Exception, scope: Scope, headers: dict[bytes, bytes]) -> Reply:
        if isinstance(error, Overloaded):
            self._counts.shed += 1
            return self._uncached_reply(OVERLOADED, scope, headers, [])
        return self._uncached_reply(self._backend.answer_error(error), scope, headers, [])

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
            response_headers = [
                (b"allow", allowed),
                (b"content-length", b"0"),
                CACHE_CONTROL,
                *INTERFACE_HEADERS,
            ]
        return Reply(status, response_headers, [self._request_id_header(headers)], EMPTY_BODY)

    # Requests that the cache cannot answer

    async def _serve_from_workers(
        self, scope: Scope, receive: Receive, send: Send, headers: dict[bytes, bytes]
    ) -> None:
        started_at = self._clock()
        self._counts.report_when_due(self.cache)
        if scope["method"] == "OPTIONS":
            reply = self._options_reply(scope, headers)
        elif scope["method"] in READ_METHODS and self._is_async(scope["path"]):
            with contextlib.suppress(ClientDisconnected):
                await self._serve_async(scope, receive, send, headers)
            return
        elif scope["method"] == "GET" and self._sheds_visitor(scope, headers):
            reply = self._failed_reply(Overloaded(), scope, headers)
        else:
            try:
                reply = await self._computed_reply(scope, receive, headers)
            except ClientDisconnected:
                return
            except Exception as error:  # noqa: BLE001  # the edge: every failure is answered in JSON
                reply = self._failed_reply(error, scope, headers)
        self._measures.count(scope["method"], scope["path"], reply.status, self._clock() - started_at)
        await reply.send(send)

    def _sheds_visitor(self, scope: Scope, headers: dict[bytes, bytes]) -> bool:
        """Whether to refuse a read without a token at once, as refusing must cost next to nothing."""
        if b"authorization" in headers:
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
            reply = self._failed_reply(error, scope, headers)
            self._measures.count(scope["method"], scope["path"], reply.status, None)
            await reply.send(send)
            return
        shares = self._quotas.shares_of(caller, scope, headers)
        if self._streams.is_full(shares):
            reply = self._replies.retry_later(scope, headers, STREAM_RETRY_SECONDS, [])
            self._measures.count(scope["method"], scope["path"], reply.status, None)
            await reply.send(send)
            return
        self._streams.enter(shares)
        try:
            await self._serve_open(scope, receive, send, headers, caller, started_at)
        finally:
            self._streams.leave(shares)

    async def _serve_open(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        headers: dict[bytes, bytes],
        caller: CachedCaller,
        started_at: float,
    ) -> None:
        quota = self._quotas.quota_for(caller, scope, headers, 0)
        remaining = quota.take(started_at)
        response = (
            await self._await_async_route(scope, headers, caller, receive)
            if remaining >= 0
            else TOO_MANY_ATTEMPTS
        )
        if remaining < 0:
            reply = self._replies.rate_limited(scope, headers, quota, started_at)
        elif isinstance(response, Stream):
            extra = [*quota.headers(remaining), self._request_id_header(headers)]
            start = stream_start(response, extra)
            seconds, request_id = self._clock() - started_at, headers[b"x-request-id"]
            log_request(scope, start["status"], seconds, request_id, caller.user_id)
            self._measures.count(scope["method"], scope["path"], start["status"], None)
            await send(start)
            await self._send_stream(response, scope, receive, send, caller)
            return
        elif response.status == 200:
            cached = CachedResponse(response, scope_id=0, version=0)
            reply = self._replies.cached(cached, caller, quota, scope, headers, started_at, remaining)
        else:
            reply = self._uncached_reply(response, scope, headers, quota.headers(remaining))
        log_request(scope, reply.status, self._clock() - started_at, headers[b"x-request-id"], caller.user_id)
        self._measures.count(scope["method"], scope["path"], reply.status, None)
        await reply.send(send)

    async def _send_stream(
        self,
        stream: Stream,
        scope: Scope,
        receive: Receive,
        send: Send,
        caller: CachedCaller,
    ) -> None:
        if scope["method"] == "GET":
            # A stream ends with its caller's token; the client may come back as anybody.
            with contextlib.suppress(CallerRefused):
                await run_while_connected(send_chunks(stream, send), receive, self._refusal(scope, caller))
                return
        await send(EMPTY_BODY)

    async def _await_async_route(
        self, scope: Scope, headers: dict[bytes, bytes], caller: CachedCaller, receive: Receive
    ) -> HttpResponse | Stream:
        assert self._backend.answer_async is not None
        request = self._build_request(scope, headers, caller, b"")
        try:
            response: HttpResponse | Stream = await run_while_connected(
                self._backend.answer_async(request), receive, self._refusal(scope, caller)
            )
        except ClientDisconnected:
            raise
        except CallerRefused:
            response = UNAUTHENTICATED
        except Exception as error:  # noqa: BLE001  # the edge: every failure is answered in JSON
            response = self._backend.answer_error(error)
        return response

    def _refusal(self, scope: Scope, caller: CachedCaller) -> Coroutine[Any, Any, None] | None:
        """A coroutine that returns when this caller is refused; None for a caller without a token."""
        if caller.caller is None:
            return None
        return self._callers.wait_until_refused(dict(scope["headers"]).get(b"authorization"))

    async def _computed_reply(self, scope: Scope, receive: Receive, headers: dict[bytes, bytes]) -> Reply:
        started_at = self._clock()
        if backend.is_declared_too_large(headers):
            return self._uncached_reply(BODY_TOO_LARGE, scope, headers, [])
        caller = await self._callers.find(headers.get(b"authorization"))
        scope_id = self._backend.scope_for(scope["path"])
        await self._quotas.load_ownership(caller, scope_id)
        cost = self._costly.cost_of(scope)
        is_write = cost is None and scope["method"] not in READ_METHODS
        importance = caller.importance(scope_id, is_write=is_write)
        if is_write and not self._write_workers.admits(importance):
            raise Overloaded
        quota = self._quotas.quota_for(caller, scope, headers, scope_id)
        remaining = None
        if is_write or backend.has_body(headers):
            # Counted before the body is read, so that a caller without quota cannot send large ones.
            remaining = quota.take(self._clock())
            if remaining < 0:
                return self._replies.rate_limited(scope, headers, quota, self._clock())
        body = await backend.read_body(scope["method"], receive, headers)
        if body is None:
            return self._uncached_reply(BODY_TOO_LARGE, scope, headers, [])
        request = self._build_request(scope, headers, caller, body)
        cost = cost or self._costly.cost_of(scope, body)
        # Nothing is kept of a write.
        key = None if is_write else self._cache_key(request, caller)
        revision_min = backend.parse_revision(headers.get(b"x-tournament-revision"))
        found = await self._known_reply(key, revision_min, caller, scope, headers, quota, remaining)
        if found is not None:
            return found
        is_shed = cost is None and key is not None and not self._responses.admits(key, scope_id, importance)
        if is_shed:
            raise Overloaded
        remaining = quota.take(self._clock()) if remaining is None else remaining
        refused = self._refuse_computing(caller, scope, headers, quota, remaining)
        if refused is not None:
            return refused
        request_id = self._request_id_header(headers)[1]
        if cost is None:
            response = await self._compute(request, key, scope_id, revision_min, request_id, importance)
        else:
            payer = self._quotas.payer(caller, scope, headers)
            question = Question(request=request, scope_id=scope_id, request_id=request_id.decode())
            costly_key = key or self._dry_run_key(request, caller)
            response, more = await self._load_costly(
                costly_key, question, receive, payer=payer, revision_min=revision_min
            )
            remaining = quota.take_more(more if cost.is_by_second else 0, self._clock())
            if response == NO_DRY_RUN:
                response = await self._compute(request, None, scope_id, 0, request_id, importance)
        if isinstance(response, CachedResponse):
            assert key is not None
            response.counts = self._measures.counts_for("GET", scope["path"])
            await self._responses.compress(key, response, headers)
            reply = self._replies.cached(response, caller, quota, scope, headers, self._clock(), remaining)
        else:
            reply = self._uncached_reply(response, scope, headers, quota.headers(remaining))
        log_request(scope, reply.status, self._clock() - started_at, headers[b"x-request-id"], caller.user_id)
        self._note_write(caller, scope, headers, reply.status)
        return reply

    async def _known_reply(
        self,
        key: CacheKey | None,
        revision_min: int,
        caller: CachedCaller,
        scope: Scope,
        headers: dict[bytes, bytes],
        quota: RequestQuota,
        remaining: int | None,
    ) -> Reply | None:
        """The answer that the caller was given lately, or the cached one; None without a current one."""
        if not self._responses.has_reached(revision_min, self._backend.scope_for(scope["path"])):
            return None
        given = self.given.find(caller, scope, headers, self._clock()) if remaining is None else None
        if given is not None:
            return self._replies.given_again(given, quota, scope, headers, self._clock())
        cached = None if key is None else self._responses.find_cached(key)
        if key is None or cached is None:
            return None
        await self._responses.compress(key, cached, headers)
        return self._replies.cached(cached, caller, quota, scope, headers, self._clock(), remaining)

    def _note_write(
        self, caller: CachedCaller, scope: Scope, headers: dict[bytes, bytes], status: int
    ) -> None:
        """Show a writer what is true now; let strangers around people who run a tournament have more."""
        is_done = status < 400 and scope["method"] not in READ_METHODS
        if is_done:
            self.given.forget(caller, scope, headers)
        if is_done and caller.owns_scope.get(self._backend.scope_for(scope["path"])):
            self._quotas.note_duty(scope, headers, self._clock())

    def _refuse_computing(
        self,
        caller: CachedCaller,
        scope: Scope,
        headers: dict[bytes, bytes],
        quota: RequestQuota,
        remaining: int,
    ) -> Reply | None:
        """The refusal of a caller of whom nothing remained, or of an answer that costs a page too many."""
        now = self._clock()
        if remaining < 0:
            return self._replies.rate_limited(scope, headers, quota, now)
        wait_seconds = self._quotas.seconds_to_costly_answer(caller, scope, headers, now)
        if not wait_seconds:
            return None
        return self._replies.retry_later(scope, headers, wait_seconds, quota.headers(remaining))

    def _build_request(
        self, scope: Scope, headers: dict[bytes, bytes], caller: CachedCaller, body: bytes
    ) -> Request:
        return Request(
            method=scope["method"],
            path=scope["path"],
            query=scope["query_string"],
            caller=caller.caller,
            has_refused_token=caller.is_refused,
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
        if request.method not in READ_METHODS:
            # A POST that reads has another answer than a GET of its path.
            viewer = f"{request.method} {viewer}"
        return request.path, parameters, viewer + request.base_url

    def _dry_run_key(self, request: Request, caller: CachedCaller) -> CacheKey:
        """The key of a dry run, whose answer is shared by those who ask at once and kept for nobody."""
        path, parameters, _ = self._cache_key(request, caller)
        return path, parameters, f"{caller.private_viewer}{request.if_match!r}{request.base_url}"

    async def _load_costly(
        self, key: CacheKey, question: Question, receive: Receive, *, payer: int | str, revision_min: int
    ) -> tuple[CachedResponse | HttpResponse, int]:
        assert question.request is not None
        if revision_min:
            # What others wait for at the version known so far may have been read before this revision.
            await self._responses.catch_up(question.scope_id, Importance.READER, revision_min)
        is_read = question.request.method in READ_METHODS
        if is_read:
            question = replace(question, request=replace(question.request, method="GET"))
        return await self._costly.load(key, question, receive, payer=payer, is_kept=is_read)

    async def _compute(
        self,
        request: Request,
        key: CacheKey | None,
        scope_id: int,
        revision_min: int,
        request_id: bytes,
        importance: Importance,
    ) -> CachedResponse | HttpResponse:
        """Run a write, which has no key; compute a read together with equal requests at the same version."""
        if key is None:
            response = await self._write_workers.submit(
                importance, self._answer_in_worker, request, request_id, scope_id=scope_id
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
