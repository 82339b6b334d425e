"""Revisions with their stamps: what names one state of a tournament, or of the world.

A database can go back (a restore, a failover) and go on from there, so that a revision comes a second
time with another content. Each transaction that raises a revision therefore draws a random stamp, which is
stored beside it; whoever keeps something in memory compares both.
"""

import secrets
from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import Connection, select, text

from silverball.store import tables
from silverball.store.database.statements import Statement

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


# The generation of the database: a random word that changes whenever the database has gone back.
#
# It is part of every epoch that clients see, so that who resumes with a number from before a restore or a
# failover is told that events are missing. `silverball restore` draws a new one, and so does a node that
# finds less in the database than it has seen there. On PostgreSQL the timeline of the server's log is part
# of it, which a promoted standby raises by itself.


NAME = "generation"
# Where a connection to PostgreSQL remembers the timeline of its server.
TIMELINE = "silverball_timeline"
# A standby has no timeline of its own until it is promoted.
ASK_TIMELINE = (
    "SELECT CASE WHEN pg_is_in_recovery() THEN ''"
    " ELSE ltrim(substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), '0') END"
)
_GENERATION = Statement(select(tables.site_value.c.value).where(tables.site_value.c.name == NAME))
_STORE = text(
    "INSERT INTO site_value (name, value) VALUES (:name, :value)"
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)
_REPLACE = text("UPDATE site_value SET value = :value WHERE name = :name AND value = :known")


def current_generation(db: Connection) -> str:
    """The generation as this connection sees it."""
    rows = _GENERATION.rows(db)
    stored = str(rows[0].value) if rows else "0"
    if db.dialect.name != "postgresql":
        return stored
    return f"{stored}.{_timeline(db)}"


def public_epoch(epoch: str, generation: str) -> str:
    """The epoch of a channel as clients see it."""
    return f"{epoch}.{generation}"


def own_epoch(epoch: str) -> str:
    """The channel's part of an epoch as clients see it."""
    return epoch.partition(".")[0]


def generation_in(epoch: str) -> str:
    """The database's part of an epoch as clients see it."""
    return epoch.partition(".")[2]


def draw_new_generation(db: Connection) -> None:
    """Store a new generation: everybody who follows a tournament has to read it again."""
    db.execute(_STORE, {"name": NAME, "value": _draw()})


def replace_generation(db: Connection, known: str) -> None:
    """Store a new generation, unless another node has replaced the known one already."""
    stored = known.partition(".")[0]
    db.execute(_REPLACE, {"name": NAME, "value": _draw(), "known": stored})


def _draw() -> str:
    return secrets.token_hex(4)


def _timeline(db: Connection) -> str:
    """The timeline that the server's log is in, asked once for each connection."""
    timeline: str = db.info.get(TIMELINE, "")
    if not timeline:
        timeline = db.info[TIMELINE] = str(db.exec_driver_sql(ASK_TIMELINE).scalar_one())
    return timeline
