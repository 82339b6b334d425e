"""Entries of the machine database (OPDB) in its own terms, and changes of their ids."""

from typing import Literal

from silverball.rules.opdb.ids import EntryType
from silverball.wire.base import UNSET, UnsetType, Wire


class Manufacturer(Wire, frozen=True, kw_only=True):
    """The manufacturer of a machine. Source: ratings C.2."""

    manufacturer_id: int | None
    name: str
    full_name: str | None


class MachineFeature(Wire, frozen=True, kw_only=True):
    """A feature of a machine: `Widebody`, `Limited edition`. Source: ratings C.2."""

    feature_id: int | None
    name: str
    group: str | None
    description: str | None


class MachinePerson(Wire, frozen=True, kw_only=True):
    """A person credited with a machine. Source: ratings C.2."""

    opdb_person_id: int | None
    name: str
    role: str
    index: int | None


class ImageUrls(Wire, frozen=True, kw_only=True):
    """The addresses of a picture in three sizes. Source: ratings C.2."""

    small: str | None
    medium: str | None
    large: str | None


class ImageSize(Wire, frozen=True, kw_only=True):
    """The size of a picture in pixels. Source: ratings C.2."""

    width: int | None
    height: int | None


class ImageSizes(Wire, frozen=True, kw_only=True):
    """The size in pixels of each version of a picture. Source: ratings C.2."""

    small: ImageSize | None
    medium: ImageSize | None
    large: ImageSize | None


class MachineImage(Wire, frozen=True, kw_only=True):
    """A picture of a machine. Source: ratings C.2."""

    title: str | None
    primary: bool
    type: str | None
    urls: ImageUrls
    sizes: ImageSizes
    group: str | None


class OpdbEntry(Wire, frozen=True, kw_only=True):
    """A group, a machine or an alias. Source: interface 4.9, ratings C.2."""

    opdb_id: str
    opdb_group: str
    # A machine's own id; an alias has the id of its machine.
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
    entry_type: EntryType
    manufacturer: Manufacturer | None
    # Absent unless requested.
    people: tuple[MachinePerson, ...] | UnsetType = UNSET
    images: tuple[MachineImage, ...] | UnsetType = UNSET
    features: tuple[MachineFeature, ...]
    keywords: tuple[str, ...]


class Video(Wire, frozen=True, kw_only=True):
    """A video about a title. Source: ratings C.3."""

    title: str
    url: str
    provider: str | None
    author: str | None
    duration_seconds: int | None
    opdb_id: str


class OpdbEntryBundle(Wire, frozen=True, kw_only=True):
    """An entry with the videos about its title. Source: wire.yaml OpdbEntryBundle."""

    entry: OpdbEntry
    type: str | None
    videos: tuple[Video, ...]


class OpdbChange(Wire, frozen=True, kw_only=True):
    """An id that was replaced or deleted. Source: ratings C.3."""

    changelog_id: int
    action: Literal["move", "delete"]
    opdb_id_deleted: str
    opdb_id_replacement: str | None
    created_at: str
