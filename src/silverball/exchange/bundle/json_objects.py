"""The objects of a decoded file, however deep they are."""

from collections.abc import Collection, Iterator
from typing import Any

NODES_MAX = 5_000_000


def json_objects(raw: Any, untouched: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """Every object in the value, from the outside; members of these names are not looked into."""
    pending = [raw]
    for _ in range(NODES_MAX):
        if not pending:
            return
        value = pending.pop()
        if isinstance(value, dict):
            yield value
            pending.extend(member for key, member in value.items() if key not in untouched)
        elif isinstance(value, list):
            pending.extend(item for item in value if isinstance(item, (dict, list)))
