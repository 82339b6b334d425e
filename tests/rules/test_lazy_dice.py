"""Dice that are seeded late roll as if they had been seeded at once."""

from collections.abc import Callable
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from silverball.rules.mechanics.lazy_dice import dice_of


def shuffled(dice: Random) -> list[int]:
    cards = list(range(20))
    dice.shuffle(cards)
    return cards


ROLLS: dict[str, Callable[[Random], Any]] = {
    "random": lambda dice: dice.random(),
    "getrandbits": lambda dice: dice.getrandbits(70),
    "randrange": lambda dice: dice.randrange(1_000),
    "choice": lambda dice: dice.choice("ABCDE"),
    "sample": lambda dice: dice.sample(range(50), 7),
    "shuffle": shuffled,
    "gauss": lambda dice: dice.gauss(0, 1),
    "getstate": lambda dice: dice.getstate(),
}


@given(seed=st.text(max_size=20), names=st.lists(st.sampled_from(sorted(ROLLS)), max_size=8))
def test_they_roll_as_pythons_own_dice_of_the_seed(seed: str, names: list[str]) -> None:
    ours, theirs = dice_of(seed), Random(seed)
    assert [ROLLS[name](ours) for name in names] == [ROLLS[name](theirs) for name in names]


def test_nothing_is_seeded_before_they_are_rolled() -> None:
    dice = dice_of("a night/round 1/0")
    assert "_seeded" not in vars(dice)
    dice.random()
    assert "_seeded" in vars(dice)
