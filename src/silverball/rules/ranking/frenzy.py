"""Standings of a flip frenzy: wins minus losses. Source: formats, sections 13.4 and 14.14."""

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal

from silverball.kit.values import replace
from silverball.rules.model.settings_protocols import tiebreaker_of
from silverball.rules.model.tournament import Tournament
from silverball.rules.ranking import points as ranking
from silverball.rules.ranking import tiebreakers
from silverball.rules.ranking.standing import Standing
from silverball.rules.ranking.tiebreakers import PointsTiebreak


def rank(tournament: Tournament) -> list[Standing]:
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
    rows = ranking.rank(
        tournament, net, before_points={player_id: broken[player_id].key for player_id in broken}
    )
    added = ranking.tiebreak_game_points(tournament)
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
        return tiebreakers.points_only(net)
    broken = {}
    for player_id, own in net.items():
        second = Decimal(won[player_id] if way == "wins" else lost[player_id])
        broken[player_id] = PointsTiebreak((own, second), (own, second if way == "wins" else -second))
    return broken
