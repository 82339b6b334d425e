"""The forecast of a running tournament: chances, and what is certain."""

from typing import Literal

from silverball_wire.base import Instant, Wire
from silverball_wire.values import Number


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
    reason: Literal["adjusted", "corrected", "joined", "left", "settings"]
    """What was changed: points or strikes by hand, a result, who plays, or the settings."""
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
