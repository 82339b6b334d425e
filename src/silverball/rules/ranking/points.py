"""Standings by points, highest first: the list family. Source: formats, sections 13.1 to 13.5."""

from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal

from silverball.rules.model.settings_protocols import HasScoring, has, playoff_bands_of, tiebreaker_of
from silverball.rules.model.tournament import Entrant, Game, Tournament
from silverball.rules.ranking import cutoffs, standing, tiebreakers, ties
from silverball.rules.ranking.standing import Standing
from silverball.rules.ranking.tiebreakers import PointsTiebreak

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
    counted = [game for game in tournament.games if game.status == "completed" and not game.is_tiebreak]
    listed = _listed_entrants(tournament, counted)
    points = totals if totals is not None else total_points(tournament, counted)
    points = {entrant.player_id: points.get(entrant.player_id, ZERO) for entrant in listed}
    tiebreaks = tiebreaks_by_player(tournament, points, counted)
    added = tiebreak_game_points(tournament)
    first = before_points or {}
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
    placed = ties.positions(keys)
    return _standing_rows(tournament, placed, points, tiebreaks, counted)


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
        return tiebreakers.seed_tiebreaks(points, ranks)
    orders = [game.result_positions for game in played]
    ways = {
        "placement": tiebreakers.placement_tiebreaks,
        "placement_last": tiebreakers.placement_last_tiebreaks,
        "wins": tiebreakers.wins_tiebreaks,
    }
    return ways[way](points, orders) if way in ways else tiebreakers.points_only(points)


def _standard_tiebreaks(
    tournament: Tournament, points: Mapping[int, Decimal], opponents: Mapping[int, Sequence[int]]
) -> dict[int, PointsTiebreak]:
    """Sums over the opponents of pairs, means where the groups are of several sizes."""
    if has(tournament.settings, HasScoring):
        return tiebreakers.mean_strength_tiebreaks(points, opponents)
    return tiebreakers.standard_tiebreaks(points, opponents)


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
    bubbles = cutoffs.bubbles(placed, playoff_bands_of(tournament.settings))
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
