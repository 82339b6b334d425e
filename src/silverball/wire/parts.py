"""Parts of a tournament, a series or an occasion."""

from typing import Any

from silverball.wire.base import UNSET, UnsetType, Wire
from silverball.wire.locations import Location
from silverball.wire.values import LinkStatus, LinkType, Number, Status


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
    adjustment: Number | None = None
    percentage: Number | None = None


class PrizeDistribution(Wire, frozen=True, kw_only=True):
    """A part of the prize pool, distributed by place. Source: wire.yaml PrizePool."""

    pool: tuple[PrizeShare, ...] = ()
    title: str
    percentage: Number


class PrizePool(Wire, frozen=True, kw_only=True):
    """The prize money. Source: samples/tournament-series-expansions.json, wire.yaml PrizePool."""

    type: str
    private: bool = False
    # The fields of a bounty are unknown; they are stored as received.
    bounties: tuple[dict[str, Any], ...] = ()
    currency: str | None = None
    rounding: int | None = None
    distributions: tuple[PrizeDistribution, ...] = ()
    fixed_addition: Number | None = None
    fixed_reduction: Number | None = None
    per_player_addition: Number | None = None
    per_player_reduction: Number | None = None


class LinkedTournament(Wire, frozen=True, kw_only=True):
    """A tournament or series linked to this tournament. Source: wire.yaml LinkedTournament."""

    # One of the two is present, depending on the target of the link.
    tournament_id: int | UnsetType = UNSET
    series_id: int | UnsetType = UNSET
    name: str
    type: str | None = None
    organizer_id: int
    status: LinkStatus
    link_type: LinkType
    link_index: int | None = None
    test: bool | None = None


class RsvpConfiguration(Wire, frozen=True, kw_only=True):
    """Rules for the registration of players. Source: wire.yaml RsvpConfiguration, formats 20."""

    tournament_id: int | None
    series_id: int | None
    user_id: int
    status: Status
    type: str
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
    open_at_utc: str | None
    open_at_local: str | None
    close_at_utc: str | None
    close_at_local: str | None
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
    status: str
    contact_email: str | None
    start_utc: str
    start_local: str
    end_utc: str | None
    end_local: str | None
    registration_utc: str | None
    registration_local: str | None
    timezone: str | None
    layout: str | None
    layout_order: str | None
    description: str | None
    description_collapse: int | None
    description_preview_html: str | None
    description_html: str | None
    banner: str | None
    is_favorite: bool | None
    location: Location | UnsetType | None = UNSET
