"""Store the machine database: its entries, and videos about them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, bindparam, delete, insert, select, update

from silverball.kit.conversions import convert
from silverball.rules.opdb import ids as opdb
from silverball.service import replacement_checks
from silverball.store import tables
from silverball_wire.machines import Manufacturer, OpdbEntry, Video

# The fields of an entry in a file, by the names of OpdbEntry. Missing fields keep their stored value.
FileFields = Mapping[str, Any]
_MACHINE = tables.machine.c
_OWN_COLUMNS = ("opdb_group", "entry_type", "name", "common_name", "short_name")


class ImportCounts(Struct, frozen=True):
    """Counts of the entries in a file and of their changes."""

    entries: int
    new: int
    changed: int
    removed: int


def replace_entries(
    db: Connection, file_entries: Mapping[str, FileFields], *, has_groups: bool, is_forced: bool
) -> ImportCounts:
    """Replace the stored entries by those of the file.

    `file_entries`: id -> fields. Groups that are missing in a file without groups are derived from their
    machines. Homebrew that is not in the file stays. Raises TooFew.
    """
    stored = {entry["opdb_id"]: dict(entry) for entry in db.execute(select(tables.machine)).mappings()}
    wanted = {
        opdb_id: _entry_row(opdb_id, fields, stored.get(opdb_id)) for opdb_id, fields in file_entries.items()
    }
    wanted |= {entry["opdb_id"]: entry for entry in _implied_groups(wanted, stored, has_groups=has_groups)}
    official = [entry for entry in wanted.values() if not entry["homebrew"]]
    removed = set()
    # A file with homebrew only does not remove other entries.
    if official:
        before = [entry for entry in stored.values() if not entry["homebrew"]]
        replacement_checks.refuse_too_few(len(official), len(before), "entries", is_forced=is_forced)
        removed = {entry["opdb_id"] for entry in before} - wanted.keys()
    new = [entry for opdb_id, entry in wanted.items() if opdb_id not in stored]
    changed = [entry for opdb_id, entry in wanted.items() if opdb_id in stored and entry != stored[opdb_id]]
    _write_entries(db, new, changed, removed)
    return ImportCounts(len(wanted), len(new), len(changed), len(removed))


def replace_videos(db: Connection, videos: Sequence[Video]) -> None:
    """Replace the stored videos."""
    db.execute(delete(tables.machine_video))
    if videos:
        db.execute(insert(tables.machine_video), [msgspec.structs.asdict(video) for video in videos])


def _entry_row(opdb_id: str, file_fields: FileFields, stored: Mapping[str, Any] | None) -> dict[str, Any]:
    """The row of an entry: the file's fields, else the stored ones, else blanks."""
    known = _blank_fields(opdb_id) if stored is None else _entry_fields(stored["entry"])
    fields = known | {name: value for name, value in file_fields.items() if name not in ("people", "images")}
    if "name_sort" not in file_fields and fields["name"] != known["name"]:
        fields["name_sort"] = opdb.sort_name(fields["name"])
    # The slim file format has only the manufacturer's name and perhaps an id.
    if _knows_less(fields["manufacturer"], known["manufacturer"]):
        fields |= {name: known[name] for name in ("manufacturer", "manufacturer_id")}
    entry = OpdbEntry(**fields)
    before = stored or {}
    parts = {
        name: _as_stored(file_fields[name]) if name in file_fields else before.get(name)
        for name in ("people", "images")
    }
    row = {
        "opdb_id": opdb_id,
        **{name: getattr(entry, name) for name in _OWN_COLUMNS},
        "entry": _as_stored(entry),
        **parts,
        "synthetic": False,
        "homebrew": _machine_id(opdb_id).is_homebrew,
    }
    # A file exported here contains derived groups too, and they stay derived.
    return {**before} if before == row | {"synthetic": True} else row


def _knows_less(given: Manufacturer | None, known: Manufacturer | None) -> bool:
    """Whether the file names the known manufacturer with less detail."""
    if given is None or known is None or given.name != known.name:
        return False
    is_same_id = given.manufacturer_id in (None, known.manufacturer_id)
    return is_same_id and given.full_name is None


def _as_stored(value: Any) -> Any:
    """The value as the database returns it, for comparison."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _machine_id(opdb_id: str) -> opdb.MachineId:
    machine_id = opdb.parse_id(opdb_id)
    assert machine_id is not None, opdb_id
    return machine_id


def _entry_fields(entry: Any) -> dict[str, Any]:
    return msgspec.structs.asdict(convert(entry, OpdbEntry))


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
    """The groups of the file's machines that the file does not contain."""
    names: dict[str, list[str]] = {}
    for entry in wanted.values():
        if entry["entry_type"] == "machine" and entry["opdb_group"] not in wanted:
            names.setdefault(entry["opdb_group"], []).append(entry["common_name"] or entry["name"])
    for group_id, of_group in names.items():
        before = stored.get(group_id)
        # A group from an earlier file is better than a derived one.
        if before is not None and not before["synthetic"] and not has_groups:
            yield before
        else:
            yield _entry_row(group_id, {"name": opdb.group_name(of_group)}, before) | {"synthetic": True}


def _write_entries(
    db: Connection, new: list[dict[str, Any]], changed: list[dict[str, Any]], removed: set[str]
) -> None:
    if removed:
        db.execute(
            delete(tables.machine).where(_MACHINE.opdb_id == bindparam("own_id")), _id_parameters(removed)
        )
    if new:
        db.execute(insert(tables.machine), new)
    if changed:
        by_id = update(tables.machine).where(_MACHINE.opdb_id == bindparam("own_id"))
        db.execute(by_id, [{"own_id": entry["opdb_id"], **entry} for entry in changed])


def _id_parameters(opdb_ids: Iterable[str]) -> list[dict[str, str]]:
    return [{"own_id": opdb_id} for opdb_id in sorted(opdb_ids)]
