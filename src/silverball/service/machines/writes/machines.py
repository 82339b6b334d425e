"""Taking in the machine database: its entries, the films about them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, delete, insert, select, update

from silverball.rules.opdb import ids as opdb
from silverball.service import replacement_checks
from silverball.store import tables
from silverball.wire.machines import Manufacturer, OpdbEntry, Video

# What a file says of an entry, by the names of OpdbEntry; what it does not say is left as it is.
FileFields = Mapping[str, Any]
_MACHINE = tables.machine.c
_OWN_COLUMNS = ("opdb_group", "entry_type", "name", "common_name", "short_name")


@dataclass(frozen=True)
class ImportCounts:
    """What became of the entries of a file."""

    entries: int
    new: int
    changed: int
    removed: int


def replace_entries(
    db: Connection, said: Mapping[str, FileFields], *, has_groups: bool, is_forced: bool
) -> ImportCounts:
    """The stored entries are those of the file.

    `said`: id -> what the file says. Groups that a file without groups does not name are made up from their
    machines. Homebrew that the file does not have stays. Raises TooFew.
    """
    stored = {row["opdb_id"]: dict(row) for row in db.execute(select(tables.machine)).mappings()}
    wanted = {opdb_id: _entry_row(opdb_id, one, stored.get(opdb_id)) for opdb_id, one in said.items()}
    wanted |= {one["opdb_id"]: one for one in _implied_groups(wanted, stored, has_groups=has_groups)}
    official = [one for one in wanted.values() if not one["homebrew"]]
    gone = set()
    # A file of homebrew alone says nothing of the rest.
    if official:
        before = [one for one in stored.values() if not one["homebrew"]]
        replacement_checks.refuse_too_few(len(official), len(before), "entries", is_forced=is_forced)
        gone = {one["opdb_id"] for one in before} - wanted.keys()
    new = [one for opdb_id, one in wanted.items() if opdb_id not in stored]
    changed = [one for opdb_id, one in wanted.items() if opdb_id in stored and one != stored[opdb_id]]
    _write_entries(db, new, changed, gone)
    return ImportCounts(len(wanted), len(new), len(changed), len(gone))


def replace_videos(db: Connection, videos: Sequence[Video]) -> None:
    """The stored films are these."""
    db.execute(delete(tables.machine_video))
    if videos:
        db.execute(insert(tables.machine_video), [msgspec.structs.asdict(one) for one in videos])


def _entry_row(opdb_id: str, said: FileFields, stored: Mapping[str, Any] | None) -> dict[str, Any]:
    """The row of an entry: what the file says over what is stored over nothing."""
    known = _blank_fields(opdb_id) if stored is None else _entry_fields(stored["entry"])
    fields = known | {name: value for name, value in said.items() if name not in ("people", "images")}
    if "name_sort" not in said and fields["name"] != known["name"]:
        fields["name_sort"] = opdb.sort_name(fields["name"])
    # The slim shape has no more of a maker than a name and perhaps an id.
    if _knows_less(fields["manufacturer"], known["manufacturer"]):
        fields |= {name: known[name] for name in ("manufacturer", "manufacturer_id")}
    entry = OpdbEntry(**fields)
    before = stored or {}
    parts = {
        name: _as_stored(said[name]) if name in said else before.get(name) for name in ("people", "images")
    }
    row = {
        "opdb_id": opdb_id,
        **{name: getattr(entry, name) for name in _OWN_COLUMNS},
        "entry": _as_stored(entry),
        **parts,
        "synthetic": False,
        "homebrew": _machine_id(opdb_id).is_homebrew,
    }
    # Our own file says of a group what was made up here; that makes it no better known.
    return {**before} if before == row | {"synthetic": True} else row


def _knows_less(said: Manufacturer | None, known: Manufacturer | None) -> bool:
    """Whether a file names the maker that is known, and knows less of it."""
    if said is None or known is None or said.name != known.name:
        return False
    is_same_id = said.manufacturer_id in (None, known.manufacturer_id)
    return is_same_id and said.full_name is None


def _as_stored(value: Any) -> Any:
    """The value as it comes back from the database, to be compared with what is there."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _machine_id(opdb_id: str) -> opdb.MachineId:
    found = opdb.parse_id(opdb_id)
    assert found is not None, opdb_id
    return found


def _entry_fields(entry: Any) -> dict[str, Any]:
    return msgspec.structs.asdict(msgspec.convert(entry, OpdbEntry))


def _blank_fields(opdb_id: str) -> dict[str, Any]:
    parts = _machine_id(opdb_id)
    return {name: None for name in OpdbEntry.__struct_fields__ if name not in ("people", "images")} | {
        "opdb_id": opdb_id,
        "opdb_group": parts.group_id,
        "opdb_machine": parts.machine_id,
        "name": "",
        "name_sort": "",
        "physical_machine": parts.machine is not None,
        "entry_type": parts.entry_type,
        "features": (),
        "keywords": (),
    }


def _implied_groups(
    wanted: Mapping[str, dict[str, Any]], stored: Mapping[str, dict[str, Any]], *, has_groups: bool
) -> Iterable[dict[str, Any]]:
    """The groups that the file's machines belong to and the file does not have."""
    names: dict[str, list[str]] = {}
    for one in wanted.values():
        if one["entry_type"] == "machine" and one["opdb_group"] not in wanted:
            names.setdefault(one["opdb_group"], []).append(one["common_name"] or one["name"])
    for group_id, of_group in names.items():
        before = stored.get(group_id)
        # What an earlier file said of the group is better than what can be made up.
        if before is not None and not before["synthetic"] and not has_groups:
            yield before
        else:
            yield _entry_row(group_id, {"name": opdb.group_name(of_group)}, before) | {"synthetic": True}


def _write_entries(
    db: Connection, new: list[dict[str, Any]], changed: list[dict[str, Any]], gone: set[str]
) -> None:
    if gone:
        db.execute(
            delete(tables.machine).where(_MACHINE.opdb_id == bindparam("own_id")), _id_parameters(gone)
        )
    if new:
        db.execute(insert(tables.machine), new)
    if changed:
        by_id = update(tables.machine).where(_MACHINE.opdb_id == bindparam("own_id"))
        db.execute(by_id, [{"own_id": one["opdb_id"], **one} for one in changed])


def _id_parameters(opdb_ids: Iterable[str]) -> list[dict[str, str]]:
    return [{"own_id": one} for one in sorted(opdb_ids)]
