"""Digests of stored texts: `silverball verify` finds a text that was changed without the program.

They are kept in a column beside the text, and written by whoever writes the text through the program.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

DIGEST_BYTES = 16


def announcement_digest(tournament_id: int, epoch: str, seq: int, name: str, data: str) -> str:
    """The digest of an announcement: its place in the channel, its name and its payload."""
    return _digest(f"{tournament_id}:{epoch}:{seq}:{name}:{data}")


def name_digest(name: str) -> str:
    """The digest of a player's name."""
    return _digest(name)


def with_name_digest(values: Mapping[str, Any]) -> dict[str, Any]:
    """These columns of a player, with the digest of the name where they have a name."""
    return {**values, "name_digest": name_digest(values["name"])} if "name" in values else dict(values)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=DIGEST_BYTES).hexdigest()
