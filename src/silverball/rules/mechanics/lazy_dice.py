"""Dice that are seeded when they are first rolled."""

from functools import cached_property
from random import Random
from typing import Any, cast


def dice_of(seed: str) -> Random:
    """The dice of a seed, which roll as `Random(seed)`.

    Most results roll none, and seeding them would cost as much as the rest of their rule.
    """
    return cast("Random", _LazyDice(seed))


class _LazyDice:
    def __init__(self, seed: str) -> None:
        self._seed = seed

    @cached_property
    def _seeded(self) -> Random:
        return Random(self._seed)  # noqa: S311  # a draw, not a secret

    def __getattr__(self, name: str) -> Any:
        return getattr(self._seeded, name)
