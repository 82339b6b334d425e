"""Tournaments."""

from typing import Any

from silverball.wire.arenas import Arena
from silverball.wire.banks import Bank
from silverball.wire.base import UNSET, UnsetType
from silverball.wire.format_settings import SETTING_FIELDS, FormatSettings
from silverball.wire.locations import Location
from silverball.wire.parts import (
    EntryBundle,
    EntryConfiguration,
    LinkedTournament,
    OccasionListItem,
    PlayoffCutoff,
    PrizeDistribution,
    PrizePool,
    PrizeShare,
    RsvpConfiguration,
)
from silverball.wire.players import Player
from silverball.wire.series import Series
from silverball.wire.users import Shortcut, User
from silverball.wire.values import Number, Scorekeeping, TournamentStatus, TournamentType

__all__ = [
    "SETTING_FIELDS",
    "EntryBundle",
    "EntryConfiguration",
    "FormatSettings",
    "LinkedTournament",
    "PlayoffCutoff",
    "PrizeDistribution",
    "PrizePool",
    "PrizeShare",
    "RsvpConfiguration",
    "Tournament",
]

# A table of points by group size and place, or the text `manual`.
PointsMap = tuple[tuple[Number | str, ...], ...] | str
TiebreakerPointsMap = tuple[tuple[str, ...], ...] | str


class Tournament(FormatSettings, frozen=True, kw_only=True):
    """A tournament. Source: wire.yaml Tournament, samples/tournament-series-expansions.json."""

    tournament_id: int
    name: str
    status: TournamentStatus
    type: TournamentType
    start_utc: str
    start_local: str
    end_utc: str | None
    end_local: str | None
    completed_at: str | None
    organizer_id: int
    location_id: int | None
    series_id: int | None
    description: str | None
    points_map: PointsMap | None
    tiebreaker_points_map: TiebreakerPointsMap | None
    test: bool
    timezone: str
    scorekeeping: Scorekeeping | None
    link: str | None
    linked_tournament_id: int | None
    estimated_tgp: Number | None
    prize_pool: PrizePool | None = None
    points_map_custom: dict[str, Any] | None = None
    # Always present here; absent in files of older services.
    created_at: str | UnsetType = UNSET
    updated_at: str | UnsetType = UNSET
    motd_text: str | None = None
    motd_color: str | None = None
    motd_expiration: str | None = None
    managers: tuple[dict[str, Any], ...] = ()
    primary_config_settings: tuple[str, ...] = ()

    # Parts. The organizer is always present, the location in lists; the others with their include flag.
    organizer: User | UnsetType = UNSET
    location: Location | UnsetType | None = UNSET
    series: Series | UnsetType | None = UNSET
    players: tuple[Player, ...] | UnsetType = UNSET
    arenas: tuple[Arena, ...] | UnsetType = UNSET
    banks: tuple[Bank, ...] | UnsetType = UNSET
    scorekeepers: tuple[User, ...] | UnsetType = UNSET
    linked_tournaments: tuple[LinkedTournament, ...] | UnsetType | None = UNSET
    rsvp_configuration: RsvpConfiguration | UnsetType | None = UNSET
    entry_configuration: EntryConfiguration | UnsetType | None = UNSET
    event: OccasionListItem | UnsetType | None = UNSET
    shortcut: Shortcut | UnsetType | None = UNSET
