"""Tournaments."""

from typing import Any

from silverball_wire.arenas import Arena, Bank, Location
from silverball_wire.base import UNSET, Instant, UnsetType, Wire
from silverball_wire.generated.format_settings import SETTING_FIELDS, FormatSettings
from silverball_wire.generated.words import Scorekeeping
from silverball_wire.pages import PaginationLinks, PaginationMeta
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
    """When it was completed, for the first time or, where games were played after it was reopened, with the
    last of these; null while it is not."""
    rated_until: Instant | UnsetType = UNSET
    """On a tournament that was reopened: the end of what counts. Games that are played later are not rated
    and do not move `completedAt`. Absent on all others."""
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


# The journal of a tournament, as its organizer reads it. Our addition: interface.md 3.


class JournalChange(Wire, frozen=True, kw_only=True):
    """One change: its name and a sentence."""

    change: str
    """Name of the change, such as `GameCompleted`."""
    text: str
    """Sentence about the change."""


class ActivityLog(Wire, frozen=True, kw_only=True):
    """One change in a tournament, in the form of existing clients."""

    activity_log_id: int
    """Number of the line, newer lines having larger ones."""
    tournament_id: int
    action: str
    """Name of the change, such as `GameCompleted`."""
    player_ids: tuple[int, ...]
    """Ids of the players whom the change is about; none for most changes of the tournament itself."""
    created_at: str
    """When it happened, as ISO 8601 in UTC."""


class JournalAction(Wire, frozen=True, kw_only=True):
    """One request and the changes that it made."""

    action_id: int
    """Number of the action within the tournament, from 1."""
    at: Instant
    """When it happened, as ISO 8601 in UTC."""
    actor_id: int | None
    """Id of the account that acted; null for a device or the service itself."""
    actor_name: str | None
    """Name of the actor; null for the service itself."""
    source: str
    """Address of the client, or the part of the program that acted: `import`, `clock`."""
    dice_seed: str | None
    """Seed of the random numbers of a draw; null without a draw, and until the tournament is completed."""
    changes: tuple[JournalChange, ...]
    """The changes that the action made, in order."""
    undone: bool
    """Whether the action was undone."""
    undoes: int | None
    """Number of the action that this one undid; null for any other action."""
    can_undo: bool
    """Whether this is the action that undo would revert now."""


class JournalMeta(PaginationMeta, frozen=True, kw_only=True):
    """The position of a page of the journal, and the action that comes next."""

    undoable: int | None
    """Number of the action that undo would revert now, on whichever page it is; null for none."""


class JournalPage(Wire, frozen=True, kw_only=True):
    """A page of the journal."""

    data: tuple[JournalAction, ...]
    """The items on this page."""
    links: PaginationLinks
    """Links to other pages."""
    meta: JournalMeta
    journal_head: str | None
    """Hash of the newest line: it proves what the journal was until now. Null for an empty journal."""


# The audit log as administrators see it. Our addition.


class AuditEntry(Wire, frozen=True, kw_only=True):
    """Something that concerns security. Refusals of one address are one entry a minute."""

    audit_entry_id: int
    """Id of the entry; later entries have higher ones."""
    event: str
    """What happened: `sign-in`, `token-made` and so on, as the handbook lists them."""
    user_id: int | None
    """Id of the account that it was done with or to; null when there is none."""
    source: str
    """Address that it came from, or `command line`; empty for erased people and for many at once."""
    detail: str
    """More about it: the role of an account, the id of a token; often empty."""
    at: Instant
    """When it happened, for the first time in the entry."""
    last_at: Instant
    """When it happened for the last time in the entry."""
    count: int
    """How often it happened; above 1 only for refusals and downloads."""


class PairsApart(Wire, frozen=True, kw_only=True):
    """The pairs that draws keep apart, for the organizer alone."""

    pairs: tuple[tuple[int, int], ...]
    """Pairs of ids of players, the lower id first, ascending."""
