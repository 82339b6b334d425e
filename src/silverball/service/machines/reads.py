"""The machine database: entries by id and name, changed ids, tips, and the bulk file."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, and_, func, literal, or_, select

from silverball.kit.errors import Invalid, MovedElsewhere, NotFound
from silverball.kit.http.query import Query, humanize_name
from silverball.kit.values import compile_copy, convert
from silverball.rules import opdb
from silverball.rules.opdb import ResolvedId, resolve_id
from silverball.service.venues import reads as venues_reads
from silverball.store import tables
from silverball.store.people import names
from silverball_wire import base
from silverball_wire.base import UNSET, Id
from silverball_wire.machines import (
    MachineImage,
    MachinePerson,
    OpdbChange,
    OpdbEntry,
    OpdbEntryBundle,
    OpdbInfo,
    PinTipsBundle,
    Tip,
    TipRow,
    Video,
)

_build_video = compile_copy(Video)
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


def ids_by_short_name(db: Connection, short_names: Collection[str]) -> dict[str, str]:
    """Short name -> id of the machine, for those that only one machine or title has."""
    wanted = {names.fold(name): name for name in short_names}
    rows = select(_MACHINE.opdb_id, _MACHINE.opdb_group, _MACHINE.short_name).where(
        names.FoldedName(_MACHINE.short_name).in_(wanted), _MACHINE.entry_type == "machine"
    )
    found: dict[str, dict[str, str]] = {}
    for row in db.execute(rows.order_by(_MACHINE.opdb_id.desc())):
        # Of the machines of one title the first stands for it.
        found.setdefault(wanted[names.fold(row.short_name)], {})[row.opdb_group] = row.opdb_id
    return {name: next(iter(ids.values())) for name, ids in found.items() if len(ids) == 1}


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
            created_at=base.iso(row.created_at),
        )
        for row in db.execute(select(tables.machine_change).order_by(_CHANGE.changelog_id))
    )


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


def machine_json_lines(db: Connection) -> Iterator[str]:
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
    return tuple(map(_build_video, db.execute(rows.order_by(_VIDEO.video_id))))


NO_TIPS = PinTipsBundle(pintips=(), opdb_info=None)
_TIP = tables.tip.c
# Strategy guides; the cards are the instruction cards printed by the manufacturer.
_RULESETS = ("pinball_rules_url", "pinball_primer_url", "bobs_guide_url")
_LINKS = (*_RULESETS, "pinball_cards_url")


class TipsQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/pintips, of which exactly one is given. Source: interface 4.9."""

    opdb_id: str | None = None
    """Id of a machine, which the tips are for."""
    arena_id: Id | None = None
    """Id of an arena, whose machine the tips are for."""


def tips_for_query(db: Connection, query: TipsQuery) -> PinTipsBundle:
    """The tips for the machine or arena of the query. Raises Invalid."""
    if query.opdb_id is not None and query.arena_id is not None:
        raise Invalid({"arenaId": ["Give either the opdb id or the arena id, not both."]})
    if query.opdb_id is not None:
        require_known_id(db, "opdbId", query.opdb_id)
        return machine_tips(db, query.opdb_id)
    if query.arena_id is None:
        raise Invalid({"opdbId": ["The opdb id field is required when there is no arena id."]})
    named_arenas = venues_reads.existing_arenas(db, [query.arena_id])
    if not named_arenas:
        raise Invalid({"arenaId": ["The selected arena id is invalid."]})
    # Earlier versions stored whatever organizers typed, and an invalid id has no tips.
    opdb_id = named_arenas[0].opdb_id
    return NO_TIPS if opdb_id is None else machine_tips(db, opdb_id)


def machine_tips(db: Connection, opdb_id: str) -> PinTipsBundle:
    """The tips for a title, most votes first, by any current or former id of its entries."""
    today = _follow_id(db, opdb_id).opdb_id
    group_id = None if today is None else opdb.group_id_of(today)
    if today is None or group_id is None:
        return NO_TIPS
    rows = select(tables.tip).where(_TIP.opdb_id == group_id).order_by(_TIP.vote_total.desc(), _TIP.tip_id)
    tips = tuple(
        Tip(
            tip_id=row.tip_id,
            text=row.text,
            category=row.category,
            vote_total=row.vote_total,
            # This site has no voting.
            own_vote=None,
        )
        for row in db.execute(rows)
    )
    return PinTipsBundle(pintips=tips, opdb_info=_machine_info(db, today, group_id))


def tip_json_lines(db: Connection) -> Iterator[str]:
    """Lines of a file of all tips, which `import pintips` reads: a line per tip."""
    rows = select(tables.tip).order_by(_TIP.tip_id).execution_options(yield_per=ROWS_AT_ONCE)
    yield "[\n"
    comma = ""
    for row in db.execute(rows):
        tip = TipRow(
            tip_id=row.tip_id,
            opdb_id=row.opdb_id,
            category=row.category,
            vote_total=row.vote_total,
            text=row.text,
            created_at=base.plain(row.created_at),
            updated_at=base.plain(row.updated_at),
        )
        yield f"{comma}{msgspec.json.encode(tip).decode()}\n"
        comma = ","
    yield "]\n"


def _machine_info(db: Connection, opdb_id: str, group_id: str) -> OpdbInfo | None:
    """A summary of the machine; missing values come from its group or the title's oldest machine."""
    entries = entries_by_id(db, [opdb_id, group_id])
    entry = entries.get(opdb_id) or entries.get(group_id)
    if entry is None:
        return None
    sources = [entry, entries.get(group_id), oldest_of_group(db, group_id)]
    links = {name: _first_link(sources, name) for name in _LINKS}
    dated_entry = next(
        (source for source in sources if source is not None and (source.year or source.manufacturer)), entry
    )
    maker = dated_entry.manufacturer.name if dated_entry.manufacturer else None
    supplementary = [str(part) for part in (maker, dated_entry.year) if part is not None]
    return OpdbInfo(
        name=entry.name,
        supplementary=", ".join(supplementary),
        has_ruleset=any(links[name] for name in _RULESETS),
        **links,
    )


def _first_link(sources: list[OpdbEntry | None], name: str) -> str | None:
    links: list[str | None] = [getattr(source, name) for source in sources if source is not None]
    return next((link for link in links if link is not None), None)
