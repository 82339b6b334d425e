"""The base class of all answers."""

from msgspec import Struct


# gc=False: answers are trees, so the garbage collector need not search long lists for cycles.
class Shape(Struct, rename="camel", frozen=True, kw_only=True, gc=False):
    """A part of an answer. Fields that a newer service adds are ignored; absent fields are UNSET."""
