"""Memory of a tournament beside its results: the seed of its draws, clocks, calls, a schedule."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import UNSET, Struct, UnsetType, field

from silverball.kit.values import replace


class EngineState(Struct, frozen=True, kw_only=True):
    """Stored facts that no answer shows."""

    # The source of all draws: the same seed, round and redraw count give the same draw.
    dice_seed: str = ""
    # Key of a draw ("round 3") -> number of requested redraws.
    redraws: Mapping[str, int] = field(default_factory=dict)
    # When the clock of a frenzy runs out; None while it is paused or not started.
    clock_ends_at: datetime | None = None
    # Minutes that a round may take, counted from its opening; None without a round timer.
    round_minutes: int | None = None
    # The round whose end was set by hand, and that end.
    timed_round_id: int | None = None
    timed_round_ends_at: datetime | None = None
    # Open game -> when its players were last called to their machine.
    calls: Mapping[int, datetime] = field(default_factory=dict)
    # Open game -> when its own time is up, where it was given extra time.
    game_ends: Mapping[int, datetime] | UnsetType = UNSET
    # The pairs that a max match play still has to release.
    schedule: tuple[tuple[int, int], ...] = ()
    # Tournaments of the same series: meetings and plays that `balanced_series` counts too.
    series_groups: tuple[tuple[int, ...], ...] = ()
    series_plays: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    # The round (from 0) that was open when the tournament was closed, and the players whose game in it
    # was not finished: they are no departures, and no bar puts them out.
    unfinished_round: int | None = None
    unfinished_ids: tuple[int, ...] = ()
    # For seeding by rank, rating or series position: player id -> number, lower is better.
    seed_facts: Mapping[int, float] = field(default_factory=dict)

    # Entrants and arenas that are busy in another tournament of the same occasion.
    players_elsewhere: tuple[int, ...] | UnsetType = UNSET
    arenas_elsewhere: tuple[int, ...] | UnsetType = UNSET

    @property
    def extended_ends(self) -> Mapping[int, datetime]:
        """Game -> when its own time is up, of games with extra time."""
        return {} if isinstance(self.game_ends, UnsetType) else self.game_ends

    @property
    def persistent(self) -> "EngineState":
        """The stored part, without the facts looked up for each draw."""
        return replace(
            self,
            series_groups=(),
            series_plays={},
            seed_facts={},
            players_elsewhere=UNSET,
            arenas_elsewhere=UNSET,
        )

    @property
    def busy_player_ids(self) -> tuple[int, ...]:
        """Entrants who are busy in another tournament of the room."""
        return () if isinstance(self.players_elsewhere, UnsetType) else self.players_elsewhere

    @property
    def busy_arena_ids(self) -> tuple[int, ...]:
        """Arenas that are busy in another tournament of the room."""
        return () if isinstance(self.arenas_elsewhere, UnsetType) else self.arenas_elsewhere
