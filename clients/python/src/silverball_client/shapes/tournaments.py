"""Tournaments."""

from typing import Any

from msgspec import UNSET, UnsetType

from silverball_client.shapes.arenas import Arena
from silverball_client.shapes.banks import Bank
from silverball_client.shapes.format_settings import FormatSettings
from silverball_client.shapes.locations import Location
from silverball_client.shapes.parts import (
    EntryConfiguration,
    LinkedTournament,
    OccasionListItem,
    PrizePool,
    RsvpConfiguration,
)
from silverball_client.shapes.players import Player
from silverball_client.shapes.series import Series
from silverball_client.shapes.users import Shortcut, User


class Tournament(FormatSettings, frozen=True, kw_only=True):
    """A tournament."""

    scorekeeping: str | None
    tournament_id: int
    name: str
    status: str
    type: str
    start_utc: str
    start_local: str
    end_utc: str | None
    end_local: str | None
    completed_at: str | None
    organizer_id: int
    location_id: int | None
    series_id: int | None
    description: str | None
    points_map: tuple[tuple[int | float | str, ...], ...] | str | None
    tiebreaker_points_map: tuple[tuple[str, ...], ...] | str | None
    test: bool
    womens: bool | UnsetType = UNSET
    timezone: str
    link: str | None
    linked_tournament_id: int | None
    estimated_tgp: int | float | None
    prize_pool: PrizePool | None = None
    points_map_custom: dict[str, Any] | None = None
    created_at: str | UnsetType = UNSET
    updated_at: str | UnsetType = UNSET
    motd_text: str | None = None
    motd_color: str | None = None
    motd_expiration: str | None = None
    managers: tuple[dict[str, Any], ...] = ()
    primary_config_settings: tuple[str, ...] = ()
    organizer: User | UnsetType = UNSET
    location: Location | UnsetType | None = UNSET
    series: Series | UnsetType | None = UNSET
    players: tuple[Player, ...] | UnsetType = UNSET
    arenas: tuple[Arena, ...] | UnsetType = UNSET
    banks: tuple[Bank, ...] | UnsetType = UNSET
    scorekeepers: tuple[User, ...] | UnsetType = UNSET
    directors: tuple[User, ...] | UnsetType = UNSET
    linked_tournaments: tuple[LinkedTournament, ...] | UnsetType | None = UNSET
    rsvp_configuration: RsvpConfiguration | UnsetType | None = UNSET
    entry_configuration: EntryConfiguration | UnsetType | None = UNSET
    event: OccasionListItem | UnsetType | None = UNSET
    shortcut: Shortcut | UnsetType | None = UNSET
