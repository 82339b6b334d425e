"""The four shapes in which the machine database is handed around. Source: ratings C.2.

Each Struct names what a shape says of an entry; `said` is the same by the names of the published shape,
without what the file does not say. What others add to their files is passed over.
"""

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from silverball.wire.base import ID_MAX
from silverball.wire.machines import (
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
        """What the row says that it is."""
        if self.is_alias:
            return "alias"
        return "machine" if self.is_machine else None


def entry_fields(entry: FileEntry | ExportEntry) -> dict[str, Any]:
    """What the file says of the entry, by the names of OpdbEntry."""
    given = {
        name: value
        for name in entry.__struct_fields__
        if (value := getattr(entry, name)) is not UNSET
        and name not in ("is_machine", "is_alias", "entry_type")
    }
    if "shortname" in given:
        given["short_name"] = given.pop("shortname")
    for name in given.keys() & {"features", "keywords", "people", "images"}:
        given[name] = given[name] or ()
    if given.get("name_sort", "") is None:
        del given["name_sort"]
    _set_manufacturer(given)
    _convert_fields(given)
    return given


def _set_manufacturer(given: dict[str, Any]) -> None:
    """The maker, whether the file has an object for it or, the slim one, a name and a number."""
    slim_name, slim_id = given.pop("manufacturer_name", UNSET), given.pop("manufacturer_id", UNSET)
    made = given.get("manufacturer", UNSET)
    if made is UNSET and slim_name is not UNSET:
        made = FileManufacturer(name=slim_name, manufacturer_id=slim_id or None) if slim_name else None
    if made is UNSET:
        return
    given["manufacturer"] = made and Manufacturer(
        manufacturer_id=made.manufacturer_id, name=made.name, full_name=made.full_name
    )
    given["manufacturer_id"] = made and made.manufacturer_id


def _convert_fields(given: dict[str, Any]) -> None:
    """What needs another form here: flags, dates, links, lists."""
    if "physical_machine" in given:
        given["physical_machine"] = bool(given["physical_machine"])
    if "manufacture_date" in given and "year" not in given:
        day = given["manufacture_date"]
        given["year"] = int(day[:4]) or None if day else None
    given |= {name: _safe_link(link) for name, link in given.items() if name.endswith("_url")}
    if "features" in given:
        given["features"] = tuple(_machine_feature(one) for one in given["features"])
    if "people" in given:
        given["people"] = tuple(MachinePerson(**msgspec.structs.asdict(one)) for one in given["people"])
    if "images" in given:
        given["images"] = tuple(_machine_image(one) for one in given["images"])


def _machine_feature(one: FileFeature | str) -> MachineFeature:
    if isinstance(one, str):
        return MachineFeature(feature_id=None, name=one, group=None, description=None)
    return MachineFeature(**msgspec.structs.asdict(one))


def _machine_image(one: FileImage) -> MachineImage:
    urls, sizes = one.urls, one.sizes
    return MachineImage(
        title=one.title,
        primary=bool(one.primary),
        type=one.type,
        urls=ImageUrls(
            small=_safe_link(urls.small), medium=_safe_link(urls.medium), large=_safe_link(urls.large)
        ),
        sizes=ImageSizes(
            small=_image_size(sizes.small), medium=_image_size(sizes.medium), large=_image_size(sizes.large)
        ),
        group=one.group,
    )


def _image_size(one: FileImageSize | None) -> ImageSize | None:
    return None if one is None else ImageSize(width=one.width, height=one.height)


def _safe_link(text: str | None) -> str | None:
    """A link that a page may show; a file of others could hold anything."""
    return text if text and URL.fullmatch(text) else None
