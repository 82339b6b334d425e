"""What every published shape has in common."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

__all__ = ["ID_MAX", "UNSET", "Id", "UnsetType", "Wire"]

ID_MAX = 2**63 - 1
# msgspec would take 10**22 as an integer; the database would not.
Id = Annotated[int, Meta(ge=1, le=ID_MAX)]


# gc=False: shapes are trees, and a list of games should not be walked for cycles while it is built.
class Wire(Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """A shape of the published interface: camelCase outside, never changed after it is built.

    `frozen=True, kw_only=True` is written again on every subclass: msgspec does not hand
    `kw_only` down and mypy does not see `frozen` handed down. A field that may be absent has the
    type `X | UnsetType` and the default `UNSET`: absent is not null.
    """
