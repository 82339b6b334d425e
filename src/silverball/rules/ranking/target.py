"""Players who have reached the target score, by round. Source: formats, section 14.15."""

from collections.abc import Mapping
from decimal import Decimal

from silverball.rules.model.tournament import Tournament
from silverball.rules.ranking import points as ranking

ZERO = Decimal(0)
# Before the first round: the round of players whose adjustments reach the target.
ROUND_NONE = 0


def rounds_reaching_target(tournament: Tournament, target: int) -> dict[int, int]:
    """Player id -> the round (from 1) in which the target was reached; other players are missing.

    Adjustments count from when they were made. Games of the open round count as soon as they have a
    result. Source: formats, section 14.15.
    """
    earned = points_by_round(tournament)
    reached_by_player: dict[int, int] = {}
    for entrant in tournament.entrants:
        adjustment = entrant.points_adjustment + entrant.score_adjustment
        rounds = earned.get(entrant.player_id, {})
        reached = _round_reaching(rounds, target - adjustment)
        if reached is None:
            continue
        by_games_alone = _round_reaching(rounds, Decimal(target)) == reached
        reached_by_player[entrant.player_id] = (
            reached if by_games_alone else max(reached, entrant.adjusted_after or ROUND_NONE)
        )
    return reached_by_player


def _round_reaching(earned: Mapping[int, Decimal], needed: Decimal) -> int | None:
    total = ZERO
    if total >= needed:
        return ROUND_NONE
    for number in sorted(earned):
        total += earned[number]
        if total >= needed:
            return number
    return None


def points_by_round(tournament: Tournament) -> dict[int, dict[int, Decimal]]:
    """Player id -> number of the round (from 1) -> points of its completed games."""
    earned: dict[int, dict[int, Decimal]] = {}
    for round_ in tournament.rounds:
        games = [
            game
            for game in tournament.games_by_round.get(round_.round_id, ())
            if game.status == "completed" and not game.is_tiebreak
        ]
        for player_id, total in ranking.points_of_games(games).items():
            earned.setdefault(player_id, {})[round_.round_index + 1] = total
    return earned
