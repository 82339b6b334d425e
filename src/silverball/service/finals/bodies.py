"""Bodies of requests about finals."""

from decimal import Decimal
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id, Name, one_of
from silverball.rules.commands.finals import STEPS_MAX
from silverball.rules.model.finals import FinalStep
from silverball.rules.registry import FORMATS

# Text, so that a format added to the registry needs no change here.
TournamentType = Annotated[str, one_of(lambda: FORMATS)]
PLAYERS_MAX = 10_000


class NewFinal(Body, frozen=True, kw_only=True):
    """A step to a final: who goes on, and into what."""

    name: Name
    """Name of the final, such as `A final`."""
    type: TournamentType
    """Format of the final."""
    players: Annotated[int, Meta(ge=2, le=PLAYERS_MAX)] | None = None
    """Number of players who go on."""
    half: bool = False
    """Whether the upper half of those who are left goes on, at most half of them."""
    within: Decimal | None = None
    """All within so many points, strikes or strokes of the best go on."""
    settings: dict[str, Any] | UnsetType = UNSET
    """Settings of the format, by their names here; others take their defaults."""

    @property
    def step(self) -> FinalStep:
        """The step in the form that the rules take."""
        values = {name: getattr(self, name) for name in ("name", "type", "players", "half", "within")}
        return FinalStep(**values, settings={} if isinstance(self.settings, UnsetType) else self.settings)


class PlannedFinals(Body, frozen=True, kw_only=True):
    """The finals of a tournament, best first; each begins where the one before ends."""

    steps: Annotated[tuple[NewFinal, ...], Meta(max_length=STEPS_MAX)]
    """Steps to the finals; an empty list takes them all back."""


class FinalToTakeOut(Body, frozen=True, kw_only=True):
    """The step that a tournament no longer leads to."""

    index: Annotated[int, Meta(ge=0)]
    """Position of the step, from 0."""


class NewSeriesFinal(Body, frozen=True, kw_only=True):
    """A final for the best of a series, chosen by `players`, `half` or `within`."""

    type: TournamentType
    """Format of the final."""
    players: (
        Annotated[int, Meta(ge=2, le=PLAYERS_MAX)]
        | Annotated[tuple[Id, ...], Meta(min_length=2, max_length=PLAYERS_MAX)]
        | UnsetType
    ) = UNSET
    """The number of players from the table of the series, or the ids of the players; of those who share a
    place in the table, the one named first has the better seed."""
    half: Literal[True] | UnsetType = UNSET
    """In place of `players`: the upper half of the table, at most half of it."""
    within: Decimal | UnsetType = UNSET
    """In place of `players`: all within so many points of the best."""
    nights_min: Annotated[int, Meta(ge=0, le=1000)] = 0
    """Number of nights of the series that a player must have attended."""
    after: Annotated[int, Meta(ge=0, le=PLAYERS_MAX)] = 0
    """Number of players before them in the table, who go on to another final."""
    name: Name | UnsetType = UNSET
    """Name of the final; without it, one made from the name of the series."""
    settings: dict[str, Any] | UnsetType = UNSET
    """Settings of the format, by their names here; others take their defaults."""

    @property
    def steps(self) -> tuple[FinalStep, ...]:
        """The steps in the form that the rules take: those before them, and theirs."""
        players = len(self.players) if isinstance(self.players, tuple) else self.players
        step = FinalStep(
            name="final",
            type=self.type,
            players=None if isinstance(players, UnsetType) else players,
            half=self.half is True,
            within=None if isinstance(self.within, UnsetType) else self.within,
            settings={} if isinstance(self.settings, UnsetType) else self.settings,
        )
        before = FinalStep(name="before", type=self.type, players=self.after)
        return (before, step) if self.after else (step,)


class FollowSource(Body, frozen=True, kw_only=True):
    """The fate of places from which somebody was taken out by hand."""

    next_in_line: bool = False
    """Whether the next in line replaces a player who was taken out by hand; otherwise nobody does."""
