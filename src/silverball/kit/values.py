"""Values: copies with some fields changed, and values that hide their secret."""

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    # mypy takes a Struct for a dataclass, and checks the names and types of what this function is given.
    from dataclasses import replace
else:
    from msgspec.structs import replace

__all__ = ["WithSecret", "replace"]


class WithSecret(Struct, frozen=True):
    """A value with a secret: its text, as a log or a traceback would show it, names no field."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(...)"
