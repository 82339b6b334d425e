"""The machine database from a file in any of its four shapes."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from silverball.exchange import machine_files
from silverball.exchange.bundle.checks import BrokenFile
from silverball.kit.http.fields import Id
from silverball.rules import opdb
from silverball.service.machines import writes as machines_writes
from silverball.service.machines.writes import ImportCounts, MachineMoves
from silverball.store.database.transaction import Transaction
from silverball_wire import base
from silverball_wire.base import ID_MAX
from silverball_wire.machines import (
    ImageSize,
    ImageSizes,
    ImageUrls,
    MachineFeature,
    MachineImage,
    MachinePerson,
    Manufacturer,
    OpdbChange,
)

# The four shapes in which the machine database is handed around. Source: ratings C.2.
#
# Each Struct has the fields of one shape; `entry_fields` converts them to the names of the published shape,
# without those that the file leaves out. Unknown fields are ignored.


Number = Annotated[int, Meta(ge=0, le=ID_MAX)]
Name = Annotated[str, Meta(min_length=1, max_length=300)]
Line = Annotated[str, Meta(max_length=300)]
Text = Annotated[str, Meta(max_length=20_000)]
Day = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}")]
Flag = bool | Literal[0, 1]
Maybe = UnsetType | None
URL = re.compile(r"https?://\S{1,2000}")


class FileManufacturer(Struct, rename="camel", frozen=True, kw_only=True):
    """`manufacturer` of the published shapes."""

    manufacturer_id: Number | None = None
    name: Name
    full_name: Line | None = None


class ExportManufacturer(Struct, frozen=True, kw_only=True):
    """`manufacturer` of the export."""

    manufacturer_id: Number | None = None
    name: Name
    full_name: Line | None = None


class FileFeature(Struct, rename="camel", frozen=True, kw_only=True):
    """`features` of the published shapes."""

    feature_id: Number | None = None
    name: Name
    group: Line | None = None
    description: Text | None = None


class FilePerson(Struct, rename="camel", frozen=True, kw_only=True):
    """`people` of the published shapes."""

    opdb_person_id: Number | None = None
    name: Name
    role: Line
    index: int | None = None


class FileImageSize(Struct, frozen=True, kw_only=True):
    """The size of a picture."""

    width: Number | None = None
    height: Number | None = None


class FileImageSizes(Struct, frozen=True, kw_only=True):
    """The sizes of a picture."""

    small: FileImageSize | None = None
    medium: FileImageSize | None = None
    large: FileImageSize | None = None


class FileImageUrls(Struct, frozen=True, kw_only=True):
    """The addresses of a picture."""

    small: Text | None = None
    medium: Text | None = None
    large: Text | None = None


class FileImage(Struct, frozen=True, kw_only=True):
    """`images` of every shape that has them."""

    title: Text | None = None
    primary: Flag = False
    type: Line | None = None
    urls: FileImageUrls = FileImageUrls()
    sizes: FileImageSizes = FileImageSizes()
    group: Line | None = None


class FileEntry(Struct, rename="camel", frozen=True, kw_only=True):
    """An entry of the first, the second or the slim published shape."""

    opdb_id: str
    name: Name
    entry_type: str | Maybe = UNSET
    short_name: Line | Maybe = UNSET
    common_name: Line | Maybe = UNSET
    name_sort: Line | Maybe = UNSET
    year: Number | Maybe = UNSET
    manufacture_date: Day | Maybe = UNSET
    description: Text | Maybe = UNSET
    type: Line | Maybe = UNSET
    display: Line | Maybe = UNSET
    player_count: Number | Maybe = UNSET
    physical_machine: Flag | Maybe = UNSET
    manufacturer_id: Number | Maybe = UNSET
    manufacturer_name: Line | Maybe = UNSET
    manufacturer: FileManufacturer | Maybe = UNSET
    ipdb_id: Number | Maybe = UNSET
    pinball_primer_url: Text | Maybe = UNSET
    pinball_rules_url: Text | Maybe = UNSET
    pinball_cards_url: Text | Maybe = UNSET
    bobs_guide_url: Text | Maybe = UNSET
    competition_setup_url: Text | Maybe = UNSET
    competition_notes_url: Text | Maybe = UNSET
    created_at: Line | Maybe = UNSET
    updated_at: Line | Maybe = UNSET
    people: tuple[FilePerson, ...] | Maybe = UNSET
    images: tuple[FileImage, ...] | Maybe = UNSET
    features: tuple[FileFeature | Name, ...] | Maybe = UNSET
    keywords: tuple[Line, ...] | Maybe = UNSET


class ExportEntry(Struct, frozen=True, kw_only=True):
    """An entry of the export of opdb.org."""

    opdb_id: str
    name: Name
    is_machine: Flag = False
    is_alias: Flag = False
    common_name: Line | Maybe = UNSET
    shortname: Line | Maybe = UNSET
    physical_machine: Flag | Maybe = UNSET
    ipdb_id: Number | Maybe = UNSET
    manufacture_date: Day | Maybe = UNSET
    manufacturer: ExportManufacturer | Maybe = UNSET
    type: Line | Maybe = UNSET
    display: Line | Maybe = UNSET
    player_count: Number | Maybe = UNSET
    features: tuple[Name, ...] | Maybe = UNSET
    keywords: tuple[Line, ...] | Maybe = UNSET
    description: Text | Maybe = UNSET
    created_at: Line | Maybe = UNSET
    updated_at: Line | Maybe = UNSET
    images: tuple[FileImage, ...] | Maybe = UNSET

    @property
    def entry_type(self) -> str | None:
        """The entry type by the row's flags."""
        if self.is_alias:
            return "alias"
        return "machine" if self.is_machine else None


def entry_fields(entry: FileEntry | ExportEntry) -> dict[str, Any]:
    """The fields of the entry that the file has, by the names of OpdbEntry."""
    fields = {
        name: value
        for name in entry.__struct_fields__
        if (value := getattr(entry, name)) is not UNSET
        and name not in ("is_machine", "is_alias", "entry_type")
    }
    if "shortname" in fields:
        fields["short_name"] = fields.pop("shortname")
    for name in fields.keys() & {"features", "keywords", "people", "images"}:
        fields[name] = fields[name] or ()
    if fields.get("name_sort", "") is None:
        del fields["name_sort"]
    _set_manufacturer(fields)
    _convert_fields(fields)
    return fields


def _set_manufacturer(fields: dict[str, Any]) -> None:
    """Set the manufacturer from the file's object or, in the slim shape, from its name and number."""
    slim_name, slim_id = fields.pop("manufacturer_name", UNSET), fields.pop("manufacturer_id", UNSET)
    manufacturer = fields.get("manufacturer", UNSET)
    if manufacturer is UNSET and slim_name is not UNSET:
        manufacturer = (
            FileManufacturer(name=slim_name, manufacturer_id=slim_id or None) if slim_name else None
        )
    if manufacturer is UNSET:
        return
    fields["manufacturer"] = manufacturer and Manufacturer(
        manufacturer_id=manufacturer.manufacturer_id, name=manufacturer.name, full_name=manufacturer.full_name
    )
    fields["manufacturer_id"] = manufacturer and manufacturer.manufacturer_id


def _convert_fields(fields: dict[str, Any]) -> None:
    """Convert flags, dates, links and lists to their published form."""
    if "physical_machine" in fields:
        fields["physical_machine"] = bool(fields["physical_machine"])
    if "manufacture_date" in fields and "year" not in fields:
        day = fields["manufacture_date"]
        fields["year"] = int(day[:4]) or None if day else None
    fields |= {name: _safe_link(link) for name, link in fields.items() if name.endswith("_url")}
    if "features" in fields:
        fields["features"] = tuple(_machine_feature(feature) for feature in fields["features"])
    if "people" in fields:
        fields["people"] = tuple(
            MachinePerson(**msgspec.structs.asdict(person)) for person in fields["people"]
        )
    if "images" in fields:
        fields["images"] = tuple(_machine_image(image) for image in fields["images"])


def _machine_feature(feature: FileFeature | str) -> MachineFeature:
    if isinstance(feature, str):
        return MachineFeature(feature_id=None, name=feature, group=None, description=None)
    return MachineFeature(**msgspec.structs.asdict(feature))


def _machine_image(image: FileImage) -> MachineImage:
    urls, sizes = image.urls, image.sizes
    return MachineImage(
        title=image.title,
        primary=bool(image.primary),
        type=image.type,
        urls=ImageUrls(
            small=_safe_link(urls.small), medium=_safe_link(urls.medium), large=_safe_link(urls.large)
        ),
        sizes=ImageSizes(
            small=_image_size(sizes.small), medium=_image_size(sizes.medium), large=_image_size(sizes.large)
        ),
        group=image.group,
    )


def _image_size(size: FileImageSize | None) -> ImageSize | None:
    return None if size is None else ImageSize(width=size.width, height=size.height)


def _safe_link(text: str | None) -> str | None:
    """The link if a page may show it; a file of another program could hold anything."""
    return text if text and URL.fullmatch(text) else None


UNKNOWN_SHAPE = (
    "This is not a machine database. Known are the export of opdb.org (a list of entries with `opdb_id`), "
    "an object with `machines` and `aliases`, and an object with `entries`."
)
# The lists of the first published shape, and the entry type of each.
ENTRY_LISTS = {"groups": "machineGroup", "machines": "machine", "aliases": "alias"}


class MachineFile(Struct, frozen=True):
    """A file that was read and checked."""

    # OPDB id -> the fields in the file, by the names of the published entry.
    entries: dict[str, dict[str, Any]]
    has_groups: bool


def read_machines(path: Path) -> MachineFile:
    """Read and check a file. Raises BrokenFile with the row and field of the first fault, or OSError."""
    return parse_machines(machine_files.read_json(path))


def parse_machines(raw: Any) -> MachineFile:
    """Check the JSON of a file. Raises BrokenFile."""
    listed = [row for at, entries, kind in _entry_lists(raw) for row in _check_entries(at, entries, kind)]
    if not listed:
        raise BrokenFile("$", "The file has no entries.")
    machine_files.refuse_duplicates((at, entry.opdb_id) for at, entry in listed)
    entries = {entry.opdb_id: entry_fields(entry) for _, entry in listed}
    has_groups = any("-" not in opdb_id for opdb_id in entries)
    return MachineFile(entries, has_groups)


def import_machines(
    transaction: Transaction, file: MachineFile, *, is_forced: bool = False
) -> tuple[ImportCounts, MachineMoves]:
    """Replace the stored machine database by the file's, and apply the known changes of ids to arenas.

    In the caller's transaction. Raises Conflict for a file with far fewer entries than are stored.
    """
    counts = machines_writes.replace_entries(
        transaction.connection, file.entries, has_groups=file.has_groups, is_forced=is_forced
    )
    return counts, machines_writes.follow_moves(transaction)


def _entry_lists(raw: Any) -> list[tuple[str, Sequence[FileEntry | ExportEntry], str | None]]:
    """The lists of the file: JSON path, entries, and the entry type where the list implies one."""
    if isinstance(raw, list) and all(isinstance(row, dict) and "opdb_id" in row for row in raw[:1]):
        return [("$", machine_files.convert_rows(raw, ExportEntry), None)]
    if isinstance(raw, dict) and isinstance(raw.get("entries"), list):
        return [("$.entries", machine_files.convert_rows(raw["entries"], FileEntry, "$.entries"), None)]
    if isinstance(raw, dict) and isinstance(raw.get("machines"), list):
        named = ((f"$.{name}", raw[name], kind) for name, kind in ENTRY_LISTS.items() if name in raw)
        return [(at, machine_files.convert_rows(rows, FileEntry, at), kind) for at, rows, kind in named]
    raise BrokenFile("$", UNKNOWN_SHAPE)


def _check_entries(
    at: str, entries: Sequence[FileEntry | ExportEntry], kind: str | None
) -> list[tuple[str, FileEntry | ExportEntry]]:
    """The entries with their JSON paths. Raises BrokenFile for an invalid id or one of another type."""
    listed = []
    for n, entry in enumerate(entries):
        place = f"{at}[{n}]"
        parts = opdb.parse_id(entry.opdb_id)
        if parts is None:
            name = "opdb_id" if isinstance(entry, ExportEntry) else "opdbId"
            raise BrokenFile(f"{place}.{name}", f"{entry.opdb_id!r} is not an id of the machine database.")
        entry_type = kind or entry.entry_type
        if entry_type and entry_type != parts.entry_type:
            raise BrokenFile(
                place, f"{entry.opdb_id} is the id of a {parts.entry_type}; the file says {entry_type}."
            )
        listed.append((place, entry))
    return listed


# The machine database's list of changed ids from a file. Source: ratings C.3.


UNKNOWN_CHANGELOG = (
    "This is not a list of changed ids. Known are that of opdb.org (a list with `changelog_id`) and that of "
    "GET /api/opdb/changelog (an object with `data`)."
)


class ExportChange(Struct, frozen=True, kw_only=True):
    """A line of opdb.org's list."""

    changelog_id: Id
    action: Literal["move", "delete"]
    opdb_id_deleted: str
    opdb_id_replacement: str | None = None
    created_at: str


class PublishedChange(Struct, rename="camel", frozen=True, kw_only=True):
    """A line of the published list."""

    changelog_id: Id
    action: Literal["move", "delete"]
    opdb_id_deleted: str
    opdb_id_replacement: str | None = None
    created_at: str


def read_changelog(path: Path) -> list[OpdbChange]:
    """Read and check a file. Raises BrokenFile with the row and field of the first fault, or OSError."""
    return parse_changelog(machine_files.read_json(path))


def parse_changelog(raw: Any) -> list[OpdbChange]:
    """Check the JSON of a file. Raises BrokenFile."""
    if isinstance(raw, list) and all(isinstance(row, dict) and "changelog_id" in row for row in raw[:1]):
        return _check_rows("$", machine_files.convert_rows(raw, ExportChange))
    if isinstance(raw, dict) and isinstance(raw.get("data"), list):
        return _check_rows("$.data", machine_files.convert_rows(raw["data"], PublishedChange, "$.data"))
    raise BrokenFile("$", UNKNOWN_CHANGELOG)


def import_changes(transaction: Transaction, changes: list[OpdbChange]) -> tuple[int, MachineMoves]:
    """Add the changes and follow all that are known, in the caller's transaction.

    Returns the number of new changes, and what they moved.
    """
    return machines_writes.store_changes(transaction.connection, changes), machines_writes.follow_moves(
        transaction
    )


def _check_rows(at: str, rows: Sequence[ExportChange | PublishedChange]) -> list[OpdbChange]:
    machine_files.refuse_duplicates((f"{at}[{n}]", row.changelog_id) for n, row in enumerate(rows))
    return [_opdb_change(f"{at}[{n}]", row) for n, row in enumerate(rows)]


def _opdb_change(place: str, row: ExportChange | PublishedChange) -> OpdbChange:
    replacement = row.opdb_id_replacement
    if (row.action == "move") != (replacement is not None):
        demand = "names its replacement" if row.action == "move" else "names none"
        raise BrokenFile(place, f"A line with the action {row.action!r} {demand}.")
    for opdb_id in (row.opdb_id_deleted, replacement):
        if opdb_id is not None and not opdb.is_opdb_id(opdb_id):
            raise BrokenFile(place, f"{opdb_id!r} is not an id of the machine database.")
    return OpdbChange(
        changelog_id=row.changelog_id,
        action=row.action,
        opdb_id_deleted=row.opdb_id_deleted,
        opdb_id_replacement=replacement,
        created_at=base.iso(machine_files.parse_moment(place, row.created_at)),
    )
