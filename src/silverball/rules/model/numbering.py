"""Real ids for new things: rules number what they make from -1 down, the door hands out the ids."""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

from silverball.rules.model.apply import ID_FIELDS
from silverball.rules.model.changes import Added, Altered, Change, Removed

# Field of a thing -> the kind of thing it names.
PART_BY_ID_FIELD = {
    "round_id": "rounds",
    "game_id": "games",
    "suggestion_id": "suggestions",
    "single_player_game_id": "single_player_games",
    "card_id": "cards",
    "queue_id": "queue",
    "entry_id": "purchases",
}
NewId = Callable[[str], int]
AssignedIds = dict[tuple[str, int], int]


def assign_ids(changes: Sequence[Change], new_id: NewId) -> list[Change]:
    """The same changes with real ids. `new_id` takes the kind ("games", ...) and gives an unused id."""
    given: AssignedIds = {}
    return [_assign_ids_to_change(change, given, new_id) for change in changes]


def _assign_ids_to_change(change: Change, given: AssignedIds, new_id: NewId) -> Change:
    if isinstance(change, Added):
        name = ID_FIELDS[change.part]
        key = getattr(change.thing, name)
        if key < 0:
            given[change.part, key] = new_id(change.part)
        return replace(change, thing=_with_real_ids(change.thing, given))
    if isinstance(change, Removed):
        return replace(change, thing=_with_real_ids(change.thing, given))
    if isinstance(change, Altered):
        return replace(
            change, before=_with_real_ids(change.before, given), after=_with_real_ids(change.after, given)
        )
    return change


def _with_real_ids(thing: Any, given: AssignedIds) -> Any:
    renamed = {}
    for field_ in fields(thing):
        kind = PART_BY_ID_FIELD.get(field_.name)
        value = getattr(thing, field_.name)
        if kind is not None and value is not None and value < 0:
            renamed[field_.name] = given[kind, value]
    return replace(thing, **renamed) if renamed else thing
