"""Things of somebody's book: whose they are, what a body says about them, whether they can be deleted.

Nothing here speaks SQL; the transaction is the caller's.
"""

from collections.abc import Collection
from typing import Any

import msgspec
from msgspec import UNSET

from silverball.kit.errors import Conflict, Invalid, NotAllowed
from silverball.kit.http.body import Body
from silverball.service.calls import Write
from silverball.store import book, references
from silverball.store.book import OwnedKind


def owned_id_in_path(call: Write[Any], kind: OwnedKind, *, is_exclusive: bool = False) -> int:
    """The id of the thing in the path, when it is the caller's or the caller is an admin.

    Raises NotFound and NotAllowed.
    """
    thing_id = call.ids[kind.path_name]
    owner_id = book.lock_owner(call.db, kind, thing_id, is_exclusive=is_exclusive)
    if owner_id != call.user_id and not call.caller.is_admin:
        raise NotAllowed
    return thing_id


def sent_values(body: Body, *without: str) -> dict[str, Any]:
    """The fields that were sent, by the names of their columns."""
    return {
        name: value
        for name, value in msgspec.structs.asdict(body).items()
        if value is not UNSET and name not in without
    }


def refuse_used(call: Write[Any], kind: OwnedKind, thing_id: int, instead: str) -> None:
    """Raises Conflict when a tournament uses it. Takes what to do instead, as a sentence."""
    found = references.tournaments_using(call.db, kind.key, thing_id)
    if found:
        named = ", ".join(str(one) for one in found)
        raise Conflict(
            f"{kind.model} {thing_id} is used by tournament {named} and cannot be deleted. {instead}"
        )


def require_owned_ids(
    call: Write[Any], kind: OwnedKind, field: str, ids: Collection[int], owner_id: int
) -> None:
    """Raises Invalid for an id in a body that is nobody's or somebody else's."""
    known = book.owners_by_id(call.db, kind, set(ids))
    for one in ids:
        if one not in known:
            raise Invalid({field: [f"There is no {kind.model.lower()} {one}."]})
        if known[one] != owner_id:
            raise Invalid({field: [f"{kind.model} {one} belongs to somebody else. Add one of your own."]})
