"""Plans of nights: each format with each number of rounds, when it would end, and what it is worth."""

from typing import Any

from silverball_wire.base import Wire
from silverball_wire.values import Number


class PlanWorth(Wire, frozen=True, kw_only=True):
    """The worth of a planned choice for the federation, as far as the number of players tells it."""

    meaningful_games: Number | None
    """Meaningful games; null without a rule, and while they are being computed."""
    tgp: int | None
    """Grade in percent (TGP), rounded down; null without meaningful games."""
    capped: bool
    """Whether the games would be worth more than the limit of the grade."""
    base_value: Number
    """Value that the players add by being there: 0.5 each, at most 32, if all have played five events."""
    value: Number | None
    """Points of the winner with two decimals: base value times grade, null without a grade.

    It is assumed that all players have played five events and add nothing by rating or rank. Ratings and
    ranks add to it; each player with fewer events takes their 0.5 from the base.
    """
    source: str | None
    """`rule` (published), `simulation`, `ours` (our reading), or `computing`; null without a number."""
    simulated_nights: int
    """Number of simulated nights behind the meaningful games; 0 without a simulation."""
    notes: tuple[str, ...]
    """Sentences for people: where the number comes from or why there is none, and what is not settled."""


class PlanOption(Wire, frozen=True, kw_only=True):
    """A format with one choice of its settings."""

    type: str
    title: str
    """Name of the format on pages."""
    label: str
    """The choice in words: `7 rounds`."""
    settings: dict[str, Any]
    """The settings that make this choice, to create the tournament with."""
    expected_minutes: Number | None
    """Minutes from the first game to the last result, on average; null when it has no end of its own."""
    latest_minutes: Number | None
    """Minutes that nine of ten simulated nights do not exceed; null when it has no end of its own."""
    expected_end: str | None
    """The expected end, in the form of `start`; null without a start."""
    latest_end: str | None
    """The end that nine of ten simulated nights keep; null without a start."""
    fits: bool | None
    """Whether nine of ten simulated nights end before the room closes; null without both times."""
    pace: str
    """Where the lengths of games come from: `defaults` (published in the docs), or `nights`."""
    nights: int
    """Number of past nights that the lengths of games were learned from; 0 for the defaults."""
    note: str | None
    """Why there is no expected end, as a sentence; null where there is one."""
    worth: PlanWorth | None
    """What it is worth for the federation; null where so many players cannot play it."""


class Plan(Wire, frozen=True, kw_only=True):
    """A planned night: players, machines, and the choices of formats and rounds."""

    players: int
    machines: int
    """Number of machines, or of arenas named."""
    start: str | None
    """When the first game begins, as it was sent; null when it was not."""
    closes: str | None
    """When the room closes, as it was sent."""
    simulated_nights: int
    """Number of nights that were simulated for each choice."""
    options: tuple[PlanOption, ...]
    """The choices, by format."""
