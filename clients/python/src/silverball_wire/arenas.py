"""Arenas: machines of an organizer, and as part of a tournament's lineup."""

from silverball_wire.base import UNSET, UnsetType, Wire
from silverball_wire.values import Number, Status


class LineupArenaPart(Wire, frozen=True, kw_only=True):
    """An arena's role in one tournament. Source: wire.yaml TournamentArenaPivot."""

    status: Status
    """Whether draws may use the arena."""
    preferred: bool | None = None
    scorbit_venuemachine_id: int | None = None
    """Id of the machine at Scorbit, as imported; null otherwise."""
    scorbit_venuemachine_uuid: str | None = None
    """UUID of the machine at Scorbit, as imported; null otherwise."""
    scorbitron_installed: bool | None = None
    """Whether the machine reports to Scorbit, as imported; null otherwise."""
    amazing_race_seed: int | None = None
    best_game_blocked: bool | None = False
    best_game_queue_closed: bool | None = False
    labels: tuple[str, ...] = ()
    label_color: str | None = None


class Arena(Wire, frozen=True, kw_only=True):
    """An arena of an organizer. Source: interface 4.1, samples/arenas-list.json."""

    arena_id: int
    name: str
    status: Status
    opdb_id: str | None
    category_id: int | None
    organizer_id: int
    labels: tuple[str, ...] = ()
    label_color: str | None = None
    tournament_arena: LineupArenaPart | UnsetType = UNSET
    """The arena's part in a tournament; absent, not null, outside of one."""


class Bank(Wire, frozen=True, kw_only=True):
    """An ordered list of arenas. Source: interface.md 2, row 27."""

    bank_id: int
    name: str
    status: Status
    organizer_id: int
    arena_ids: tuple[int, ...]


class Location(Wire, frozen=True, kw_only=True):
    """A location of an organizer. Source: interface 4.1, samples/locations-list.json."""

    location_id: int
    scorbit_venue_id: int | None = None
    """Id of the venue at Scorbit, as imported; null otherwise."""
    scorbit_venue_uuid: str | None = None
    """UUID of the venue at Scorbit, as imported; null otherwise."""
    pinballmap_id: int | None = None
    name: str
    organizer_id: int
    status: Status
    address: str | None
    lat: Number | None = None
    lng: Number | None = None
