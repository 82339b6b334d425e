"""Parts of a tournament, a series or an occasion."""

from typing import Any

from msgspec import UNSET, UnsetType

from silverball_client.shapes.base import Shape
from silverball_client.shapes.locations import Location


class PlayoffCutoff(Shape, frozen=True, kw_only=True):
    """A band of the standings that qualifies for a playoff."""

    index: int
    value: int
    cumulative: int
    text: str
    color: str | None


class PrizeShare(Shape, frozen=True, kw_only=True):
    """The prize of one place."""

    extra: int | float | str | None = None
    adjustment: int | float | None = None
    percentage: int | float | None = None


class PrizeDistribution(Shape, frozen=True, kw_only=True):
    """A part of the prize pool, distributed by place."""

    pool: tuple[PrizeShare, ...] = ()
    title: str
    percentage: int | float


class PrizePool(Shape, frozen=True, kw_only=True):
    """The prize money."""

    type: str
    private: bool = False
    bounties: tuple[dict[str, Any], ...] = ()
    currency: str | None = None
    rounding: int | None = None
    distributions: tuple[PrizeDistribution, ...] = ()
    fixed_addition: int | float | None = None
    fixed_reduction: int | float | None = None
    per_player_addition: int | float | None = None
    per_player_reduction: int | float | None = None


class LinkedTournament(Shape, frozen=True, kw_only=True):
    """A tournament or series linked to this tournament."""

    tournament_id: int | UnsetType = UNSET
    series_id: int | UnsetType = UNSET
    name: str
    type: str | None = None
    organizer_id: int
    status: str
    link_type: str
    link_index: int | None = None
    test: bool | None = None


class RsvpConfiguration(Shape, frozen=True, kw_only=True):
    """Rules for the registration of players."""

    tournament_id: int | None
    series_id: int | None
    user_id: int
    status: str
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


class EntryBundle(Shape, frozen=True, kw_only=True):
    """Several entries sold at one price."""

    entries: int
    price: int | float


class EntryConfiguration(Shape, frozen=True, kw_only=True):
    """Rules for giving and selling entries of a best game."""

    limited: bool
    automatic_entries: int
    price: int | float | None
    currency: str | None
    bundles: tuple[EntryBundle, ...]


class OccasionListItem(Shape, frozen=True, kw_only=True):
    """An occasion in lists and in tournaments."""

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
