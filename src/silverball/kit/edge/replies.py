"""Replies from cached responses, and whether they are counted.

A reply is decided here once. It leaves as two ASGI messages, or as bytes from the connection itself
(`kept_answers.py`); both are made of the same headers and body.
"""

from collections.abc import Callable

from silverball.kit.edge.access_log import RequestCounts
from silverball.kit.edge.backend import Backend
from silverball.kit.edge.caller_cache import CachedCaller, CallerCache
from silverball.kit.edge.given_answers import GivenAnswer, GivenAnswers
from silverball.kit.edge.proxies import FindBaseUrl
from silverball.kit.edge.quotas import Quotas
from silverball.kit.edge.rate_limit import RequestQuota
from silverball.kit.edge.response_cache import CachedResponse, CacheKey, ResponseCache
from silverball.kit.edge.shared_responses import SharedResponses, needs_compression
from silverball.kit.http.asgi import Headers, Scope
from silverball.kit.http.refusals import EMPTY_BODY, Reply, TooManyAttempts, refusal_response, uncached_reply
from silverball.kit.values import replace

# Of replies that show a cached response.
OUTDATED_STATUSES = frozenset({200, 304})
TOO_MANY_ATTEMPTS = refusal_response(TooManyAttempts())


class Replies:
    """Makes the replies of one process. Used by the event loop only."""

    def __init__(
        self,
        quotas: Quotas,
        counts: RequestCounts,
        request_id_header: Callable[[dict[bytes, bytes]], tuple[bytes, bytes]],
        given: GivenAnswers,
    ) -> None:
        self._given = given
        self._quotas = quotas
        self._counts = counts
        self._request_id_header = request_id_header

    def cached(
        self,
        cached: CachedResponse,
        caller: CachedCaller,
        quota: RequestQuota,
        scope: Scope,
        headers: dict[bytes, bytes],
        now: float,
        remaining: int | None = None,
    ) -> Reply:
        """The cached response, a 304 or a 429. `remaining` is None while the request is not counted."""
        if_none_match = headers.get(b"if-none-match")
        request_id_header = self._request_id_header(headers)
        is_match = if_none_match is not None and cached.matches_etag(if_none_match)
        if remaining is None:
            # A cached response is free for who knows it already; `*` matches whatever there is.
            is_free = is_match and if_none_match != b"*"
            remaining = quota.remaining(now) if is_free else quota.take(now)
            if remaining < 0:
                return self.rate_limited(scope, headers, quota, now)
        if cached.is_throttled:
            self._given.note(caller, scope, headers, cached, now)
        if is_match:
            extra = [request_id_header, *quota.headers(remaining)]
            return Reply(304, cached.common_headers, extra, EMPTY_BODY)
        response_headers, body = cached.headers_and_body(headers)
        extra = [request_id_header, *quota.headers(remaining)]
        return Reply(200, response_headers, extra, body if scope["method"] == "GET" else EMPTY_BODY)

    def given_again(
        self,
        given: GivenAnswer,
        quota: RequestQuota,
        scope: Scope,
        headers: dict[bytes, bytes],
        now: float,
    ) -> Reply:
        """The answer that the caller was given before, with its age; it is counted like any other."""
        remaining = quota.take(now)
        if remaining < 0:
            return self.rate_limited(scope, headers, quota, now)
        response_headers, body = given.response.headers_and_body(headers)
        extra = [self._request_id_header(headers), *quota.headers(remaining)]
        extra += self._given.headers(given, now)
        return Reply(200, response_headers, extra, body if scope["method"] == "GET" else EMPTY_BODY)

    def rate_limited(
        self, scope: Scope, headers: dict[bytes, bytes], quota: RequestQuota, now: float
    ) -> Reply:
        """The refusal of a request beyond the caller's limit."""
        return self.retry_later(scope, headers, quota.seconds_to_wait(now), quota.headers(0))

    def retry_later(
        self, scope: Scope, headers: dict[bytes, bytes], wait_seconds: int, quota_headers: Headers
    ) -> Reply:
        """The refusal of a request that may come again after so many seconds."""
        self._counts.turned_away += 1
        extra = [*self._quotas.retry_headers(wait_seconds), *quota_headers]
        return uncached_reply(TOO_MANY_ATTEMPTS, scope["method"], [*extra, self._request_id_header(headers)])


class KnownRead:
    """The meaning of a request for its caller, kept while the same bytes come from the same address."""

    __slots__ = ("caller", "key", "quota")

    def __init__(self) -> None:
        self.caller: CachedCaller | None = None
        self.key: CacheKey = ("", b"", "")
        # None until the response was found.
        self.quota: RequestQuota | None = None


class MemoryReplies:
    """Replies that need neither a thread nor the database: the caller and the response are in memory."""

    def __init__(
        self,
        program: Backend,
        cache: ResponseCache,
        callers: CallerCache,
        quotas: Quotas,
        counts: RequestCounts,
        replies: Replies,
        find_base_url: FindBaseUrl,
        responses: SharedResponses,
        given: GivenAnswers,
    ) -> None:
        self._given = given
        # Only fixed paths are known to be a user's own here; those with an id take the long way.
        self._own_paths = frozenset(path for path in program.per_user_paths if "{" not in path)
        self._version_of = program.version_of
        self._cache = cache
        self._callers = callers
        self._quotas = quotas
        self._counts = counts
        self._replies = replies
        self._find_base_url = find_base_url
        self._outage_seconds = program.outage_seconds
        self._find_outdated = responses.find_outdated

    def find(
        self, scope: Scope, headers: dict[bytes, bytes], now: float, known: KnownRead | None = None
    ) -> Reply | None:
        """The reply to a GET without a body; None when it has to be computed.

        `known` is filled for the next request of the same bytes. Caller, version and allowance are looked
        up each time.
        """
        caller = self._callers.known(headers.get(b"authorization"), now)
        if caller is None:
            return None
        given = self._given.find(caller, scope, headers, now)
        if given is not None:
            return self._given_again(given, caller, scope, headers, now)
        known = known or KnownRead()
        if known.caller is not caller:
            known.caller, known.key, known.quota = caller, self._key_of(caller, scope, headers), None
        cached = self._cache.get(known.key)
        if (
            cached is None
            or cached.version != self._version_of(cached.scope_id)
            or (cached.gzip_body is None and needs_compression(cached, headers))
        ):
            return None
        if known.quota is None:
            if not self._quotas.is_known(caller, cached.scope_id):
                return None
            known.quota = self._quotas.quota_for(caller, scope, headers, cached.scope_id)
        self._cache.touch(known.key)
        self._counts.from_memory += 1
        reply = self._replies.cached(cached, caller, known.quota, scope, headers, now)
        cached.counts.count_found(reply.status)
        return reply

    def _given_again(
        self,
        given: GivenAnswer,
        caller: CachedCaller,
        scope: Scope,
        headers: dict[bytes, bytes],
        now: float,
    ) -> Reply | None:
        response = given.response
        if not self._quotas.is_known(caller, response.scope_id):
            return None
        quota = self._quotas.quota_for(caller, scope, headers, response.scope_id)
        self._counts.from_memory += 1
        reply = self._replies.given_again(given, quota, scope, headers, now)
        response.counts.count_found(reply.status)
        return reply

    def find_outdated(self, scope: Scope, headers: dict[bytes, bytes], now: float) -> Reply | None:
        """The reply that held before an outage of the database, with its age; None without either."""
        caller = self._callers.known(headers.get(b"authorization"), now) if self._outage_seconds() else None
        if caller is None:
            return None
        outdated = self._find_outdated(self._key_of(caller, scope, headers))
        if outdated is None:
            return None
        response = outdated.response
        quota = self._quotas.quota_for(caller, scope, headers, response.scope_id)
        reply = self._replies.cached(response, caller, quota, scope, headers, now)
        response.counts.count_found(reply.status)
        is_refused = reply.status not in OUTDATED_STATUSES
        return reply if is_refused else replace(reply, extra=[*reply.extra, outdated.age_header])

    def _key_of(self, caller: CachedCaller, scope: Scope, headers: dict[bytes, bytes]) -> CacheKey:
        path = scope["path"]
        viewer = caller.private_viewer if path in self._own_paths else caller.viewer
        return (path, scope["query_string"], viewer + self._find_base_url(headers))


def may_be_in_memory(scope: Scope, headers: dict[bytes, bytes]) -> bool:
    """Whether this request can be answered from memory: a GET without a body, for no certain revision."""
    return (
        scope["method"] == "GET"
        and b"x-tournament-revision" not in headers
        and b"content-length" not in headers
        and b"transfer-encoding" not in headers
    )
