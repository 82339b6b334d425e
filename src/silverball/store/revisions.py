"""Revisions: what was raised in a transaction, and what this process knows of all of them.

A change that several tournaments show (a player's name, a location) raises each of them, in the
order of their ids, so that two such changes never wait for each other. A transaction that holds one
tournament's lock raises that tournament only; changes of shared things take no tournament's lock
before, and lock the row of the thing itself in no way that a reference to it would have to wait for.
"""

import logging
import threading
from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection, Select, bindparam, select, update
from sqlalchemy.exc import SQLAlchemyError

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
TOURNAMENTS_KNOWN_MAX = 20_000
# SQLite takes 32,766 parameters in one statement.
IDS_PER_STATEMENT = 5_000
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
    ordered = sorted(set(tournament_ids))
    column = tournament.c.tournament_id
    for start in range(0, len(ordered), IDS_PER_STATEMENT):
        some = ordered[start : start + IDS_PER_STATEMENT]
        db.execute(select(column).where(column.in_(some)).order_by(column).with_for_update()).all()
        rows = update(tournament).where(column.in_(some)).values(revision=tournament.c.revision + 1)
        for row in db.execute(rows.returning(column, tournament.c.revision)):
            raised[row.tournament_id] = row.revision
    # Only `Store.write` tells the front door, and only once it is committed.
    transaction.raised_revisions.update(raised)
    return raised


def raise_locked(transaction: Transaction, tournament_id: int, now: datetime) -> int:
    """Raise the revision of the tournament whose lock this transaction holds; returns the new one."""
    row = {"own_id": tournament_id, "moment": now}
    revision = int(transaction.connection.execute(RAISE_LOCKED, row).scalar_one())
    transaction.raised_revisions[tournament_id] = revision
    return revision


def current_revision(db: Connection, tournament_id: int) -> int | None:
    """The revision of a tournament as this connection sees it; None when there is none."""
    column = tournament.c.revision
    return db.execute(select(column).where(tournament.c.tournament_id == tournament_id)).scalar_one_or_none()


def raise_for_users(transaction: Transaction, user_ids: Collection[int]) -> dict[int, int]:
    """Raise every tournament that they organize, keep scores in, or play in as a claimed player."""
    claimed = select(player.c.player_id).where(player.c.claimed_by.in_(user_ids))
    return _raise_selected(
        transaction,
        select(tournament.c.tournament_id).where(tournament.c.organizer_id.in_(user_ids)),
        select(scorekeeper.c.tournament_id).where(scorekeeper.c.user_id.in_(user_ids)),
        select(entrant.c.tournament_id).where(entrant.c.player_id.in_(claimed)),
    )


def raise_for_players(transaction: Transaction, player_ids: Collection[int]) -> dict[int, int]:
    """Raise every tournament that they are entrants of."""
    return _raise_selected(
        transaction, select(entrant.c.tournament_id).where(entrant.c.player_id.in_(player_ids))
    )


def raise_for_arenas(transaction: Transaction, arena_ids: Collection[int]) -> dict[int, int]:
    """Raise every tournament that has them in its lineup or a bank, or had a game on them."""
    banks = select(bank_arena.c.bank_id).where(bank_arena.c.arena_id.in_(arena_ids))
    used = (lineup_arena, game, round_, single_player_game)
    return _raise_selected(
        transaction,
        select(lineup_bank.c.tournament_id).where(lineup_bank.c.bank_id.in_(banks)),
        *(select(one.c.tournament_id).where(one.c.arena_id.in_(arena_ids)) for one in used),
    )


def raise_for_banks(transaction: Transaction, bank_ids: Collection[int]) -> dict[int, int]:
    """Raise every tournament that has them in its lineup."""
    return _raise_selected(
        transaction, select(lineup_bank.c.tournament_id).where(lineup_bank.c.bank_id.in_(bank_ids))
    )


def raise_for_locations(transaction: Transaction, location_ids: Collection[int]) -> dict[int, int]:
    """Raise every tournament that takes place there, or belongs to an occasion that does."""
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
    found = first.union(*more).subquery()
    return raise_tournaments(
        transaction, transaction.connection.execute(select(found.c.tournament_id)).scalars().all()
    )


class Revisions:
    """The revisions that this process knows, at most a second behind other processes.

    Scope 0 is the world: everything that is not below one tournament. Commits of this process are
    known before their caller is answered.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._tournaments: dict[int, int] = {}
        self._world: dict[int, int] = {}
        self._world_total = 0
        # Whether a commit of another process was noticed whose tournaments were not looked at yet.
        self._is_behind = False
        self._polls = 0
        self._stop = threading.Event()
        self._watcher: threading.Thread | None = None
        store.after_commit.append(self._note_commit)

    def known_revision(self, scope_id: int) -> int:
        """The revision of a tournament, or of the world (0), as far as known; 0 when it is not."""
        return self._tournaments.get(scope_id, 0) if scope_id else self._world_total

    def refresh(self, scope_id: int) -> int:
        """The revision as the database has it now; 0 when there is no such tournament."""
        if scope_id == WORLD:
            self.poll()
            return self._world_total
        looks = self._polls
        found = self._store.tournament_revisions([scope_id])
        with self._lock:
            self._remember(found)
            # A look that began meanwhile did not ask for this tournament, and may have been needed to.
            self._is_behind |= self._polls != looks
            return self._tournaments.get(scope_id, 0) if found else 0

    def poll(self) -> None:
        """Notice what other processes committed."""
        world = self._store.world_slots()
        with self._lock:
            if world == self._world and not self._is_behind:
                return
            known = list(self._tournaments)
            self._is_behind = False
            self._polls += 1
        found: dict[int, int] = {}
        for start in range(0, len(known), IDS_PER_STATEMENT):
            found.update(self._store.tournament_revisions(known[start : start + IDS_PER_STATEMENT]))
        with self._lock:
            self._remember(found)
            for tournament_id in set(known) - set(found):
                self._tournaments.pop(tournament_id, None)
            self._remember_world(world)

    def start(self) -> None:
        """Look again and again in a thread of its own, until `close`."""
        self.poll()
        self._watcher = threading.Thread(target=self._watch, name="silverball-revisions", daemon=True)
        self._watcher.start()

    def close(self) -> None:
        self._stop.set()
        if self._watcher is not None:
            self._watcher.join()
        self._store.after_commit.remove(self._note_commit)

    def _note_commit(self, commit: Commit) -> None:
        with self._lock:
            self._remember(commit.tournament_revisions)
            # A gap is a commit of another process, whose tournaments are not known here.
            if commit.world_revision != self._world.get(commit.world_slot, 0) + 1:
                self._is_behind = True
            self._remember_world({commit.world_slot: commit.world_revision})

    def _remember(self, revisions: dict[int, int]) -> None:
        for tournament_id, revision in revisions.items():
            # Two threads may learn in the other order; a revision never goes back.
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
                    if self._is_behind or has_changed():
                        self.poll()
                except SQLAlchemyError as error:
                    LOG.warning("the database could not be asked for changes", exc_info=error)
                    # Whatever happens meanwhile is found by the next look, which compares everything.
                    self._is_behind = True
                    self._stop.wait(RETRY_SECONDS)
