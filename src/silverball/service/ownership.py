"""Rows of an organizer's book: their owners, the fields of a body, references that prevent deletion.

Nothing here speaks SQL; the transaction is the caller's.
"""

from collections.abc import Collection
from typing import Any

import msgspec
from msgspec import UNSET

from silverball.kit.errors import REFERENCE_KINDS, Conflict, Invalid, NotAllowed, Sentence
from silverball.kit.http.body import Body
from silverball.service.calls import Write
from silverball.store import book, references
from silverball.store.book import OwnedKind


class StillInUse(Conflict):
    """A row cannot be deleted while a tournament refers to it."""

    sentence = "{model} {id} is used by {tournaments} and cannot be deleted. {instead}"

    def __init__(self, kind: OwnedKind, row_id: int, *, tournaments: str, instead: str) -> None:
        subject, facts = _subject(kind, row_id)
        template = f"{subject} is used by {{tournaments}} and cannot be deleted. {{instead}}"
        super().__init__(template, tournaments=tournaments, instead=instead, **facts)


def owned_id_in_path(call: Write[Any], kind: OwnedKind, *, is_exclusive: bool = False) -> int:
    """The id in the path, if its row belongs to the caller or the caller is an admin.

    Locks the row. Raises NotFound and NotAllowed.
    """
    row_id = call.ids[kind.path_name]
    owner_id = book.lock_owner(call.db, kind, row_id, is_exclusive=is_exclusive)
    if owner_id != call.user_id and not call.caller.is_admin:
        raise NotAllowed
    return row_id


def sent_values(body: Body, *without: str) -> dict[str, Any]:
    """The fields that were sent, by the names of their columns."""
    return {
        name: value
        for name, value in msgspec.structs.asdict(body).items()
        if value is not UNSET and name not in without
    }


def refuse_used(call: Write[Any], kind: OwnedKind, row_id: int, instead: str) -> None:
    """Raises StillInUse when a tournament refers to the row. `instead` is a sentence: the alternative."""
    tournament_ids = references.tournaments_using(call.db, kind.key, row_id)
    if tournament_ids:
        noun = "tournament" if len(tournament_ids) == 1 else "tournaments"
        listed = ", ".join(str(tournament_id) for tournament_id in tournament_ids)
        raise StillInUse(kind, row_id, tournaments=f"{noun} {listed}", instead=instead)


def require_owned_ids(
    call: Write[Any], kind: OwnedKind, field: str, ids: Collection[int], owner_id: int
) -> None:
    """Raises Invalid for an id in a body whose row does not exist or has another owner."""
    owners = book.owners_by_id(call.db, kind, set(ids))
    for row_id in ids:
        if row_id not in owners:
            raise Invalid({field: [f"There is no {kind.model.lower()} {row_id}."]})
        if owners[row_id] != owner_id:
            subject, facts = _subject(kind, row_id)
            sentence = f"{subject} belongs to another organizer. Add one of your own."
            raise Invalid({field: [Sentence(sentence, **facts)]})


def _subject(kind: OwnedKind, row_id: int) -> tuple[str, dict[str, int]]:
    """The row as the subject of a sentence: a slot where pages put a name, or its id."""
    word = kind.model.lower()
    if word in REFERENCE_KINDS:
        return f"{{{word}}}", {word: row_id}
    return f"{kind.model} {row_id}", {}
