"""Arenas: machines of an organizer, and as part of a tournament's lineup."""

from silverball.wire.base import UNSET, UnsetType, Wire
from silverball.wire.values import Status


class LineupArenaPart(Wire, frozen=True, kw_only=True):
    """An arena's role in one tournament. Source: wire.yaml TournamentArenaPivot."""

    status: Status
    preferred: bool | None = None
    scorbit_venuemachine_id: int | None = None
    scorbit_venuemachine_uuid: str | None = None
    scorbitron_installed: bool | None = None
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
    # Absent, not null, outside a tournament: clients test for the key.
    tournament_arena: LineupArenaPart | UnsetType = UNSET
