"""Ids of the machine database (OPDB).

`G4ODR` is a group (a title with all its models), `G4ODR-MLzY7` one of its machines, and
`G43W4-MrRpw-A1B7O` another name or trim of a machine. Ids are case-sensitive.
Source: interface 2.8.
"""

import re
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

EntryType = Literal["machineGroup", "machine", "alias"]

# The machine database assigns G only; machines that an operator adds here get an H.
OPDB_LETTER, HOMEBREW_LETTER = "G", "H"
_TAIL = r"([A-Za-z0-9]+)(?:-M([A-Za-z0-9]+)(?:-A([A-Za-z0-9]+))?)?"
# An id of either kind without capturing groups, for checking the form only.
ID_PATTERN = "[GH][A-Za-z0-9]+(?:-M[A-Za-z0-9]+(?:-A[A-Za-z0-9]+)?)?"
_ID = re.compile(f"([{OPDB_LETTER}{HOMEBREW_LETTER}]){_TAIL}")
# `(Pro)`, `(Remake) (LE)`: the suffix of a model's name after the name of its title.
_QUALIFIERS = re.compile(r"(?:\s*\([^()]*\))+\s*$")
_ARTICLES = ("The ", "A ", "An ")


class MachineId(Struct, frozen=True):
    """The parts of an id, each without its prefix letter."""

    letter: str
    group: str
    machine: str | None = None
    alias: str | None = None

    @property
    def is_homebrew(self) -> bool:
        """Whether the machine was added here and is not in the machine database."""
        return self.letter == HOMEBREW_LETTER

    @property
    def group_id(self) -> str:
        """The id of the group: `G4ODR`."""
        return f"{self.letter}{self.group}"

    @property
    def machine_id(self) -> str | None:
        """The id of the machine (of an alias too): `G4ODR-MLzY7`; None for a group."""
        return None if self.machine is None else f"{self.group_id}-M{self.machine}"

    @property
    def entry_type(self) -> EntryType:
        """The type of the entry with this id."""
        if self.machine is None:
            return "machineGroup"
        return "machine" if self.alias is None else "alias"


def parse_id(text: str) -> MachineId | None:
    """The parts of an id; None if the text is not an id."""
    match = _ID.fullmatch(text)
    return None if match is None else MachineId(*match.groups())


def is_opdb_id(text: str) -> bool:
    """Whether the text has the form of an id of the machine database."""
    parsed = parse_id(text)
    return parsed is not None and not parsed.is_homebrew


def group_id_of(text: str) -> str | None:
    """The id of the group that this id belongs to; None if the text is not an id."""
    parsed = parse_id(text)
    return None if parsed is None else parsed.group_id


def group_name(names: Iterable[str]) -> str:
    """The name of a group, derived from its machines' names: the shortest, without the model suffix."""
    bare = (_QUALIFIERS.sub("", name) or name for name in names)
    return min(bare, key=lambda name: (len(name), name))


def sort_name(name: str) -> str:
    """`Addams Family, The`: the name with its article last."""
    for article in _ARTICLES:
        if name.startswith(article):
            return f"{name.removeprefix(article)}, {article.strip()}"
    return name
