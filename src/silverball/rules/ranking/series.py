"""Standings of a series: the sum of its tournaments, the worst removed. Source: formats, section 21."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct

from silverball.rules.ranking import cutoffs as bands
from silverball.rules.ranking import ties
from silverball.rules.scoring import curves

PINGOLF = "pingolf"
ZERO = Decimal(0)


class SeriesStanding(Struct, frozen=True):
    """A player's place in a series. `points_adjusted` is None when no results are removed."""

    player_id: int
    position: int
    points: Decimal
    """Points of all results."""
    points_adjusted: Decimal | None
    """Points of the results that count; `[]` when all count."""
    on_cutoff_bubble: bool | None
    cutoff_bubble_color: str | None
    on_cutoff_bubble2: bool | None


def series_standings(
    tournament_points: Sequence[Mapping[int, Decimal | str | int]],
    *,
    scoring: str,
    removed_results: int,
    cutoffs: Sequence[Any],
) -> list[SeriesStanding]:
    """The series standings, best first, equals by player id.

    Takes one mapping player id -> points per tournament that counts (empty without results, the curve
    already applied), the scoring (only "pingolf" changes the direction: fewest points first), removed
    results (-N: the best N count; +N: the worst N of all tournaments are dropped, a missed one being a 0,
    and none while there are N or fewer; 0: all count) and the playoff bands as on the wire.
    Source: formats, section 21 (2,677 of 2,677 observed rows).
    """
    results = _results_by_player(tournament_points)
    counted_max = _counted_max(len(tournament_points), removed_results)
    lowest_wins = scoring == PINGOLF
    adjusted = {
        player_id: _adjusted_total(nights, counted_max, lowest_wins) for player_id, nights in results.items()
    }
    keys = {
        player_id: _rank_key(adjusted[player_id], counted_max - len(nights), lowest_wins)
        for player_id, nights in results.items()
    }
    placed = ties.positions(keys, highest_first=False)
    shown = bands.bubbles(placed, cutoffs)
    return [
        SeriesStanding(
            player_id=player_id,
            position=position,
            points=sum(results[player_id], ZERO),
            points_adjusted=adjusted[player_id] if removed_results else None,
            on_cutoff_bubble=shown[player_id].on_cutoff_bubble,
            cutoff_bubble_color=shown[player_id].cutoff_bubble_color,
            on_cutoff_bubble2=shown[player_id].on_cutoff_bubble2,
        )
        for player_id, position in placed.items()
    ]


def dropped_nights(
    tournament_points: Mapping[int, Mapping[int, Decimal | str | int]], *, scoring: str, removed_results: int
) -> dict[int, frozenset[int]]:
    """Player id -> ids of the tournaments whose points do not count for the player.

    Takes tournament id -> player id -> points, and the scoring and the removed results as in
    `series_standings`. Of equal results the later ones are dropped. Source: formats, section 21.
    """
    if not removed_results:
        return {player_id: frozenset() for points in tournament_points.values() for player_id in points}
    counted_max = _counted_max(len(tournament_points), removed_results)
    nights: dict[int, list[tuple[Decimal, int]]] = {}
    for number, points in enumerate(tournament_points.values()):
        for player_id, earned in points.items():
            worth = Decimal(earned) if scoring == PINGOLF else -Decimal(earned)
            nights.setdefault(player_id, []).append((worth, number))
    tournament_ids = list(tournament_points)
    return {
        player_id: frozenset(tournament_ids[number] for _, number in sorted(results)[counted_max:])
        for player_id, results in nights.items()
    }


def reachable_points(
    tournament_points: Sequence[Mapping[int, Decimal | str | int]],
    *,
    removed_results: int,
    nights_left: int,
    best_result: int,
    player_ids: Iterable[int],
) -> dict[int, Decimal]:
    """Player id -> the points of a player who wins all nights that are left, for these players.

    Takes the points of the decided tournaments and the removed results as in `series_standings`, and what
    the best place of a night is worth.
    """
    counted_max = _counted_max(len(tournament_points) + nights_left, removed_results)
    if removed_results == 0:
        counted_max = len(tournament_points) + nights_left
    wins = [Decimal(best_result)] * nights_left
    results = _results_by_player(tournament_points)
    return {
        player_id: _adjusted_total([*results.get(player_id, ()), *wins], counted_max, lowest_wins=False)
        for player_id in player_ids
    }


def _results_by_player(
    tournament_points: Sequence[Mapping[int, Decimal | str | int]],
) -> dict[int, list[Decimal]]:
    results: dict[int, list[Decimal]] = {}
    for night in tournament_points:
        for player_id, points in night.items():
            results.setdefault(player_id, []).append(Decimal(points))
    return results


def _counted_max(tournaments: int, removed_results: int) -> int:
    """The number of results of one player that count; all while there are no more than would be dropped."""
    if removed_results < 0:
        return -removed_results
    return tournaments - removed_results if tournaments > removed_results else tournaments


def _adjusted_total(nights: Sequence[Decimal], counted_max: int, lowest_wins: bool) -> Decimal:
    best_first = sorted(nights, reverse=not lowest_wins)
    return sum(best_first[:counted_max], ZERO)


def _rank_key(total: Decimal, missing: int, lowest_wins: bool) -> tuple[int, Decimal]:
    # In pingolf a missed tournament would add no strokes, so players with all results come first.
    return (max(0, missing), total) if lowest_wins else (0, -total)


def curve_points(positions: Mapping[int, int], scoring: str, custom: Sequence[int] = ()) -> dict[int, int]:
    """Points of one tournament under a curve: player id -> whole points.

    Takes player id -> position (a competition ranking), the curve's wire name and the organizer's table
    for the curve "custom". Players who share a position get the mean of the ranks they hold, rounded
    half up: ranks 4 and 5 of bg_linear give (97 + 96) / 2 = 97 to both. Raises Invalid for an unknown
    curve. Source: formats, section 21.
    """
    earned: dict[int, int] = {}
    for position, members in ties.members_by_position(positions).items():
        ranks = range(position, position + len(members))
        shared = ties.mean_half_up([curves.points_of_rank(scoring, rank, custom) for rank in ranks])
        earned.update(dict.fromkeys(members, shared))
    return earned


def positions_after_playoffs(
    positions: Mapping[int, int], playoffs: Sequence[Mapping[int, int]]
) -> dict[int, int]:
    """Positions in a tournament once its playoffs are decided.

    Takes player id -> position in the tournament and, best playoff first, player id -> position in each
    playoff. Players of a playoff are ranked by it, ahead of all others; players of several playoffs are
    ranked by the first. Playoff players who were not in the tournament are left out.
    Source: formats, section 21 (only curves respect finals; the merge is our choice).
    """
    keys: dict[int, tuple[int, int]] = {}
    for player_id, position in positions.items():
        reached = (
            (number, playoff[player_id]) for number, playoff in enumerate(playoffs) if player_id in playoff
        )
        keys[player_id] = next(reached, (len(playoffs), position))
    return ties.positions(keys, highest_first=False)
