"""Tournaments."""

from typing import Any

from silverball_wire.arenas import Arena
from silverball_wire.banks import Bank
from silverball_wire.base import UNSET, Instant, UnsetType
from silverball_wire.generated.format_settings import SETTING_FIELDS, FormatSettings
from silverball_wire.generated.words import Scorekeeping
from silverball_wire.locations import Location
from silverball_wire.parts import (
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
from silverball_wire.players import Player
from silverball_wire.series import Series
from silverball_wire.users import Shortcut, User
from silverball_wire.values import Number, TournamentStatus, TournamentType

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
    """Name of the tournament."""
    status: TournamentStatus
    """`planned`, `started` or `completed`."""
    type: TournamentType
    """Format of the tournament."""
    start_utc: Instant
    start_local: str
    end_utc: Instant | None
    end_local: str | None
    completed_at: Instant | None
    organizer_id: int
    location_id: int | None
    series_id: int | None
    description: str | None
    points_map: PointsMap | None
    """Points by size of a group and place, as text with two decimals; null where the format has none."""
    tiebreaker_points_map: TiebreakerPointsMap | None
    test: bool
    womens: bool | UnsetType = UNSET
    """True where it counts in the women's ranking of the federation; absent elsewhere."""
    timezone: str
    scorekeeping: Scorekeeping | None
    """Who may report results: `user` for the players too; null in some imported tournaments."""
    link: str | None
    linked_tournament_id: int | None
    """Id of the tournament that this one is the playoff of; null without one."""
    estimated_tgp: Number | None
    prize_pool: PrizePool | None = None
    """The prize money; null without any."""
    points_map_custom: dict[str, Any] | None = None
    # Always present here; absent in files of older services.
    created_at: str | UnsetType = UNSET
    updated_at: str | UnsetType = UNSET
    motd_text: str | None = None
    motd_color: str | None = None
    motd_expiration: str | None = None
    managers: tuple[dict[str, Any], ...] = ()
    """Accounts that manage the tournament, as imported."""
    primary_config_settings: tuple[str, ...] = ()
    """Names of the settings to show first."""

    # Parts. The organizer is always present, the location in lists; the others with their include flag.
    organizer: User | UnsetType = UNSET
    location: Location | UnsetType | None = UNSET
    """The location, in lists and with `includeLocation`; null when there is none."""
    series: Series | UnsetType | None = UNSET
    """The series, only with `includeSeries`; null when there is none."""
    players: tuple[Player, ...] | UnsetType = UNSET
    """Players with their part in the tournament; only with `includePlayers`."""
    arenas: tuple[Arena, ...] | UnsetType = UNSET
    """Arenas with their part in the tournament; only with `includeArenas`."""
    banks: tuple[Bank, ...] | UnsetType = UNSET
    """Banks that arenas are drawn from; only with `includeBanks`."""
    scorekeepers: tuple[User, ...] | UnsetType = UNSET
    """Accounts that may record results; only with `includeScorekeepers`."""
    directors: tuple[User, ...] | UnsetType = UNSET
    """Those of the scorekeepers who run the tournament with its organizer; only with `includeDirectors`."""
    linked_tournaments: tuple[LinkedTournament, ...] | UnsetType | None = UNSET
    """Linked tournaments and series; only with `includeLinkedTournaments`."""
    rsvp_configuration: RsvpConfiguration | UnsetType | None = UNSET
    """Rules for the registration, only with `includeRsvpConfiguration`; null when there are none."""
    entry_configuration: EntryConfiguration | UnsetType | None = UNSET
    """Rules for entries, only with `includeEntryConfiguration`; null when there are none."""
    event: OccasionListItem | UnsetType | None = UNSET
    """The occasion, only with `includeEvent`; null when there is none."""
    shortcut: Shortcut | UnsetType | None = UNSET
    """The custom link, only with `includeShortcut`; null when there is none."""
