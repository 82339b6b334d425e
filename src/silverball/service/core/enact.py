"""The one door through which a tournament changes: rows, standings, journal, announcements, revision.

The caller's transaction holds the tournament's lock, and the edge commits it.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from random import Random
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, select

from silverball.kit.errors import Conflict
from silverball.kit.values import replace
from silverball.rules.commands import draws
from silverball.rules.mechanics import shared_room
from silverball.rules.model import fields, numbering
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    Added,
    Change,
    GameDeleted,
    SuggestionDecided,
    TournamentAltered,
    TournamentImported,
    opposite_changes,
)
from silverball.rules.model.tournament import Tournament
from silverball.service.access import Device
from silverball.service.core import loaded, shared_rooms, sign_up_list, standings, summaries
from silverball.service.devices import reads as devices
from silverball.service.events import feed_events
from silverball.store import (
    account_storage,
    affected_tournaments,
    announcements,
    chaining,
    imports,
    journal,
    rating_days,
    revisions,
    tables,
    undo_order,
    writers,
)
from silverball.store.chain import WrittenLine
from silverball.store.journal import Action
from silverball.store.loaded import LoadedTournament
from silverball.store.stamps import Revision
from silverball.store.transaction import Transaction

JournalEntries = Sequence[tuple[str, Mapping[str, Any]]]


class ActionContext(Struct, frozen=True, kw_only=True):
    """The actor, address and time of an action, for the journal."""

    # None for the service itself and for a device.
    actor_id: int | None
    source: str
    now: datetime
    device: Device | None = None


class NothingToUndo(Conflict):
    """The journal has no action that can be undone."""

    sentence = "There is nothing to undo."


class TournamentNotReopened(Conflict):
    """A completed tournament has to be reopened before an undo."""

    sentence = "The tournament is completed. Reopen it before you undo anything."


class NotNewestAction(Conflict):
    """Undo takes back the newest action only."""

    sentence = "Only the newest action can be undone: action {action} ({change}) by {actor} at {time}."


def enact(
    transaction: Transaction,
    tournament_id: int,
    changes: Sequence[Change],
    context: ActionContext,
    *,
    dice_seed: str | None = None,
    extra_entries: JournalEntries = (),
    before: LoadedTournament | None = None,
) -> Tournament:
    """Enact these changes as one action and return the changed tournament; without changes do nothing.

    `dice_seed` is the seed of the draw that made the changes; `extra_entries` are journal entries that
    are no changes; `before` is the tournament, if this transaction has just loaded it. In a room that
    several tournaments share, what has to wait and what may begin follows as an action of its own.
    """
    before = before or loaded.load_for_change(transaction, tournament_id)
    if not changes and not extra_entries:
        return before.tournament
    after = _enact_action(
        transaction, before, changes, context, dice_seed=dice_seed, extra_entries=extra_entries
    )
    return settle_room(transaction, after, context.now, before=before.tournament)


def settle_room(
    transaction: Transaction, tournament: Tournament, now: datetime, *, before: Tournament | None = None
) -> Tournament:
    """Hold the games that came up since `before` and cannot begin, and call those that can.

    Only this tournament changes: the others of its occasion are read. Outside of a shared room nothing
    is read or changed.
    """
    room = shared_rooms.room_for_change(transaction, tournament)
    if room is None:
        return tournament
    changes = shared_room.settle_room(before, tournament, room.elsewhere, now)
    if not changes:
        return tournament
    own, host = loaded.load_with_host(transaction, tournament.tournament_id)
    if host is not None:
        # Who runs a mirror calls its games.
        return tournament
    context = ActionContext(actor_id=None, source=journal.ROOM_SOURCE, now=now)
    return _enact_action(transaction, own, changes, context)


def _enact_action(
    transaction: Transaction,
    before: LoadedTournament,
    changes: Sequence[Change],
    context: ActionContext,
    *,
    dice_seed: str | None = None,
    extra_entries: JournalEntries = (),
) -> Tournament:
    """Store these changes as one action: rows, standings, journal, announcements, revision."""
    db, tournament_id = transaction.connection, before.tournament.tournament_id
    if context.actor_id is not None or context.device is not None:
        account_storage.require_room_in_journal(db, before.tournament.details["organizer_id"])
    numbered = _with_real_ids(db, changes)
    numbered += sign_up_list.following_changes(db, before.tournament, numbered, context.now)
    writers.write_changes(db, before.tournament, numbered)
    after = apply_changes(before.tournament, numbered)
    standings.follow_changes(db, before.tournament, after, numbered)
    if before.tournament.status != after.status:
        summaries.store_summaries(db, tournament_id)
    if before.tournament.status == "completed" or after.status == "completed":
        rating_days.mark_changed_tournament(db, before.tournament, after)
    entries = [(type(change).__name__, journal.encode_change(change)) for change in numbered]
    end = journal.append(
        db,
        tournament_id,
        [*extra_entries, *entries],
        actor_id=context.actor_id,
        source=context.source,
        now=context.now,
        dice_seed=dice_seed,
        draw_version=None if dice_seed is None else draws.DRAW_VERSION,
        end=before.journal_end,
    )
    if (device := context.device) is not None:
        journal.note_device(
            db, tournament_id, end.action_id, device_id=device.device_id, player_id=device.player_id
        )
    revision = feed_events.announce_changes(transaction, before, after, numbered, context.now)
    if _linked_details_differ(before.tournament, after):
        feed_events.announce_tournaments(
            transaction, affected_tournaments.tournaments_linking_to(db, tournament_id)
        )
    transaction.loaded[tournament_id] = LoadedTournament(
        Revision(revision, transaction.stamp), after, end, before.imported_fact_ids
    )
    return after


def _linked_details_differ(before: Tournament, after: Tournament) -> bool:
    """Whether a change concerns the tournaments that link to this one."""
    return (
        before.status != after.status
        or _worth_differs(before, after)
        or (
            before.details is not after.details
            and any(before.details.get(name) != after.details.get(name) for name in fields.DETAILS_TO_LINKED)
        )
    )


def _worth_differs(before: Tournament, after: Tournament) -> bool:
    """Whether the plan or the field changes, on which the worth of a qualifying and its playoffs depends."""
    if before.settings is not after.settings and before.settings != after.settings:
        return True
    return before.entrants is not after.entrants and before.active_ids != after.active_ids


def create_tournament(
    transaction: Transaction, planned: Tournament, context: ActionContext, dice: Random
) -> Tournament:
    """Create a planned tournament without entrants, start its channel, and return it with its id.

    `dice` name the channel's first epoch.
    """
    db = transaction.connection
    epoch = f"{dice.getrandbits(32):08x}"
    tournament_id = writers.write_new_tournament(db, planned, context.now, epoch)
    entries: JournalEntries = [(journal.TOURNAMENT_CREATED, journal.encode_creation(planned))]
    entries = [*entries, *commitment_notes(planned.state.dice_seed)]
    journal.append(
        db, tournament_id, entries, actor_id=context.actor_id, source=context.source, now=context.now
    )
    revisions.raise_tournaments(transaction, [tournament_id])
    return replace(planned, tournament_id=tournament_id)


def commitment_notes(dice_seed: str) -> JournalEntries:
    """The journal entry that commits to the seed of the draws that follow; none without a seed."""
    if not dice_seed:
        return ()
    return [(journal.SEED_COMMITTED, {"commitment": draws.commitment(dice_seed)})]


def record_merge(
    transaction: Transaction,
    tournament_ids: Collection[int],
    removed_id: int,
    remaining_id: int,
    context: ActionContext,
) -> None:
    """Append the merge of two players of a book to these journals, whose revisions are raised already."""
    entry = (journal.PLAYERS_MERGED, {"removed": removed_id, "remaining": remaining_id})
    for tournament_id in sorted(tournament_ids):
        journal.append(
            transaction.connection,
            tournament_id,
            [entry],
            actor_id=context.actor_id,
            source=context.source,
            now=context.now,
        )
        transaction.loaded.pop(tournament_id, None)


def undo_action(
    transaction: Transaction, tournament_id: int, action_id: int, context: ActionContext
) -> Tournament:
    """Undo the newest action. Raises NotNewestAction when `action_id` is another one."""
    db = transaction.connection
    tournament = loaded.load_for_change(transaction, tournament_id).tournament
    if tournament.status == "completed":
        raise TournamentNotReopened
    undoable = undo_order.undoable_actions(journal.newest_actions(db, tournament_id))
    if not undoable:
        raise NothingToUndo
    undone = next((action for action in undoable if action.action_id == action_id), None)
    if undone is None:
        raise _not_newest_action(db, tournament_id, undoable[0])
    for follower in undo_order.room_calls_after(journal.newest_actions(db, tournament_id), action_id):
        _take_back(transaction, tournament_id, follower, context)
    before = tournament
    after = _take_back(transaction, tournament_id, undone, context)
    after = settle_room(transaction, after, context.now, before=before)
    # The restored parts have the claims and categories of their time, so the tournament is loaded again.
    transaction.loaded.clear()
    return after


def _take_back(
    transaction: Transaction, tournament_id: int, undone: Action, context: ActionContext
) -> Tournament:
    """Enact the opposites of an action."""
    before = loaded.load_for_change(transaction, tournament_id)
    opposites = opposite_changes(undone.decode_changes(before.tournament.type))
    opposites = [*_settled_reports(before.tournament, opposites), *opposites]
    entries = [(journal.ACTION_UNDONE, {"action": undone.action_id})]
    return _enact_action(transaction, before, opposites, context, extra_entries=entries)


def _settled_reports(tournament: Tournament, opposites: Sequence[Change]) -> list[Change]:
    """The end of the reports that came after an action, for games that its undo deletes."""
    settled = {change.subject.suggestion_id for change in opposites if isinstance(change, SuggestionDecided)}
    deleted = {change.subject.game_id for change in opposites if isinstance(change, GameDeleted)}
    return [
        SuggestionDecided(suggestion)
        for suggestion in tournament.suggestions
        if suggestion.game_id in deleted and suggestion.suggestion_id not in settled
    ]


def _not_newest_action(db: Connection, tournament_id: int, newest: Action) -> NotNewestAction:
    name = devices.actor_names(db, tournament_id, [newest.action_id]).get(newest.action_id)
    if newest.actor_id is not None:
        name = db.execute(
            select(tables.user.c.name).where(tables.user.c.user_id == newest.actor_id)
        ).scalar_one_or_none()
    return NotNewestAction(
        action=newest.action_id,
        change=newest.entries[0][0] if newest.entries else "nothing",
        actor=name or "the service",
        time=f"{newest.at:%Y-%m-%d %H:%M:%SZ}",
    )


def _with_real_ids(db: Connection, changes: Sequence[Change]) -> list[Change]:
    """The changes with real ids in place of negative ones; the ids of each part are reserved at once."""
    new_parts = [change.part for change in changes if isinstance(change, Added) and _added_id(change) < 0]
    if new_parts:
        ids = {part: iter(writers.reserve_ids(db, part, count)) for part, count in Counter(new_parts).items()}
        changes = numbering.assign_ids(changes, lambda part: next(ids[part]))
    return [_without_draw_facts(each) if isinstance(each, TournamentAltered) else each for each in changes]


def _without_draw_facts(change: TournamentAltered) -> Change:
    """The change without facts that were looked up for a draw and are not stored."""
    if "state" not in change.after:
        return change
    before, after = ({**side, "state": side["state"].persistent} for side in (change.before, change.after))
    return type(change)(before, after)


def _added_id(change: Added[Any]) -> int:
    return int(getattr(change.subject, writers.STORED_PARTS[change.part].key))


def enact_import(
    transaction: Transaction,
    change: TournamentImported,
    context: ActionContext,
    dice: Random,
    lines: Sequence[WrittenLine] = (),
) -> None:
    """Store an imported tournament, and its journal if it has one. Raises Invalid when it cannot be ranked.

    Nothing is announced: `dice` name a new epoch, so that followers of the channel read everything again.
    """
    db = transaction.connection
    tournament_id = change.tournament_id
    rating_days.mark_tournament(db, tournament_id)
    imports.write_import(db, change)
    rating_days.mark_tournament(db, tournament_id)
    standings.store_imported(db, change)
    summaries.store_summaries(db, tournament_id)
    name = journal.JOURNAL_IMPORTED if lines else journal.TOURNAMENT_IMPORTED
    journal.append(
        db,
        tournament_id,
        [(name, journal.encode_change(change))],
        actor_id=context.actor_id,
        source=context.source,
        now=context.now,
        end=chaining.store_lines(db, lines) if lines else None,
    )
    announcements.start_epoch(transaction, tournament_id, f"{dice.getrandbits(32):08x}")
    revisions.raise_tournaments(transaction, [tournament_id])
