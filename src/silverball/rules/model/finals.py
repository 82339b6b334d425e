"""Finals as steps of a night: who goes on into what, and what a final was made from."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from msgspec import Struct, field


class FinalStep(Struct, frozen=True, kw_only=True):
    """A final: its format, and who goes on to it. Each step begins where the one before ends.

    Exactly one of `players`, `half` and `within` says how many.
    """

    name: str
    type: str
    # The number of players.
    players: int | None = None
    # The upper half of those who are left, at most half of them.
    half: bool = False
    # All within so many points, strikes or strokes of the best.
    within: Decimal | None = None
    # Settings of the format, by wire key.
    settings: Mapping[str, Any] = field(default_factory=dict)


class FinalSource(Struct, frozen=True, kw_only=True):
    """The tournament or the series that a final was made from, and the places that it takes."""

    tournament_id: int | None = None
    series_id: int | None = None
    # The nights of a series that a player must have attended.
    nights_min: int = 0
    # The steps up to that of the final, which is the last.
    steps: tuple[FinalStep, ...]
    # The players that the source gave when it was last taken over, best seed first.
    given: tuple[int, ...]
    # The players as they were seeded then, best first: without those taken out by hand, with those put in.
    seeded: tuple[int, ...]
    # Whether the next in line replaces who was taken out by hand.
    fills_up: bool = False
