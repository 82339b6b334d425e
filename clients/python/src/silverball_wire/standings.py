"""Standings."""

from typing import Any

from silverball_wire.base import UNSET, UnsetType, Wire
from silverball_wire.values import Number


class CountedCard(Wire, frozen=True, kw_only=True):
    """A card that counts for a standing. Source: wire.yaml StandingsRow."""

    card_id: int
    points: str | Number | None
    """Points of the card."""
    count: int
    """Number of games on the card."""


class PaceBubble(Wire, frozen=True, kw_only=True):
    """The next target of a pace match play, and the points still missing. Source: formats 14.6."""

    target: Number
    """Points that the bar asks for after the next round."""
    needed: Number
    """Points that the player still needs for it."""


class Standing(Wire, frozen=True, kw_only=True):
    """An entrant's standing; only `drawnByLot` may be absent. Source: formats 13.1."""

    player_id: int
    position: int
    points: str | Number | None
    """Points as text with two decimals; a number in frenzies and brackets; null without any."""
    points_with_tiebreaker: str | Number | None
    """Points with the part that a tiebreak game added; null without one."""
    games_played: int | None
    """Number of games played; null in brackets."""
    entries_played: int | None
    """Number of entries used up, in best game; 0 in other formats, null in brackets."""
    entries_available: int | None
    """Number of entries left, in best game; 0 in other formats, null in brackets."""
    strike_count: int | None
    """Number of strikes; 0 outside of knockouts, null in brackets."""
    cards_counted: tuple[CountedCard, ...] | None
    """Cards that count, in card best game; null elsewhere."""
    adjustment: Number | None
    """Points that the organizer gave or, below 0, took; null in brackets."""
    frenzy_wins: int | None
    """Number of wins, in a frenzy; null elsewhere."""
    frenzy_losses: int | None
    """Number of losses, in a frenzy; null elsewhere."""
    points_list: tuple[str | Number | None, ...] | None
    """Points of the counted results, best first; null in formats without such a list."""
    tiebreakers: tuple[str | Number, ...] | None
    """Values compared in turn among equal points, the points first; null in brackets."""
    active_games: tuple[int | dict[str, Any], ...]
    """Ids of the started games of the player; other services send the games."""
    active_game_color: str | None
    """Color that marks a player with a started game; null without one."""
    on_pace_bubble: PaceBubble | None
    """Next target of a pace match play that the player may miss; null when they are safe."""
    on_cutoff_bubble: bool | None
    cutoff_bubble_color: str | None
    on_cutoff_bubble2: bool | None
    manual_tiebreaker_group: int | None
    drawn_by_lot: bool | UnsetType = UNSET
    """`true` for a player whose order among tied players was drawn by lot; absent otherwise."""
