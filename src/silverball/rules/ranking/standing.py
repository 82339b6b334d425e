"""A row of the standings, for all formats. Source: formats, section 13.1."""

from collections.abc import Iterable
from decimal import Decimal
from typing import TypeAlias

from msgspec import Struct

from silverball.rules.model.tournament import Game
from silverball.rules.ranking.cutoffs import NO_BUBBLE, Bubble

# A text with two decimals or a number, depending on the format.
DisplayedPoints: TypeAlias = str | Decimal | int
ACTIVE_COLOR = "green"


class CountedCard(Struct, frozen=True, kw_only=True):
    """A card that counts for a standing."""

    card_id: int
    points: DisplayedPoints
    """Points of the card."""
    count: int
    """Number of games on the card."""


class PaceBubble(Struct, frozen=True, kw_only=True):
    """The next target of a pace match play, and the points missing."""

    target: Decimal
    """Points that the bar asks for after the next round."""
    needed: Decimal
    """Points that the player still needs for it."""


class Standing(Struct, frozen=True, kw_only=True):
    """Place and points of an entrant; the defaults are those of the list family (formats, 13.1)."""

    player_id: int
    position: int
    points: DisplayedPoints
    """Points as text with two decimals; a number in frenzies and brackets; null without any."""
    tiebreakers: tuple[DisplayedPoints, ...] | None
    """Values compared in turn among equal points, the points first; null in brackets."""
    points_with_tiebreaker: DisplayedPoints | None = None
    """Points with the part that a tiebreak game added; null without one."""
    games_played: int | None = 0
    """Number of games played; null in brackets."""
    entries_played: int | None = 0
    """Number of entries used up, in best game; 0 in other formats, null in brackets."""
    entries_available: int | None = 0
    """Number of entries left, in best game; 0 in other formats, null in brackets."""
    strike_count: int | None = 0
    """Number of strikes; 0 outside of knockouts, null in brackets."""
    cards_counted: tuple[CountedCard, ...] | None = None
    """Cards that count, in card best game; null elsewhere."""
    adjustment: Decimal | None = Decimal(0)
    """Points that the organizer gave or, below 0, took; null in brackets."""
    frenzy_wins: int | None = None
    """Number of wins, in a frenzy; null elsewhere."""
    frenzy_losses: int | None = None
    """Number of losses, in a frenzy; null elsewhere."""
    points_list: tuple[DisplayedPoints, ...] | None = None
    """Points of the counted results, best first; null in formats without such a list."""
    active_games: tuple[int, ...] = ()
    """Ids of the started games of the player; other services send the games."""
    pace_bubble: PaceBubble | None = None
    bubble: Bubble = NO_BUBBLE
    manual_tiebreaker_group: int | None = None

    @property
    def active_game_color(self) -> str | None:
        """The color of the row while the player is in a started game."""
        return ACTIVE_COLOR if self.active_games else None


def points_text(points: Decimal) -> str:
    """Points as the list family displays them: `9.00`."""
    return str(points.quantize(Decimal("0.01")))


def active_game_ids(games: Iterable[Game]) -> dict[int, tuple[int, ...]]:
    """Player id -> ids of the player's started games, ascending."""
    ids_by_player: dict[int, tuple[int, ...]] = {}
    for game in sorted(games, key=lambda game: game.game_id):
        if game.status == "started":
            for player_id in game.player_ids:
                ids_by_player[player_id] = (*ids_by_player.get(player_id, ()), game.game_id)
    return ids_by_player
