"""Faults of a bundle, each with its JSON path."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from silverball.kit.errors import Invalid
from silverball.rules.opdb import ids as opdb
from silverball_wire.base import ID_MAX

NODES_MAX = 5_000_000
# 0 stands for "no round" in the interface, and for "no federation id" in some services.
ZERO_IDS = frozenset({"roundId", "ifpaId"})


class BrokenFile(Invalid):
    """A file of the wrong form; the message says where and why."""

    def __init__(self, path: str, sentence: str) -> None:
        super().__init__({path: [f"{path}: {sentence}"]})
        self.path = path


class BrokenBundle(BrokenFile):
    """A file that is not a bundle."""


def fault_from_validation(error: msgspec.ValidationError, at: str = "$") -> BrokenBundle:
    """The fault of a msgspec error (`Expected ... - at `$.games[0].bye``), below the path `at`."""
    sentence, _, where = str(error).partition(" - at ")
    path = where.rpartition("`$")[2].rstrip("`")
    return BrokenBundle(at + path, f"{sentence}.")


def refuse_unstorable_values(raw: Any) -> None:
    """Raise BrokenBundle for a number beyond 64 bits, a text with a zero byte, or what cannot be an id."""
    if not any(_fault_of(name, value) for name, value in _named_leaves(raw)):
        return
    # Only a faulty file pays for the path of each value.
    for path, name, value in _leaf_values(raw):
        fault = _fault_of(name, value)
        if fault is not None:
            raise BrokenBundle(path, fault)


def _fault_of(name: str, value: Any) -> str | None:
    """The sentence for a value that cannot be stored; `name` is that of its member."""
    if isinstance(value, str):
        if "\x00" in value:
            return "The text holds a zero byte, which cannot be stored."
        # A homebrew machine may be known only where the bundle comes from.
        if name == "opdbId" and opdb.parse_id(value) is None:
            return f"{value!r} is not an id of the machine database."
    elif isinstance(value, int) and not isinstance(value, bool):
        if not -ID_MAX - 1 <= value <= ID_MAX:
            return f"{value} is not a 64-bit number."
        if value < 1 and _is_id(name) and value < (0 if name in ZERO_IDS else 1):
            return f"{value} cannot be an id. Ids begin at 1."
    return None


def _named_leaves(raw: Any) -> Iterator[tuple[str, Any]]:
    """Name of the enclosing member and value of everything but lists and objects."""
    pending: list[tuple[str, Any]] = [("", raw)]
    for _ in range(NODES_MAX):
        if not pending:
            return
        name, value = pending.pop()
        if isinstance(value, dict):
            pending.extend(value.items())
        elif isinstance(value, list):
            pending.extend([(name, item) for item in value])
        else:
            yield name, value
    raise BrokenBundle("$", f"The file holds more than {NODES_MAX} values.")


def _is_id(name: str) -> bool:
    return name.endswith(("Id", "Ids")) or name == "claimedBy"


def _leaf_values(raw: Any) -> Iterator[tuple[str, str, Any]]:
    """JSON path, name of the enclosing member and value of everything but lists and objects."""
    pending: list[tuple[str, str, Any]] = [("$", "", raw)]
    for _ in range(NODES_MAX):
        if not pending:
            return
        path, name, value = pending.pop()
        if isinstance(value, dict):
            pending.extend((_member_path(path, key), key, member) for key, member in reversed(value.items()))
        elif isinstance(value, list):
            pending.extend((f"{path}[{n}]", name, item) for n, item in reversed(list(enumerate(value))))
        else:
            yield path, name, value
    raise BrokenBundle("$", f"The file holds more than {NODES_MAX} values.")


def _member_path(path: str, key: str) -> str:
    return f"{path}.{key}" if key.isidentifier() else f"{path}[{json.dumps(key)}]"
