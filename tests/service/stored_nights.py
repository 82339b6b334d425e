"""Nights that are enacted on a database: after each action the rows must equal the snapshot in memory."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import msgspec
import pytest
from sqlalchemy import event, insert, select

import build
from rules.night import NOON, Night
from silverball.kit.errors import Conflict
from silverball.kit.values import replace
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import ArenaAdded, Change, EntrantAdded
from silverball.rules.model.fields import blank_details
from silverball.rules.model.tournament import Tournament
from silverball.service.core import enact
from silverball.service.standings.reads import standings
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.tournament import chain, journal, snapshot, undoing

ORGANIZER_ID = 1
# What reopening notes of the first completion stays, whatever is undone.
FIRST_COMPLETION = ("reopening", "rated_until")
# The scorekeeper in whose name the state machines record results.
SCOREKEEPER_ID = 7
DETAILS: dict[str, Any] = {
    "name": "Thursday Night",
    "start_utc": NOON.isoformat(),
    "start_local": "2026-03-05 13:00:00",
    "timezone": "Europe/Stockholm",
    "organizer_id": ORGANIZER_ID,
    "test": False,
    "primary_config_settings": [],
    "managers": [],
    snapshot.LINKS: [],
    snapshot.SHORTCUT: None,
    snapshot.EVENT: None,
}


@dataclass
class StoredNight(Night):
    """A night whose actions go through `enact`; its journal is read back from the database."""

    store: Any = None
    action_ids: list[int] = field(default_factory=list)
    # The tournament and its stored standings before each action that was not undone.
    states_before: list[tuple[Tournament, dict[int, str]]] = field(default_factory=list)
    # Fields in which an undo passes over what was done since.
    passed_over: tuple[str, ...] = ()

    @property
    def context(self) -> enact.ActionContext:
        return enact.ActionContext(actor_id=ORGANIZER_ID, source="test", now=self.now)

    def apply(self, changes: Sequence[Change]) -> list[Change]:
        _add_players(self.store, changes)
        tournament_id = self.tournament.tournament_id
        before = self.tournament, stored_standings(self.store, tournament_id)
        with self.store.write(tournament_id) as transaction:
            after = enact.enact(transaction, tournament_id, changes, self.context)
        if not changes:
            assert after == self.tournament
            return []
        newest = all_actions(self.store, tournament_id)[-1]
        stored_changes = newest.decode_changes(self.tournament.type)
        self.tournament = apply_changes(self.tournament, stored_changes)
        assert_same_as_stored(self.store, self.tournament)
        assert self.tournament == after
        self.journal.append(stored_changes)
        self.action_ids.append(newest.action_id)
        self.states_before.append(before)
        return stored_changes

    def undo(self) -> list[Change]:
        """Undo what is offered, which leads back to before it, but for the seed of the draws."""
        tournament_id = self.tournament.tournament_id
        if self.tournament.status == "completed":
            with pytest.raises(Conflict, match="Reopen"), self.store.write(tournament_id) as transaction:
                enact.undo_action(transaction, tournament_id, self.action_ids[-1], self.context)
            return []
        with self.store.read() as db:
            offered = undoing.load_history(db, tournament_id).offered
        # All that was done is taken back, also what was put back by hand.
        undone_id = offered[0].action_id if offered else 0
        if undone_id not in self.action_ids:
            return []
        lines = len(all_actions(self.store, tournament_id))
        with self.store.write(tournament_id) as transaction:
            enact.undo_action(transaction, tournament_id, undone_id, self.context)
        undoing_lines = all_actions(self.store, tournament_id)[lines:]
        changes = [change for line in undoing_lines for change in line.decode_changes(self.tournament.type)]
        self.tournament = apply_changes(self.tournament, changes)
        assert_same_as_stored(self.store, self.tournament)
        at = self.action_ids.index(undone_id)
        before, standings_before = self.states_before[at]
        # What was edited while it was completed is undone while it runs.
        if before.status != "completed":
            kept_values = {
                name: getattr(self.tournament, name) for name in (*FIRST_COMPLETION, *self.passed_over)
            }
            state = replace(before.state, dice_seed=self.tournament.state.dice_seed)
            assert self.tournament == replace(before, state=state, **kept_values)
            assert stored_standings(self.store, tournament_id) == standings_before
        for kept in (self.journal, self.action_ids, self.states_before):
            del kept[at:]
        return changes


def a_stored_night(store: Store, plan: Night) -> StoredNight:
    """The planned tournament of this night as rows, under an id of its own."""
    planned = plan.tournament
    _add_accounts(store)
    _add_rows(store, tables.player, [entrant.player_id for entrant in planned.entrants])
    _add_rows(store, tables.arena, [arena.arena_id for arena in planned.lineup])
    details = {**blank_details(DETAILS), **DETAILS}
    empty = replace(planned, entrants=(), lineup=(), details=details)
    context = enact.ActionContext(actor_id=ORGANIZER_ID, source="test", now=plan.now)
    with store.write() as transaction:
        tournament_id = enact.create_tournament(transaction, empty, context, Random(4)).tournament_id
    added: list[Change] = [*map(EntrantAdded, planned.entrants), *map(ArenaAdded, planned.lineup)]
    with store.write(tournament_id) as transaction:
        enact.enact(transaction, tournament_id, added, context)
    with store.read() as db:
        loaded = snapshot.load(db, tournament_id)
    # JSON has lists only.
    with_tuples = replace(
        loaded, points_map=planned.points_map, tiebreaker_points_map=planned.tiebreaker_points_map
    )
    assert with_tuples == replace(planned, tournament_id=tournament_id, details=details)
    night = StoredNight(loaded, now=plan.now, store=store)
    # Ids that moves choose must not be those of another night, nor those that `enact` assigns.
    night._ids = itertools.count(10**12 * tournament_id, 10**6)
    return night


def _add_accounts(store: Store) -> None:
    with store.write() as transaction:
        existing = set(transaction.connection.execute(select(tables.user.c.user_id)).scalars())
        for user_id in {ORGANIZER_ID, SCOREKEEPER_ID} - existing:
            transaction.connection.execute(
                insert(tables.user).values(**build.DEFAULTS["user"], user_id=user_id)
            )


def _add_players(store: Store, changes: Sequence[Change]) -> None:
    added = [change.subject for change in changes if isinstance(change, EntrantAdded)]
    _add_rows(store, tables.player, [entrant.player_id for entrant in added])


def _add_rows(store: Store, table: Any, ids: Sequence[int]) -> None:
    """Insert players or arenas with these ids, unless they exist."""
    if not ids:
        return
    key = table.autoincrement_column
    with store.write() as transaction:
        existing = set(transaction.connection.execute(select(key).where(key.in_(ids))).scalars())
        for row_id in set(ids) - existing:
            values = {**build.DEFAULTS[table.name], key.name: row_id, "organizer_id": ORGANIZER_ID}
            if table is tables.player:
                values = chain.with_name_digest(values)
            transaction.connection.execute(insert(table).values(**values))


def assert_same_as_stored(store: Store, tournament: Tournament) -> None:
    """Assert that the rows equal the snapshot in memory."""
    with store.read() as db:
        loaded = snapshot.load(db, tournament.tournament_id)
    for part in tournament.__struct_fields__:
        assert getattr(loaded, part) == getattr(tournament, part), part


def stored_standings(store: Store, tournament_id: int) -> dict[int, str]:
    """Player id -> the row of the standings that everybody reads, to the letter."""
    with store.read() as db:
        rows = standings.decoded_standings(db, tournament_id)
    return {row.player_id: msgspec.json.encode(row).decode() for row in rows}


def all_actions(store: Store, tournament_id: int) -> list[journal.Action]:
    with store.read() as db:
        return journal.all_actions(db, tournament_id)


def skip_disk_sync(store: Store) -> None:
    """Do not wait for the disk: the file is deleted after the test."""
    if store.is_sqlite:

        @event.listens_for(store.engine, "connect")
        def _lazily(connection: Any, _record: Any) -> None:
            connection.execute("PRAGMA synchronous=OFF")

        store.disconnect()
