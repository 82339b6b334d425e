"""Callers by Authorization header: loaded in a worker thread, cached for a few seconds."""

import asyncio
import contextlib
from collections.abc import Callable

from silverball.kit.edge.backend import Backend
from silverball.kit.edge.work_queue import Importance, WorkQueue
from silverball.kit.http.endpoints import Caller

# Five seconds are promised; what is left is for the lookup that notices, and for its answer.
CALLER_SECONDS = 4.0
# The caller of a request that waits is looked at this often, and looked up when known for longer than that:
# together less than CALLER_SECONDS.
WATCH_SECONDS = 1.0
WATCHED_SECONDS_OLD = 2.5
CALLERS_MAX = 10_000
# Longer than any token. The limit bounds the size of the cache.
AUTHORIZATION_BYTES_MAX = 300


class CachedCaller:
    """The caller behind an Authorization header, valid for a few seconds."""

    __slots__ = (
        "caller",
        "changes_seen",
        "expires_at",
        "is_refused",
        "ownership_lookups",
        "owns_scope",
        "private_viewer",
        "user_id",
        "viewer",
    )

    def __init__(
        self, caller: Caller | None, expires_at: float, changes_seen: int = 0, *, is_refused: bool = False
    ) -> None:
        self.caller = caller
        # Whether a bearer token came that is revoked, expired or unknown: its sender believes to be somebody.
        self.is_refused = is_refused
        self.expires_at = expires_at
        # The number of the newest change of an account before the lookup.
        self.changes_seen = changes_seen
        self.user_id = caller.user_id if caller else 0
        # Requests without a token share their answers.
        self.viewer = caller.viewer if caller else "refused" if is_refused else "nobody"
        # What a user manages is shown to tokens that may manage it only.
        manages = caller is not None and caller.may("manage")
        self.private_viewer = f"{self.user_id} {self.viewer}{' manages' if manages else ''}"
        # Scope -> whether its tournament is running and the caller's own, as far as it is known.
        self.owns_scope: dict[int, bool] = {}
        # Scope -> the same while it is being looked up, for all requests that wait for it.
        self.ownership_lookups: dict[int, asyncio.Future[bool]] = {}

    def importance(self, scope_id: int, *, is_write: bool) -> Importance:
        """The importance of this caller's request about a tournament, or about none."""
        if self.caller is None:
            return Importance.VISITOR
        if self.owns_scope.get(scope_id):
            return Importance.SCOREKEEPER
        return Importance.WRITER if is_write else Importance.READER

    @property
    def lookup_importance(self) -> Importance:
        """The importance of looking this caller up again."""
        if any(self.owns_scope.values()):
            return Importance.SCOREKEEPER
        return Importance.VISITOR if self.caller is None else Importance.WRITER


class _CallerLookup:
    """A caller who is being looked up, for all who wait for it."""

    __slots__ = ("_found", "_is_refused", "changes_seen", "expires_at", "looked_up")

    def __init__(
        self,
        looked_up: asyncio.Future[Caller | None],
        expires_at: float,
        changes_seen: int,
        *,
        is_refused: bool,
    ) -> None:
        self.looked_up = looked_up
        # Whether they are refused when nobody is found.
        self._is_refused = is_refused
        self.expires_at = expires_at
        self.changes_seen = changes_seen
        self._found: CachedCaller | None = None

    def result(self) -> CachedCaller:
        """The caller, the same for all, once the lookup is done. Raises what it raised."""
        if self._found is None:
            caller = self.looked_up.result()
            is_refused = caller is None and self._is_refused
            self._found = CachedCaller(caller, self.expires_at, self.changes_seen, is_refused=is_refused)
        return self._found


def _is_bearer(authorization: bytes) -> bool:
    return authorization[:7].lower() == b"bearer "


class CallerCache:
    """Recent callers by Authorization header. Used by one thread only."""

    def __init__(self, program: Backend, workers: WorkQueue, clock: Callable[[], float]) -> None:
        self.anonymous = CachedCaller(None, float("inf"))
        self._refused = CachedCaller(None, float("inf"), is_refused=True)
        self._entries: dict[bytes, CachedCaller] = {}
        self._lookups: dict[bytes, _CallerLookup] = {}
        self._find_caller = program.find_caller
        self._reads_as_nobody = program.reads_as_nobody
        self._newest_account_change = program.newest_account_change
        self._account_changes = program.account_changes
        self._workers = workers
        self._clock = clock

    def known(self, authorization: bytes | None, now: float) -> CachedCaller | None:
        """The caller of this header, if it is cached and neither it nor its account changed since."""
        if authorization is None:
            return self.anonymous
        cached = self._entries.get(authorization)
        if cached is None or now >= cached.expires_at:
            return None
        # Nobody knows whose a refused token is: any change may have lifted a suspension.
        newest = (
            self._newest_account_change()
            if cached.caller is None
            else self._account_changes.get(cached.user_id, 0)
        )
        if newest > cached.changes_seen:
            return None
        return cached

    async def wait_until_refused(self, authorization: bytes | None) -> None:
        """Return when the caller of this header is refused: revoked, expired or suspended, on any node."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            # Who cannot be looked up just now is looked up a second later.
            with contextlib.suppress(Exception):
                caller = await self.find(authorization, seconds_old_max=WATCHED_SECONDS_OLD)
                if caller.caller is None:
                    return

    async def find(
        self, authorization: bytes | None, *, seconds_old_max: float = CALLER_SECONDS
    ) -> CachedCaller:
        """The caller of this header, nobody when it is missing or no valid token. Raises Overloaded."""
        if authorization is None:
            return self.anonymous
        if len(authorization) > AUTHORIZATION_BYTES_MAX:
            return self._refused if self._is_refused(authorization) else self.anonymous
        cached = self.known(authorization, self._clock() + CALLER_SECONDS - seconds_old_max)
        if cached is not None:
            return cached
        lookup = self._lookups.get(authorization)
        if lookup is None or not self._may_join(lookup):
            lookup = self._look_up(authorization)
        # A client that disconnects must not cancel it for the others.
        await asyncio.shield(lookup.looked_up)
        return lookup.result()

    def _is_refused(self, authorization: bytes) -> bool:
        """Whether who sends this is refused, unless it is a valid token."""
        return _is_bearer(authorization) and not self._reads_as_nobody(authorization)

    def _may_join(self, lookup: _CallerLookup) -> bool:
        """Whether no account was changed on this machine since a lookup began, as far as can be told."""
        return lookup.changes_seen == self._newest_account_change()

    def _look_up(self, authorization: bytes) -> _CallerLookup:
        # A token that another process revoked is noticed at the latest then, so the time counts from
        # before the lookup; so do the changes.
        expires_at = self._clock() + CALLER_SECONDS
        changes_seen = self._newest_account_change()
        expired = self._entries.get(authorization)
        # A scorekeeper who has just come must not wait behind visitors.
        importance = Importance.WRITER if expired is None else expired.lookup_importance
        looked_up = self._workers.submit(importance, self._find_caller, authorization)
        is_refused = self._is_refused(authorization)
        lookup = _CallerLookup(looked_up, expires_at, changes_seen, is_refused=is_refused)
        self._lookups[authorization] = lookup
        looked_up.add_done_callback(lambda _: self._end_lookup(authorization, lookup))
        return lookup

    def _end_lookup(self, authorization: bytes, lookup: _CallerLookup) -> None:
        """Cache the caller."""
        if self._lookups.get(authorization) is lookup:
            del self._lookups[authorization]
        # Retrieved, or Python would report the error as lost when all clients have gone meanwhile.
        if lookup.looked_up.cancelled() or lookup.looked_up.exception() is not None:
            return
        self._entries.pop(authorization, None)
        while len(self._entries) >= CALLERS_MAX:
            del self._entries[next(iter(self._entries))]
        self._entries[authorization] = lookup.result()
