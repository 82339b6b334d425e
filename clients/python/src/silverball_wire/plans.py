"""Plans of nights: each format with each number of rounds, when it would end, and what it is worth."""

from typing import Any, Literal

from silverball_wire.base import UNSET, Instant, UnsetType, Wire
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


# The worth of a tournament by the federation's rules.


class PlacePoints(Wire, frozen=True, kw_only=True):
    """The points of a place."""

    position: int
    """Place, from 1; players who share it get the same points."""
    points: Number
    """Points of each player in this place, with two decimals."""


class TournamentEstimate(Wire, frozen=True, kw_only=True):
    """An estimate of the points that a tournament gives. Source: interface, section 1."""

    meaningful_games: Number | None
    """Meaningful games of the event; null without a rule, and while they are being computed."""
    tgp: int | None
    """Grade of the event in percent (TGP), rounded down; null without meaningful games."""
    capped: bool
    """Whether the games would be worth more than the limit of the grade."""
    base_value: Number
    """Value that the rated players add by being there."""
    rating_value: Number
    """Value that the players add by their ratings."""
    rank_value: Number
    """Value that the players add by their ranks."""
    wppr_value: Number
    """Value of the field, before the grade."""
    value: Number | None
    """Points of the winner; null without a grade."""
    points: tuple[PlacePoints, ...]
    """Points of each place; empty without a grade."""
    notes: tuple[str, ...]
    """Sentences for people: the worth, where each number comes from, and what is not settled."""
    womens: bool | UnsetType = UNSET
    """True for a women's tournament, whose points count in the women's ranking; absent elsewhere."""


# The forecast of a running tournament: chances, and what is certain.


class CertainFact(Wire, frozen=True, kw_only=True):
    """A fact about a player that holds if the night ends by its settings and nobody is adjusted."""

    goal: Literal["win", "cut"]
    """The goal that it is about: to `win`, or to reach the `cut`."""
    fact: Literal["clinched", "out", "place"]
    """Whether it is reached for certain (`clinched`), out of reach (`out`), or a `place` is enough for it."""
    place: int | None
    """Worst place in the player's open game that is enough, from 1; null for other facts."""


class PlayerForecast(Wire, frozen=True, kw_only=True):
    """The forecast of a player."""

    player_id: int
    win: Number | None
    """Chance to win, from 0 to 1 with three decimals; null without one and after an opt-out of ratings."""
    cut: Number | None
    """Chance to reach the cut, from 0 to 1; null without a cut, and where `win` is null."""
    facts: tuple[CertainFact, ...]
    """What is certain about them; empty when nothing is."""


class WithdrawnFact(Wire, frozen=True, kw_only=True):
    """A fact that was shown as certain and no longer is, because something was changed."""

    player_id: int
    goal: Literal["win", "cut"]
    """The goal that it was about."""
    fact: Literal["clinched", "out", "place"]
    """What it said."""
    place: int | None
    """The place that was enough; null for other facts."""
    reason: Literal["adjusted", "corrected", "joined", "left", "pairing", "settings"]
    """What was changed: points or strikes by hand, a result, who plays, who meets whom, or the settings."""
    withdrawn_at: Instant
    """Time of the first forecast after the change, in UTC."""


class Forecast(Wire, frozen=True, kw_only=True):
    """The forecast of a running tournament. Source: interface, section 1."""

    computed_at: Instant | None
    """Time of its computation, in UTC; null before the first, and while the tournament does not run."""
    up_to_date: bool
    """Whether it counts everything that is recorded; if not, a newer one follows within seconds."""
    cut_position: int | None
    """Last place that reaches the best playoff band; null without playoffs."""
    nights_simulated: int
    """Number of simulated nights behind the chances; 0 without chances."""
    players: tuple[PlayerForecast, ...]
    """All players, those with the best chances first."""
    withdrawn: tuple[WithdrawnFact, ...]
    """Facts that no longer hold, newest first."""
    notes: tuple[str, ...]
    """Sentences for people: where the numbers come from, and what they assume."""
