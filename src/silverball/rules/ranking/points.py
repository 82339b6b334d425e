"""Standings by points, highest first: the list family. Source: formats, sections 13.1 to 13.5."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import TypeAlias

from msgspec import Struct

from silverball.kit.values import replace
from silverball.rules.model.settings_protocols import HasScoring, has, playoff_bands_of, tiebreaker_of
from silverball.rules.model.tournament import Entrant, Game, Tournament
from silverball.rules.ranking import head_to_head, standing
from silverball.rules.ranking.standing import Standing

# Tiebreakers between players with equal points. Source: formats, section 13.4.
#
# Each function of a tiebreaker returns player id -> PointsTiebreak: the values that the standings show
# (points first) and the sort key, highest first.


Points: TypeAlias = Mapping[int, Decimal]
FinishingOrder: TypeAlias = Sequence[int | None]
OPPONENTS_FOR_MEDIAN = 3
SHOWN_MEAN = Decimal("0.01")


class PointsTiebreak(Struct, frozen=True):
    """The `tiebreakers` of a row (points, then numbers) and its sort key, highest first."""

    values: tuple[Decimal, ...]
    key: tuple[Decimal, ...]


def solkoff(opponent_points: Sequence[Decimal]) -> Decimal:
    """Sum of the final points of all opponents met, one value per meeting. Source: formats, 13.4."""
    return sum(opponent_points, Decimal(0))


def median_buchholz(opponent_points: Sequence[Decimal]) -> Decimal:
    """The Solkoff sum without the highest and the lowest; 0 below three opponents. Source: formats, 13.4."""
    if len(opponent_points) < OPPONENTS_FOR_MEDIAN:
        return Decimal(0)
    return solkoff(opponent_points) - max(opponent_points) - min(opponent_points)


def points_only(points: Points) -> dict[int, PointsTiebreak]:
    """Points only. Takes player id -> points. Source: formats, 13.4."""
    return {player_id: PointsTiebreak((own,), (own,)) for player_id, own in points.items()}


def standard_tiebreaks(points: Points, opponents: Mapping[int, Sequence[int]]) -> dict[int, PointsTiebreak]:
    """Points, Median-Buchholz, Solkoff, all descending.

    Takes player id -> points (adjustments included) and player id -> the opponents met, one entry per
    meeting (in groups every other player of every game); byes have none. An opponent without points
    counts 0. Source: formats, 13.4.
    """
    broken: dict[int, PointsTiebreak] = {}
    for player_id, own in points.items():
        totals = [points.get(opponent_id, Decimal(0)) for opponent_id in opponents.get(player_id, ())]
        values = (own, median_buchholz(totals), solkoff(totals))
        broken[player_id] = PointsTiebreak(values, values)
    return broken


def mean_strength_tiebreaks(
    points: Points, opponents: Mapping[int, Sequence[int]]
) -> dict[int, PointsTiebreak]:
    """Points, the mean of the opponents without the best and the worst, the mean of all; all descending.

    For groups, where the players of a three meet fewer opponents than those of a four, which would make
    their sums smaller. Takes the same as `standard_tiebreaks`; the exact means are compared, and shown
    with two decimals. Source: formats, 13.4.
    """
    broken: dict[int, PointsTiebreak] = {}
    for player_id, sums in standard_tiebreaks(points, opponents).items():
        own, median, full = sums.key
        met = len(opponents.get(player_id, ()))
        means = (median / max(met - 2, 1), full / max(met, 1))
        shown = (mean.quantize(SHOWN_MEAN, ROUND_HALF_UP) for mean in means)
        broken[player_id] = PointsTiebreak((own, *shown), (own, *means))
    return broken


def placement_tiebreaks(
    points: Points, finishing_orders: Iterable[FinishingOrder]
) -> dict[int, PointsTiebreak]:
    """Points, first places, second places, all descending.

    Takes player id -> points and the finishing orders of the completed games; a null place is ignored.
    A real row is 45.00, 5, 2. Source: formats, section 13.4.
    """
    places = _place_counts(finishing_orders)
    return _descending_tiebreaks(points, places, (1, 2))


def wins_tiebreaks(points: Points, finishing_orders: Iterable[FinishingOrder]) -> dict[int, PointsTiebreak]:
    """Points, then first places, descending. Takes the same as `placement_tiebreaks`. Source: 13.4."""
    return _descending_tiebreaks(points, _place_counts(finishing_orders), (1,))


def placement_last_tiebreaks(
    points: Points, finishing_orders: Iterable[FinishingOrder]
) -> dict[int, PointsTiebreak]:
    """Points, then last places, fewer is better. Takes the same as `placement_tiebreaks`. Source: 13.4."""
    lasts: Counter[int | None] = Counter(order[-1] for order in finishing_orders if len(order) > 1)
    return {
        player_id: PointsTiebreak((own, Decimal(lasts[player_id])), (own, Decimal(-lasts[player_id])))
        for player_id, own in points.items()
    }


def seed_tiebreaks(points: Points, seed_ranks: Mapping[int, int]) -> dict[int, PointsTiebreak]:
    """Points, then the lower seed rank, so that no ties remain. Source: formats, section 13.4."""
    return {
        player_id: PointsTiebreak(
            (own, Decimal(seed_ranks[player_id])), (own, Decimal(-seed_ranks[player_id]))
        )
        for player_id, own in points.items()
    }


def head_to_head_tiebreaks(
    points: Points, first: Mapping[int, tuple[Decimal, ...]], games: Sequence[Game]
) -> dict[int, PointsTiebreak]:
    """Points, then how many of those with the same points a player comes before. Source: formats, 26.

    Takes the sort key before the points, in which the tied must be equal too, and the games that count.
    """
    keys = {player_id: (first.get(player_id, ()), own) for player_id, own in points.items()}
    ties = standing.tied_groups(keys)
    behind = head_to_head.players_behind(ties, games)
    return {
        player_id: PointsTiebreak((own, Decimal(behind[player_id])), (own, Decimal(behind[player_id])))
        for player_id, own in points.items()
    }


def _place_counts(finishing_orders: Iterable[FinishingOrder]) -> Counter[tuple[int, int]]:
    """(player id, place from 1) -> number of games in which the player finished there."""
    places: Counter[tuple[int, int]] = Counter()
    for order in finishing_orders:
        for place, player_id in enumerate(order, start=1):
            if player_id is not None and len(order) > 1:
                places[player_id, place] += 1
    return places


def _descending_tiebreaks(
    points: Points, places: Counter[tuple[int, int]], counted: Sequence[int]
) -> dict[int, PointsTiebreak]:
    broken: dict[int, PointsTiebreak] = {}
    for player_id, own in points.items():
        values = (own, *(Decimal(places[player_id, place]) for place in counted))
        broken[player_id] = PointsTiebreak(values, values)
    return broken


ZERO = Decimal(0)
CENT = Decimal("0.01")
# The best place of a tiebreak of several games.
BEST_TIEBREAK = Decimal("0.50")


def rank(
    tournament: Tournament,
    totals: Mapping[int, Decimal] | None = None,
    *,
    before_points: Mapping[int, tuple[Decimal, ...]] | None = None,
) -> list[Standing]:
    """The standings by points and the tournament's tiebreaker, then by manual tie orders.

    Takes the points by player id if the format counts them in its own way, and by player id the sort key
    that comes before points (highest first, all of one length). Entrants who are inactive and have not
    played are left out. Equals share a place.
    """
    counted = games_that_count(tournament)
    listed = _listed_entrants(tournament, counted)
    points = totals if totals is not None else total_points(tournament, counted)
    points = {entrant.player_id: points.get(entrant.player_id, ZERO) for entrant in listed}
    first = before_points or {}
    if tiebreaker_of(tournament.settings) == "head_to_head":
        tiebreaks = head_to_head_tiebreaks(points, first, counted)
    else:
        tiebreaks = tiebreaks_by_player(tournament, points, counted)
    added = tiebreak_game_points(tournament)
    keys = {
        # Tiebreak games, then the place in a manual order, come after all automatic tiebreakers.
        entrant.player_id: (
            first.get(entrant.player_id, ()),
            tiebreaks[entrant.player_id].key,
            added.get(entrant.player_id, ZERO),
            -(entrant.tie_place or 0),
        )
        for entrant in listed
    }
    placed = standing.positions(keys)
    return _standing_rows(tournament, placed, points, tiebreaks, counted)


def games_that_count(tournament: Tournament) -> list[Game]:
    """The completed games, byes included, without tiebreaks."""
    return [game for game in tournament.games if game.status == "completed" and not game.is_tiebreak]


def total_points(tournament: Tournament, counted: Sequence[Game]) -> dict[int, Decimal]:
    """Player id -> points of these games plus both adjustments, for every entrant."""
    totals = points_of_games(counted)
    for entrant in tournament.entrants:
        given = entrant.points_adjustment + entrant.score_adjustment
        totals[entrant.player_id] = totals.get(entrant.player_id, ZERO) + given
    return totals


def points_of_games(games: Sequence[Game]) -> dict[int, Decimal]:
    """Player id -> points of these games; players without a game are missing."""
    totals: dict[int, Decimal] = {}
    for game in games:
        for player_id, earned in zip(game.player_ids, game.result_points, strict=True):
            totals[player_id] = totals.get(player_id, ZERO) + (earned or ZERO)
    return totals


def tiebreaks_by_player(
    tournament: Tournament, points: Mapping[int, Decimal], counted: Sequence[Game]
) -> dict[int, PointsTiebreak]:
    """Player id -> tiebreak values by the tournament's `tiebreaker`. Source: formats, section 13.4."""
    way = tiebreaker_of(tournament.settings)
    played = [game for game in counted if not game.is_bye]
    if way == "standard":
        return _standard_tiebreaks(tournament, points, opponents_met(played))
    if way == "seed":
        ranks = {
            entrant.player_id: entrant.seed_rank or len(tournament.entrants)
            for entrant in tournament.entrants
        }
        return seed_tiebreaks(points, ranks)
    orders = [game.result_positions for game in played]
    ways = {
        "placement": placement_tiebreaks,
        "placement_last": placement_last_tiebreaks,
        "wins": wins_tiebreaks,
    }
    return ways[way](points, orders) if way in ways else points_only(points)


def _standard_tiebreaks(
    tournament: Tournament, points: Mapping[int, Decimal], opponents: Mapping[int, Sequence[int]]
) -> dict[int, PointsTiebreak]:
    """Sums over the opponents of pairs, means where the groups are of several sizes."""
    if has(tournament.settings, HasScoring):
        return mean_strength_tiebreaks(points, opponents)
    return standard_tiebreaks(points, opponents)


def opponents_met(played: Sequence[Game]) -> dict[int, list[int]]:
    """Player id -> opponents met, one entry per meeting."""
    met: dict[int, list[int]] = {}
    for game in played:
        for player_id in game.player_ids:
            others = [other for other in game.player_ids if other != player_id]
            met.setdefault(player_id, []).extend(others)
    return met


def tiebreak_game_points(tournament: Tournament) -> dict[int, Decimal]:
    """Player id -> points from tiebreaks that are played. Source: formats, 13.4."""
    single: list[Game] = []
    shared: dict[tuple[int | None, int], list[Game]] = {}
    for game in tournament.games:
        if game.is_tiebreak:
            shared.setdefault((game.round_id, game.set_number), []).append(game)
    totals: dict[int, Decimal] = {}
    for games in shared.values():
        if not any(game.game_index for game in games):
            single += [game for game in games if game.status == "completed"]
        elif all(game.status == "completed" for game in games):
            for player_id, points in _points_by_score(games).items():
                totals[player_id] = totals.get(player_id, ZERO) + points
    for player_id, points in points_of_games(single).items():
        totals[player_id] = totals.get(player_id, ZERO) + points
    return totals


def _points_by_score(games: Sequence[Game]) -> dict[int, Decimal]:
    """Player id -> points between 0.50 and 0.00, by the share of the others with a lower score."""
    scores = {
        player_id: score or 0
        for game in games
        for player_id, score in zip(game.player_ids, game.result_scores, strict=True)
    }
    beaten = {player_id: sum(other < own for other in scores.values()) for player_id, own in scores.items()}
    return {
        player_id: (BEST_TIEBREAK * count / (len(scores) - 1)).quantize(CENT, ROUND_HALF_UP)
        for player_id, count in beaten.items()
    }


def _listed_entrants(tournament: Tournament, counted: Sequence[Game]) -> list[Entrant]:
    played = {player_id for game in counted for player_id in game.player_ids}
    return [entrant for entrant in tournament.entrants if entrant.is_active or entrant.player_id in played]


def _standing_rows(
    tournament: Tournament,
    placed: Mapping[int, int],
    points: Mapping[int, Decimal],
    tiebreaks: Mapping[int, PointsTiebreak],
    counted: Sequence[Game],
) -> list[Standing]:
    games = games_played(counted)
    playing = standing.active_game_ids(tournament.games)
    bubbles = standing.bubbles(placed, playoff_bands_of(tournament.settings))
    added = tiebreak_game_points(tournament)
    rows = []
    for player_id, position in placed.items():
        entrant = tournament.entrant_by_id[player_id]
        extra = added.get(player_id)
        rows.append(
            Standing(
                player_id=player_id,
                position=position,
                points=standing.points_text(points[player_id]),
                tiebreakers=(standing.points_text(points[player_id]), *tiebreaks[player_id].values[1:]),
                points_with_tiebreaker=None
                if extra is None
                else standing.points_text(points[player_id] + extra),
                games_played=games.get(player_id, 0),
                adjustment=entrant.points_adjustment + entrant.score_adjustment,
                active_games=playing.get(player_id, ()),
                bubble=bubbles[player_id],
                manual_tiebreaker_group=entrant.tie_group,
            )
        )
    return rows


def games_played(counted: Sequence[Game]) -> dict[int, int]:
    """Player id -> number of completed games without byes."""
    games: dict[int, int] = {}
    for game in counted:
        if not game.is_bye:
            for player_id in game.player_ids:
                games[player_id] = games.get(player_id, 0) + 1
    return games


# Standings of a flip frenzy: wins minus losses. Source: formats, sections 13.4 and 14.14.


def rank_frenzy(tournament: Tournament) -> list[Standing]:
    """The standings by net wins, then by the tiebreaker, then by manual orders; equals share a place.

    Points are numbers and include adjustments: 11 wins and a loss are 10 points, with tiebreakers 10, 11.
    """
    won, lost = wins_and_losses(tournament)
    adjustments = {
        entrant.player_id: entrant.points_adjustment + entrant.score_adjustment
        for entrant in tournament.entrants
    }
    net = {player_id: won[player_id] - lost[player_id] + adjustments[player_id] for player_id in adjustments}
    broken = _frenzy_tiebreaks(tournament, won, lost, net)
    rows = rank(tournament, net, before_points={player_id: broken[player_id].key for player_id in broken})
    added = tiebreak_game_points(tournament)
    return [
        replace(
            row,
            points=net[row.player_id],
            points_with_tiebreaker=net[row.player_id] + added[row.player_id]
            if row.player_id in added
            else None,
            tiebreakers=broken[row.player_id].values,
            frenzy_wins=won[row.player_id],
            frenzy_losses=lost[row.player_id],
        )
        for row in rows
    ]


def wins_and_losses(tournament: Tournament) -> tuple[Counter[int], Counter[int]]:
    """Wins and losses by player id, counted from completed games."""
    won: Counter[int] = Counter()
    lost: Counter[int] = Counter()
    for game in tournament.games:
        if game.status == "completed" and not game.is_tiebreak and not game.is_bye:
            first, *others = game.result_positions
            won.update(() if first is None else (first,))
            lost.update(other for other in others if other is not None)
    return won, lost


def _frenzy_tiebreaks(
    tournament: Tournament, won: Counter[int], lost: Counter[int], net: Mapping[int, Decimal]
) -> dict[int, PointsTiebreak]:
    """Player id -> net wins and the tiebreaker; adjustments are part of the net wins."""
    way = tiebreaker_of(tournament.settings)
    if way not in {"wins", "losses"}:
        return points_only(net)
    broken = {}
    for player_id, own in net.items():
        second = Decimal(won[player_id] if way == "wins" else lost[player_id])
        broken[player_id] = PointsTiebreak((own, second), (own, second if way == "wins" else -second))
    return broken
