"""The ids that things of other services have here: one map for each source, for every import from it."""

from collections.abc import Collection, Iterator, Mapping

from sqlalchemy import Connection, delete, insert, select, update

from silverball.store import tables

SITE = "site"
# Beside the ids on the wire: the account here that gets what an organizer of the source owns.
OWNER = "owner"
# SQLite accepts up to 32,766 parameters in a statement.
IDS_AT_ONCE = 5_000
# Name of an id on the wire -> id in the source -> id here.
IdMap = dict[str, dict[int, int]]
_ENTRY = tables.remote_id.c
_SITE = tables.site_value.c


def site_name(db: Connection) -> str:
    """The random name by which other services know this database."""
    return str(db.execute(select(_SITE.value).where(_SITE.name == SITE)).scalar_one())


def known_ids(db: Connection, source: str, ids: Mapping[str, Collection[int]]) -> IdMap:
    """The ids here of these things of the source, as far as they are known."""
    known: IdMap = {}
    for kind, remote_ids in ids.items():
        for part in _parts(remote_ids):
            rows = select(_ENTRY.remote_id, _ENTRY.local_id).where(
                _ENTRY.source == source, _ENTRY.kind == kind, _ENTRY.remote_id.in_(part)
            )
            known.setdefault(kind, {}).update({entry.remote_id: entry.local_id for entry in db.execute(rows)})
    return known


def remember_ids(db: Connection, source: str, ids: IdMap) -> None:
    """Store the ids here of these things of the source, in place of any that they had."""
    for kind, local_ids in ids.items():
        for part in _parts(local_ids):
            own = (_ENTRY.source == source, _ENTRY.kind == kind)
            db.execute(delete(tables.remote_id).where(*own, _ENTRY.remote_id.in_(part)))
            values = {"source": source, "kind": kind}
            db.execute(
                insert(tables.remote_id),
                [{**values, "remote_id": remote, "local_id": local_ids[remote]} for remote in part],
            )


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
