"""The part of a format that verification needs: rules of its draws, results and standings.

Format files hand in functions of this room; nothing here knows a format by name.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any, TypeAlias

from msgspec import Struct

from silverball.rules.model.tournament import Entrant, Game, Tournament

# Shared parts of expected standings: places, points, adjustments, manual orders.


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
    left = tournament.state.ids_of_leavers
    active = [entrant for entrant in tournament.entrants if entrant.is_active or entrant.player_id in left]
    return [
        entrant.player_id
        for entrant in sorted(
            active, key=lambda entrant: (entrant.seed_rank is None, entrant.seed_rank or 0, entrant.place)
        )
    ]


class DrawnGroups(StrEnum):
    """The groups that the draw of a round makes."""

    # Any: the organizer or the schedule decides.
    ANY = "any"
    # Pairs, and one bye at most.
    PAIRS = "pairs"
    # Groups of four and three, without byes.
    FOURS = "fours"


class ArenaUse(StrEnum):
    """The use of an arena in a newly drawn round."""

    ANY = "any"
    # One game in each wave of a round.
    ONCE_PER_WAVE = "once per wave"
    # One game in a round, as the next game of the same pair follows on the arena later.
    ONCE_PER_ROUND = "once per round"


class StrikeKind(StrEnum):
    """The kind of strikes that a game gives."""

    NONE = "none"
    # The loser of two gets one.
    PAIRS = "pairs"
    # Each player of a group gets one or none.
    STANDARD = "standard"
    FAIR = "fair"
    PROGRESSIVE = "progressive"


class WinsBy(StrEnum):
    """The rule for wins and losses between players of a game."""

    # Players do not meet each other.
    NONE = "none"
    FINISHING_ORDER = "finishing order"
    POINTS = "points"


def no_strikes(_tournament: Tournament) -> StrikeKind:
    """No strikes, whatever the settings."""
    return StrikeKind.NONE


def wins_by_finishing_order(_tournament: Tournament) -> WinsBy:
    """Wins by finishing order, whatever the settings."""
    return WinsBy.FINISHING_ORDER


def no_wins(_tournament: Tournament) -> WinsBy:
    """No wins and losses, whatever the settings."""
    return WinsBy.NONE


def no_faults(_tournament: Tournament) -> list[str]:
    """No faults: the format has nothing further to check."""
    return []


class FormatChecks(Struct, frozen=True, kw_only=True):
    """The rules that verification checks in tournaments of a format."""

    # The standings, computed independently of the format's `rank`.
    standings: Callable[[Tournament], list[Row]]

    # The standings by the rules of an earlier version, where they have changed: they stay as they are
    # until something happens in the tournament.
    earlier_standings: Callable[[Tournament], list[Row]] | None = None

    # Draws
    drawn_groups: DrawnGroups = DrawnGroups.ANY
    arena_use: ArenaUse = ArenaUse.ANY
    # Whether a player is in one group of a round at most.
    has_one_group_per_round: bool = True
    # Whether a player is in one open game at most.
    has_one_open_game: bool = False

    # Results
    # How often each pairing is played in its round: a bye of the schedule counts as often.
    games_per_pairing: int = 1
    strike_kind: Callable[[Tournament], StrikeKind] = no_strikes
    wins_by: Callable[[Tournament], WinsBy] = wins_by_finishing_order
    # Faults of the results of single player games.
    attempt_faults: Callable[[Tournament], list[str]] = no_faults
    # Faults of the points that single player games get when the tournament completes.
    final_points_faults: Callable[[Tournament], list[str]] = no_faults
