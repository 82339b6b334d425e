"""The journal: changes as JSON and back, written in order and never trimmed."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Select, func, insert, select, union_all

from silverball.kit.values import convert
from silverball.rules.model import changes as change_classes
from silverball.rules.model import settings
from silverball.rules.model.apply import revert_changes
from silverball.rules.model.changes import (
    Added,
    Altered,
    Change,
    Removed,
    TournamentAltered,
    TournamentImported,
)
from silverball.rules.model.tournament import (
    Bank,
    Card,
    EngineState,
    Entrant,
    Game,
    LineupArena,
    PrizePlan,
    Purchase,
    QueueSpot,
    Reopening,
    Round,
    Scorekeeper,
    SignUpEntry,
    SignUpTerms,
    SinglePlayerGame,
    Suggestion,
    Tournament,
)
from silverball.rules.registry import FORMATS
from silverball.store import tables
from silverball.store.people import arena_merging, merging
from silverball.store.revisions.stamps import Revision
from silverball.store.tables import journal
from silverball.store.tournament import chain, snapshot
from silverball.store.tournament.chain import JournalEnd
from silverball.store.tournament.loaded import SNAPSHOTS, SnapshotCache

THING_TYPES: Mapping[str, type] = {
    "entrants": Entrant,
    "lineup": LineupArena,
    "banks": Bank,
    "rounds": Round,
    "games": Game,
    "suggestions": Suggestion,
    "single_player_games": SinglePlayerGame,
    "cards": Card,
    "queue": QueueSpot,
    "scorekeepers": Scorekeeper,
    "purchases": Purchase,
    "sign_ups": SignUpEntry,
}
TIMEKEEPING = frozenset({"PlayersCalled", "RoundTimerChanged", "ExtraTimeGiven"})
OPENING = frozenset({"GameOpened", "RoundOpened"})
# Change name -> its class; only changes that can be read back.
CHANGES: Mapping[str, type[Change]] = {
    name: kind
    for name, kind in vars(change_classes).items()
    if isinstance(kind, type) and issubclass(kind, Change) and kind.undone_by is not None
}
# Beside changes the journal has entries for an undo and for the creation of a tournament.
ACTION_UNDONE = "ActionUndone"
TOURNAMENT_CREATED = "TournamentCreated"
SUGGESTION_MADE, SUGGESTION_DECIDED = "SuggestionMade", "SuggestionDecided"
TOURNAMENT_IMPORTED = TournamentImported.__name__
# Why the results in the same action were corrected.
RESULT_CORRECTED = "ResultCorrected"
# The tournament's seed was committed to: its hash, by which anybody can check it once it is revealed.
SEED_COMMITTED = "SeedCommitted"
# The operator exported the seed before completion: whoever has the file knows the draws to come.
SEED_EXPORTED = "SeedExported"
# How often the draw of this action was looked at before it was made.
DRAW_PREVIEWED = "DrawPreviewed"
# What the draw of this action took from outside the tournament.
DRAW_FACTS = "DrawFacts"
# A note was written on a game; what it says is in its table, for directors and scorekeepers.
GAME_NOTED = "GameNoted"
# The queue of a machine out of order was dissolved; those who waited in it read so.
QUEUE_DISSOLVED = "QueueDissolved"
# The lines before this one came with the tournament from elsewhere; undo and verification reach into them.
JOURNAL_IMPORTED = "JournalImported"
# Written as the source of actions that hold or call games of a shared room by themselves.
ROOM_SOURCE = "room"
# Entries beside changes that an undo leaves alone.
NOTES = frozenset(
    {
        RESULT_CORRECTED,
        SEED_COMMITTED,
        SEED_EXPORTED,
        DRAW_PREVIEWED,
        DRAW_FACTS,
        GAME_NOTED,
        QUEUE_DISSOLVED,
        JOURNAL_IMPORTED,
    }
)
# A player of the book was merged into another one: earlier lines name the removed player.
PLAYERS_MERGED = "PlayersMerged"
# Likewise with two arenas; the undo of a merge is such a line, the other way round.
ARENAS_MERGED = arena_merging.MERGED
MERGES = (PLAYERS_MERGED, ARENAS_MERGED)
# Written by migration 0011: undo and verification begin after it, as after an import.
MATCHES_MERGED = "MatchesMerged"
CREATION_FIELDS = (
    "settings",
    "points_map",
    "tiebreaker_points_map",
    "has_entry_limits",
    "state",
    "details",
)
ACTIONS_MAX = 10_000
# The changes that give a game its result.
RESULT_CHANGES = ("GameCompleted", "GameCorrected")
RESULT_ENTRIES_MAX = 5_000


class Merge(Struct, frozen=True):
    """A merge of two players or two arenas of the book, as the journal of a tournament has it."""

    tournament_id: int
    action_id: int
    removed_id: int
    remaining_id: int
    is_of_arenas: bool


class Action(Struct, frozen=True, kw_only=True):
    """The journal entries of one request."""

    action_id: int
    actor_id: int | None
    source: str
    at: datetime
    dice_seed: str | None
    # The version of the rules that made the draw; None without one and in lines of an earlier version.
    draw_version: int | None
    # Change name and data, in order.
    entries: tuple[tuple[str, Any], ...]

    @property
    def undone_action_id(self) -> int | None:
        """The action that this one undid; None when it is no undo."""
        return next(iter(self.undone_action_ids), None)

    @property
    def undone_action_ids(self) -> tuple[int, ...]:
        """The actions that this one undid, newest first; a reopening with the completion before it."""
        return tuple(data["action"] for name, data in self.entries if name == ACTION_UNDONE)

    def has_change(self, *names: str) -> bool:
        """Whether one of its changes has one of these names."""
        return any(name in names for name, _ in self.entries)

    @property
    def new_seed(self) -> str | None:
        """The seed that the tournament has from this action on; None where it keeps the one before."""
        seed = None
        for name, data in self.entries:
            fields = data if name == TOURNAMENT_CREATED else data.get("after")
            state = fields.get("state") if isinstance(fields, dict) else None
            if isinstance(state, dict) and state.get("dice_seed"):
                seed = str(state["dice_seed"])
        return seed

    @property
    def is_merge(self) -> bool:
        """Whether it merged two players or arenas of the book, which undo passes over."""
        return self.has_change(*MERGES)

    @property
    def is_import(self) -> bool:
        """Whether it tells that the journal before it was imported, which undo passes over."""
        return self.has_change(JOURNAL_IMPORTED)

    @property
    def is_seed_export(self) -> bool:
        """Whether it tells that the seed was exported, which undo passes over."""
        return self.has_change(SEED_EXPORTED)

    @property
    def is_report(self) -> bool:
        """Whether it is a result that was reported and waits; an undo may pass over it."""
        return bool(self.entries) and all(name == SUGGESTION_MADE for name, _ in self.entries)

    @property
    def is_room_call(self) -> bool:
        """Whether games were held or called by themselves; an undo of what came before takes it back too."""
        return self.actor_id is None and self.source == ROOM_SOURCE

    def suggestion_ids(self, change: str) -> set[int]:
        """Ids of the suggestions in its changes of this name."""
        return {int(data["thing"]["suggestion_id"]) for name, data in self.entries if name == change}

    @property
    def is_call(self) -> bool:
        """Whether it only called players or moved the timer; an undo may pass over it."""
        return bool(self.entries) and all(name in TIMEKEEPING for name, _ in self.entries)

    @property
    def is_below_calls(self) -> bool:
        """Whether its undo leaves later calls and the timer as they are."""
        return not any(name in OPENING or "state" in data.get("before", ()) for name, data in self.entries)

    @property
    def is_undoable(self) -> bool:
        """Whether all of its changes have opposites."""
        return self.undone_action_id is None and all(
            name in CHANGES or name in NOTES for name, _ in self.entries
        )

    def decode_changes(self, type_: str) -> list[Change]:
        """The changes, decoded. Takes the type of the tournament."""
        return [decode_change(name, data, type_) for name, data in self.entries if name in CHANGES]


def encode_change(change: Change) -> dict[str, Any]:
    """The journal's data for a change, which becomes its JSON."""
    if isinstance(change, TournamentImported):
        return dict(change.journal_value())
    if isinstance(change, (Added, Removed)):
        return {"thing": _with_labels_apart(change.subject)}
    if isinstance(change, Altered | TournamentAltered):
        return {"before": _with_labels_apart(change.before), "after": _with_labels_apart(change.after)}
    raise ValueError(f"{type(change).__name__} cannot be journalled")


def _with_labels_apart(side: Any) -> Any:
    """The side of a change, with the labels of a player where the chain finds them to seal them."""
    return msgspec.to_builtins(side) if isinstance(side, Entrant) else side


def decode_change(name: str, data: Mapping[str, Any], type_: str) -> Change:
    """The change of a journal entry. Takes the type of the tournament, whose settings it may hold."""
    kind: Any = CHANGES[name]
    if issubclass(kind, TournamentAltered):
        before, after = (_decode_fields(data[side], type_) for side in ("before", "after"))
        return kind(before, after)  # type: ignore[no-any-return]  # one of the classes above
    part_type = THING_TYPES[kind.part]
    if issubclass(kind, Altered):
        before, after = (_decode_value(data[side], part_type) for side in ("before", "after"))
        return kind(before, after)  # type: ignore[no-any-return]  # as above
    return kind(_decode_value(data["thing"], part_type))  # type: ignore[no-any-return]  # as above


def _decode_value(data: Any, type_: Any) -> Any:
    # JSON has only text as keys of maps.
    return convert(data, type_, strict=False)


def _decode_fields(values: Mapping[str, Any], type_: str) -> dict[str, Any]:
    fields = dict(values)
    if "settings" in fields:
        fields["settings"] = settings.read_settings(FORMATS[type_].settings, fields["settings"])
    if "state" in fields:
        fields["state"] = _decode_value(fields["state"], EngineState)
    if "prizes" in fields:
        fields["prizes"] = _decode_value(fields["prizes"], PrizePlan | None)
    if "sign_up_terms" in fields:
        fields["sign_up_terms"] = _decode_value(fields["sign_up_terms"], SignUpTerms | None)
    if "reopening" in fields:
        fields["reopening"] = _decode_value(fields["reopening"], Reopening | None)
    for name in ("completed_at", "rated_until"):
        if fields.get(name) is not None:
            fields[name] = convert(fields[name], datetime)
    return fields


def encode_creation(tournament: Tournament) -> dict[str, Any]:
    """The journal's JSON for a new tournament, which has no entrants, rounds or games yet."""
    return {name: msgspec.to_builtins(getattr(tournament, name)) for name in CREATION_FIELDS}


def decode_creation(tournament_id: int, type_: str, data: Mapping[str, Any]) -> Tournament:
    """The tournament as it was created: planned and without entrants."""
    return Tournament(
        tournament_id=tournament_id,
        type=FORMATS[type_].type,
        status="planned",
        entrants=(),
        **_decode_fields(data, type_),
    )


def append(
    db: Connection,
    tournament_id: int,
    entries: Sequence[tuple[str, Mapping[str, Any]]],
    *,
    actor_id: int | None,
    source: str,
    now: datetime,
    dice_seed: str | None = None,
    draw_version: int | None = None,
    end: JournalEnd | None = None,
) -> JournalEnd:
    """Append one action and return the new end of the journal; actions count up from 1 in each tournament.

    `end` saves a query when the caller knows the newest line before.
    """
    return chain.append_action(
        db,
        tournament_id,
        entries,
        end or chain.journal_end(db, tournament_id),
        actor_id=actor_id,
        source=source,
        now=now,
        dice_seed=dice_seed,
        draw_version=draw_version,
    )


def newest_actions(
    db: Connection, tournament_id: int, *, before: int | None = None, limit: int = ACTIONS_MAX
) -> list[Action]:
    """The newest actions, newest first; with `before` only actions older than that one."""
    entry = tables.journal.c
    action_ids = select(entry.action_id).where(entry.tournament_id == tournament_id).distinct()
    if before is not None:
        action_ids = action_ids.where(entry.action_id < before)
    ids = action_ids.order_by(entry.action_id.desc()).limit(limit).subquery()
    entries = (
        select(tables.journal)
        .where(entry.tournament_id == tournament_id, entry.action_id.in_(select(ids.c.action_id)))
        .order_by(entry.action_id.desc(), entry.journal_id)
    )
    return _load_actions(db, tournament_id, entries)


def note_device(
    db: Connection, tournament_id: int, action_id: int, *, device_id: int, player_id: int | None
) -> None:
    """Record that a device did this action, and for a printed code the player whose code it is."""
    values = {
        "tournament_id": tournament_id,
        "action_id": action_id,
        "device_id": device_id,
        "player_id": player_id,
    }
    db.execute(insert(tables.device_action).values(**values))


def device_of(db: Connection, tournament_id: int, action_id: int) -> int | None:
    """The device that did this action; None for an account's."""
    action = tables.device_action.c
    found = select(action.device_id).where(
        action.tournament_id == tournament_id, action.action_id == action_id
    )
    return db.execute(found).scalar_one_or_none()


def newest_result(
    db: Connection, tournament_id: int, game_id: int
) -> tuple[int, int | None, datetime] | None:
    """Action id, actor and time of a game's newest result; None when the journal has none."""
    entry = tables.journal.c
    results = (
        select(entry.action_id, entry.actor_id, entry.at, entry.data)
        .where(entry.tournament_id == tournament_id, entry.change.in_(RESULT_CHANGES))
        .order_by(entry.journal_id.desc())
        .limit(RESULT_ENTRIES_MAX)
    )
    for action_id, actor_id, at, data in db.execute(results):
        if data["after"]["game_id"] == game_id:
            return action_id, actor_id, at
    return None


def newest_game_note(db: Connection, tournament_id: int) -> int:
    """Id of the newest action that noted something of a game; what follows in a room is another action."""
    entry = tables.journal.c
    notes = select(entry.action_id).where(entry.tournament_id == tournament_id, entry.change == GAME_NOTED)
    return int(db.execute(notes.order_by(entry.journal_id.desc()).limit(1)).scalar_one())


def all_actions(db: Connection, tournament_id: int) -> list[Action]:
    """Every action, first to last."""
    entry = tables.journal.c
    entries = select(tables.journal).where(entry.tournament_id == tournament_id)
    return _load_actions(db, tournament_id, entries.order_by(entry.journal_id))


def _load_actions(db: Connection, tournament_id: int, entries: Select[Any]) -> list[Action]:
    merges = load_merges(db, [tournament_id])
    rows_by_action: dict[int, list[Any]] = {}
    for row in db.execute(entries):
        rename_merged(row.data, merges, tournament_id, row.action_id)
        rows_by_action.setdefault(row.action_id, []).append(row)
    return [
        Action(
            action_id=action_id,
            actor_id=rows[0].actor_id,
            source=rows[0].source,
            at=rows[0].at,
            dice_seed=rows[0].dice_seed,
            draw_version=rows[0].draw_version,
            entries=tuple((row.change, row.data) for row in rows),
        )
        for action_id, rows in rows_by_action.items()
    ]


def load_merges(db: Connection, tournament_ids: Collection[int]) -> list[Merge]:
    """The merges of players and of arenas in these journals, first to last."""
    entry = tables.journal.c
    columns = select(entry.journal_id, entry.tournament_id, entry.action_id, entry.change, entry.data)
    # A statement for each, because each has an index of its own.
    rows = union_all(
        *(columns.where(entry.tournament_id.in_(tournament_ids), entry.change == name) for name in MERGES)
    )
    return [
        Merge(tournament_id, action_id, data["removed"], data["remaining"], is_of_arenas=False)
        if change == PLAYERS_MERGED
        else Merge(
            tournament_id, action_id, data["removed_arena"], data["remaining_arena"], is_of_arenas=True
        )
        for _, tournament_id, action_id, change, data in sorted(db.execute(rows), key=itemgetter(0))
    ]


def rename_merged(data: dict[str, Any], merges: Sequence[Merge], tournament_id: int, action_id: int) -> None:
    """Put what remained in the place of what was removed after this action, in an entry's data.

    A line is never rewritten, so it names the player or arena of its time; the rows name today's.
    """
    for merge in merges:
        if merge.tournament_id == tournament_id and merge.action_id > action_id:
            rename = arena_merging.swap_ids if merge.is_of_arenas else merging.replace_ids
            rename(data, merge.removed_id, merge.remaining_id)


# The journal tells what came after one of these, and nothing of what was before.
BEGINNINGS = (TOURNAMENT_CREATED, TOURNAMENT_IMPORTED, MATCHES_MERGED)


class JournalDoesNotFit(ValueError):
    """The changes of the journal do not lead to the tournament as it is stored."""


class JournalSpan(Struct, frozen=True):
    """The actions after which a tournament can be shown: the first and the newest."""

    first_action_id: int
    newest_action_id: int


def journal_span(db: Connection, tournament_id: int) -> JournalSpan | None:
    """The span of the journal since the tournament was created or imported; None without a journal."""
    own = journal.c.tournament_id == tournament_id
    first, newest = db.execute(
        select(func.min(journal.c.action_id), func.max(journal.c.action_id)).where(own)
    ).one()
    if newest is None:
        return None
    begun = select(func.max(journal.c.action_id)).where(own, journal.c.change.in_(BEGINNINGS))
    return JournalSpan(db.execute(begun).scalar_one() or first, newest)


def action_time(db: Connection, tournament_id: int, action_id: int) -> datetime:
    """When this action, which exists, was done."""
    own = (journal.c.tournament_id == tournament_id, journal.c.action_id == action_id)
    done_at: datetime = db.execute(select(journal.c.at).where(*own).limit(1)).scalar_one()
    return done_at


def load_after_action(
    db: Connection, tournament_id: int, revision: Revision, span: JournalSpan, action_id: int
) -> Tournament:
    """The tournament as it stood after this action of the span. Raises JournalDoesNotFit.

    What is looked up in the book of the organizer (accounts, categories, banks) is today's.
    """
    cache: SnapshotCache = db.get_execution_options()[SNAPSHOTS]
    known = cache.find_past(tournament_id, action_id, revision)
    if known is not None:
        return known
    present = snapshot.load_at_revision(db, tournament_id, revision).tournament
    later = newest_actions(db, tournament_id, limit=span.newest_action_id - action_id)
    changes = (change for action in later for change in reversed(action.decode_changes(present.type)))
    try:
        past = revert_changes(present, changes)
    except ValueError as error:
        raise JournalDoesNotFit(str(error)) from error
    cache.add_past(past, action_id, revision)
    return past
