"""Standings."""

from typing import Any

from msgspec import UNSET, UnsetType

from silverball_client.shapes.base import Shape


class CountedCard(Shape, frozen=True, kw_only=True):
    """A card that counts for a standing."""

    card_id: int
    points: str | int | float | None
    count: int


class PaceBubble(Shape, frozen=True, kw_only=True):
    """The next target of a pace match play, and the points still missing."""

    target: int | float
    needed: int | float


class Standing(Shape, frozen=True, kw_only=True):
    """An entrant's standing; only `drawnByLot` may be absent."""

    player_id: int
    position: int
    points: str | int | float | None
    points_with_tiebreaker: str | int | float | None
    games_played: int | None
    entries_played: int | None
    entries_available: int | None
    strike_count: int | None
    cards_counted: tuple[CountedCard, ...] | None
    adjustment: int | float | None
    frenzy_wins: int | None
    frenzy_losses: int | None
    points_list: tuple[str | int | float | None, ...] | None
    tiebreakers: tuple[str | int | float, ...] | None
    active_games: tuple[int | dict[str, Any], ...]
    active_game_color: str | None
    on_pace_bubble: PaceBubble | None
    on_cutoff_bubble: bool | None
    cutoff_bubble_color: str | None
    on_cutoff_bubble2: bool | None
    manual_tiebreaker_group: int | None
    drawn_by_lot: bool | UnsetType = UNSET
