"""The four shapes in which the machine database is handed around. Source: ratings C.2.

Each Struct has the fields of one shape; `entry_fields` converts them to the names of the published
shape, without those that the file leaves out. Unknown fields are ignored.
"""

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from silverball_wire.base import ID_MAX
from silverball_wire.machines import (
    ImageSize,
    ImageSizes,
    ImageUrls,
    MachineFeature,
    MachineImage,
    MachinePerson,
    Manufacturer,
)

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
