"""Backward replay of the journal: from the stored data to the tournament's initial state.

Each change must lead to the state at that point; where it does not, the stored data differs from the journal.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct, field

from silverball.kit.values import replace
from silverball.rules.model.apply import ID_FIELDS
from silverball.rules.model.changes import Added, Altered, Change, Removed, TournamentAltered
from silverball.rules.model.engine_state import EngineState
from silverball.rules.model.tournament import Bank, Entrant, LineupArena, Tournament

# (part, id) -> item.
ItemsById: TypeAlias = dict[tuple[str, int], Any]
PART_NAMES = {
    "entrants": "entrant",
    "lineup": "arena",
    "banks": "bank",
    "rounds": "round",
    "games": "game",
    "suggestions": "suggestion",
    "single_player_games": "single player game",
    "cards": "card",
    "queue": "queue entry",
    "scorekeepers": "scorekeeper",
    "purchases": "purchase",
    "sign_ups": "sign-up of player",
}
# Parts that exist only after the start.
PARTS_OF_PLAY = ("rounds", "games", "suggestions", "single_player_games", "cards", "queue")
TOURNAMENT_FIELDS = (
    "status",
    "settings",
    "points_map",
    "tiebreaker_points_map",
    "has_entry_limits",
    "completed_at",
    "prizes",
    "sign_up_terms",
    "state",
    "details",
)


class ReplayedAction(Struct, frozen=True):
    """An action of the journal with its changes."""

    action_id: int
    changes: Sequence[Change]
    # The id of the action that this one undid.
    undone_action_id: int | None = None


class ReplayState(Struct):
    """The state of a tournament: items by part and id, and the tournament's own fields."""

    items: ItemsById = field(default_factory=dict)
    tournament_fields: dict[str, Any] = field(default_factory=dict)

    def items_of_part(self, part: str) -> list[Any]:
        """Items of a part, ascending by id."""
        return [
            item
            for (kind, _), item in sorted(self.items.items(), key=lambda key_and_item: key_and_item[0])
            if kind == part
        ]


def stored_state(tournament: Tournament) -> ReplayState:
    """The state of a stored tournament."""
    things = {
        (part, getattr(item, name)): comparable_item(item)
        for part, name in ID_FIELDS.items()
        for item in getattr(tournament, part)
    }
    return ReplayState(
        things, {name: _plain_value(name, getattr(tournament, name)) for name in TOURNAMENT_FIELDS}
    )


def comparable_item(item: Any) -> Any:
    """An item without fields that are looked up elsewhere: accounts, categories, arenas of banks."""
    if isinstance(item, Entrant):
        return replace(item, user_id=None, entries_bought=0)
    if isinstance(item, LineupArena):
        return replace(item, category_id=None)
    return replace(item, arena_ids=()) if isinstance(item, Bank) else item


def _plain_value(name: str, value: Any) -> Any:
    """A field of the tournament as plain JSON values."""
    if name == "state" and isinstance(value, EngineState):
        value = value.persistent
    if name == "details" and value is not None:
        # Occasions are changed in the book as well, where no tournament's journal tells of it.
        value = {key: fact for key, fact in value.items() if key != "event_id"}
    return msgspec.json.decode(msgspec.json.encode(value))


def replay_backwards(
    book: ReplayState, actions: Sequence[ReplayedAction]
) -> Iterator[tuple[ReplayedAction, list[str]]]:
    """Undo every action on the state, newest first, and yield each with its faults."""
    for action in reversed(actions):
        faults: list[str] = []
        for change in reversed(action.changes):
            faults += _undo_change(book, change, action.action_id)
        yield action, faults


def _undo_change(book: ReplayState, change: Change, action_id: int) -> list[str]:
    if isinstance(change, TournamentAltered):
        return _undo_fields(book, change, action_id)
    assert isinstance(change, Added | Removed | Altered)
    item = change.after if isinstance(change, Altered) else change.subject
    key = (change.part, getattr(item, ID_FIELDS[change.part]))
    stored, before, after = book.items.get(key), *_before_and_after(change)
    faults = _difference_faults(key, stored, after, type(change).__name__, action_id)
    if before is None:
        book.items.pop(key, None)
    else:
        book.items[key] = before
    return faults


def _before_and_after(change: Added[Any] | Removed[Any] | Altered[Any]) -> tuple[Any, Any]:
    """The item before and after the change; None where it does not exist."""
    if isinstance(change, Altered):
        return comparable_item(change.before), comparable_item(change.after)
    item = comparable_item(change.subject)
    return (None, item) if isinstance(change, Added) else (item, None)


def _difference_faults(
    key: tuple[str, int], stored: Any, after: Any, change: str, action_id: int
) -> list[str]:
    name = f"{PART_NAMES[key[0]]} {key[1]}"
    since = f"since action {action_id} ({change})"
    if stored == after:
        return []
    if stored is None:
        return [f"The {name} is missing: it is there {since}."]
    if after is None:
        return [f"The {name} is stored, but gone {since}."]
    differing = [
        name_ for name_ in after.__struct_fields__ if getattr(stored, name_) != getattr(after, name_)
    ]
    differences = "; ".join(
        f"{name_} is {getattr(stored, name_)!s}, it should be {getattr(after, name_)!s}"
        for name_ in differing
    )
    return [f"The {name} is not what it is {since}: {differences}."]


def _undo_fields(book: ReplayState, change: TournamentAltered, action_id: int) -> list[str]:
    faults = []
    for name, after in change.after.items():
        stored, expected = book.tournament_fields[name], _plain_value(name, after)
        if name in change.before:
            book.tournament_fields[name] = _plain_value(name, change.before[name])
        if stored != expected:
            faults += [
                f"The tournament's {part_name} is {stored_value!s}, since action {action_id} "
                f"({type(change).__name__}) it should be {value!s}."
                for part_name, stored_value, value in _differing_parts(name, stored, expected)
            ]
    return faults


def _differing_parts(name: str, stored: Any, expected: Any) -> list[tuple[str, Any, Any]]:
    if not isinstance(stored, Mapping) or not isinstance(expected, Mapping):
        return [(name, stored, expected)]
    return [
        (f"{name}.{key}", stored.get(key), expected.get(key))
        for key in sorted({*stored, *expected})
        if stored.get(key) != expected.get(key)
    ]


def beginning_faults(book: ReplayState, began: Tournament | None, counts: Mapping[str, Any]) -> list[str]:
    """Differences between the state before the first action and the expected initial state.

    Takes the tournament as it was created, if it was created here, or the counts of imported items.
    """
    faults = []
    for part, name in PART_NAMES.items():
        left = [key for kind, key in sorted(book.items) if kind == part]
        if part in counts and len(left) != counts[part]:
            faults.append(f"{counts[part]} {part} came in, {len(left)} are left of them.")
        if began is not None or (part in PARTS_OF_PLAY and book.tournament_fields["status"] == "planned"):
            faults += [f"The {name} {key} is stored, but no action of the journal made it." for key in left]
    if began is not None:
        for field_name in TOURNAMENT_FIELDS:
            stored, expected = (
                book.tournament_fields[field_name],
                _plain_value(field_name, getattr(began, field_name)),
            )
            faults += [
                f"The tournament's {part_name} is {stored_value!s}, it was created with {value!s}."
                for part_name, stored_value, value in _differing_parts(field_name, stored, expected)
                if stored != expected
            ]
    return faults
