"""Parts of a tournament, a series or an occasion."""

from typing import Any

from silverball_wire.arenas import Location
from silverball_wire.base import UNSET, Instant, UnsetType, Wire
from silverball_wire.values import LinkStatus, LinkType, Number, Status


class PlayoffCutoff(Wire, frozen=True, kw_only=True):
    """A band of the standings that qualifies for a playoff. Source: wire.yaml PlayoffCutoff."""

    index: int
    value: int
    cumulative: int
    text: str
    color: str | None


class PrizeShare(Wire, frozen=True, kw_only=True):
    """The prize of one place. Source: wire.yaml PrizePool."""

    extra: Number | str | None = None
    """Something added to the prize; null for nothing."""
    adjustment: Number | None = None
    """Money added to or taken from the prize; null for none."""
    percentage: Number | None = None


class PrizeDistribution(Wire, frozen=True, kw_only=True):
    """A part of the prize pool, distributed by place. Source: wire.yaml PrizePool."""

    pool: tuple[PrizeShare, ...] = ()
    """Prizes by place, the first place first."""
    title: str
    percentage: Number


class PrizePool(Wire, frozen=True, kw_only=True):
    """The prize money. Source: samples/tournament-series-expansions.json, wire.yaml PrizePool."""

    type: str
    """Kind of prize pool."""
    private: bool = False
    """Whether only the organizer sees it."""
    bounties: tuple[dict[str, Any], ...] = ()
    """Bounties, stored as received."""
    currency: str | None = None
    rounding: int | None = None
    """Unit to which prizes are rounded; null without rounding."""
    distributions: tuple[PrizeDistribution, ...] = ()
    """Parts of the pool, each distributed by place."""
    fixed_addition: Number | None = None
    """Money added to the pool; null for none."""
    fixed_reduction: Number | None = None
    """Money taken from the pool; null for none."""
    per_player_addition: Number | None = None
    """Money added for each player; null for none."""
    per_player_reduction: Number | None = None
    """Money taken for each player; null for none."""


class LinkedTournament(Wire, frozen=True, kw_only=True):
    """A tournament or series linked to this tournament. Source: wire.yaml LinkedTournament."""

    tournament_id: int | UnsetType = UNSET
    """Id of the linked tournament; absent for a linked series."""
    series_id: int | UnsetType = UNSET
    """Id of the linked series; absent for a linked tournament."""
    name: str
    type: str | None = None
    """Format of the linked tournament; null for a series."""
    organizer_id: int
    status: LinkStatus
    """State of the linked tournament or series."""
    link_type: LinkType
    link_index: int | None = None
    test: bool | None = None
    """Whether it is only a test; null for a series."""


class RsvpConfiguration(Wire, frozen=True, kw_only=True):
    """Rules for the registration of players. Source: wire.yaml RsvpConfiguration, formats 20."""

    tournament_id: int | None
    """Id of the tournament; null for the registration of a series."""
    series_id: int | None
    """Id of the series; null for the registration of a tournament."""
    user_id: int
    status: Status
    """Whether the registration is in use."""
    type: str
    """Kind of registration, as its organizer chose it."""
    self_checkin_status: str
    has_self_checkin: bool
    request_email: bool
    request_phone: bool
    player_limit: int | None
    has_waitlist: bool
    public_list: bool
    show_description: int | bool
    custom1: str | None
    custom2: str | None
    custom3: str | None
    open_at_utc: Instant | None
    open_at_local: str | None
    """When the registration opens, on the clock of the time zone; null when it is open from the beginning."""
    close_at_utc: Instant | None
    close_at_local: str | None
    """When the registration closes, on the clock of the time zone; null when it stays open."""
    timezone: str | None


class EntryBundle(Wire, frozen=True, kw_only=True):
    """Several entries sold at one price. Source: interface.md 2, row 27."""

    entries: int
    price: Number


class EntryConfiguration(Wire, frozen=True, kw_only=True):
    """Rules for giving and selling entries of a best game. Source: interface.md 2, row 27."""

    limited: bool
    automatic_entries: int
    price: Number | None
    currency: str | None
    bundles: tuple[EntryBundle, ...]


class OccasionListItem(Wire, frozen=True, kw_only=True):
    """An occasion in lists and in tournaments. Source: samples/events-list.json."""

    event_id: int
    organizer_id: int
    location_id: int | None
    name: str
    """Name of the occasion."""
    status: str
    """State of the occasion."""
    contact_email: str | None
    start_utc: Instant
    start_local: str
    end_utc: Instant | None
    end_local: str | None
    registration_utc: Instant | None
    registration_local: str | None
    """When the registration opens, on the clock of the time zone; null when there is no registration."""
    timezone: str | None
    layout: str | None
    layout_order: str | None
    description: str | None
    description_collapse: int | None
    description_preview_html: str | None
    """Beginning of the description as HTML; null without a description."""
    description_html: str | None
    """The description as HTML; null without one."""
    banner: str | None
    is_favorite: bool | None
    """Whether the caller marked it; never so here."""
    location: Location | UnsetType | None = UNSET
    """The location; null when there is none."""
