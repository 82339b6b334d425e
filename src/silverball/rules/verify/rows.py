"""What all tables share: places, texts, who is listed, what breaks ties by hand."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypeAlias

from silverball.rules.model.tournament import Entrant, Game, Tournament

# Key of the interface -> value; only what is counted again.
Row: TypeAlias = dict[str, Any]
ZERO = Decimal(0)


def points_text(points: Decimal) -> str:
    """Points as the interface writes them."""
    return f"{points:.2f}"


def places_by_player(keys: Mapping[int, Any]) -> dict[int, int]:
    """Player id -> place: one more than the players with a higher key."""
    ordered = sorted(keys.values(), reverse=True)
    return {player_id: ordered.index(key) + 1 for player_id, key in keys.items()}


def counted_games(tournament: Tournament) -> list[Game]:
    """The games that count: completed, no tiebreaks."""
    return [game for game in tournament.games if game.status == "completed" and not game.is_tiebreak]


def points_of_games(games: list[Game]) -> dict[int, Decimal]:
    """Player id -> sum of the points of these games."""
    totals: dict[int, Decimal] = {}
    for game in games:
        for player_id, points in zip(game.player_ids, game.result_points, strict=True):
            totals[player_id] = totals.get(player_id, ZERO) + (points or ZERO)
    return totals


def tiebreak_points(tournament: Tournament) -> dict[int, Decimal]:
    """Player id -> points of completed tiebreak games."""
    return points_of_games(
        [game for game in tournament.games if game.status == "completed" and game.is_tiebreak]
    )


def adjustment_total(entrant: Entrant) -> Decimal:
    """Both adjustments by hand."""
    return entrant.points_adjustment + entrant.score_adjustment


def manual_order_key(tournament: Tournament, player_id: int) -> tuple[Decimal, int]:
    """What ranks after everything automatic: tiebreak games, then the order by hand."""
    return (
        tiebreak_points(tournament).get(player_id, ZERO),
        -(tournament.entrant_by_id[player_id].tie_place or 0),
    )


def open_game_ids(tournament: Tournament, player_id: int) -> list[int]:
    """Ids of the started games with a player, of both kinds, ascending."""
    games = [
        game.game_id for game in tournament.games if game.status == "started" and player_id in game.player_ids
    ]
    alone = [
        game.single_player_game_id
        for game in tournament.single_player_games
        if game.status == "started" and game.player_id == player_id
    ]
    return sorted(games) + sorted(alone) if not alone else sorted(games + alone)


def active_ids_by_seed(tournament: Tournament) -> list[int]:
    """Active players, best seed first, the unseeded last."""
    active = [entrant for entrant in tournament.entrants if entrant.is_active]
    return [
        entrant.player_id
        for entrant in sorted(
            active, key=lambda entrant: (entrant.seed_rank is None, entrant.seed_rank or 0, entrant.place)
        )
    ]
