"""The revisions that a worker knows, beside other workers of the same machine.

A revision counts as long as nobody has marked a commit of its bucket since before it was read. So no worker
shows what it remembers from before another's commit, from the moment at which that commit can be seen.
"""

from collections.abc import Callable, Mapping
from time import monotonic

from silverball.kit.shared_cells import ACCOUNTS_BUCKET, WORLD_BUCKET, SharedCells, bucket_of
from silverball.store import stamps
from silverball.store.engine import Store
from silverball.store.known_revisions import TOURNAMENTS_KNOWN_MAX, WORLD, KnownRevisions
from silverball.store.stamps import NEVER, Revision, WorldState


def known_revisions(store: Store) -> KnownRevisions:
    """The revisions that this process knows, whether it is one of several workers or not."""
    return KnownRevisions(store) if store.cells is None else WorkerRevisions(store, store.cells)


class WorkerRevisions(KnownRevisions):
    """The revisions that one of several workers knows."""

    def __init__(self, store: Store, cells: SharedCells, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(store, clock)
        self._cells = cells
        # Scope -> its version, its bucket, and the cells of that from before the version was read.
        self._confirmed: dict[int, tuple[int, int, bytes]] = {}
        # The cells of accounts when no commit was under way last; each request asks for them.
        self._quiet_moment = b""
        self.account_moment = self._account_moment

    def known_version(self, scope_id: int) -> int:
        """The version of a tournament, or of the world (0); 0 when it may have changed."""
        confirmed = self._confirmed.get(scope_id)
        if confirmed is None:
            return 0
        version, bucket, moment = confirmed
        has_changed = moment != self._cells.moment(bucket)
        return 0 if has_changed or self._clock() > self._known_until else version

    def refresh(self, scope_id: int) -> int:
        """The version as the database has it now; 0 when there is no such tournament."""
        bucket = bucket_of(scope_id)
        moment = self._cells.moment(bucket)
        version = self._refresh_world() if scope_id == WORLD else super().refresh(scope_id)
        with self._lock:
            self._confirmed.pop(scope_id, None)
            if version and self._cells.is_quiet(moment):
                self._confirmed[scope_id] = version, bucket, moment
                if len(self._confirmed) > TOURNAMENTS_KNOWN_MAX:
                    del self._confirmed[next(iter(self._confirmed))]
        return version

    def _account_moment(self) -> bytes | None:
        """The moment that what is read of an account from now on holds from; None while one changes."""
        moment = self._cells.moment(ACCOUNTS_BUCKET)
        if moment != self._quiet_moment:
            if not self._cells.is_quiet(moment):
                return None
            self._quiet_moment = moment
        return moment

    def _refresh_world(self) -> int:
        """The version of the world; which tournaments have changed is left to the next poll."""
        with self._lock:
            known_world = self._world
        world = self._store.world_state()
        if world.generation != known_world.generation or world.precedes(known_world):
            return super().refresh(WORLD)
        with self._lock:
            self._is_behind |= world != self._world
            self._remember_world(world.slots)
            return self._versions.get(WORLD, 0)

    def _begin_with(self, world: WorldState) -> None:
        super()._begin_with(world)
        self._confirmed.clear()
        self._cells.touch_all()

    # Commits that nobody on this machine has marked

    def _remember(self, revisions: Mapping[int, Revision]) -> None:
        """Remember them; whoever finds one that is new to all workers tells them before anybody sees it."""
        unmarked = {
            bucket_of(tournament_id)
            for tournament_id, revision in revisions.items()
            if revision.number > stamps.number_in(self._versions.get(tournament_id, 0))
            and self._is_unmarked(tournament_id)
        }
        if unmarked:
            self._cells.touch({*unmarked, WORLD_BUCKET})
        super()._remember(revisions)

    def _remember_world(self, slots: Mapping[int, Revision]) -> None:
        is_newer = any(
            revision.number > self._world.slots.get(slot, NEVER).number for slot, revision in slots.items()
        )
        if is_newer and self._is_unmarked(WORLD):
            self._cells.touch([WORLD_BUCKET])
        super()._remember_world(slots)

    def _is_unmarked(self, scope_id: int) -> bool:
        confirmed = self._confirmed.get(scope_id)
        return confirmed is not None and confirmed[2] == self._cells.moment(confirmed[1])
