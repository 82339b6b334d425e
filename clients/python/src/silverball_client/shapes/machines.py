"""Entries of the machine database (OPDB) in its own terms, and changes of their ids."""

from msgspec import UNSET, UnsetType

from silverball_client.shapes.base import Shape


class Manufacturer(Shape, frozen=True, kw_only=True):
    """The manufacturer of a machine."""

    manufacturer_id: int | None
    name: str
    full_name: str | None


class MachineFeature(Shape, frozen=True, kw_only=True):
    """A feature of a machine: `Widebody`, `Limited edition`."""

    feature_id: int | None
    name: str
    group: str | None
    description: str | None


class MachinePerson(Shape, frozen=True, kw_only=True):
    """A person credited with a machine."""

    opdb_person_id: int | None
    name: str
    role: str
    index: int | None


class ImageUrls(Shape, frozen=True, kw_only=True):
    """The addresses of a picture in three sizes."""

    small: str | None
    medium: str | None
    large: str | None


class ImageSize(Shape, frozen=True, kw_only=True):
    """The size of a picture in pixels."""

    width: int | None
    height: int | None


class ImageSizes(Shape, frozen=True, kw_only=True):
    """The size in pixels of each version of a picture."""

    small: ImageSize | None
    medium: ImageSize | None
    large: ImageSize | None


class MachineImage(Shape, frozen=True, kw_only=True):
    """A picture of a machine."""

    title: str | None
    primary: bool
    type: str | None
    urls: ImageUrls
    sizes: ImageSizes
    group: str | None


class OpdbEntry(Shape, frozen=True, kw_only=True):
    """A group, a machine or an alias."""

    opdb_id: str
    opdb_group: str
    opdb_machine: str | None
    name: str
    short_name: str | None
    common_name: str | None
    name_sort: str
    year: int | None
    manufacture_date: str | None
    description: str | None
    type: str | None
    display: str | None
    player_count: int | None
    physical_machine: bool
    manufacturer_id: int | None
    ipdb_id: int | None
    pinball_primer_url: str | None
    pinball_rules_url: str | None
    pinball_cards_url: str | None
    bobs_guide_url: str | None
    competition_setup_url: str | None
    competition_notes_url: str | None
    created_at: str | None
    updated_at: str | None
    entry_type: str
    manufacturer: Manufacturer | None
    people: tuple[MachinePerson, ...] | UnsetType = UNSET
    images: tuple[MachineImage, ...] | UnsetType = UNSET
    features: tuple[MachineFeature, ...]
    keywords: tuple[str, ...]


class Video(Shape, frozen=True, kw_only=True):
    """A video about a title."""

    title: str
    url: str
    provider: str | None
    author: str | None
    duration_seconds: int | None
    opdb_id: str


class OpdbEntryBundle(Shape, frozen=True, kw_only=True):
    """An entry with the videos about its title."""

    entry: OpdbEntry
    type: str | None
    videos: tuple[Video, ...]


class OpdbChange(Shape, frozen=True, kw_only=True):
    """An id that was replaced or deleted."""

    changelog_id: int
    action: str
    opdb_id_deleted: str
    opdb_id_replacement: str | None
    created_at: str
