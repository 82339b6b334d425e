"""Copies of values with some fields changed."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # mypy takes a Struct for a dataclass, and checks the names and types of what this function is given.
    from dataclasses import replace
else:
    from msgspec.structs import replace

__all__ = ["replace"]
