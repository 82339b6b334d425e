"""Indexes of the parts of a tournament, and values made from them: carried from state to state.

A tournament is frozen, so its indexes are made once for a state. After a change `apply` hands them to the
next state with what changed, instead of making them from all items again.
"""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache
from operator import attrgetter, is_
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from silverball.kit.errors import NotFound

T = TypeVar("T")
KeysOf: TypeAlias = Callable[[Any], tuple[Hashable, ...]]
Groups: TypeAlias = Mapping[Any, tuple[Any, ...]]

NEW_ID_FIRST = 2**62
# The cached property of a tournament that holds values kept with their sources.
KEPT_VALUES = "kept_values"


class PartIndex(Struct, frozen=True):
    """The items of a part by key; an item with several keys is in several groups, without one in none."""

    part: str
    keys_of: KeysOf


class ItemStep(Struct, frozen=True):
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
    return (getattr(item, "place", 0), _rank_by_id(getattr(item, id_name)))


def position_by_id(items: Sequence[Any], id_name: str, item_id: int) -> int | None:
    """Where the item with this id is; None when it is not there. Quick where items ascend by id."""
    read_id = _id_reader(id_name)
    if items:
        # The ids of a night mostly follow one another.
        guess = item_id - read_id(items[0])
        if 0 <= guess < len(items) and read_id(items[guess]) == item_id:
            return guess
    if items and item_id > 0 and read_id(items[-1]) > 0:
        # None of them is new, as new ones come last.
        at = bisect_left(items, item_id, key=read_id)
    else:
        at = bisect_left(items, _rank_by_id(item_id), key=lambda item: _rank_by_id(read_id(item)))
    if at < len(items) and read_id(items[at]) == item_id:
        return at
    # Entrants and arenas are in the order in which they were added.
    return next((at for at, item in enumerate(items) if getattr(item, id_name) == item_id), None)


@cache
def _id_reader(id_name: str) -> Callable[[Any], int]:
    return attrgetter(id_name)


def _rank_by_id(item_id: int) -> int:
    """The place among items that ascend by id: new ones have falling negative ids, and come last."""
    return item_id if item_id > 0 else NEW_ID_FIRST - item_id


def find_by_id(items: Sequence[T], id_name: str, item_id: int) -> T | None:
    """The item with this id; None when it is not there."""
    at = position_by_id(items, id_name, item_id)
    return None if at is None else items[at]


def require_by_id(items: Sequence[T], id_name: str, item_id: int, kind: str) -> T:
    """The item with this id. Raises NotFound, which names the kind."""
    item = find_by_id(items, id_name, item_id)
    if item is None:
        raise NotFound(kind, item_id)
    return item


def lowest_id(items: Sequence[Any], id_name: str) -> int:
    """The lowest id of items that ascend by id, 0 without negative ones: new ones come last, and fall."""
    return min(0, getattr(items[-1], id_name)) if items else 0


def followed_groups(
    groups: Groups, index: PartIndex, steps: Sequence[ItemStep | None], id_name: str
) -> Groups | None:
    """The groups after these steps; None where they are not clear from the steps alone."""
    after: dict[Any, Any] = dict(groups)
    # Key -> its group as a list, which takes the place of the tuple.
    changed: dict[Hashable, list[Any]] = {}
    for step in steps:
        if step is None:
            return None
        keys = new_keys = index.keys_of(step.after)
        if step.before is not None:
            keys = index.keys_of(step.before)
            if new_keys and new_keys != keys:
                return None
        for key in keys:
            group = changed.get(key)
            if group is None:
                group = changed[key] = list(after.get(key, ()))
            if step.before is None:
                group.append(step.after)
            else:
                at = position_by_id(group, id_name, getattr(step.before, id_name))
                assert at is not None
                # Without keys it is in no group any more.
                group[at : at + 1] = [step.after] if new_keys else []
            if group:
                # Holds the place of the key among the others.
                after[key] = ()
            else:
                del after[key]
    for key, group in changed.items():
        if group:
            after[key] = tuple(group)
    return after


def kept_value(tournament: Any, name: Hashable, sources: tuple[Any, ...], compute: Callable[[], T]) -> T:
    """The value of this name, computed again only when one of its sources is another object than before.

    The value must not be changed, and must follow from the sources alone. The next state takes it over.
    """
    values: dict[Hashable, tuple[tuple[Any, ...], Any]] = tournament.kept_values
    kept = values.get(name)
    if kept is not None and _are_same(kept[0], sources):
        found: T = kept[1]
        return found
    value = compute()
    values[name] = (sources, value)
    return value


def kept_while_equal(
    tournament: Any, name: Hashable, sources: tuple[Any, ...], compute: Callable[[], T]
) -> T:
    """The value as `kept_value`, and the same object as before where it is equal: itself a good source."""
    kept = tournament.kept_values.get(name)

    def compute_or_keep() -> T:
        value = compute()
        if kept is not None and kept[1] == value:
            before: T = kept[1]
            return before
        return value

    return kept_value(tournament, name, sources, compute_or_keep)


def _are_same(some: Sequence[Any], others: Sequence[Any]) -> bool:
    return len(some) == len(others) and all(map(is_, some, others))
