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
    current_id = opdb_id
    while current_id in moves:
        replacement = moves[current_id]
        if replacement is None:
            return ResolvedId(None)
        if replacement == opdb_id or replacement in path:
            return _resolve_circle(opdb_id, path, known)
        path.append(replacement)
        current_id = replacement
    if not path:
        return ResolvedId(opdb_id)
    if not known:
        return ResolvedId(current_id)
    newest_known_id = next((candidate_id for candidate_id in reversed(path) if candidate_id in known), None)
    if newest_known_id is not None:
        return ResolvedId(newest_known_id)
    return ResolvedId(opdb_id, is_unknown=opdb_id not in known)


def _resolve_circle(opdb_id: str, path: list[str], known: Collection[str]) -> ResolvedId:
    known_id = next((candidate_id for candidate_id in (opdb_id, *path) if candidate_id in known), None)
    return ResolvedId(opdb_id, is_unknown=True) if known_id is None else ResolvedId(known_id)
