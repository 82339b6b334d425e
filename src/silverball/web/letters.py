"""Long lists of people, divided by their first letters."""

import unicodedata
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import TypeVar

Item = TypeVar("Item")
# Names that begin with no Latin letter come last, together.
OTHER = "Other scripts"


def _plain(name: str) -> str:
    """The name without marks above and below its letters."""
    letters = unicodedata.normalize("NFD", name.strip())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def first_letter(name: str) -> str:
    """The letter under which a list has the name: `A` for Åse."""
    letter = _plain(name)[:1].upper()
    return letter if "A" <= letter <= "Z" else OTHER


def by_letter(items: Iterable[Item], name_of: Callable[[Item], str]) -> list[tuple[str, list[Item]]]:
    """The items in order of their names, under the letters that they begin with."""

    def place(item: Item) -> tuple[bool, str, str]:
        letter = first_letter(name_of(item))
        return letter == OTHER, letter, _plain(name_of(item)).casefold()

    groups = groupby(sorted(items, key=place), lambda item: first_letter(name_of(item)))
    return [(letter, list(group)) for letter, group in groups]
