"""The forecast of a running tournament: chances, and what is certain."""

from silverball_client.shapes.base import Shape


class CertainFact(Shape, frozen=True, kw_only=True):
    """A fact about a player that holds if the night ends by its settings and nobody is adjusted."""

    goal: str
    fact: str
    place: int | None


class PlayerForecast(Shape, frozen=True, kw_only=True):
    """The forecast of a player."""

    player_id: int
    win: int | float | None
    cut: int | float | None
    facts: tuple[CertainFact, ...]


class WithdrawnFact(Shape, frozen=True, kw_only=True):
    """A fact that was shown as certain and no longer is, because something was changed."""

    player_id: int
    goal: str
    fact: str
    place: int | None
    reason: str
    withdrawn_at: str


class Forecast(Shape, frozen=True, kw_only=True):
    """The forecast of a running tournament."""

    computed_at: str | None
    up_to_date: bool
    cut_position: int | None
    nights_simulated: int
    players: tuple[PlayerForecast, ...]
    withdrawn: tuple[WithdrawnFact, ...]
    notes: tuple[str, ...]
