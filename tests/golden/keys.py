"""The keys of an answer, without its values."""

from typing import Any


def keys_of(value: Any, path: str = "") -> set[str]:
    """Every key with its place: `data[].organizer.userId`. A map by id is one place: `tournaments.*`."""
    found: set[str] = set()
    if isinstance(value, dict):
        for key, inner in value.items():
            place = f"{path}.{'*' if key.isdecimal() else key}".lstrip(".")
            found |= {place} | keys_of(inner, place)
    elif isinstance(value, list):
        for inner in value:
            found |= keys_of(inner, f"{path}[]")
    return found
