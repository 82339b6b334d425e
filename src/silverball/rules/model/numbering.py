"""Real ids for new things: rules number them from -1 down, `enact` assigns the stored ids."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from silverball.kit.values import replace
from silverball.rules.model.apply import ID_FIELDS
from silverball.rules.model.changes import Added, Altered, Change, Removed

# Field of a thing -> the part of the tournament that its id refers to.
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
    assigned: AssignedIds = {}
    return [_assign_ids_to_change(change, assigned, new_id) for change in changes]


def _assign_ids_to_change(change: Change, assigned: AssignedIds, new_id: NewId) -> Change:
    if isinstance(change, Added):
        name = ID_FIELDS[change.part]
        key = getattr(change.subject, name)
        if key < 0:
            assigned[change.part, key] = new_id(change.part)
    if isinstance(change, Added | Removed):
        subject = _with_real_ids(change.subject, assigned)
        return change if subject is change.subject else replace(change, subject=subject)
    if isinstance(change, Altered):
        before = _with_real_ids(change.before, assigned)
        after = _with_real_ids(change.after, assigned)
        is_same = before is change.before and after is change.after
        return change if is_same else replace(change, before=before, after=after)
    return change


def _with_real_ids(item: Any, assigned: AssignedIds) -> Any:
    with_ids = {}
    for name in _id_fields(item.__class__):
        value = getattr(item, name)
        if value is not None and value < 0:
            with_ids[name] = assigned[PART_BY_ID_FIELD[name], value]
    return replace(item, **with_ids) if with_ids else item


@cache
def _id_fields(kind: Any) -> tuple[str, ...]:
    """The fields of things of this kind that hold ids of new things."""
    return tuple(name for name in kind.__struct_fields__ if name in PART_BY_ID_FIELD)
