"""Results of strike formats: points, positions and strikes from a finishing order or the players struck."""

from silverball.rules.mechanics.results import ScoredResult, ScoreGame
from silverball.rules.model import outcome as outcomes
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.model.tournament import Game
from silverball.rules.scoring import strikes
from silverball.rules.scoring.strikes import StrikeSettings


def strike_scorer(strike_settings: StrikeSettings) -> ScoreGame:
    """The scoring of a strike format's games. Source: formats, sections 10 and 12."""

    def score(game: Game, outcome: GameOutcome) -> ScoredResult:
        if outcome.strikers is not None:
            points = strikes.points_of_strikers(strike_settings, game.player_ids, outcome.strikers)
            return ScoredResult(points, strikes.wire_positions(strike_settings, game.player_ids, points))
        order = outcomes.derive_finishing_order(game, outcome)
        points = strikes.points_by_slot(strike_settings, game.player_ids, order)
        return ScoredResult(
            points, strikes.wire_positions(strike_settings, game.player_ids, points, order), order
        )

    return score
