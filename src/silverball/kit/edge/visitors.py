"""Visitors of pages by their cookies and codes: looked up in a worker thread, remembered for a minute.

A cookie that nobody was given counts as its address. So does one that cannot be looked up just now.
"""

import asyncio
import hashlib
from collections.abc import Callable

from silverball.kit.edge.backend import Backend
from silverball.kit.edge.proxies import TrustedProxies
from silverball.kit.edge.rate_limit import RateLimiter, RequestQuota
from silverball.kit.edge.shares import Visitor, address_shares
from silverball.kit.edge.work_queue import Importance, WorkQueue
from silverball.kit.http.asgi import Scope

KNOWN_SECONDS = 60.0
# People who were here lately are looked up again even where strangers at their address have used up all.
RECENT_SECONDS = 15 * 60.0
VISITORS_MAX = 10_000


class _KnownVisitor:
    """A visitor, or None for secrets that are nobody's, and when they were looked up."""

    __slots__ = ("looked_up_at", "visitor")

    def __init__(self, visitor: Visitor | None, looked_up_at: float) -> None:
        self.visitor = visitor
        self.looked_up_at = looked_up_at


class VisitorCache:
    """Recent visitors by a digest of what they brought. Used by the event loop only."""

    def __init__(
        self,
        program: Backend,
        workers: WorkQueue,
        proxies: TrustedProxies,
        clock: Callable[[], float],
        *,
        lookups_per_minute: int,
    ) -> None:
        self._secrets_in = program.secrets_in
        self._find_visitor = program.find_visitor
        self._workers = workers
        self._proxies = proxies
        self._clock = clock
        self._limiter = RateLimiter(lookups_per_minute)
        # The one that was looked up last at the end.
        self._visitors: dict[bytes, _KnownVisitor] = {}
        self._lookups: dict[bytes, asyncio.Future[Visitor | None]] = {}

    async def find(self, scope: Scope, headers: dict[bytes, bytes]) -> Visitor | None:
        """The account, device or code behind this request; None for a stranger."""
        secrets = self._secrets_in(scope["path"], scope["query_string"], headers.get(b"cookie", b""))
        if not secrets:
            return None
        digest = hashlib.blake2b(secrets, digest_size=16).digest()
        known, now = self._visitors.get(digest), self._clock()
        if known is not None and now < known.looked_up_at + KNOWN_SECONDS:
            return known.visitor
        is_recent = (
            known is not None and known.visitor is not None and now < known.looked_up_at + RECENT_SECONDS
        )
        if not is_recent and not self._may_look_up(scope, headers, now):
            return None
        try:
            return await self._look_up(digest, secrets, now)
        except Exception:  # noqa: BLE001  # the database may be gone, which is for the page to say
            return known.visitor if known is not None and is_recent else None

    def _may_look_up(self, scope: Scope, headers: dict[bytes, bytes], now: float) -> bool:
        """Count a lookup for the address, so that made-up cookies do not keep the database busy."""
        shares = address_shares(self._proxies.client_address(scope, headers))
        return not self._limiter.limit or RequestQuota(self._limiter, shares).take(now) >= 0

    async def _look_up(self, digest: bytes, secrets: bytes, now: float) -> Visitor | None:
        looked_up = self._lookups.get(digest)
        if looked_up is None:
            looked_up = self._workers.submit(Importance.WRITER, self._find_visitor, secrets)
            self._lookups[digest] = looked_up
            looked_up.add_done_callback(lambda done: self._end_lookup(digest, done, now))
        # A client that disconnects must not cancel it for the others.
        return await asyncio.shield(looked_up)

    def _end_lookup(self, digest: bytes, done: asyncio.Future[Visitor | None], now: float) -> None:
        del self._lookups[digest]
        # Retrieved, or Python would report the error as lost when all clients have gone meanwhile.
        if done.cancelled() or done.exception() is not None:
            return
        self._visitors.pop(digest, None)
        while len(self._visitors) >= VISITORS_MAX:
            del self._visitors[next(iter(self._visitors))]
        self._visitors[digest] = _KnownVisitor(done.result(), now)
