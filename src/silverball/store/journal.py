"""The journal: changes as JSON and back, written in order and never trimmed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, func, insert, select

from silverball.rules.model import changes as facts
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
# Change name -> its class; only what can be read back.
CHANGES: Mapping[str, type[Change]] = {
    name: one
    for name, one in vars(facts).items()
    if isinstance(one, type)
    and issubclass(one, (Added, Altered, Removed, TournamentAltered))
    and hasattr(one, "undone_by")
}
# Beside changes the journal names what was undone, and what a tournament was made of.
ACTION_UNDONE = "ActionUndone"
TOURNAMENT_CREATED = "TournamentCreated"
CREATION_FIELDS = (
    "settings",
    "points_map",
    "tiebreaker_points_map",
    "has_entry_limits",
    "state",
    "details",
)
ACTIONS_MAX = 10_000
# What gives a game the result it has.
RESULT_CHANGES = ("GameCompleted", "GameCorrected")
RESULT_ENTRIES_MAX = 5_000


@dataclass(frozen=True, kw_only=True)
class Action:
    """One request and the changes it stated."""

    action_id: int
    actor_id: int | None
    source: str
    at: datetime
    dice_seed: str | None
    # Change name and data, in order.
    entries: tuple[tuple[str, Any], ...]

    @property
    def undone_action_id(self) -> int | None:
        """The action that this one took back."""
        found = [data["action"] for name, data in self.entries if name == ACTION_UNDONE]
        return found[0] if found else None

    @property
    def is_undoable(self) -> bool:
        """Whether it consists of changes that have opposites."""
        return self.undone_action_id is None and all(name in CHANGES for name, _ in self.entries)

    def decode_changes(self, type_: str) -> list[Change]:
        """The changes, read back. Takes the type of the tournament."""
        return [decode_change(name, data, type_) for name, data in self.entries if name in CHANGES]


def encode_change(change: Change) -> dict[str, Any]:
    """What is kept of a change."""
    if isinstance(change, TournamentImported):
        return dict(change.journal_value())
    if isinstance(change, (Added, Removed)):
        return {"thing": msgspec.to_builtins(change.thing)}
    if isinstance(change, Altered | TournamentAltered):
        return {"before": msgspec.to_builtins(change.before), "after": msgspec.to_builtins(change.after)}
    raise ValueError(f"{type(change).__name__} cannot be journalled")


def decode_change(name: str, data: Mapping[str, Any], type_: str) -> Change:
    """A change that was kept. Takes the type of the tournament, whose settings it may hold."""
    kind: Any = CHANGES[name]
    if issubclass(kind, TournamentAltered):
        before, after = (_decode_fields(data[side], type_) for side in ("before", "after"))
        return kind(before, after)  # type: ignore[no-any-return]  # one of the classes above
    thing = THING_TYPES[kind.part]
    if issubclass(kind, Altered):
        return kind(_decode_value(data["before"], thing), _decode_value(data["after"], thing))  # type: ignore[no-any-return]  # as above
    return kind(_decode_value(data["thing"], thing))  # type: ignore[no-any-return]  # as above


def _decode_value(data: Any, thing: type) -> Any:
    # Keys of maps come back as text.
    return msgspec.convert(data, thing, strict=False)


def _decode_fields(values: Mapping[str, Any], type_: str) -> dict[str, Any]:
    read = dict(values)
    if "settings" in read:
        read["settings"] = settings.read_settings(FORMATS[type_].settings, read["settings"])
    if "state" in read:
        read["state"] = _decode_value(read["state"], EngineState)
    if read.get("completed_at") is not None:
        read["completed_at"] = msgspec.convert(read["completed_at"], datetime)
    return read


def encode_creation(tournament: Tournament) -> dict[str, Any]:
    """What is kept of a new tournament: all that is not a thing in it."""
    return {name: msgspec.to_builtins(getattr(tournament, name)) for name in CREATION_FIELDS}


def decode_creation(tournament_id: int, type_: str, data: Mapping[str, Any]) -> Tournament:
    """The tournament as it was created: planned, and nobody in it."""
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
    """Write one action down; returns its id, which counts up from 1 in each tournament.

    `newest` is the newest action there is, when that is known.
    """
    if newest_action_id is None:
        own = tables.journal.c.tournament_id == tournament_id
        newest_action_id = db.execute(select(func.max(tables.journal.c.action_id)).where(own)).scalar_one()
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
    """The newest actions, newest first; with `before` only older ones."""
    entry = tables.journal.c
    wanted = select(entry.action_id).where(entry.tournament_id == tournament_id).distinct()
    if before is not None:
        wanted = wanted.where(entry.action_id < before)
    ids = wanted.order_by(entry.action_id.desc()).limit(limit).subquery()
    found = (
        select(tables.journal)
        .where(entry.tournament_id == tournament_id, entry.action_id.in_(select(ids.c.action_id)))
        .order_by(entry.action_id.desc(), entry.journal_id)
    )
    return _load_actions(db, found)


def note_device(
    db: Connection, tournament_id: int, action_id: int, *, device_id: int, player_id: int | None
) -> None:
    """Write down that a device did this action: with a printed code, whose code it was."""
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
    """The action that gave a game its result, its actor, and when; None when the journal has none."""
    entry = tables.journal.c
    found = (
        select(entry.action_id, entry.actor_id, entry.at, entry.data)
        .where(entry.tournament_id == tournament_id, entry.change.in_(RESULT_CHANGES))
        .order_by(entry.journal_id.desc())
        .limit(RESULT_ENTRIES_MAX)
    )
    for action_id, actor_id, at, data in db.execute(found):
        if data["after"]["game_id"] == game_id:
            return action_id, actor_id, at
    return None


def all_actions(db: Connection, tournament_id: int) -> list[Action]:
    """Every action, first to last."""
    entry = tables.journal.c
    found = select(tables.journal).where(entry.tournament_id == tournament_id).order_by(entry.journal_id)
    return _load_actions(db, found)


def _load_actions(db: Connection, found: Select[Any]) -> list[Action]:
    made: dict[int, list[Any]] = {}
    for row in db.execute(found):
        made.setdefault(row.action_id, []).append(row)
    return [
        Action(
            action_id=action_id,
            actor_id=group[0].actor_id,
            source=group[0].source,
            at=group[0].at,
            dice_seed=group[0].dice_seed,
            entries=tuple((row.change, row.data) for row in group),
        )
        for action_id, group in made.items()
    ]


def newest_undoable_action(found: Sequence[Action]) -> Action | None:
    """The action that undo would take back next. Takes actions newest first."""
    taken_back: set[int] = set()
    for one in found:
        if one.undone_action_id is not None:
            taken_back.add(one.undone_action_id)
        elif one.action_id not in taken_back:
            return one if one.is_undoable else None
    return None
