"""Store the machine database: its entries, videos and tips, and the ids that changed."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

import msgspec
from msgspec import Struct, structs
from sqlalchemy import Column, Connection, bindparam, case, delete, func, insert, select, update

from silverball.kit.errors import Conflict
from silverball.kit.values import convert
from silverball.rules import opdb
from silverball.rules.opdb import ResolvedId, resolve_id
from silverball.service.core import feed_events
from silverball.service.machines import reads
from silverball.store import tables
from silverball.store.database.transaction import Transaction
from silverball.store.revisions import revisions
from silverball.store.tournament import imports
from silverball_wire import base
from silverball_wire.machines import Manufacturer, OpdbChange, OpdbEntry, Video

# A file with fewer rows than this share of the stored ones is taken for a damaged file.
SHARE_MIN_PERCENT = 80


class TooFewRows(Conflict):
    """The file has far fewer rows than are stored."""

    sentence = (
        "The file has {found} {items} and {stored} are stored: fewer than {percent} %. "
        "Nothing was changed. If that is intended, import it with --force."
    )


def refuse_too_few(found: int, stored: int, items: str, *, is_forced: bool) -> None:
    """Raises TooFewRows for a file that would delete more than a fifth of the stored rows."""
    if not is_forced and found * 100 < stored * SHARE_MIN_PERCENT:
        raise TooFewRows(found=found, stored=stored, items=items, percent=SHARE_MIN_PERCENT)


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
        refuse_too_few(len(official), len(before), "entries", is_forced=is_forced)
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
            delete(tables.machine).where(_MACHINE.opdb_id == bindparam("own_id")),
            [{"own_id": opdb_id} for opdb_id in sorted(removed)],
        )
    if new:
        db.execute(insert(tables.machine), new)
    if changed:
        by_id = update(tables.machine).where(_MACHINE.opdb_id == bindparam("own_id"))
        db.execute(by_id, [{"own_id": entry["opdb_id"], **entry} for entry in changed])


_SUMMARIES = (tables.arena_summary, tables.player_arena_summary, tables.match_summary)
# SQLite accepts 32,766 parameters in one statement.
IDS_AT_ONCE = 1000


class MachineMoves(Struct, frozen=True):
    """The updated ids, and those that could not be updated."""

    arenas: int = 0
    # Old id -> new id, None where the machine was deleted.
    moved: Mapping[str, str | None] = msgspec.field(default_factory=dict)
    # Stored ids whose replacement is not a known entry.
    lost: tuple[str, ...] = ()


def store_changes(db: Connection, changes: Sequence[OpdbChange]) -> int:
    """Store these lines of the list of changes by their numbers, and return the number of new lines."""
    table, key = tables.machine_change, tables.machine_change.c.changelog_id
    before = set(db.execute(select(key)).scalars())
    line_ids = {change.changelog_id for change in changes}
    replaced = [{"own_id": line_id} for line_id in sorted(line_ids & before)]
    if replaced:
        db.execute(delete(table).where(key == bindparam("own_id")), replaced)
    rows = [
        {
            "changelog_id": change.changelog_id,
            "action": change.action,
            "opdb_id_deleted": change.opdb_id_deleted,
            "opdb_id_replacement": change.opdb_id_replacement,
            "created_at": base.parse_moment(change.created_at),
        }
        for change in changes
    ]
    if rows:
        db.execute(insert(table), rows)
    return len(line_ids - before)


def follow_moves(transaction: Transaction) -> MachineMoves:
    """Give arenas, summaries, tips and videos the current ids of their machines.

    Called after every import that names machines or changes their ids: the list of changes may be ahead of
    the entries, and the entries ahead of the list.
    """
    db = transaction.connection
    moves = reads.id_replacements(db)
    if not moves:
        return MachineMoves()
    known = reads.entry_ids(db)
    outcomes = {
        opdb_id: resolve_id(opdb_id, moves, known) for opdb_id in sorted(_stored_ids(db) & moves.keys())
    }
    moved = {
        opdb_id: outcome.opdb_id for opdb_id, outcome in outcomes.items() if outcome != ResolvedId(opdb_id)
    }
    lost = tuple(opdb_id for opdb_id, outcome in outcomes.items() if outcome.is_unknown)
    for opdb_id in lost:
        del moved[opdb_id]
    arenas = _replace_ids(transaction, moved) if moved else 0
    return MachineMoves(arenas, moved, lost)


def _stored_ids(db: Connection) -> set[str]:
    """All ids in use."""
    id_lists = (
        db.execute(select(column).where(column.is_not(None)).distinct()).scalars() for column in _id_columns()
    )
    return set(chain.from_iterable(id_lists))


def _id_columns() -> list[Column[str]]:
    naming_tables = (tables.arena, *_SUMMARIES, tables.tip, tables.machine_video)
    return [table.c.opdb_id for table in naming_tables]


def _replace_ids(transaction: Transaction, moved: Mapping[str, str | None]) -> int:
    """Replace the ids everywhere, raise the affected tournaments, and return the number of changed arenas."""
    db = transaction.connection
    arena_ids = _ids_of_rows_naming(db, tables.arena.c.arena_id, tables.arena.c.opdb_id, moved)
    _replace_in_column(db, tables.arena.c.opdb_id, moved)
    # A concurrent completion of one of these tournaments waits here, or this transaction waits for it. Its
    # summary has the old or the new id, and an old one is replaced below.
    for start in range(0, len(arena_ids), IDS_AT_ONCE):
        feed_events.announce_arenas(transaction, arena_ids[start : start + IDS_AT_ONCE])
    for summary in _SUMMARIES:
        tournament_ids = _ids_of_rows_naming(db, summary.c.tournament_id, summary.c.opdb_id, moved)
        revisions.raise_tournaments(transaction, tournament_ids)
        _replace_in_column(db, summary.c.opdb_id, moved)
    for column in (tables.tip.c.opdb_id, tables.machine_video.c.opdb_id):
        _replace_in_column(db, column, moved)
    return len(arena_ids)


def _ids_of_rows_naming(
    db: Connection, wanted: Column[int], named: Column[str], moved: Mapping[str, str | None]
) -> list[int]:
    ids: set[int] = set()
    olds = sorted(moved)
    for start in range(0, len(olds), IDS_AT_ONCE):
        rows = select(wanted).where(named.in_(olds[start : start + IDS_AT_ONCE])).distinct()
        ids.update(db.execute(rows).scalars())
    return sorted(ids)


def _replace_in_column(db: Connection, column: Column[str], moved: Mapping[str, str | None]) -> None:
    # One pass over the table for many ids. No new id is also an old one, so the order does not matter.
    olds = sorted(moved)
    for start in range(0, len(olds), IDS_AT_ONCE):
        batch = olds[start : start + IDS_AT_ONCE]
        new = case({old: moved[old] for old in batch}, value=column)
        db.execute(update(column.table).where(column.in_(batch)).values({column: new}))


class NewTip(Struct, frozen=True, kw_only=True):
    """A tip in a file. `opdb_id` is the id of its group."""

    tip_id: int
    opdb_id: str | None
    category: str
    vote_total: int
    text: str
    created_at: datetime
    updated_at: datetime


class TipCounts(Struct, frozen=True):
    """The numbers of tips after and before an import."""

    now: int
    before: int


def replace_tips(db: Connection, tips: Sequence[NewTip], *, is_forced: bool) -> TipCounts:
    """Replace the stored tips. Raises TooFew."""
    before = db.execute(select(func.count()).select_from(tables.tip)).scalar_one()
    refuse_too_few(len(tips), before, "tips", is_forced=is_forced)
    db.execute(delete(tables.tip))
    if tips:
        db.execute(insert(tables.tip), [structs.asdict(tip) for tip in tips])
    imports.move_sequences(db, [tables.tip])
    return TipCounts(len(tips), before)
