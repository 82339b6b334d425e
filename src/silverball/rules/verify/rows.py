"""Shared parts of expected standings: places, points, adjustments, manual orders."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypeAlias

from silverball.rules.model.tournament import Entrant, Game, Tournament

# Wire key -> value, for columns that are computed again.
Row: TypeAlias = dict[str, Any]
ZERO = Decimal(0)


def points_text(points: Decimal) -> str:
    """Points as written on the wire."""
    return f"{points:.2f}"


def places_by_player(keys: Mapping[int, Any]) -> dict[int, int]:
    """Player id -> place: one more than the number of players with a higher key."""
    ordered = sorted(keys.values(), reverse=True)
    return {player_id: ordered.index(key) + 1 for player_id, key in keys.items()}


def counted_games(tournament: Tournament) -> list[Game]:
    """The games that count: completed and no tiebreaks."""
    return [game for game in tournament.games if game.status == "completed" and not game.is_tiebreak]


def points_of_games(games: list[Game]) -> dict[int, Decimal]:
    """Player id -> sum of the points of these games."""
    totals: dict[int, Decimal] = {}
    for game in games:
        for player_id, points in zip(game.player_ids, game.result_points, strict=True):
            totals[player_id] = totals.get(player_id, ZERO) + (points or ZERO)
    return totals


def tiebreak_points(tournament: Tournament) -> dict[int, Decimal]:
    """Player id -> points of completed tiebreaks; several games of one are compared by score."""
    ties = [game for game in tournament.games if game.is_tiebreak]
    joint = {(game.round_id, game.set_number) for game in ties if game.game_index}
    added = points_of_games(
        [
            game
            for game in ties
            if game.status == "completed" and (game.round_id, game.set_number) not in joint
        ]
    )
    for key in joint:
        own = [game for game in ties if (game.round_id, game.set_number) == key]
        if all(game.status == "completed" for game in own):
            listed = sorted(score or 0 for game in own for score in game.result_scores)
            for game in own:
                for player_id, score in zip(game.player_ids, game.result_scores, strict=True):
                    # Fifty hundredths for beating all others, halves of a hundredth up.
                    share = (100 * listed.index(score or 0) + len(listed) - 1) // (2 * (len(listed) - 1))
                    added[player_id] = added.get(player_id, ZERO) + Decimal(share) / 100
    return added


def adjustment_total(entrant: Entrant) -> Decimal:
    """Both adjustments together."""
    return entrant.points_adjustment + entrant.score_adjustment


def manual_order_key(tournament: Tournament, player_id: int) -> tuple[Decimal, int]:
    """The sort key after all automatic ones: tiebreak games, then the manual order."""
    return (
        tiebreak_points(tournament).get(player_id, ZERO),
        -(tournament.entrant_by_id[player_id].tie_place or 0),
    )


def open_game_ids(tournament: Tournament, player_id: int) -> list[int]:
    """Ids of a player's started games of both kinds, ascending."""
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
    """Ids of the active players, best seed first, unseeded ones last."""
    active = [entrant for entrant in tournament.entrants if entrant.is_active]
    return [
        entrant.player_id
        for entrant in sorted(
            active, key=lambda entrant: (entrant.seed_rank is None, entrant.seed_rank or 0, entrant.place)
        )
    ]
