"""The one door: what happens to a tournament becomes rows, standings, journal and a new revision.

Everything happens in the caller's transaction, which holds the tournament's lock.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from random import Random
from typing import Any

from sqlalchemy import Connection, bindparam, select

from silverball.kit.errors import Conflict, NotFound
from silverball.rules.model import numbering
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    Added,
    Change,
    TournamentAltered,
    TournamentImported,
    opposite_changes,
)
from silverball.rules.model.tournament import Tournament
from silverball.rules.registry import FORMATS
from silverball.service.access import Device
from silverball.service.core import standings, summaries
from silverball.service.devices import reads as devices
from silverball.service.events import feed_events
from silverball.store import (
    affected_tournaments,
    announcements,
    imports,
    journal,
    rating_days,
    revisions,
    snapshot,
    tables,
    writers,
)
from silverball.store.journal import Action
from silverball.store.loaded import LoadedTournament
from silverball.store.transaction import Transaction

JournalEntries = Sequence[tuple[str, Mapping[str, Any]]]
# What a tournament shows of those that it links to, beside their status.
LINKED_DETAILS = ("name", "test")
_T = tables.tournament.c
_SELECT_NEWEST = select(_T.revision, _T.type).where(_T.tournament_id == bindparam("own_id"))


@dataclass(frozen=True, kw_only=True)
class ActionContext:
    """Who asked, from where, and when."""

    # None for the service itself and for a device.
    actor_id: int | None
    source: str
    now: datetime
    device: Device | None = None


def load_tournament(db: Connection, tournament_id: int) -> Tournament:
    """The tournament as this transaction sees it. Raises NotFound, and Conflict for an unknown format."""
    return load_with_revision(db, tournament_id).tournament


def load_with_revision(db: Connection, tournament_id: int) -> LoadedTournament:
    """The tournament with its revision and its stored standings. Raises as `tournament_of` does."""
    return snapshot.load_at_revision(db, tournament_id, _current_revision(db, tournament_id))


def load_for_change(transaction: Transaction, tournament_id: int) -> LoadedTournament:
    """The same as the transaction sees it that is going to change the tournament."""
    revision = _current_revision(transaction.connection, tournament_id)
    return snapshot.load_for_change(transaction, tournament_id, revision)


def _current_revision(db: Connection, tournament_id: int) -> int:
    row = db.execute(_SELECT_NEWEST, {"own_id": tournament_id}).one_or_none()
    if row is None:
        raise NotFound("Tournament", tournament_id)
    if row.type not in FORMATS:
        raise Conflict(f"Tournaments of the type {row.type} can be read here, but not changed.")
    return int(row.revision)


def enact(
    transaction: Transaction,
    tournament_id: int,
    changes: Sequence[Change],
    who: ActionContext,
    *,
    dice_seed: str | None = None,
    extra_entries: JournalEntries = (),
    before: LoadedTournament | None = None,
) -> Tournament:
    """Let these changes happen to the tournament, as one action, and return what it is now.

    Nothing happens when there are none. `dice_seed` is the seed of the draw that made them; `beside`
    are journal entries that are not changes; `before` is what this transaction has just loaded.
    """
    db = transaction.connection
    before = before or load_for_change(transaction, tournament_id)
    if not changes and not extra_entries:
        return before.tournament
    real = _with_real_ids(db, changes)
    writers.write_changes(db, before.tournament, real)
    after = apply_changes(before.tournament, real)
    rows = standings.store_ranking(db, before, after)
    if before.tournament.status != after.status:
        summaries.store_summaries(db, tournament_id)
    if before.tournament.status == "completed" or after.status == "completed":
        rating_days.mark_changed_tournament(db, before.tournament, after)
    entries = [(type(change).__name__, journal.encode_change(change)) for change in real]
    action_id = journal.append(
        db,
        tournament_id,
        [*extra_entries, *entries],
        actor_id=who.actor_id,
        source=who.source,
        now=who.now,
        dice_seed=dice_seed,
        newest_action_id=before.newest_action_id,
    )
    if who.device is not None:
        device_id, player_id = who.device.device_id, who.device.player_id
        journal.note_device(db, tournament_id, action_id, device_id=device_id, player_id=player_id)
    revision = revisions.raise_locked(transaction, tournament_id, who.now)
    feed_events.announce_changes(transaction, before.tournament, after, real)
    if _linked_details_differ(before.tournament, after):
        feed_events.announce_tournaments(
            transaction, affected_tournaments.tournaments_linking_to(db, tournament_id)
        )
    transaction.loaded[tournament_id] = LoadedTournament(revision, after, rows, action_id)
    return after


def _linked_details_differ(before: Tournament, after: Tournament) -> bool:
    """Whether tournaments that link to this one show something of it that is different now."""
    return before.status != after.status or any(
        before.details.get(name) != after.details.get(name) for name in LINKED_DETAILS
    )


def create_tournament(
    transaction: Transaction, planned: Tournament, who: ActionContext, dice: Random
) -> Tournament:
    """A tournament is there now, planned and without anybody in it, and its channel begins.

    Takes it without its id, and the dice for the channel's epoch; returns it with its id.
    """
    db = transaction.connection
    epoch = f"{dice.getrandbits(32):08x}"
    tournament_id = writers.write_new_tournament(db, planned, who.now, epoch)
    entry = (journal.TOURNAMENT_CREATED, journal.encode_creation(planned))
    journal.append(db, tournament_id, [entry], actor_id=who.actor_id, source=who.source, now=who.now)
    revisions.raise_tournaments(transaction, [tournament_id])
    return replace(planned, tournament_id=tournament_id)


def undo_action(
    transaction: Transaction, tournament_id: int, action_id: int, who: ActionContext
) -> Tournament:
    """Take the newest action back. Raises Conflict when `action_id` is not that one, and says which is."""
    db = transaction.connection
    tournament = load_for_change(transaction, tournament_id).tournament
    if tournament.status == "completed":
        raise Conflict("The tournament is completed. Reopen it before you undo anything.")
    newest = journal.newest_undoable_action(journal.newest_actions(db, tournament_id))
    if newest is None:
        raise Conflict("There is nothing to undo.")
    if newest.action_id != action_id:
        raise Conflict(f"Only the newest action can be undone: {_action_text(db, tournament_id, newest)}.")
    opposites = opposite_changes(newest.decode_changes(tournament.type))
    after = enact(
        transaction,
        tournament_id,
        opposites,
        who,
        extra_entries=[(journal.ACTION_UNDONE, {"action": action_id})],
    )
    # What comes back was remembered with the claims and categories of then: it is loaded anew.
    transaction.loaded.clear()
    return after


def _action_text(db: Connection, tournament_id: int, action: Action) -> str:
    """An action in words: its id, what it was, who did it and when."""
    name = devices.actor_names(db, tournament_id, [action.action_id]).get(action.action_id)
    if action.actor_id is not None:
        name = db.execute(
            select(tables.user.c.name).where(tables.user.c.user_id == action.actor_id)
        ).scalar_one_or_none()
    what = action.entries[0][0] if action.entries else "nothing"
    return f"action {action.action_id} ({what}) by {name or 'the service'} at {action.at:%Y-%m-%d %H:%M:%SZ}"


def _with_real_ids(db: Connection, changes: Sequence[Change]) -> list[Change]:
    """The changes with real ids; each kind's are fetched at once."""
    wanted: dict[str, int] = {}
    for change in changes:
        if isinstance(change, Added) and _thing_id(change) < 0:
            wanted[change.part] = wanted.get(change.part, 0) + 1
    free = {part: iter(writers.reserve_ids(db, part, count)) for part, count in wanted.items()}
    return [_without_draw_facts(one) for one in numbering.assign_ids(changes, lambda part: next(free[part]))]


def _without_draw_facts(change: Change) -> Change:
    """The change without what was looked up for a draw, which may be in the engine's memory."""
    if not isinstance(change, TournamentAltered) or "state" not in change.after:
        return change
    before, after = ({**side, "state": side["state"].persistent} for side in (change.before, change.after))
    return type(change)(before, after)


def _thing_id(change: Added[Any]) -> int:
    return int(getattr(change.thing, writers.STORED_PARTS[change.part].key))


def enact_import(
    transaction: Transaction, change: TournamentImported, who: ActionContext, dice: Random
) -> None:
    """A tournament came in. Raises Invalid when it cannot be ranked.

    Nothing is announced: who follows the channel sees another epoch, drawn by `dice`, and reads
    everything again.
    """
    db = transaction.connection
    tournament_id = change.tournament_id
    rating_days.mark_tournament(db, tournament_id)
    imports.write_import(db, change)
    rating_days.mark_tournament(db, tournament_id)
    standings.store_imported(db, change)
    summaries.store_summaries(db, tournament_id)
    journal.append(
        db,
        tournament_id,
        [(type(change).__name__, journal.encode_change(change))],
        actor_id=who.actor_id,
        source=who.source,
        now=who.now,
    )
    announcements.start_epoch(transaction, tournament_id, f"{dice.getrandbits(32):08x}")
    revisions.raise_tournaments(transaction, [tournament_id])
