"""The one door through which a tournament changes: rows, standings, journal, announcements, revision.

The caller's transaction holds the tournament's lock, and the edge commits it.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from random import Random
from typing import Any

import msgspec
from msgspec import Struct, structs
from sqlalchemy import Connection, Table, bindparam, delete, false, insert, select
from sqlalchemy import update as change

from silverball.kit.errors import Conflict
from silverball.kit.values import convert, replace
from silverball.rules.commands import draws, sign_ups
from silverball.rules.format import always_rankable
from silverball.rules.mechanics import plays, shared_room, waiting_list
from silverball.rules.model import fields, opposites, outcome
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    Added,
    Altered,
    Change,
    DrawRemembered,
    GameDeleted,
    SuggestionDecided,
    TournamentAltered,
    TournamentImported,
)
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.ranking import summaries
from silverball.rules.ranking.summaries import GameRecord
from silverball.rules.registry import FORMATS
from silverball.service.core import feed_events, loaded
from silverball.service.core.access import Device
from silverball.service.games.reads import games
from silverball.service.roster import reads as roster_reads
from silverball.service.standings.reads import standings
from silverball.service.tournaments.reads import tournaments
from silverball.service.users import reads as users_reads
from silverball.store import tables
from silverball.store.counts import quotas
from silverball.store.database import statements
from silverball.store.database.transaction import Transaction
from silverball.store.people import hidings, rating_days
from silverball.store.revisions import revisions
from silverball.store.revisions.stamps import Revision
from silverball.store.tables import (
    arena,
    arena_summary,
    match_summary,
    player_arena_summary,
    single_player_game,
    standing,
)
from silverball.store.tournament import (
    announcements,
    chain,
    code_secrets,
    imports,
    journal,
    snapshot,
    undoing,
    writers,
)
from silverball.store.tournament.chain import WrittenLine
from silverball.store.tournament.journal import Action
from silverball.store.tournament.loaded import LoadedTournament
from silverball_wire.standings import Standing


def store_summaries(db: Connection, tournament_id: int) -> None:
    """Store the summaries of a tournament instead of those that are there.

    A tournament that is not completed has none. Raises NotFound.
    """
    tournament = tournaments.tournament_facts(db, tournament_id)
    records = _game_records(db, tournament_id) if tournament.status == "completed" else []
    rule = tournament.win_loss_rule
    opdb_ids = _opdb_ids(db, {record.arena_id for record in records if record.arena_id is not None})
    _replace_summaries(db, arena_summary, tournament_id, summaries.arena_summaries(records), opdb_ids)
    _replace_summaries(
        db, player_arena_summary, tournament_id, summaries.player_arena_summaries(rule, records), opdb_ids
    )
    _replace_summaries(db, match_summary, tournament_id, summaries.match_summaries(rule, records), opdb_ids)


def _game_records(db: Connection, tournament_id: int) -> list[GameRecord]:
    attempt = single_player_game.c
    attempts = select(attempt.arena_id, attempt.player_id).where(
        attempt.tournament_id == tournament_id,
        attempt.status == "completed",
        attempt.voided.is_(false()),
    )
    records = [game.record for game in games.completed_games(db, tournament_id)]
    return records + [
        GameRecord(row.arena_id, (row.player_id,), is_single_player=True)
        for row in db.execute(attempts.order_by(attempt.single_player_game_id)).all()
    ]


def _opdb_ids(db: Connection, arena_ids: set[int]) -> dict[int, str | None]:
    rows = select(arena.c.arena_id, arena.c.opdb_id).where(arena.c.arena_id.in_(sorted(arena_ids)))
    return {row.arena_id: row.opdb_id for row in db.execute(rows).all()}


def _replace_summaries(
    db: Connection, table: Table, tournament_id: int, rows: list[Any], opdb_ids: dict[int, str | None]
) -> None:
    db.execute(delete(table).where(table.c.tournament_id == tournament_id))
    if not rows:
        return
    # Not `asdict`, which copies each value of thousands.
    names = [field.name for field in structs.fields(rows[0])]
    stored = [
        {
            "tournament_id": tournament_id,
            **{name: getattr(row, name) for name in names},
            "opdb_id": opdb_ids[row.arena_id],
        }
        for row in rows
    ]
    statements.insert_rows(db, table, stored)


def following_changes(
    db: Connection, before: Tournament, changes: Sequence[Change], now: datetime
) -> list[Change]:
    """The changes of the sign-up list, and those who move up from the waiting list."""
    if sign_ups.MOVING_CHANGES.isdisjoint(map(type, changes)):
        return []
    after = apply_changes(before, changes)
    if not after.sign_ups and after.sign_up_terms is None:
        return []
    claimed: dict[int, int | None] = {}
    waiting = waiting_list.waiting_entries(after)
    if waiting and after.status == "planned" and waiting_list.free_places(after) > 0:
        ids = [entry.player_id for entry in waiting]
        claimed = roster_reads.book_players(db, after.details["organizer_id"], ids)
    return sign_ups.follow_list(after, changes, claimed, now)


# Store the standings of completed tournaments, and refuse what cannot be ranked.


UPDATE_STANDING = (
    change(standing)
    .where(
        standing.c.tournament_id == bindparam("new_tournament_id"),
        standing.c.player_id == bindparam("new_player_id"),
    )
    .values(
        {
            name: bindparam(f"new_{name}", type_=standing.c[name].type)
            for name in ("position", "points", "row")
        }
    )
)
# A change of these may leave earlier results without a place.
RANKING_FIELDS = frozenset({"status", "settings"})


def follow_changes(db: Connection, before: Tournament, after: Tournament, changes: Sequence[Change]) -> None:
    """Store the standings of a completed tournament, delete those of a reopened one.

    Raises Invalid for a result that the format cannot rank.
    """
    tournament_id = after.tournament_id
    if after.status == "completed":
        update_standings(db, tournament_id, standings.ranked_rows(after))
        return
    if before.status == "completed":
        db.execute(delete(standing).where(standing.c.tournament_id == tournament_id))
    if after.status != "planned":
        _require_rankable(after, changes)


def _require_rankable(after: Tournament, changes: Sequence[Change]) -> None:
    """Raise Invalid when what these changes made cannot be ranked."""
    form = FORMATS[after.type]
    altered = [each for each in changes if isinstance(each, TournamentAltered)]
    if altered and any(RANKING_FIELDS & each.after.keys() for each in altered):
        form.rank(after)
        return
    if form.require_rankable is always_rankable:
        return
    sides = [
        each.after if isinstance(each, Altered) else each.subject
        for each in changes
        if isinstance(each, Altered | Added)
    ]
    form.require_rankable(after, [side for side in sides if isinstance(side, Game)])


def store_imported(db: Connection, imported: TournamentImported) -> None:
    """Store the standings that an import of a completed tournament brings, or rank it.

    It is ranked where the import brings no row for a player, and where it was played with this program,
    whose rows cannot differ. A running tournament is ranked when somebody asks; here it is only seen
    whether that can be done. Raises Invalid when it cannot.
    """
    given = imported.parts.get("standings")
    type_, status = snapshot.stored_type_and_status(db, imported.tournament_id)
    is_running = type_ in FORMATS and status != "completed"
    if given is not None and type_ not in FORMATS:
        replace_standings(db, imported.tournament_id, convert(given, list[Standing]))
        return
    tournament = snapshot.load(db, imported.tournament_id)
    if given is not None and not is_running and not tournament.state.dice_seed:
        rows = convert(given, list[Standing])
        if {row.player_id for row in rows} >= set(tournament.entrant_by_id):
            replace_standings(db, imported.tournament_id, rows)
            return
    ranked = standings.ranked_rows(tournament)
    if not is_running:
        replace_standings(db, imported.tournament_id, ranked)


def replace_standings(db: Connection, tournament_id: int, rows: Sequence[Standing]) -> None:
    """Store these rows in place of the stored ones.

    Raises ValueError when the points of a row are a text that is no number.
    """
    db.execute(delete(standing).where(standing.c.tournament_id == tournament_id))
    statements.insert_rows(db, standing, [_standing_row(tournament_id, row) for row in rows])


def update_standings(db: Connection, tournament_id: int, rows: Sequence[Standing]) -> None:
    """Store those of these rows that differ from the stored ones, and delete others."""
    stored: Mapping[int, str] = snapshot.load_standings(db, tournament_id)
    texts = {row.player_id: msgspec.json.encode(row).decode() for row in rows}
    gone = [player_id for player_id in stored if player_id not in texts]
    if gone:
        own = standing.c.tournament_id == tournament_id
        db.execute(delete(standing).where(own, standing.c.player_id.in_(gone)))
    differing = [row for row in rows if stored.get(row.player_id) != texts[row.player_id]]
    new = [_standing_row(tournament_id, row) for row in differing if row.player_id not in stored]
    changed = [_standing_row(tournament_id, row) for row in differing if row.player_id in stored]
    if new:
        db.execute(insert(standing), new)
    if changed:
        db.execute(
            UPDATE_STANDING, [{f"new_{name}": value for name, value in row.items()} for row in changed]
        )


def _standing_row(tournament_id: int, row: Standing) -> dict[str, Any]:
    return {
        "tournament_id": tournament_id,
        "player_id": row.player_id,
        "position": row.position,
        "points": standings.stored_points(row),
        "row": row,
    }


SEED_BITS = 128
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


# Of a tournament that came from elsewhere; the code of the refusal stays the same.
UNDO_ENDS_AT_IMPORT = "There is nothing to undo: the tournament was imported, and undo ends at the import."


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
    room = loaded.room_for_change(transaction, tournament)
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
        quotas.require_room_in_journal(db, before.tournament.details["organizer_id"])
    numbered = _with_real_ids(db, changes)
    numbered += following_changes(db, before.tournament, numbered, context.now)
    writers.write_changes(db, before.tournament, numbered)
    after = apply_changes(before.tournament, numbered)
    follow_changes(db, before.tournament, after, numbered)
    if before.tournament.status != after.status:
        store_summaries(db, tournament_id)
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
        feed_events.announce_tournaments(transaction, hidings.tournaments_linking_to(db, tournament_id))
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
    code_secrets.draw_secret(db, tournament_id)
    entries: JournalEntries = [(journal.TOURNAMENT_CREATED, journal.encode_creation(planned))]
    entries = [*entries, *commitment_notes(planned.state.dice_seed)]
    journal.append(
        db, tournament_id, entries, actor_id=context.actor_id, source=context.source, now=context.now
    )
    revisions.raise_tournaments(transaction, [tournament_id])
    return replace(planned, tournament_id=tournament_id)


def new_seed(dice: Random) -> str:
    """A new seed of draws. Outside tests `dice` is a `secrets.SystemRandom`."""
    return f"{dice.getrandbits(SEED_BITS):032x}"


def commitment_notes(dice_seed: str) -> JournalEntries:
    """The journal entry that commits to the seed of the draws that follow; none without a seed."""
    if not dice_seed:
        return ()
    return [(journal.SEED_COMMITTED, {"commitment": draws.commitment(dice_seed)})]


def record_merge(
    transaction: Transaction,
    tournament_ids: Collection[int],
    entry: tuple[str, dict[str, Any]],
    context: ActionContext,
) -> None:
    """Append a merge in a book to these journals, whose revisions are raised already."""
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


def record_seed_export(transaction: Transaction, tournament_id: int, context: ActionContext) -> None:
    """Append that the seed of a tournament that is not over was exported. Raises NotFound."""
    tournament = loaded.load_for_change(transaction, tournament_id).tournament
    if tournament.status == "completed" or not tournament.state.dice_seed:
        return
    journal.append(
        transaction.connection,
        tournament_id,
        [(journal.SEED_EXPORTED, {})],
        actor_id=context.actor_id,
        source=context.source,
        now=context.now,
    )
    revisions.raise_tournaments(transaction, [tournament_id])
    transaction.loaded.pop(tournament_id, None)


def undo_action(
    transaction: Transaction, tournament_id: int, action_id: int, context: ActionContext
) -> Tournament:
    """Undo the newest action. Raises NotNewestAction when `action_id` is another one."""
    db = transaction.connection
    before = loaded.load_for_change(transaction, tournament_id).tournament
    if before.status == "completed":
        raise TournamentNotReopened
    history = undoing.load_history(db, tournament_id)
    if not history.offered:
        raise NothingToUndo(UNDO_ENDS_AT_IMPORT if history.ends_at_import else None)
    undone = next((action for action in history.offered if action.action_id == action_id), None)
    if undone is None:
        raise _not_newest_action(db, tournament_id, history.offered[0])
    after = before
    for step in history.steps(undone):
        after = _take_back(transaction, tournament_id, step, context)
    after = settle_room(transaction, after, context.now, before=before)
    # The restored parts have the claims and categories of their time, so the tournament is loaded again.
    transaction.loaded.clear()
    return after


def _take_back(
    transaction: Transaction, tournament_id: int, step: Sequence[Action], context: ActionContext
) -> Tournament:
    """Enact the opposites of an action, or of a reopening and its completion together."""
    before = loaded.load_for_change(transaction, tournament_id)
    current, changes = before.tournament, list[Change]()
    for undone in step:
        # In the midst of a pair the tournament is not completed.
        taken_back = opposites.undoing_changes(
            current, undone.decode_changes(current.type), keeps_status=len(step) > 1
        )
        current = apply_changes(current, taken_back)
        changes += taken_back
    changes = [*_settled_reports(before.tournament, changes), *changes]
    entries = [(journal.ACTION_UNDONE, {"action": undone.action_id}) for undone in step]
    return _enact_action(transaction, before, changes, context, extra_entries=entries)


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
    name = users_reads.actor_names(db, tournament_id, [newest.action_id]).get(newest.action_id)
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
        changes = outcome.assign_ids(changes, lambda part: next(ids[part]))
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
    *,
    new_seed: str = "",
) -> None:
    """Store an imported tournament, and its journal if it has one. Raises Invalid when it cannot be ranked.

    Its draws go on with the new seed, which is committed to, if there is one.
    Nothing is announced: `dice` name a new epoch, so that followers of the channel read everything again.
    """
    db = transaction.connection
    tournament_id = change.tournament_id
    rating_days.mark_tournament(db, tournament_id)
    change = _with_first_completion(db, change)
    change, seeding = _with_seed(change, new_seed)
    imports.write_import(db, change)
    rating_days.mark_tournament(db, tournament_id)
    store_imported(db, change)
    store_summaries(db, tournament_id)
    name = journal.JOURNAL_IMPORTED if lines else journal.TOURNAMENT_IMPORTED
    journal.append(
        db,
        tournament_id,
        [*seeding, (name, journal.encode_change(change))],
        actor_id=context.actor_id,
        source=context.source,
        now=context.now,
        end=chain.store_lines(db, lines) if lines else None,
    )
    announcements.start_epoch(transaction, tournament_id, f"{dice.getrandbits(32):08x}")
    revisions.raise_tournaments(transaction, [tournament_id])


def _with_seed(change: TournamentImported, new_seed: str) -> tuple[TournamentImported, JournalEntries]:
    """The import with this seed, and the entries that tell of it; unchanged without one."""
    if not new_seed:
        return change, ()
    (row,) = change.parts["tournament"]
    state = {**(row["engine"] or {}), "dice_seed": new_seed}
    remembered = {"before": {"state": row["engine"] or {}}, "after": {"state": state}}
    entries = [(DrawRemembered.__name__, remembered), *commitment_notes(new_seed)]
    return replace(change, parts={**change.parts, "tournament": [{**row, "engine": state}]}), entries


def _with_first_completion(db: Connection, change: TournamentImported) -> TournamentImported:
    """The import of a running tournament, which reopens the completed one that is stored here.

    What the file itself says of an earlier completion comes first.
    """
    (row,) = change.parts["tournament"]
    if row["status"] != "started" or row.get("rated_until") is not None:
        return change
    if snapshot.stored_type(db, change.tournament_id) not in FORMATS:
        return change
    stored = snapshot.load(db, change.tournament_id)
    reopening, rated_until = stored.reopening, stored.rated_until
    if stored.status == "completed":
        reopening, rated_until = plays.reopening_of(stored)
    kept = {"reopening": msgspec.to_builtins(reopening), "rated_until": rated_until}
    return replace(change, parts={**change.parts, "tournament": [{**row, **kept}]})
