"""Stored replies without what people have hidden since: an answer is sent again for a day."""

from collections.abc import Collection, Iterator
from typing import Any

import msgspec
from sqlalchemy import Connection, select, true

from silverball.store.batches import ascending_batches
from silverball.store.tables import user

# What a hidden profile hides (interface.md 2, row 20), as replies name it.
HIDDEN_FIELDS = frozenset(
    {"ifpaId", "flag", "location", "pronouns", "initials", "avatar", "banner", "tournamentAvatar"}
)


def hide_in_reply(db: Connection, body: str, viewer_id: int) -> str:
    """The reply as this account may see it now."""
    if '"pronouns":' not in body and '"claimedBy":' not in body:
        return body
    reply = msgspec.json.decode(body)
    people = {person for _, person in _records(reply)} - {viewer_id}
    hidden = _hidden_users(db, people) if people else frozenset()
    if not hidden or _is_admin(db, viewer_id):
        return body
    for record, person in _records(reply):
        if person in hidden:
            record.update(dict.fromkeys(HIDDEN_FIELDS & record.keys()))
    return msgspec.json.encode(reply).decode()


def _records(value: Any) -> Iterator[tuple[dict[str, Any], int]]:
    """The users and claimed players in a decoded reply, each with the account."""
    if isinstance(value, dict):
        # Other things than users have the id of one, but no pronouns.
        person = value.get("userId") if "pronouns" in value else value.get("claimedBy")
        if isinstance(person, int):
            yield value, person
        members: Collection[Any] = value.values()
    else:
        members = value if isinstance(value, list) else ()
    for member in members:
        yield from _records(member)


def _hidden_users(db: Connection, user_ids: Collection[int]) -> frozenset[int]:
    hidden: set[int] = set()
    for batch in ascending_batches(user_ids):
        rows = select(user.c.user_id).where(user.c.user_id.in_(batch), user.c.profile_opt_out == true())
        hidden.update(db.execute(rows).scalars())
    return frozenset(hidden)


def _is_admin(db: Connection, user_id: int) -> bool:
    row = select(user.c.user_id).where(user.c.user_id == user_id, user.c.role == "admin")
    return db.execute(row).first() is not None
