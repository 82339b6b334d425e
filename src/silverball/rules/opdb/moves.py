"""What became of an id of the machine database: it may move, more than once, or be deleted."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ResolvedId:
    """Where an id leads. `opdb_id` is None when the machine was deleted."""

    opdb_id: str | None
    # The list of changes leads to nothing that is known here, so the id was left as it is.
    is_unknown: bool = False


def resolve_id(opdb_id: str, moves: Mapping[str, str | None], known: Collection[str]) -> ResolvedId:
    """Where an id leads by the list of changes.

    `moves`: id -> the id that replaced it, or None when it was deleted. `known`: the ids that the stored
    machine database has; when it is empty the list alone decides. The furthest known id of a chain counts,
    for the list may be ahead of the database and the database may still have what was replaced. Ids that
    lead in a circle stay when they are known. Following the answer leads nowhere else.
    Source: ratings, C.3.
    """
    path: list[str] = []
    here = opdb_id
    while here in moves:
        replacement = moves[here]
        if replacement is None:
            return ResolvedId(None)
        if replacement == opdb_id or replacement in path:
            return _resolve_circle(opdb_id, path, known)
        path.append(replacement)
        here = replacement
    if not path:
        return ResolvedId(opdb_id)
    if not known:
        return ResolvedId(here)
    there = next((one for one in reversed(path) if one in known), None)
    if there is not None:
        return ResolvedId(there)
    return ResolvedId(opdb_id, is_unknown=opdb_id not in known)


def _resolve_circle(opdb_id: str, path: list[str], known: Collection[str]) -> ResolvedId:
    there = next((one for one in (opdb_id, *path) if one in known), None)
    return ResolvedId(opdb_id, is_unknown=True) if there is None else ResolvedId(there)
