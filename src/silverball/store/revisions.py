"""Revisions: how a transaction raises them, and the ones that this process knows.

A change that several tournaments show (a player's name, a location) raises each of them, in the
order of their ids, so that two such changes cannot deadlock. A transaction that holds one tournament's
lock raises that tournament only. A change of something shared takes no tournament's lock before, and
locks the shared row in no way that a new reference to it would have to wait for.
"""

import logging
import threading
from collections.abc import Callable, Collection
from datetime import datetime
from math import inf
from time import monotonic

from sqlalchemy import Connection, Select, bindparam, select, update
from sqlalchemy.exc import SQLAlchemyError

from silverball.store.batches import ascending_batches
from silverball.store.engine import Commit, Store
from silverball.store.tables import (
    bank_arena,
    entrant,
    game,
    lineup_arena,
    lineup_bank,
    occasion,
    occasion_tournament,
    player,
    round_,
    scorekeeper,
    single_player_game,
    tournament,
)
from silverball.store.transaction import Transaction

LOG = logging.getLogger("silverball.store")
POLL_SECONDS = 0.25
RETRY_SECONDS = 1.0
# What is known counts for this long after it was looked up. Whoever hides something gets the answer after
# as long, so that no node shows what it remembers from before.
LEASE_SECONDS = 2.0
TOURNAMENTS_KNOWN_MAX = 20_000
# The scope of everything that is not below one tournament.
WORLD = 0
RAISE_LOCKED = (
    update(tournament)
    .where(tournament.c.tournament_id == bindparam("own_id"))
    .values(revision=tournament.c.revision + 1, updated_at=bindparam("moment"))
    .returning(tournament.c.revision)
)


def raise_tournaments(transaction: Transaction, tournament_ids: Collection[int]) -> dict[int, int]:
    """Raise the revisions of these tournaments by one and return the new ones."""
    db = transaction.connection
    raised: dict[int, int] = {}
    column = tournament.c.tournament_id
    for batch in ascending_batches(tournament_ids):
        db.execute(select(column).where(column.in_(batch)).order_by(column).with_for_update()).all()
        rows = update(tournament).where(column.in_(batch)).values(revision=tournament.c.revision + 1)
        for row in db.execute(rows.returning(column, tournament.c.revision)):
            raised[row.tournament_id] = row.revision
    # Only `Store.write` publishes them, and only after the commit.
    transaction.raised_revisions.update(raised)
    return raised


def raise_locked(transaction: Transaction, tournament_id: int, now: datetime) -> int:
    """Raise the revision of the tournament whose lock this transaction holds, and return the new one."""
    row = {"own_id": tournament_id, "moment": now}
    revision = int(transaction.connection.execute(RAISE_LOCKED, row).scalar_one())
    transaction.raised_revisions[tournament_id] = revision
    return revision


def current_revision(db: Connection, tournament_id: int) -> int | None:
    """The revision of a tournament as this connection sees it; None when there is none."""
    column = tournament.c.revision
    return db.execute(select(column).where(tournament.c.tournament_id == tournament_id)).scalar_one_or_none()


def raise_for_users(transaction: Transaction, user_ids: Collection[int]) -> dict[int, int]:
    """Raise every tournament that these users organize, keep scores in, or play in as a claimed player."""
    claimed = select(player.c.player_id).where(player.c.claimed_by.in_(user_ids))
    return _raise_selected(
        transaction,
        select(tournament.c.tournament_id).where(tournament.c.organizer_id.in_(user_ids)),
        select(scorekeeper.c.tournament_id).where(scorekeeper.c.user_id.in_(user_ids)),
        select(entrant.c.tournament_id).where(entrant.c.player_id.in_(claimed)),
    )


def raise_for_players(transaction: Transaction, player_ids: Collection[int]) -> dict[int, int]:
    """Raise every tournament that these players are entrants in."""
    return _raise_selected(
        transaction, select(entrant.c.tournament_id).where(entrant.c.player_id.in_(player_ids))
    )


def raise_for_arenas(transaction: Transaction, arena_ids: Collection[int]) -> dict[int, int]:
    """Raise every tournament with one of these arenas in its lineup, in a bank or in a game."""
    banks = select(bank_arena.c.bank_id).where(bank_arena.c.arena_id.in_(arena_ids))
    tables_with_arenas = (lineup_arena, game, round_, single_player_game)
    return _raise_selected(
        transaction,
        select(lineup_bank.c.tournament_id).where(lineup_bank.c.bank_id.in_(banks)),
        *(
            select(table.c.tournament_id).where(table.c.arena_id.in_(arena_ids))
            for table in tables_with_arenas
        ),
    )


def raise_for_banks(transaction: Transaction, bank_ids: Collection[int]) -> dict[int, int]:
    """Raise every tournament with one of these banks in its lineup."""
    return _raise_selected(
        transaction, select(lineup_bank.c.tournament_id).where(lineup_bank.c.bank_id.in_(bank_ids))
    )


def raise_for_locations(transaction: Transaction, location_ids: Collection[int]) -> dict[int, int]:
    """Raise every tournament at these locations, or of an occasion at one of them."""
    occasions = select(occasion.c.occasion_id).where(occasion.c.location_id.in_(location_ids))
    return _raise_selected(
        transaction,
        select(tournament.c.tournament_id).where(tournament.c.location_id.in_(location_ids)),
        _select_in_occasions(occasions),
    )


def raise_for_occasions(transaction: Transaction, occasion_ids: Collection[int]) -> dict[int, int]:
    """Raise every tournament of these occasions."""
    return _raise_selected(transaction, _select_in_occasions(occasion_ids))


def _select_in_occasions(occasion_ids: Collection[int] | Select[tuple[int]]) -> Select[tuple[int]]:
    entry = occasion_tournament.c
    return select(entry.tournament_id).where(
        entry.occasion_id.in_(occasion_ids), entry.tournament_id.is_not(None)
    )


def raise_for_series(transaction: Transaction, series_ids: Collection[int]) -> dict[int, int]:
    """Raise every tournament of these series."""
    return _raise_selected(
        transaction, select(tournament.c.tournament_id).where(tournament.c.series_id.in_(series_ids))
    )


def _raise_selected(
    transaction: Transaction, first: Select[tuple[int]], *more: Select[tuple[int]]
) -> dict[int, int]:
    selected = first.union(*more).subquery()
    tournament_ids = transaction.connection.execute(select(selected.c.tournament_id)).scalars().all()
    return raise_tournaments(transaction, tournament_ids)


def hiding_seconds(store: Store) -> float:
    """The time after which no process answers from before a hiding; an SQLite file has one that answers."""
    return 0.0 if store.is_sqlite else LEASE_SECONDS


class Revisions:
    """The revisions that this process knows, less than a second behind other processes.

    When the database could not be asked for two seconds, nothing is known until it can be.
    Scope 0 is the world: everything that is not below one tournament. Commits of this process are
    known before their caller gets an answer.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = monotonic) -> None:
        self._store = store
        self._clock = clock
        # Without a watcher nothing expires.
        self._known_until = inf
        self._lock = threading.Lock()
        self._tournaments: dict[int, int] = {}
        self._world: dict[int, int] = {}
        self._world_total = 0
        # Whether another process committed, and its tournaments have not been looked up yet.
        self._is_behind = False
        self._polls = 0
        self._stop = threading.Event()
        self._watcher: threading.Thread | None = None
        store.after_commit.append(self._note_commit)

    def known_revision(self, scope_id: int) -> int:
        """The known revision of a tournament, or of the world (0); 0 when it is unknown."""
        if self._clock() > self._known_until:
            return 0
        return self._tournaments.get(scope_id, 0) if scope_id else self._world_total

    def refresh(self, scope_id: int) -> int:
        """The revision as the database has it now; 0 when there is no such tournament."""
        if scope_id == WORLD:
            self.poll()
            return self._world_total
        polls = self._polls
        revisions = self._store.tournament_revisions([scope_id])
        with self._lock:
            self._remember(revisions)
            # A poll that began meanwhile did not ask for this tournament, and may have needed to.
            self._is_behind |= self._polls != polls
            return self._tournaments.get(scope_id, 0) if revisions else 0

    def poll(self) -> None:
        """Look up the revisions that other processes have raised."""
        world = self._store.world_slots()
        with self._lock:
            if world == self._world and not self._is_behind:
                return
            known_ids = list(self._tournaments)
            self._is_behind = False
            self._polls += 1
        revisions: dict[int, int] = {}
        for batch in ascending_batches(known_ids):
            revisions.update(self._store.tournament_revisions(batch))
        with self._lock:
            self._remember(revisions)
            for tournament_id in set(known_ids) - set(revisions):
                self._tournaments.pop(tournament_id, None)
            self._remember_world(world)

    def start(self) -> None:
        """Poll in a thread of its own, until `close`."""
        self.look(lambda: True)
        self._watcher = threading.Thread(target=self._watch, name="silverball-revisions", daemon=True)
        self._watcher.start()

    def look(self, has_changed: Callable[[], bool]) -> None:
        """Poll if anything has changed; what is known then counts from now on."""
        looked_at = self._clock()
        if self._is_behind or has_changed():
            self.poll()
        self._known_until = looked_at + LEASE_SECONDS

    def close(self) -> None:
        """Stop the thread."""
        self._stop.set()
        if self._watcher is not None:
            self._watcher.join()
        self._store.after_commit.remove(self._note_commit)

    def _note_commit(self, commit: Commit) -> None:
        with self._lock:
            self._remember(commit.tournament_revisions)
            # A gap means that another process committed, whose tournaments are unknown here.
            if commit.world_revision != self._world.get(commit.world_slot, 0) + 1:
                self._is_behind = True
            self._remember_world({commit.world_slot: commit.world_revision})

    def _remember(self, revisions: dict[int, int]) -> None:
        for tournament_id, revision in revisions.items():
            # Two threads may arrive in either order; a revision never goes back.
            if revision > self._tournaments.get(tournament_id, 0):
                self._tournaments[tournament_id] = revision
        while len(self._tournaments) > TOURNAMENTS_KNOWN_MAX:
            del self._tournaments[next(iter(self._tournaments))]

    def _remember_world(self, world: dict[int, int]) -> None:
        for slot, revision in world.items():
            self._world[slot] = max(revision, self._world.get(slot, 0))
        self._world_total = sum(self._world.values())

    def _watch(self) -> None:
        with self._store.change_probe() as has_changed:
            while not self._stop.wait(POLL_SECONDS):
                try:
                    self.look(has_changed)
                except SQLAlchemyError as error:
                    LOG.warning("cannot ask the database for changes", exc_info=error)
                    # The next poll compares everything, so it finds the changes made meanwhile.
                    self._is_behind = True
                    self._stop.wait(RETRY_SECONDS)
