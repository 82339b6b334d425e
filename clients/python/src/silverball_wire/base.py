"""The base class of all published shapes."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

__all__ = ["ID_MAX", "UNSET", "Day", "Id", "Instant", "UnsetType", "Wire"]

ID_MAX = 2**63 - 1
# msgspec would accept 10**22 as an integer; the database does not.
Id = Annotated[int, Meta(ge=1, le=ID_MAX)]
# `2025-01-16T00:10:45.000000Z`, and `2025-01-16`. Times in other forms are plain texts (wire/times.py).
Instant = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
Day = Annotated[str, Meta(extra_json_schema={"format": "date"})]


# gc=False: shapes are trees, so the garbage collector need not search long lists for cycles.
class Wire(Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """A shape of the published interface: camelCase on the wire, immutable in Python.

    `frozen=True, kw_only=True` is written on every subclass: msgspec does not inherit
    `kw_only`, and mypy does not see the inherited `frozen`. A field that may be absent has the
    type `X | UnsetType` and the default `UNSET`: absent is not null.
    """
