"""The ids that things of other services have here: one map for each source, for every import from it."""

from collections.abc import Collection, Iterator, Mapping

from sqlalchemy import Connection, delete, select, update

from silverball.store import statements, tables

SITE = "site"
# Beside the ids on the wire: the account here that gets what an organizer of the source owns.
OWNER = "owner"
# The player here who has the same name, and was said to be somebody else.
NAMESAKE = "namesake"
# SQLite accepts up to 32,766 parameters in a statement.
IDS_AT_ONCE = 5_000
# Of all kinds, in one statement for several.
IDS_TOGETHER = 1_000
# Name of an id on the wire -> id in the source -> id here.
IdMap = dict[str, dict[int, int]]
_ENTRY = tables.remote_id.c
_SITE = tables.site_value.c


def site_name(db: Connection) -> str:
    """The random name by which other services know this database."""
    return str(db.execute(select(_SITE.value).where(_SITE.name == SITE)).scalar_one())


def known_ids(db: Connection, source: str, ids: Mapping[str, Collection[int]]) -> IdMap:
    """The ids here of these things of the source, as far as they are known."""
    known: IdMap = {kind: {} for kind in ids}
    for some in _portions(ids):
        # Kinds share a statement, so it may find more than was asked for.
        every_id = sorted({remote for of_kind in some.values() for remote in of_kind})
        rows = select(_ENTRY.kind, _ENTRY.remote_id, _ENTRY.local_id).where(
            _ENTRY.source == source, _ENTRY.kind.in_(sorted(some)), _ENTRY.remote_id.in_(every_id)
        )
        for kind, remote, local in db.execute(rows):
            if remote in some[kind]:
                known[kind][remote] = local
    return known


def _portions(ids: Mapping[str, Collection[int]]) -> Iterator[dict[str, set[int]]]:
    """All kinds together where they are few ids, else each kind in parts."""
    if sum(map(len, ids.values())) <= IDS_TOGETHER:
        together = {kind: set(of_kind) for kind, of_kind in ids.items() if of_kind}
        if together:
            yield together
        return
    for kind, of_kind in ids.items():
        for part in _parts(of_kind):
            yield {kind: set(part)}


def remember_ids(db: Connection, source: str, ids: IdMap) -> None:
    """Store the ids here of these things of the source, in place of any that they had."""
    known = known_ids(db, source, ids)
    for kind, local_ids in ids.items():
        before = known[kind]
        changed = {remote for remote, local in local_ids.items() if before.get(remote) != local}
        for part in _parts(changed & before.keys()):
            own = (_ENTRY.source == source, _ENTRY.kind == kind)
            db.execute(delete(tables.remote_id).where(*own, _ENTRY.remote_id.in_(part)))
        for part in _parts(changed):
            values = {"source": source, "kind": kind}
            new = [{**values, "remote_id": remote, "local_id": local_ids[remote]} for remote in part]
            statements.insert_rows(db, tables.remote_id, new)


def replace_local_id(db: Connection, kind: str, old_id: int, new_id: int) -> None:
    """Map to the new id what was mapped to the old one, after a merge."""
    entries = update(tables.remote_id).where(_ENTRY.kind == kind, _ENTRY.local_id == old_id)
    db.execute(entries.values(local_id=new_id))


def forget_local_ids(db: Connection, kind: str, local_ids: Collection[int]) -> None:
    """Delete what is mapped to these ids, so that later imports do not find them."""
    for part in _parts(local_ids):
        db.execute(delete(tables.remote_id).where(_ENTRY.kind == kind, _ENTRY.local_id.in_(part)))


def _parts(ids: Collection[int]) -> Iterator[list[int]]:
    """The ids in order, as many at a time as a statement takes."""
    ordered = sorted(ids)
    for start in range(0, len(ordered), IDS_AT_ONCE):
        yield ordered[start : start + IDS_AT_ONCE]
