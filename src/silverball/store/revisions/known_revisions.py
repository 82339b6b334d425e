"""The revisions that this process knows, as the versions by which kept answers are compared."""

import hashlib
import logging
import os
import threading
from collections.abc import Callable, Mapping
from math import inf
from pathlib import Path
from time import monotonic

import msgspec
from sqlalchemy.exc import SQLAlchemyError

from silverball.kit import files
from silverball.kit.values import decode
from silverball.store.database.conditions import ascending_batches
from silverball.store.database.engine import Commit, Store
from silverball.store.revisions import stamps
from silverball.store.revisions.stamps import NEVER, Revision, WorldState

# The file beside an SQLite database that says how far the database has come.
#
# An SQLite file can be replaced by an older copy while no server runs. The next start finds that the
# database has less than the file says, and draws a new generation.


LOG = logging.getLogger("silverball.store")


class HighWaterFile:
    """The newest state of the world that this server has seen; without a path nothing is kept."""

    ENDING = ".newest"

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._saved: WorldState | None = None

    def load(self) -> WorldState | None:
        """The state at the last save; None when there is none, or none that can be read."""
        if self._path is None:
            return None
        try:
            return decode(self._path.read_bytes(), WorldState)
        except (OSError, msgspec.MsgspecError):
            return None

    def save(self, world: WorldState) -> None:
        """Save this state, unless it is saved already. What cannot be saved is logged once."""
        if self._path is None or world == self._saved:
            return
        # The old file stays whole until the new one is.
        unfinished = self._path.with_name(f"{self._path.name}-new")
        try:
            files.create_or_tighten(unfinished)
            unfinished.write_bytes(msgspec.json.encode(world))
            os.replace(unfinished, self._path)
        except OSError as error:
            if self._saved is not None:
                LOG.warning("cannot note how far the database has come: %s", error)
        self._saved = world


POLL_SECONDS = 0.25
RETRY_SECONDS = 1.0
# What is known counts for this long after it was looked up. Whoever hides something gets the answer after
# as long, so that no node shows what it remembers from before.
LEASE_SECONDS = 2.0
SILENT_SECONDS = 2.0
MARK_SECONDS = 1.0
TOURNAMENTS_KNOWN_MAX = 20_000
# The scope of everything that is not below one tournament.
WORLD = 0
NOTHING_KNOWN = WorldState("", {})


def hiding_seconds(store: Store) -> float:
    """The time after which no process answers from before a hiding; an SQLite file has one that answers."""
    return 0.0 if store.is_sqlite else LEASE_SECONDS


class KnownRevisions:
    """The revisions that this process knows, less than a second behind other processes.

    When the database could not be asked for two seconds, nothing is known until it can be.
    Scope 0 is the world: everything that is not below one tournament. Commits of this process are
    known before their caller gets an answer.

    A version is one number for a revision, its stamp, the generation of the database and the number of
    hidings. When somebody hides something, everything is forgotten; also when the database turns out to have
    gone back, for which a new generation is drawn.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = monotonic) -> None:
        self._store = store
        self._clock = clock
        # Without a watcher nothing expires.
        self._known_until = inf
        self._lock = threading.Lock()
        # Scope -> version.
        self._versions: dict[int, int] = {}
        self._world = NOTHING_KNOWN
        # Is part of each version.
        self._salt = 0
        # Whether another process committed, and its tournaments have not been looked up yet.
        self._is_behind = False
        # Whether the database could not be asked the last time.
        self._has_failed = False
        # When the look began that has no answer yet.
        self._looking_since = inf
        self._polls = 0
        self._stop = threading.Event()
        self._watcher: threading.Thread | None = None
        self._high_water = HighWaterFile(store.file_beside(HighWaterFile.ENDING))
        self._marked_at = 0.0
        store.after_commit.append(self._note_commit)

    def known_version(self, scope_id: int) -> int:
        """The known version of a tournament, or of the world (0); 0 when it is unknown."""
        if self._clock() > self._known_until:
            return 0
        return self._versions.get(scope_id, 0)

    def outage_seconds(self) -> float:
        """The time since the database was last asked, while it cannot be asked; 0 while it can be."""
        now = self._clock()
        # A process that was stopped for a while knows as little, but it can ask.
        if now <= self._known_until or not (self._has_failed or now - self._looking_since > SILENT_SECONDS):
            return 0.0
        return now - self._known_until + LEASE_SECONDS

    def hidden_at(self) -> int:
        """A number that changes with each hiding, and when the database turns out to have gone back."""
        return self._salt

    def last_version(self, scope_id: int) -> int:
        """The version of a scope when the database was last asked; 0 when it is unknown."""
        return self._versions.get(scope_id, 0)

    def has_reached(self, scope_id: int, revision: Revision) -> bool:
        """Whether this revision of a tournament, or of the world (0), is known here, or a newer one.

        The number of the world is that of one slot, whichever; with the stamp it names one transaction.
        """
        if scope_id == WORLD:
            return Revision(revision.number, stamps.world_stamp(revision.stamp)) in self._world.slots.values()
        with self._lock:
            known = _revision_in(self._versions.get(scope_id, 0), self._salt)
        return known.number > revision.number or known == revision

    def refresh(self, scope_id: int) -> int:
        """The version as the database has it now; 0 when there is no such tournament."""
        if scope_id == WORLD:
            self.poll()
            return self._versions.get(WORLD, 0)
        with self._lock:
            polls, salt, known = self._polls, self._salt, self._versions.get(scope_id, 0)
        revisions = self._store.tournament_revisions([scope_id])
        if self._has_gone_back({scope_id: known}, revisions, salt):
            self._begin_generation()
        with self._lock:
            self._remember(revisions)
            # A poll that began meanwhile did not ask for this tournament, and may have needed to.
            self._is_behind |= self._polls != polls
            return self._versions.get(scope_id, 0) if revisions else 0

    def poll(self) -> None:
        """Look up the revisions that other processes have raised."""
        with self._lock:
            known_world = self._world
        world = self._store.world_state()
        if world.generation != known_world.generation:
            self._adopt(world, known_world)
            return
        if world.precedes(known_world):
            self._begin_generation()
            return
        if world.hidings != known_world.hidings:
            self._adopt(world, known_world)
            return
        with self._lock:
            if world == self._world and not self._is_behind:
                return
            salt = self._salt
            known = {scope_id: version for scope_id, version in self._versions.items() if scope_id != WORLD}
            self._is_behind = False
            self._polls += 1
        revisions: dict[int, Revision] = {}
        for batch in ascending_batches(known):
            revisions.update(self._store.tournament_revisions(batch))
        if self._has_gone_back(known, revisions, salt):
            self._begin_generation()
            return
        with self._lock:
            self._remember(revisions)
            for tournament_id in known.keys() - revisions.keys():
                self._versions.pop(tournament_id, None)
            self._remember_world(world.slots)

    def start(self) -> None:
        """Poll in a thread of its own, until `close`."""
        mark = self._high_water.load()
        if mark is not None:
            world = self._store.world_state()
            is_another = self._store.health.is_another_file
            if is_another or world.generation != mark.generation or world.precedes(mark):
                self._store.begin_generation(world.generation)
        self.look(lambda: True)
        self._watcher = threading.Thread(target=self._watch, name="silverball-revisions", daemon=True)
        self._watcher.start()

    def look(self, has_changed: Callable[[], bool]) -> None:
        """Poll if anything has changed; what is known then counts from now on."""
        looked_at = self._looking_since = self._clock()
        if self._is_behind or has_changed():
            self.poll()
        self._known_until = looked_at + LEASE_SECONDS
        self._looking_since = inf
        self._has_failed = False

    def close(self) -> None:
        """Stop the thread."""
        self._stop.set()
        if self._watcher is not None:
            self._watcher.join()
            self._high_water.save(self._world)
        self._store.after_commit.remove(self._note_commit)

    # A database that went back

    @staticmethod
    def _has_gone_back(known: Mapping[int, int], revisions: Mapping[int, Revision], salt: int) -> bool:
        """Whether a database with these revisions has gone back since the known versions were read."""
        return any(
            revision.precedes(_revision_in(known[scope_id], salt))
            for scope_id, revision in revisions.items()
            if known.get(scope_id)
        )

    def _begin_generation(self) -> None:
        with self._lock:
            known_world = self._world
        self._store.begin_generation(known_world.generation)
        self._adopt(self._store.world_state(), known_world)

    def _adopt(self, world: WorldState, known_world: WorldState) -> None:
        """Forget everything from before another generation or hiding, and begin with this state."""
        with self._lock:
            if _salt_of(self._world) != _salt_of(known_world):
                # Another thread has adopted a state meanwhile, which may be newer.
                return
            self._begin_with(world)
            self._is_behind = False
        self._store.forget()

    def _begin_with(self, world: WorldState) -> None:
        self._versions.clear()
        self._polls += 1
        self._salt = _salt_of(world)
        self._world = WorldState(world.generation, {}, world.hidings)
        self._remember_world(world.slots)

    # What is known

    def _version(self, number: int, stamp: int) -> int:
        return stamps.version(number, stamp ^ self._salt)

    def _note_commit(self, commit: Commit) -> None:
        if commit.hidings:
            with self._lock:
                # Two threads may arrive in either order.
                if commit.hidings > self._world.hidings:
                    self._begin_with(self._world._replace(hidings=commit.hidings))
            self._store.forget()
        with self._lock:
            for tournament_id, number in commit.tournament_revisions.items():
                known = self._versions.get(tournament_id, 0)
                version = self._version(number, commit.stamp)
                if stamps.number_in(known) >= number and known != version:
                    # Two threads may arrive in either order, or the database went back: it has to be asked.
                    del self._versions[tournament_id]
                    self._is_behind = True
                else:
                    self._versions[tournament_id] = version
            self._forget_oldest()
            known_number = self._world.slots.get(commit.world_slot, NEVER).number
            # A gap means that another process committed, whose tournaments are unknown here.
            if commit.world_revision != known_number + 1:
                self._is_behind = True
            stamp = stamps.world_stamp(commit.stamp)
            self._remember_world({commit.world_slot: Revision(commit.world_revision, stamp)})

    def _remember(self, revisions: Mapping[int, Revision]) -> None:
        for tournament_id, revision in revisions.items():
            # Two threads may arrive in either order; within a generation a revision never goes back.
            if revision.number > stamps.number_in(self._versions.get(tournament_id, 0)):
                self._versions[tournament_id] = self._version(*revision)
        self._forget_oldest()

    def _forget_oldest(self) -> None:
        while len(self._versions) > TOURNAMENTS_KNOWN_MAX:
            del self._versions[next(scope_id for scope_id in self._versions if scope_id != WORLD)]

    def _remember_world(self, slots: Mapping[int, Revision]) -> None:
        newest = dict(self._world.slots)
        for slot, revision in slots.items():
            if revision.number > newest.get(slot, NEVER).number:
                newest[slot] = revision
        self._world = self._world._replace(slots=newest)
        self._versions[WORLD] = self._version(*self._world.total)

    def _watch(self) -> None:
        with self._store.change_probe() as has_changed:
            while not self._stop.wait(POLL_SECONDS):
                try:
                    self.look(has_changed)
                    self._mark()
                except SQLAlchemyError as error:
                    LOG.warning("cannot ask the database for changes", exc_info=error)
                    # The next poll compares everything, so it finds the changes made meanwhile.
                    self._is_behind = True
                    self._has_failed = True
                    self._stop.wait(RETRY_SECONDS)

    def _mark(self) -> None:
        if self._clock() - self._marked_at >= MARK_SECONDS:
            self._marked_at = self._clock()
            self._high_water.save(self._world)


def stored_version(store: Store, scope_id: int) -> int:
    """The version of a scope as the database has it now, the same number in all processes; 0 for none."""
    world = store.world_state()
    found = {WORLD: world.total} if scope_id == WORLD else store.tournament_revisions([scope_id])
    if scope_id not in found:
        return 0
    return stamps.version(found[scope_id].number, found[scope_id].stamp ^ _salt_of(world))


def _revision_in(version: int, salt: int) -> Revision:
    revision = stamps.revision_in(version)
    return Revision(revision.number, revision.stamp ^ salt)


def _salt_of(world: WorldState) -> int:
    """A number of as many bits as a stamp that stands for this generation and number of hidings."""
    digest = hashlib.blake2b(f"{world.generation} {world.hidings}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) >> 1
