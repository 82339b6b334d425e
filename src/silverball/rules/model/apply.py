"""The tournament after a change: what the database does with rows, done to the snapshot.

Source of truth for replaying a journal: `apply_all(before, changes)` equals the stored tournament.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from silverball.rules.model.changes import Added, Altered, Change, Removed, TournamentAltered
from silverball.rules.model.tournament import Tournament

NEW_ID_FIRST = 2**62

# What tells things of a kind apart.
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
# What is looked up in the organizer's book: a change remembers it as it was, but it may be different now.
LOOKED_UP_FIELDS = {"entrants": "user_id", "lineup": "category_id", "banks": "arena_ids"}


def apply_change(tournament: Tournament, change: Change) -> Tournament:
    """The tournament with this change made. Raises ValueError when it does not fit."""
    if isinstance(change, TournamentAltered):
        return replace(tournament, **change.after)
    things: dict[str, Any] = {change.part: _changed_part(getattr(tournament, change.part), change)}
    return replace(tournament, **things)


def apply_changes(tournament: Tournament, changes: Iterable[Change]) -> Tournament:
    """The tournament with all these changes made, in their order."""
    for change in changes:
        tournament = apply_change(tournament, change)
    return tournament


def _changed_part(things: tuple[Any, ...], change: Change) -> tuple[Any, ...]:
    name = ID_FIELDS[change.part]
    if isinstance(change, Added):
        return _insert_thing(things, change.thing, name)
    if isinstance(change, Removed):
        return _replace_thing(things, change.thing, None, name)
    if isinstance(change, Altered):
        return _replace_thing(things, change.before, change.after, name, LOOKED_UP_FIELDS.get(change.part))
    raise ValueError(f"{type(change).__name__} is not a change of a thing")


def _insert_thing(things: tuple[Any, ...], thing: Any, name: str) -> tuple[Any, ...]:
    key = getattr(thing, name)
    if any(getattr(part, name) == key for part in things):
        raise ValueError(f"{name} {key} is there already")
    if not things or _sort_key(things[-1], name) < _sort_key(thing, name):
        return (*things, thing)
    return tuple(sorted((*things, thing), key=lambda one: _sort_key(one, name)))


def _sort_key(thing: Any, name: str) -> tuple[int, int]:
    """By place where there is one, then by id. New things have falling negative ids and come last."""
    key = getattr(thing, name)
    return (getattr(thing, "place", 0), key if key > 0 else NEW_ID_FIRST - key)


def _replace_thing(
    things: tuple[Any, ...], before: Any, after: Any, name: str, looked_up: str | None = None
) -> tuple[Any, ...]:
    key = getattr(before, name)
    for at, one in enumerate(things):
        if getattr(one, name) == key:
            if one != before:
                raise ValueError(f"{name} {key} is not what the change says it was")
            if looked_up is not None:
                after = replace(after, **{looked_up: getattr(one, looked_up)})
            kept = () if after is None else (after,)
            return (*things[:at], *kept, *things[at + 1 :])
    raise ValueError(f"{name} {key} is not there")
