"""The journal: changes as JSON and back, written in order and never trimmed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, func, insert, select

from silverball.rules.model import changes as change_classes
from silverball.rules.model import settings
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
    Purchase,
    QueueSpot,
    Round,
    Scorekeeper,
    SinglePlayerGame,
    Suggestion,
    Tournament,
)
from silverball.rules.registry import FORMATS
from silverball.store import tables

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
}
# Change name -> its class; only changes that can be read back.
CHANGES: Mapping[str, type[Change]] = {
    name: kind
    for name, kind in vars(change_classes).items()
    if isinstance(kind, type)
    and issubclass(kind, (Added, Altered, Removed, TournamentAltered))
    and hasattr(kind, "undone_by")
}
# Beside changes the journal has entries for an undo and for the creation of a tournament.
ACTION_UNDONE = "ActionUndone"
TOURNAMENT_CREATED = "TournamentCreated"
TOURNAMENT_IMPORTED = TournamentImported.__name__
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


@dataclass(frozen=True, kw_only=True)
class Action:
    """The journal entries of one request."""

    action_id: int
    actor_id: int | None
    source: str
    at: datetime
    dice_seed: str | None
    # Change name and data, in order.
    entries: tuple[tuple[str, Any], ...]

    @property
    def undone_action_id(self) -> int | None:
        """The action that this one undid; None when it is no undo."""
        return next((data["action"] for name, data in self.entries if name == ACTION_UNDONE), None)

    @property
    def is_undoable(self) -> bool:
        """Whether all of its changes have opposites."""
        return self.undone_action_id is None and all(name in CHANGES for name, _ in self.entries)

    def decode_changes(self, type_: str) -> list[Change]:
        """The changes, decoded. Takes the type of the tournament."""
        return [decode_change(name, data, type_) for name, data in self.entries if name in CHANGES]


def encode_change(change: Change) -> dict[str, Any]:
    """The journal's JSON for a change."""
    if isinstance(change, TournamentImported):
        return dict(change.journal_value())
    if isinstance(change, (Added, Removed)):
        return {"thing": msgspec.to_builtins(change.subject)}
    if isinstance(change, Altered | TournamentAltered):
        return {"before": msgspec.to_builtins(change.before), "after": msgspec.to_builtins(change.after)}
    raise ValueError(f"{type(change).__name__} cannot be journalled")


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


def _decode_value(data: Any, type_: type) -> Any:
    # JSON has only text as keys of maps.
    return msgspec.convert(data, type_, strict=False)


def _decode_fields(values: Mapping[str, Any], type_: str) -> dict[str, Any]:
    fields = dict(values)
    if "settings" in fields:
        fields["settings"] = settings.read_settings(FORMATS[type_].settings, fields["settings"])
    if "state" in fields:
        fields["state"] = _decode_value(fields["state"], EngineState)
    if fields.get("completed_at") is not None:
        fields["completed_at"] = msgspec.convert(fields["completed_at"], datetime)
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
    newest_action_id: int | None = None,
) -> int:
    """Append one action and return its id, which counts up from 1 in each tournament.

    `newest_action_id` saves a query when the caller knows the id of the action before.
    """
    if newest_action_id is None:
        newest = select(func.max(tables.journal.c.action_id))
        newest_action_id = db.execute(
            newest.where(tables.journal.c.tournament_id == tournament_id)
        ).scalar_one()
    action_id = int(newest_action_id or 0) + 1
    common = {
        "tournament_id": tournament_id,
        "action_id": action_id,
        "actor_id": actor_id,
        "source": source,
        "at": now,
        "dice_seed": dice_seed,
    }
    db.execute(
        insert(tables.journal), [{**common, "change": name, "data": dict(data)} for name, data in entries]
    )
    return action_id


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
    return _load_actions(db, entries)


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


def all_actions(db: Connection, tournament_id: int) -> list[Action]:
    """Every action, first to last."""
    entry = tables.journal.c
    entries = select(tables.journal).where(entry.tournament_id == tournament_id)
    return _load_actions(db, entries.order_by(entry.journal_id))


def _load_actions(db: Connection, entries: Select[Any]) -> list[Action]:
    rows_by_action: dict[int, list[Any]] = {}
    for row in db.execute(entries):
        rows_by_action.setdefault(row.action_id, []).append(row)
    return [
        Action(
            action_id=action_id,
            actor_id=rows[0].actor_id,
            source=rows[0].source,
            at=rows[0].at,
            dice_seed=rows[0].dice_seed,
            entries=tuple((row.change, row.data) for row in rows),
        )
        for action_id, rows in rows_by_action.items()
    ]


def newest_undoable_action(actions: Sequence[Action]) -> Action | None:
    """The action that the next undo takes back. Takes actions newest first."""
    undone: set[int] = set()
    for action in actions:
        if action.undone_action_id is not None:
            undone.add(action.undone_action_id)
        elif action.action_id not in undone:
            return action if action.is_undoable else None
    return None
