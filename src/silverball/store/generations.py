"""The generation of the database: a random word that changes whenever the database has gone back.

It is part of every epoch that clients see, so that who resumes with a number from before a restore or a
failover is told that events are missing. `silverball restore` draws a new one, and so does a node that
finds less in the database than it has seen there. On PostgreSQL the timeline of the server's log is part of
it, which a promoted standby raises by itself.
"""

import secrets

from sqlalchemy import Connection, select, text

from silverball.store import tables
from silverball.store.statements import Statement

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
