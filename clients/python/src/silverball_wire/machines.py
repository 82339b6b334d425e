"""Entries of the machine database (OPDB) in its own terms, and changes of their ids."""

from typing import Literal

from silverball_wire.base import UNSET, Instant, UnsetType, Wire
from silverball_wire.generated.words import EntryType


class Manufacturer(Wire, frozen=True, kw_only=True):
    """The manufacturer of a machine. Source: ratings C.2."""

    manufacturer_id: int | None
    name: str
    full_name: str | None
    """Full name of the company; null when it is the same."""


class MachineFeature(Wire, frozen=True, kw_only=True):
    """A feature of a machine: `Widebody`, `Limited edition`. Source: ratings C.2."""

    feature_id: int | None
    """Id of the feature; null when it is not known."""
    name: str
    group: str | None
    description: str | None


class MachinePerson(Wire, frozen=True, kw_only=True):
    """A person credited with a machine. Source: ratings C.2."""

    opdb_person_id: int | None
    """Id of the person in the machine database; null when it is not known."""
    name: str
    role: str
    """What they did, such as `designer`."""
    index: int | None
    """Position among the people of the role; null without an order."""


class ImageUrls(Wire, frozen=True, kw_only=True):
    """The addresses of a picture in three sizes. Source: ratings C.2."""

    small: str | None
    medium: str | None
    large: str | None


class ImageSize(Wire, frozen=True, kw_only=True):
    """The size of a picture in pixels. Source: ratings C.2."""

    width: int | None
    """Width in pixels; null when it is not known."""
    height: int | None
    """Height in pixels; null when it is not known."""


class ImageSizes(Wire, frozen=True, kw_only=True):
    """The size in pixels of each version of a picture. Source: ratings C.2."""

    small: ImageSize | None
    medium: ImageSize | None
    large: ImageSize | None


class MachineImage(Wire, frozen=True, kw_only=True):
    """A picture of a machine. Source: ratings C.2."""

    title: str | None
    """Title of the picture; null without one."""
    primary: bool
    """Whether it is the picture to show first."""
    type: str | None
    """What it shows, such as `backglass`; null when it is not known."""
    urls: ImageUrls
    """Addresses of the picture in three sizes."""
    sizes: ImageSizes
    """Pixels of the picture in three sizes."""
    group: str | None


class OpdbEntry(Wire, frozen=True, kw_only=True):
    """A group, a machine or an alias. Source: interface 4.9, ratings C.2."""

    opdb_id: str
    opdb_group: str
    opdb_machine: str | None
    """Id of the machine; an alias has the id of its machine, a group null."""
    name: str
    short_name: str | None
    """Short name, such as `TZ`; null without one."""
    common_name: str | None
    """Name that people use; null when it is the same."""
    name_sort: str
    """Name by which it is sorted."""
    year: int | None
    """Year of manufacture; null when it is not known."""
    manufacture_date: str | None
    """Day of manufacture, as `1993-04-01`; null when it is not known."""
    description: str | None
    type: str | None
    """Technology of the machine: `em`, `ss`, `me`; null when it is not known."""
    display: str | None
    """Kind of display, such as `dmd`; null when it is not known."""
    player_count: int | None
    """Greatest number of players; null when it is not known."""
    physical_machine: bool
    """Whether machines of it were built; false for an entry that only groups others."""
    manufacturer_id: int | None
    ipdb_id: int | None
    """Id in the Internet Pinball Database; null when it is not known."""
    pinball_primer_url: str | None
    pinball_rules_url: str | None
    pinball_cards_url: str | None
    bobs_guide_url: str | None
    competition_setup_url: str | None
    """Address of advice for setting the machine up; null without one."""
    competition_notes_url: str | None
    """Address of notes about the machine in competitions; null without one."""
    created_at: str | None
    updated_at: str | None
    entry_type: EntryType
    """Whether it is a group, a machine or an alias."""
    manufacturer: Manufacturer | None
    """The manufacturer; null when it is not known."""
    people: tuple[MachinePerson, ...] | UnsetType = UNSET
    """People credited with the machine; absent unless asked for."""
    images: tuple[MachineImage, ...] | UnsetType = UNSET
    """Pictures of the machine; absent unless asked for."""
    features: tuple[MachineFeature, ...]
    """Features, such as `Widebody`."""
    keywords: tuple[str, ...]
    """Words about its theme."""


class Video(Wire, frozen=True, kw_only=True):
    """A video about a title. Source: ratings C.3."""

    title: str
    url: str
    """Address of the video."""
    provider: str | None
    """Site that has the video; null when it is not known."""
    author: str | None
    """Maker of the video; null when they are not known."""
    duration_seconds: int | None
    """Length in seconds; null when it is not known."""
    opdb_id: str


class OpdbEntryBundle(Wire, frozen=True, kw_only=True):
    """An entry with the videos about its title. Source: wire.yaml OpdbEntryBundle."""

    entry: OpdbEntry
    """The entry."""
    type: str | None
    """Technology of the machine, such as `ss`; null when it is not known."""
    videos: tuple[Video, ...]
    """Videos about the title."""


class OpdbChange(Wire, frozen=True, kw_only=True):
    """An id that was replaced or deleted. Source: ratings C.3."""

    changelog_id: int
    """Number of the change."""
    action: Literal["move", "delete"]
    """`move` for an id that was replaced, `delete` for one that is gone."""
    opdb_id_deleted: str
    """The id that is no longer used."""
    opdb_id_replacement: str | None
    """The id that took its place; null when it was deleted."""
    created_at: Instant


TipCategory = Literal["general", "multiball", "secret", "skillshot"]


class Tip(Wire, frozen=True, kw_only=True):
    """A tip, as listed with its machine. Source: ratings C.3."""

    tip_id: int
    """Id of the tip."""
    text: str
    """The advice."""
    category: TipCategory
    """What the advice is about."""
    vote_total: int
    """Votes for the tip minus votes against it."""
    own_vote: int | None
    """The caller's vote; null without one."""


class OpdbInfo(Wire, frozen=True, kw_only=True):
    """A summary of the machine that the tips are for. Source: ratings C.3."""

    name: str
    """Name of the machine."""
    supplementary: str
    """Manufacturer and year, such as `Bally, 1994`."""
    has_ruleset: bool
    """Whether there is a page of rules."""
    pinball_primer_url: str | None
    bobs_guide_url: str | None
    pinball_rules_url: str | None
    pinball_cards_url: str | None


class PinTipsBundle(Wire, frozen=True, kw_only=True):
    """The tips for a machine, best first. Source: wire.yaml PinTipsBundle."""

    pintips: tuple[Tip, ...]
    """The tips, best first."""
    opdb_info: OpdbInfo | None
    """Summary of the machine; null when it is not in the machine database."""


class TipRow(Wire, frozen=True, kw_only=True):
    """A tip in the file of all tips. Source: ratings C.2."""

    tip_id: int
    opdb_id: str | None
    category: TipCategory
    vote_total: int
    text: str
    created_at: str
    updated_at: str
