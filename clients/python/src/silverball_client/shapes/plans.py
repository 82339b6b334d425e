"""Plans of nights: each format with each number of rounds, when it would end, and what it is worth."""

from typing import Any

from silverball_client.shapes.base import Shape


class PlanWorth(Shape, frozen=True, kw_only=True):
    """The worth of a planned choice for the federation, as far as the number of players tells it."""

    meaningful_games: int | float | None
    tgp: int | None
    capped: bool
    base_value: int | float
    value: int | float | None
    source: str | None
    simulated_nights: int
    notes: tuple[str, ...]


class PlanOption(Shape, frozen=True, kw_only=True):
    """A format with one choice of its settings."""

    type: str
    title: str
    label: str
    settings: dict[str, Any]
    expected_minutes: int | float | None
    latest_minutes: int | float | None
    expected_end: str | None
    latest_end: str | None
    fits: bool | None
    pace: str
    nights: int
    note: str | None
    worth: PlanWorth | None


class Plan(Shape, frozen=True, kw_only=True):
    """A planned night: players, machines, and the choices of formats and rounds."""

    players: int
    machines: int
    start: str | None
    closes: str | None
    simulated_nights: int
    options: tuple[PlanOption, ...]
