"""Indexes of the parts of a tournament, and values made from them: carried from state to state.

A tournament is frozen, so its indexes are made once for a state. After a change `apply` hands them to the
next state with what changed, instead of making them from all items again.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
KeysOf: TypeAlias = Callable[[Any], tuple[Hashable, ...]]
Groups: TypeAlias = Mapping[Any, tuple[Any, ...]]

NEW_ID_FIRST = 2**62
# The cached property of a tournament that holds values kept with their sources.
KEPT_VALUES = "kept_values"


@dataclass(frozen=True)
class PartIndex:
    """The items of a part by key; an item with several keys is in several groups, without one in none."""

    part: str
    keys_of: KeysOf


@dataclass(frozen=True)
class ItemStep:
    """A step from one state of a part to the next: an item added at the end, or another in its place.

    `before` is None for an added item. A step of another kind is None.
    """

    before: Any
    after: Any


def group_items(items: Iterable[Any], keys_of: KeysOf) -> Groups:
    """Key -> its items, in their order; keys in the order of their first item."""
    groups: dict[Hashable, list[Any]] = {}
    for item in items:
        for key in keys_of(item):
            groups.setdefault(key, []).append(item)
    return {key: tuple(listed) for key, listed in groups.items()}


def index_order(item: Any, id_name: str) -> tuple[int, int]:
    """The place of an item in its part: by place where there is one, then by id.

    New ones have falling negative ids and come last.
    """
    item_id = getattr(item, id_name)
    return (getattr(item, "place", 0), item_id if item_id > 0 else NEW_ID_FIRST - item_id)


def position_by_id(items: Sequence[Any], id_name: str, item_id: int) -> int | None:
    """Where the item with this id is; None when it is not there. Quick where items ascend by id."""
    wanted = item_id if item_id > 0 else NEW_ID_FIRST - item_id
    low, high = 0, len(items)
    while low < high:
        middle = (low + high) // 2
        found = getattr(items[middle], id_name)
        if found == item_id:
            return middle
        if (found if found > 0 else NEW_ID_FIRST - found) < wanted:
            low = middle + 1
        else:
            high = middle
    # Entrants and arenas are in the order in which they were added.
    return next((at for at, item in enumerate(items) if getattr(item, id_name) == item_id), None)


def find_by_id(items: Sequence[T], id_name: str, item_id: int) -> T | None:
    """The item with this id; None when it is not there."""
    at = position_by_id(items, id_name, item_id)
    return None if at is None else items[at]


def lowest_id(items: Sequence[Any], id_name: str) -> int:
    """The lowest id of items that ascend by id, 0 without negative ones: new ones come last, and fall."""
    return min(0, getattr(items[-1], id_name)) if items else 0


def followed_groups(
    groups: Groups, index: PartIndex, steps: Sequence[ItemStep | None], id_name: str
) -> Groups | None:
    """The groups after these steps; None where they are not clear from the steps alone."""
    after: dict[Any, Any] = dict(groups)
    for step in steps:
        if step is None or not _follow_step(after, index.keys_of, step, id_name):
            return None
    # The groups that changed are lists.
    return {key: tuple(group) for key, group in after.items() if group}


def _follow_step(groups: dict[Any, Any], keys_of: KeysOf, step: ItemStep, id_name: str) -> bool:
    new_keys = keys_of(step.after)
    if step.before is None:
        for key in new_keys:
            _changeable_group(groups, key).append(step.after)
        return True
    old_keys = keys_of(step.before)
    if new_keys and new_keys != old_keys:
        return False
    for key in old_keys:
        group = _changeable_group(groups, key)
        at = position_by_id(group, id_name, getattr(step.before, id_name))
        assert at is not None
        if new_keys:
            group[at] = step.after
        else:
            del group[at]
            if not group:
                del groups[key]
    return True


def _changeable_group(groups: dict[Any, Any], key: Hashable) -> list[Any]:
    """The group of a key as a list, which takes the place of the tuple."""
    group = groups.get(key, ())
    if isinstance(group, tuple):
        group = groups[key] = list(group)
    changeable: list[Any] = group
    return changeable


def kept_value(tournament: Any, name: Hashable, sources: tuple[Any, ...], compute: Callable[[], T]) -> T:
    """The value of this name, computed again only when one of its sources is another object than before.

    The value must not be changed, and must follow from the sources alone. The next state takes it over.
    """
    values: dict[Hashable, tuple[tuple[Any, ...], Any]] = tournament.kept_values
    kept = values.get(name)
    if kept is not None and all(old is new for old, new in zip(kept[0], sources, strict=True)):
        found: T = kept[1]
        return found
    value = compute()
    values[name] = (sources, value)
    return value
