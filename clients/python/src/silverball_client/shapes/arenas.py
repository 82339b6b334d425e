"""Arenas: machines of an organizer, and as part of a tournament's lineup."""

from msgspec import UNSET, UnsetType

from silverball_client.shapes.base import Shape


class LineupArenaPart(Shape, frozen=True, kw_only=True):
    """An arena's role in one tournament."""

    status: str
    preferred: bool | None = None
    scorbit_venuemachine_id: int | None = None
    scorbit_venuemachine_uuid: str | None = None
    scorbitron_installed: bool | None = None
    amazing_race_seed: int | None = None
    best_game_blocked: bool | None = False
    best_game_queue_closed: bool | None = False
    labels: tuple[str, ...] = ()
    label_color: str | None = None


class Arena(Shape, frozen=True, kw_only=True):
    """An arena of an organizer."""

    arena_id: int
    name: str
    status: str
    opdb_id: str | None
    category_id: int | None
    organizer_id: int
    labels: tuple[str, ...] = ()
    label_color: str | None = None
    tournament_arena: LineupArenaPart | UnsetType = UNSET
