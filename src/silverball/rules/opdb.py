"""Ids of the machine database (OPDB).

`G4ODR` is a group (a title with all its models), `G4ODR-MLzY7` one of its machines, and
`G43W4-MrRpw-A1B7O` another name or trim of a machine. Ids are case-sensitive.
Source: interface 2.8.
"""

import re
from collections.abc import Collection, Iterable, Mapping
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


# Resolution of ids of the machine database, which may move (more than once) or be deleted.


class ResolvedId(Struct, frozen=True):
    """The current id for an old one. `opdb_id` is None when the machine was deleted."""

    opdb_id: str | None
    # The changelog leads to no known machine, so the id was left as it is.
    is_unknown: bool = False


def resolve_id(opdb_id: str, moves: Mapping[str, str | None], known: Collection[str]) -> ResolvedId:
    """The current id according to the changelog.

    `moves`: id -> the id that replaced it, or None when it was deleted. `known`: the ids in the stored
    machine database; when it is empty, the changelog alone decides. The last known id of a chain counts,
    because the changelog may be ahead of the database, and the database may still have replaced ids. Ids
    in a circle stay if they are known. Resolving the result again changes nothing.
    Source: ratings, C.3.
    """
    path: list[str] = []
    current_id = opdb_id
    while current_id in moves:
        replacement = moves[current_id]
        if replacement is None:
            return ResolvedId(None)
        if replacement == opdb_id or replacement in path:
            return _resolve_circle(opdb_id, path, known)
        path.append(replacement)
        current_id = replacement
    if not path:
        return ResolvedId(opdb_id)
    if not known:
        return ResolvedId(current_id)
    newest_known_id = next((candidate_id for candidate_id in reversed(path) if candidate_id in known), None)
    if newest_known_id is not None:
        return ResolvedId(newest_known_id)
    return ResolvedId(opdb_id, is_unknown=opdb_id not in known)


def _resolve_circle(opdb_id: str, path: list[str], known: Collection[str]) -> ResolvedId:
    known_id = next((candidate_id for candidate_id in (opdb_id, *path) if candidate_id in known), None)
    return ResolvedId(opdb_id, is_unknown=True) if known_id is None else ResolvedId(known_id)
