"""The machine database: entries by id and name, changed ids, and the bulk file."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, and_, func, literal, or_, select

from silverball.kit.conversions import convert
from silverball.kit.errors import Invalid, MovedElsewhere, NotFound
from silverball.kit.http.query import Query, humanize_name
from silverball.rules.opdb import ids as opdb
from silverball.rules.opdb.moves import ResolvedId, resolve_id
from silverball.store import names, tables
from silverball_wire import times
from silverball_wire.base import UNSET
from silverball_wire.machines import (
    MachineImage,
    MachinePerson,
    OpdbChange,
    OpdbEntry,
    OpdbEntryBundle,
    Video,
)

SEARCH_MAX = 25
ROWS_AT_ONCE = 100
_MACHINE, _CHANGE, _VIDEO = tables.machine.c, tables.machine_change.c, tables.machine_video.c
_ENTRY_COLUMNS = (_MACHINE.entry, _MACHINE.people, _MACHINE.images)


class EntryQuery(Query, frozen=True, kw_only=True):
    """Parameters of both routes of an entry. Source: interface 4.9."""

    include_people: bool = False
    """Whether `people` is answered: designers, artists and others."""
    include_images: bool = False
    """Whether `images` is answered."""


def find_entry(db: Connection, opdb_id: str, query: EntryQuery) -> OpdbEntry:
    """The entry. Raises NotFound, or MovedElsewhere when its id has changed."""
    row = db.execute(select(*_ENTRY_COLUMNS).where(_MACHINE.opdb_id == opdb_id)).first()
    if row is None:
        raise _not_found_error(db, opdb_id)
    return _entry_item(row, has_people=query.include_people, has_images=query.include_images)


def entry_bundle(db: Connection, opdb_id: str, query: EntryQuery) -> OpdbEntryBundle:
    """The entry with the videos about its title. Raises NotFound."""
    entry = find_entry(db, opdb_id, query)
    return OpdbEntryBundle(entry=entry, type=entry.entry_type, videos=_videos(db, entry.opdb_group))


def entries_by_id(db: Connection, opdb_ids: Collection[str]) -> dict[str, OpdbEntry]:
    """Id -> entry, for the known ids."""
    rows = db.execute(select(*_ENTRY_COLUMNS).where(_MACHINE.opdb_id.in_(opdb_ids)))
    entries = (_entry_item(row) for row in rows)
    return {entry.opdb_id: entry for entry in entries}


def oldest_of_group(db: Connection, group_id: str) -> OpdbEntry | None:
    """The oldest machine of a title; None when none is known."""
    of_group = (_MACHINE.opdb_group == group_id) & (_MACHINE.entry_type == "machine")
    machines = [_entry_item(row) for row in db.execute(select(*_ENTRY_COLUMNS).where(of_group))]
    return min(machines, key=lambda entry: (entry.year or 9999, entry.opdb_id), default=None)


def search_machines(db: Connection, words: str) -> list[OpdbEntry]:
    """At most 25 machines and aliases whose name, common or short name contains the words."""
    wanted = literal(words)
    is_named = or_(
        *(
            names.NameContains(column, wanted)
            for column in (_MACHINE.name, _MACHINE.common_name, _MACHINE.short_name)
        )
    )
    rows = select(*_ENTRY_COLUMNS).where(is_named, _MACHINE.entry_type != "machineGroup")
    rows = rows.order_by(func.length(_MACHINE.name), _MACHINE.name, _MACHINE.opdb_id).limit(SEARCH_MAX)
    return [_entry_item(row) for row in db.execute(rows)]


def changelog(db: Connection) -> tuple[OpdbChange, ...]:
    """All ids that were replaced or deleted, oldest first."""
    return tuple(
        OpdbChange(
            changelog_id=row.changelog_id,
            action=row.action,
            opdb_id_deleted=row.opdb_id_deleted,
            opdb_id_replacement=row.opdb_id_replacement,
            created_at=times.iso(row.created_at),
        )
        for row in db.execute(select(tables.machine_change).order_by(_CHANGE.changelog_id))
    )


def current_opdb_id(db: Connection, opdb_id: str) -> str | None:
    """The current id of an entry: unchanged unless it was replaced; None when it was deleted."""
    return _follow_id(db, opdb_id).opdb_id


def id_replacements(db: Connection) -> dict[str, str | None]:
    """Replaced or deleted id -> its newest replacement, None when it was deleted."""
    rows = select(_CHANGE.opdb_id_deleted, _CHANGE.opdb_id_replacement).order_by(_CHANGE.changelog_id)
    return {row.opdb_id_deleted: row.opdb_id_replacement for row in db.execute(rows)}


def entry_ids(db: Connection) -> frozenset[str]:
    """The ids of all entries."""
    return frozenset(db.execute(select(_MACHINE.opdb_id)).scalars())


def require_known_id(db: Connection, field: str, opdb_id: str) -> None:
    """Raise Invalid, which names the field, unless the text can be an id of a machine.

    An id of the machine database may be newer than the import here; a homebrew one is stored here.
    """
    parsed = opdb.parse_id(opdb_id)
    if parsed is None:
        raise Invalid({field: [f"The {humanize_name(field)} field must be an id of the machine database."]})
    if parsed.is_homebrew and not entries_by_id(db, [opdb_id]):
        raise Invalid({field: [f"{opdb_id} is no homebrew machine of this site."]})


def json_lines(db: Connection) -> Iterator[str]:
    """Lines of a file of the whole machine database, which `import opdb` reads: a line per entry."""
    rows = select(*_ENTRY_COLUMNS).order_by(_MACHINE.opdb_id).execution_options(yield_per=ROWS_AT_ONCE)
    yield '{"entries":[\n'
    comma = ""
    for row in db.execute(rows):
        entry = _entry_item(row, has_people=row.people is not None, has_images=row.images is not None)
        yield f"{comma}{msgspec.json.encode(entry).decode()}\n"
        comma = ","
    yield "]}\n"


def _entry_item(row: Sequence[Any], *, has_people: bool = False, has_images: bool = False) -> OpdbEntry:
    entry, people, images = row
    item = convert(entry, OpdbEntry)
    if not has_people and not has_images:
        return item
    return msgspec.structs.replace(
        item,
        people=convert(people or (), tuple[MachinePerson, ...]) if has_people else UNSET,
        images=convert(images or (), tuple[MachineImage, ...]) if has_images else UNSET,
    )


def _not_found_error(db: Connection, opdb_id: str) -> NotFound:
    current = _follow_id(db, opdb_id)
    if current.is_unknown or current.opdb_id in (None, opdb_id):
        return NotFound("OpdbEntry", opdb_id)
    return MovedElsewhere("OpdbEntry", opdb_id, moved_to=str(current.opdb_id))


def _follow_id(db: Connection, opdb_id: str) -> ResolvedId:
    changed = id_replacements(db)
    # Most ids never change, so the ids of all entries are rarely needed.
    return resolve_id(opdb_id, changed, entry_ids(db)) if opdb_id in changed else ResolvedId(opdb_id)


def _videos(db: Connection, group_id: str) -> tuple[Video, ...]:
    # The group's id, and ids that begin with it and a hyphen: a dot is the character after the hyphen.
    # LIKE would ignore case on SQLite.
    below = and_(_VIDEO.opdb_id >= f"{group_id}-", _VIDEO.opdb_id < f"{group_id}.")
    rows = select(tables.machine_video).where(or_(_VIDEO.opdb_id == group_id, below))
    return tuple(
        Video(
            title=row.title,
            url=row.url,
            provider=row.provider,
            author=row.author,
            duration_seconds=row.duration_seconds,
            opdb_id=row.opdb_id,
        )
        for row in db.execute(rows.order_by(_VIDEO.video_id))
    )
