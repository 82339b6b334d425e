"""Standings."""

from typing import Any

from silverball.wire.base import Wire
from silverball.wire.values import Number


class CountedCard(Wire, frozen=True, kw_only=True):
    """A card that counts for a standing. Source: wire.yaml StandingsRow."""

    card_id: int
    points: str | Number | None
    count: int


class PaceBubble(Wire, frozen=True, kw_only=True):
    """The next target of a pace match play, and the points still missing. Source: formats 14.6."""

    target: Number
    needed: Number


class Standing(Wire, frozen=True, kw_only=True):
    """An entrant's standing; every key is always present. Source: samples/standings.json, formats 13.1."""

    player_id: int
    position: int
    # Text with two decimals; a number in frenzies and brackets.
    points: str | Number | None
    points_with_tiebreaker: str | Number | None
    games_played: int | None
    entries_played: int | None
    entries_available: int | None
    strike_count: int | None
    cards_counted: tuple[CountedCard, ...] | None
    adjustment: Number | None
    frenzy_wins: int | None
    frenzy_losses: int | None
    points_list: tuple[str | Number | None, ...] | None
    tiebreakers: tuple[str | Number, ...] | None
    # Ids of started games; other services send the games as well.
    active_games: tuple[int | dict[str, Any], ...]
    active_game_color: str | None
    on_pace_bubble: PaceBubble | None
    on_cutoff_bubble: bool | None
    cutoff_bubble_color: str | None
    on_cutoff_bubble2: bool | None
    manual_tiebreaker_group: int | None
