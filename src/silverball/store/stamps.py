"""Revisions with their stamps: what names one state of a tournament, or of the world.

A database can go back (a restore, a failover) and go on from there, so that a revision comes a second
time with another content. Each transaction that raises a revision therefore draws a random stamp, which is
stored beside it; whoever keeps something in memory compares both.
"""

import secrets
from collections.abc import Mapping
from typing import NamedTuple

STAMP_BITS = 63
# The stamps of the world are shorter: the database adds up those of all slots.
WORLD_STAMP_BITS = 53


class Revision(NamedTuple):
    """A revision and its stamp. Two are equal only if they come from the same transaction."""

    number: int
    stamp: int

    def precedes(self, known: "Revision") -> bool:
        """Whether a database at this revision has gone back since the known one was read from it."""
        return self.number < known.number or (self.number == known.number and self.stamp != known.stamp)


NEVER = Revision(0, 0)


class WorldState(NamedTuple):
    """The database's generation, the revision of each slot of the world, and the number of hidings."""

    generation: str
    slots: Mapping[int, Revision]
    hidings: int = 0

    def precedes(self, known: "WorldState") -> bool:
        """Whether a database in this state has gone back since the known state was read from it."""
        return any(self.slots.get(slot, NEVER).precedes(revision) for slot, revision in known.slots.items())

    @property
    def total(self) -> Revision:
        """The revision of the world as a whole."""
        numbers, stamps = zip(*self.slots.values(), strict=True) if self.slots else ((), ())
        return Revision(sum(numbers), sum(stamps))


def version(number: int, stamp: int) -> int:
    """The revision of this number and stamp as one number, which sorts by revision."""
    return number << STAMP_BITS | stamp


def number_in(version_: int) -> int:
    """The revision's number in a version; 0 for the version 0, which stands for nothing known."""
    return version_ >> STAMP_BITS


def revision_in(version_: int) -> Revision:
    """The revision that a version stands for."""
    return Revision(number_in(version_), version_ & ((1 << STAMP_BITS) - 1))


def draw_stamp() -> int:
    """Draw the stamp of a transaction."""
    return secrets.randbits(STAMP_BITS)


def world_stamp(stamp: int) -> int:
    """The stamp of the world's slot in the transaction with this stamp."""
    return stamp >> (STAMP_BITS - WORLD_STAMP_BITS)
