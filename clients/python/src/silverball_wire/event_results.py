"""Results of an event as the federation takes them."""

from typing import Literal

from msgspec import UNSET, UnsetType

from silverball_wire.base import Wire

LeftOutReason = Literal["no-number", "below-half", "did-not-play"]


class EventResult(Wire, frozen=True, kw_only=True):
    """A player of the event, and whether they are in the file unless somebody decides otherwise."""

    player_id: int
    name: str
    ifpa_id: int | None
    """Federation number; null when it is unknown or hidden."""
    position: int | None
    """Place in the event, from 1, counting everybody; null for a player who never played."""
    finalist: bool
    """Whether the place comes from the final."""
    ticked: bool
    """Whether the player is in the file when no players are named."""
    reasons: tuple[LeftOutReason, ...]
    """Why the player is not ticked; empty when they are."""


class EventResults(Wire, frozen=True, kw_only=True):
    """Results of a qualifying with the final of its best, of a tournament without one, or of a series."""

    tournament_id: int | None
    """Id of the tournament that all players began with; null for a series."""
    finals_id: int | None
    """Id of the final that decides the first places; null when there is none."""
    series_id: int | None
    name: str
    womens: bool | UnsetType = UNSET
    """True for an event of the women's ranking; absent otherwise."""
    results: tuple[EventResult, ...]
    """Every player once, by place."""
    text: str
    """Lines of place, name and federation number, with tabs between, of the players in the file.

    Places are counted among these players alone.
    """
