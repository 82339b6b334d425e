"""Digests of stored texts: `silverball verify` finds a text that was changed without the program.

They are kept in a column beside the text, and written by whoever writes the text through the program.
"""

import hashlib
from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from silverball.store.tables import player

DIGEST_BYTES = 16
_SIGN_NAME = (
    update(player)
    .where(player.c.player_id == bindparam("own_id"))
    .values(name_digest=bindparam("new_digest"))
)


def announcement_digest(tournament_id: int, epoch: str, seq: int, name: str, data: str) -> str:
    """The digest of an announcement: its place in the channel, its name and its payload."""
    return _digest(f"{tournament_id}:{epoch}:{seq}:{name}:{data}")


def name_digest(name: str) -> str:
    """The digest of a player's name."""
    return _digest(name)


def with_name_digest(values: Mapping[str, Any]) -> dict[str, Any]:
    """These columns of a player, with the digest of the name where they have a name."""
    return {**values, "name_digest": name_digest(values["name"])} if "name" in values else dict(values)


def sign_missing_names(db: Connection, player_ids: Collection[int]) -> None:
    """Store the digests of the names of those players who have none yet: rows of an earlier version."""
    unsigned = select(player.c.player_id, player.c.name).where(
        player.c.player_id.in_(player_ids), player.c.name_digest.is_(None)
    )
    rows = [
        {"own_id": player_id, "new_digest": name_digest(name)} for player_id, name in db.execute(unsigned)
    ]
    if rows:
        db.execute(_SIGN_NAME, rows)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=DIGEST_BYTES).hexdigest()
