"""Places shared by equals: competition ranking (1, 2, 2, 4). Source: formats, section 13.2."""

from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from itertools import groupby
from typing import Any, Protocol, TypeVar


class Sortable(Protocol):
    """Anything that can be put in order: numbers, texts, tuples of them."""

    def __lt__(self, other: Any, /) -> bool:
        """Whether this comes first."""
        ...


Key = TypeVar("Key", bound=Sortable)


def positions(keys: Mapping[int, Key], *, highest_first: bool = True) -> dict[int, int]:
    """Position of each player, equals sharing the better one and the next position skipped.

    Takes player id -> key (numbers or tuples, compared as they are) and returns player id -> position,
    in the order of the standings: by position, then by player id. Turn single parts of a tuple round by
    negating them. Source: formats, section 13.2 (2,761 of 2,761 observed rows).
    """
    placed: dict[int, int] = {}
    for group in tied_groups(keys, highest_first=highest_first):
        position = len(placed) + 1
        placed.update(dict.fromkeys(group, position))
    return placed


def tied_groups(keys: Mapping[int, Key], *, highest_first: bool = True) -> list[tuple[int, ...]]:
    """Player ids with equal keys together, best group first, ids ascending inside a group.

    Takes player id -> key as `positions` does. Source: formats, section 13.2.
    """
    ids_ascending = sorted(keys)
    # sorted() keeps the order of equals even when reversed, so ids stay ascending.
    ordered = sorted(ids_ascending, key=lambda player_id: keys[player_id], reverse=highest_first)
    return [tuple(members) for _, members in groupby(ordered, key=lambda player_id: keys[player_id])]


def ids_in_order(placed: Mapping[int, int]) -> list[int]:
    """Player ids by position, then by player id. Takes player id -> position."""
    return sorted(placed, key=lambda player_id: (placed[player_id], player_id))


def members_by_position(placed: Mapping[int, int]) -> dict[int, tuple[int, ...]]:
    """Position -> the player ids that share it, best position first. Takes player id -> position."""
    ordered = ids_in_order(placed)
    shared = groupby(ordered, key=lambda player_id: placed[player_id])
    return {position: tuple(members) for position, members in shared}


def mean_half_up(values: Sequence[int]) -> int:
    """The mean of whole points, rounded half up to whole points.

    Raises ValueError when there are no values. Source: formats, section 21 (154 of 154 tie groups).
    """
    if not values:
        raise ValueError("there is no mean of no values")
    mean = Decimal(sum(values)) / Decimal(len(values))
    return int(mean.quantize(Decimal(1), ROUND_HALF_UP))
