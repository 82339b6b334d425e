"""Standings of a series: the sum of its tournaments, the worst removed. Source: formats, section 21."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from statistics import median_low
from typing import Any

from msgspec import Struct

from silverball.rules.model.settings_protocols import HasBestGames, has
from silverball.rules.model.tournament import Tournament
from silverball.rules.ranking import standing
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
    placed = standing.positions(keys, highest_first=False)
    shown = standing.bubbles(placed, cutoffs)
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
    for position, members in standing.members_by_position(positions).items():
        ranks = range(position, position + len(members))
        shared = standing.mean_half_up([curves.points_of_rank(scoring, rank, custom) for rank in ranks])
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
    return standing.positions(keys, highest_first=False)


# Places of a qualifying and its finals as one event, and who counts. Source: ratings, B.3; pages, 4.


FINALS, QUALIFYING = 0, 1


class ParticipationShare(Struct, frozen=True):
    """The rounds, machines or games that a player played, and those that a whole night has."""

    played: int
    possible: int

    @property
    def is_below_half(self) -> bool:
        return 2 * self.played < self.possible


class EventPlace(Struct, frozen=True):
    """A player of an event. Who never played has no position."""

    player_id: int
    position: int | None
    is_finalist: bool
    is_below_half: bool


def event_places(
    player_ids: Iterable[int],
    qualifying: Mapping[int, int],
    finals: Mapping[int, int],
    shares: Mapping[int, ParticipationShare],
) -> tuple[EventPlace, ...]:
    """Each player once: finalists by the final, then the others by the qualifying, ties kept.

    Takes player id -> position in the qualifying and in the final of the best. Reaching the final counts as
    having played enough.
    """
    keys = {player_id: (QUALIFYING, position) for player_id, position in qualifying.items()}
    keys |= {player_id: (FINALS, position) for player_id, position in finals.items()}
    positions = standing.positions(keys, highest_first=False)
    everybody = dict.fromkeys((*player_ids, *keys))
    places = [
        EventPlace(
            player_id=player_id,
            position=positions.get(player_id),
            is_finalist=player_id in finals,
            is_below_half=player_id not in finals and player_id in shares and shares[player_id].is_below_half,
        )
        for player_id in everybody
    ]
    return tuple(sorted(places, key=_place_key))


def _place_key(place: EventPlace) -> tuple[bool, int, int]:
    return place.position is None, place.position or 0, place.player_id


def participation_shares(tournament: Tournament, *, players_go_out: bool) -> dict[int, ParticipationShare]:
    """Player id -> share of the qualifying, for the entrants who could have played all of it.

    Where players go out, who stayed until then played all. Rounds count where there are rounds, machines
    where players play alone, else games, compared with the median player.
    """
    measured = [entrant for entrant in tournament.entrants if not (players_go_out and entrant.is_active)]
    played = _played_parts(tournament)
    counts = {entrant.player_id: len(played[entrant.player_id]) for entrant in tournament.entrants}
    possible = _possible_parts(tournament, list(counts.values()))
    return {
        entrant.player_id: ParticipationShare(counts[entrant.player_id], possible) for entrant in measured
    }


def _played_parts(tournament: Tournament) -> defaultdict[int, set[tuple[str, int]]]:
    """Player id -> the rounds, machines or games in which they have a result."""
    played: defaultdict[int, set[tuple[str, int]]] = defaultdict(set)
    for game in tournament.games:
        if game.status == "completed" and not game.is_tiebreak:
            part = ("game", game.game_id) if game.round_id is None else ("round", game.round_id)
            for player_id in game.player_ids:
                played[player_id].add(part)
    for attempt in tournament.single_player_games:
        if attempt.status == "completed" and not attempt.is_voided:
            part = ("arena", attempt.arena_id or 0)
            if attempt.round_id is not None:
                part = ("round", attempt.round_id)
            played[attempt.player_id].add(part)
    return played


def _possible_parts(tournament: Tournament, counts: Sequence[int]) -> int:
    rounds = {
        game.round_id for game in tournament.games if game.status == "completed" and not game.is_tiebreak
    }
    rounds |= {attempt.round_id for attempt in tournament.single_player_games}
    rounds -= {None}
    if rounds:
        return len(rounds)
    if tournament.single_player_games:
        settings, most = tournament.settings, max(counts, default=0)
        counted = settings.best_game_arenas_counted if has(settings, HasBestGames) else 0
        return min(most, counted) if counted else most
    return median_low(counts) if counts else 0


# How often players met each other and played each arena, counted over thousands of games at once.
