"""Resolution of ids of the machine database, which may move (more than once) or be deleted."""

from collections.abc import Collection, Mapping

from msgspec import Struct


class ResolvedId(Struct, frozen=True):
    """The current id for an old one. `opdb_id` is None when the machine was deleted."""

    opdb_id: str | None
    # The changelog leads to no known machine, so the id was left as it is.
    is_unknown: bool = False


def resolve_id(opdb_id: str, moves: Mapping[str, str | None], known: Collection[str]) -> ResolvedId:
    """The current id according to the changelog.

    `moves`: id -> the id that replaced it, or None when it was deleted. `known`: the ids in the stored
    machine database; when it is empty, the changelog alone decides. The last known id of a chain counts,
    because the changelog may be ahead of the database, and the database may still have replaced ids. Ids
    in a circle stay if they are known. Resolving the result again changes nothing.
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
