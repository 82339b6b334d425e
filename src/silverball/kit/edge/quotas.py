"""The rate limit of each request: the caller's own, or that of a tournament they are running."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from silverball.kit.edge.backend import Backend, FrontDoorLimits
from silverball.kit.edge.caller_cache import CachedCaller
from silverball.kit.edge.proxies import address_group
from silverball.kit.edge.rate_limit import RateLimiter, RequestQuota
from silverball.kit.edge.shares import DutyAddresses, Share, Visitor, address_shares
from silverball.kit.edge.work_queue import Importance, WorkQueue
from silverball.kit.http.asgi import Headers, Scope
from silverball.kit.http.endpoints import READ_METHODS

# Ownership is looked up for this many tournaments while a caller is cached.
OWN_TOURNAMENTS_MAX = 50


class Quotas:
    """The rate limits of one process. Used by the event loop only."""

    def __init__(
        self,
        program: Backend,
        limits: FrontDoorLimits,
        workers: WorkQueue,
        wall_clock: Callable[[], float],
    ) -> None:
        self._program = program
        self._proxies = limits.proxies
        self._workers = workers
        self._wall_clock = wall_clock
        self._limiter = _limiter(limits, "requests", limits.rate_per_minute)
        # Without a limit for everybody there is none for those who run a tournament either.
        is_limited = limits.rate_per_minute > 0
        own_per_minute = max(limits.own_per_minute, limits.rate_per_minute) if is_limited else 0
        self._own_limiter = _limiter(limits, "own", own_per_minute)
        # Clients resolve each new name in the feed with requests that are free up to this limit.
        self._resolving_limiter = _limiter(limits, "resolving", limits.resolving_per_minute)
        self._pages_limiter = _limiter(limits, "pages", limits.pages_per_minute)
        code_per_minute = limits.code_per_minute if limits.pages_per_minute else 0
        self._codes_limiter = _limiter(limits, "codes", code_per_minute)
        self._duty = DutyAddresses()

    def is_known(self, caller: CachedCaller, scope_id: int) -> bool:
        """Whether the quota can be told without asking for the tournament's owner."""
        return (
            not scope_id or caller.caller is None or scope_id in caller.owns_scope or not self._limiter.limit
        )

    async def load_ownership(self, cached: CachedCaller, scope_id: int) -> None:
        """Look up whether the caller runs this tournament now, and cache that with the caller.

        Their quota depends on it, and whether they are refused last. Raises Overloaded.
        """
        caller = cached.caller
        if caller is None or not scope_id or scope_id in cached.owns_scope:
            return
        if len(cached.owns_scope) >= OWN_TOURNAMENTS_MAX:
            return
        looked_up = cached.ownership_lookups.get(scope_id)
        if looked_up is None:
            looked_up = self._workers.submit(
                Importance.SCOREKEEPER, self._program.has_own_quota, caller, scope_id
            )
            cached.ownership_lookups[scope_id] = looked_up
            looked_up.add_done_callback(partial(_end_lookup, cached, scope_id))
        # A client that disconnects must not cancel it for the caller's other requests.
        cached.owns_scope[scope_id] = await asyncio.shield(looked_up)

    def quota_for(
        self, caller: CachedCaller, scope: Scope, headers: dict[bytes, bytes], scope_id: int
    ) -> RequestQuota:
        """The quota that this request is counted against."""
        free_limiter = self._resolving_limiter if self._program.is_uncounted(scope["path"]) else None
        if caller.owns_scope.get(scope_id):
            own = (Share((caller.user_id, scope_id)),)
            return RequestQuota(self._own_limiter, own, free_limiter=free_limiter)
        if caller.user_id:
            return RequestQuota(self._limiter, (Share(caller.user_id),), free_limiter=free_limiter)
        address = self._proxies.client_address(scope, headers)
        return self._quota_of_strangers(self._limiter, address, free_limiter)

    def _quota_of_strangers(
        self, limiter: RateLimiter, address: str, free_limiter: RateLimiter | None = None
    ) -> RequestQuota:
        return RequestQuota(
            limiter,
            address_shares(address),
            free_limiter=free_limiter,
            factor_at=lambda now: self._duty.factor(address, now),
        )

    def shares_of(self, caller: CachedCaller, scope: Scope, headers: dict[bytes, bytes]) -> Sequence[Share]:
        """The shares of this caller: their account, or the address of a stranger."""
        if caller.user_id:
            return (Share(caller.user_id),)
        return address_shares(self._proxies.client_address(scope, headers))

    def note_duty(self, scope: Scope, headers: dict[bytes, bytes], now: float) -> None:
        """Remember that a person or device that runs a tournament acted from where this request came from."""
        self._duty.note(self._proxies.client_address(scope, headers), now)

    def payer(self, caller: CachedCaller, scope: Scope, headers: dict[bytes, bytes]) -> int | str:
        """The account that a costly answer is computed for; for a stranger their address."""
        return caller.user_id or address_group(self._proxies.client_address(scope, headers))

    def take_for_address(self, address: str, now: float) -> bool:
        """Count something that is no HTTP request for this address; False when nothing remained."""
        return self._quota_of_strangers(self._limiter, address).take(now) >= 0

    def seconds_to_page(
        self, scope: Scope, headers: dict[bytes, bytes], now: float, visitor: Visitor | None
    ) -> int:
        """Count a page to compute for this visitor; return 0, or the whole seconds to wait for it."""
        if not self._pages_limiter.limit:
            return 0
        quota = self._quota_of_pages(scope, headers, visitor)
        return 0 if quota.take(now) >= 0 else max(1, quota.seconds_to_wait(now))

    def payer_of_page(self, scope: Scope, headers: dict[bytes, bytes], visitor: Visitor | None) -> str:
        """The one for whom a costly page is computed; a stranger is their address."""
        return (
            address_group(self._proxies.client_address(scope, headers))
            if visitor is None
            else str(visitor.key)
        )

    def charge_page(
        self, scope: Scope, headers: dict[bytes, bytes], count: int, now: float, visitor: Visitor | None
    ) -> None:
        """Count what a page cost beside itself."""
        if self._pages_limiter.limit:
            self._quota_of_pages(scope, headers, visitor).take_more(count, now)

    def _quota_of_pages(
        self, scope: Scope, headers: dict[bytes, bytes], visitor: Visitor | None
    ) -> RequestQuota:
        if visitor is None:
            return self._quota_of_strangers(self._pages_limiter, self._proxies.client_address(scope, headers))
        limiter = self._codes_limiter if visitor.is_code else self._pages_limiter
        return RequestQuota(limiter, (Share(visitor.key),))

    def seconds_to_costly_answer(
        self, caller: CachedCaller, scope: Scope, headers: dict[bytes, bytes], now: float
    ) -> int:
        """`seconds_to_page` for an answer that costs as much as a page; 0 for all others."""
        is_costly = scope["method"] in READ_METHODS and self._program.costs_a_page(
            scope["path"], scope["query_string"]
        )
        visitor = Visitor(caller.user_id) if caller.user_id else None
        return self.seconds_to_page(scope, headers, now, visitor) if is_costly else 0

    def retry_headers(self, wait_seconds: int) -> Headers:
        """The headers that tell the client when to try again."""
        resets_at = int(self._wall_clock()) + wait_seconds
        return [(b"retry-after", b"%d" % wait_seconds), (b"x-ratelimit-reset", b"%d" % resets_at)]


def _end_lookup(cached: CachedCaller, scope_id: int, looked_up: asyncio.Future[bool]) -> None:
    del cached.ownership_lookups[scope_id]
    # Retrieved, or Python would report the error as lost when all clients have gone meanwhile.
    looked_up.cancelled() or looked_up.exception()


def _limiter(limits: FrontDoorLimits, name: str, limit: int) -> RateLimiter:
    limiter = RateLimiter(limit)
    if limit and limits.shared_counts is not None:
        limits.shared_counts.share(name, limiter)
    return limiter
