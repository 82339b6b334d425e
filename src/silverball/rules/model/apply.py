"""The tournament after a change: the snapshot follows as the stored rows do.

Source of truth for replaying a journal: `apply_all(before, changes)` equals the stored tournament.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from silverball.rules.model.changes import Added, Altered, Change, Removed, TournamentAltered
from silverball.rules.model.tournament import Tournament

NEW_ID_FIRST = 2**62

# The field that identifies a thing of each part.
ID_FIELDS = {
    "entrants": "player_id",
    "lineup": "arena_id",
    "banks": "bank_id",
    "rounds": "round_id",
    "games": "game_id",
    "suggestions": "suggestion_id",
    "single_player_games": "single_player_game_id",
    "cards": "card_id",
    "queue": "queue_id",
    "scorekeepers": "user_id",
    "purchases": "entry_id",
}
# Fields looked up in the organizer's book: a change holds an old value, and the current one counts.
LOOKED_UP_FIELDS = {"entrants": "user_id", "lineup": "category_id", "banks": "arena_ids"}


def apply_change(tournament: Tournament, change: Change) -> Tournament:
    """The tournament after this change. Raises ValueError when the change does not fit."""
    if isinstance(change, TournamentAltered):
        return replace(tournament, **change.after)
    parts: dict[str, Any] = {change.part: _changed_part(getattr(tournament, change.part), change)}
    return replace(tournament, **parts)


def apply_changes(tournament: Tournament, changes: Iterable[Change]) -> Tournament:
    """The tournament after all these changes, in their order."""
    for change in changes:
        tournament = apply_change(tournament, change)
    return tournament


def _changed_part(items: tuple[Any, ...], change: Change) -> tuple[Any, ...]:
    name = ID_FIELDS[change.part]
    if isinstance(change, Added):
        return _insert_item(items, change.subject, name)
    if isinstance(change, Removed):
        return _replace_item(items, change.subject, None, name)
    if isinstance(change, Altered):
        return _replace_item(items, change.before, change.after, name, LOOKED_UP_FIELDS.get(change.part))
    raise ValueError(f"{type(change).__name__} is not a change of a part")


def _insert_item(items: tuple[Any, ...], item: Any, name: str) -> tuple[Any, ...]:
    key = getattr(item, name)
    if any(getattr(part, name) == key for part in items):
        raise ValueError(f"{name} {key} exists already")
    if not items or _sort_key(items[-1], name) < _sort_key(item, name):
        return (*items, item)
    return tuple(sorted((*items, item), key=lambda each: _sort_key(each, name)))


def _sort_key(item: Any, name: str) -> tuple[int, int]:
    """By place where there is one, then by id. New ones have falling negative ids and come last."""
    key = getattr(item, name)
    return (getattr(item, "place", 0), key if key > 0 else NEW_ID_FIRST - key)


def _replace_item(
    items: tuple[Any, ...], before: Any, after: Any, name: str, looked_up: str | None = None
) -> tuple[Any, ...]:
    key = getattr(before, name)
    for at, stored in enumerate(items):
        if getattr(stored, name) == key:
            if stored != before:
                raise ValueError(f"{name} {key} is not what the change says it was")
            if looked_up is not None:
                after = replace(after, **{looked_up: getattr(stored, looked_up)})
            replacement = () if after is None else (after,)
            return (*items[:at], *replacement, *items[at + 1 :])
    raise ValueError(f"{name} {key} is not there")
