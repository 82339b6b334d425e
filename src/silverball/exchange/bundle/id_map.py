"""The ids that the things in a bundle get here: kept, mapped as in earlier files of its source, or new."""

from collections.abc import Collection, Mapping
from typing import Any

from silverball.exchange.bundle import renumbering, same_people
from silverball.service.bundles.reads import bundles as reads
from silverball.store import remote_ids
from silverball.store.engine import Db
from silverball.store.remote_ids import OWNER, IdMap
from silverball_wire.base import UnsetType
from silverball_wire.bundle import Bundle

# Larger ids are not kept, because scripts of pages cannot hold them exactly.
KEPT_ID_MAX = 2**53 - 1
# The source of files that name none.
UNNAMED = "files"


def source_of(db: Db, bundle: Bundle, *, new_ids: bool) -> str | None:
    """The name of the service whose ids the file has; None when they are those of this database.

    A file of another service says no name; its ids are taken for our own too, unless none are kept.
    """
    if isinstance(bundle.source, UnsetType):
        return UNNAMED if new_ids else None
    return None if bundle.source == remote_ids.site_name(db) and not new_ids else bundle.source


def choose_ids(db: Db, raw: Any, source: str | None, *, new_ids: bool) -> IdMap:
    """Name of an id -> id in the file -> id here, for all ids of the file.

    What the source's map has stays so. Of all else, ids that are free here are kept, or with `new_ids`
    none. Without a source nothing is known.
    """
    ids = renumbering.ids_in(raw)
    mapped = {} if source is None else remote_ids.known_ids(db, source, ids)
    wished = {
        kind: () if new_ids else {each for each in of_kind if each <= KEPT_ID_MAX}
        for kind, of_kind in ids.items()
    }
    looked_up = {kind: {*wished[kind], *mapped.get(kind, {}).values()} for kind in ids}
    stored = reads.all_stored_ids(db, looked_up)
    # Without things that were deleted here since.
    known = _stored_pairs(mapped, stored)
    if source is not None:
        players, users = known.setdefault("playerId", {}), known.get("userId", {})
        players.update(same_people.same_people(db, raw, source, players, users))
    for kind, of_kind in wished.items():
        chosen = known.setdefault(kind, {})
        chosen.update({free: free for free in set(of_kind) - set(chosen) - stored[kind]})
    return renumbering.new_ids(ids, known, reads.highest_ids(db))


def remember_ids(db: Db, source: str, ids: IdMap, owner: tuple[int, int] | None) -> None:
    """Store the map of a file that was imported, for later files of its source.

    `owner` is the organizer in the file, and the account here that has their things.
    """
    # An id that the file names for nothing that is stored is given out again, to something else.
    stored = reads.all_stored_ids(db, {kind: pairs.values() for kind, pairs in ids.items()})
    remembered = _stored_pairs(ids, stored)
    if owner is not None:
        remembered[OWNER] = dict([owner])
    remote_ids.remember_ids(db, source, remembered)


def known_owner(db: Db, source: str, organizer_id: int) -> int | None:
    """The account that got the things of this organizer in an earlier file of the source."""
    owner_id = remote_ids.known_ids(db, source, {OWNER: [organizer_id]})[OWNER].get(organizer_id)
    return owner_id if owner_id in reads.stored_ids(db, "userId", [owner_id or 0]) else None


def _stored_pairs(ids: IdMap, stored: Mapping[str, Collection[int]]) -> IdMap:
    """The pairs whose thing is here."""
    return {
        kind: {remote: local for remote, local in pairs.items() if local in stored[kind]}
        for kind, pairs in ids.items()
    }
