"""Locks by name, held until the commit: for what no row of the database stands for.

A writer takes them after the lock of its tournament, never before.
"""

from hashlib import blake2b

from sqlalchemy import Connection, text

_LOCK = text("SELECT pg_advisory_xact_lock(:number)")


def take_lock(db: Connection, name: str) -> None:
    """Wait until no other transaction holds this lock, and hold it until the commit.

    What is read afterwards includes the commit of who held it before.
    """
    if db.dialect.name == "sqlite":
        # Its one writer holds them all.
        return
    digest = blake2b(f"silverball {name}".encode(), digest_size=8).digest()
    db.execute(_LOCK, {"number": int.from_bytes(digest, signed=True)})
