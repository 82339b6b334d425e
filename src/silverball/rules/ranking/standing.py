"""A row of the standings, for all formats. Source: formats, section 13.1."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from silverball.rules.model.tournament import Game
from silverball.rules.ranking.cutoffs import NO_BUBBLE, Bubble

# A text with two decimals or a number, depending on the format.
DisplayedPoints: TypeAlias = str | Decimal | int
ACTIVE_COLOR = "green"


@dataclass(frozen=True, kw_only=True)
class CountedCard:
    """A card that counts for a standing."""

    card_id: int
    points: DisplayedPoints
    count: int


@dataclass(frozen=True, kw_only=True)
class PaceBubble:
    """The next target of a pace match play, and the points missing."""

    target: Decimal
    needed: Decimal


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Place and points of an entrant; the defaults are those of the list family (formats, 13.1)."""

    player_id: int
    position: int
    points: DisplayedPoints
    tiebreakers: tuple[DisplayedPoints, ...] | None
    points_with_tiebreaker: DisplayedPoints | None = None
    games_played: int | None = 0
    entries_played: int | None = 0
    entries_available: int | None = 0
    strike_count: int | None = 0
    cards_counted: tuple[CountedCard, ...] | None = None
    adjustment: Decimal | None = Decimal(0)
    frenzy_wins: int | None = None
    frenzy_losses: int | None = None
    points_list: tuple[DisplayedPoints, ...] | None = None
    # Ids of started games.
    active_games: tuple[int, ...] = ()
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
