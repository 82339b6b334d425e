"""From what somebody said to a completed game."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from silverball.kit.errors import Conflict, NotFound
from silverball.rules.model import outcome as outcomes
from silverball.rules.model import play_settings
from silverball.rules.model.changes import (
    Change,
    GameCleared,
    GameCompleted,
    GameCorrected,
    SuggestionDecided,
)
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.scoring import point_maps


@dataclass(frozen=True)
class ScoredResult:
    """What a format makes of a result: by slot, except `positions` (first to last)."""

    points: tuple[Decimal, ...]
    positions: tuple[int | None, ...]
    # Kept beside `positions` where those do not show the real order.
    finishing_order: tuple[int, ...] = ()


ScoreGame = Callable[[Game, GameOutcome], ScoredResult]


def find_game(tournament: Tournament, game_id: int) -> Game:
    """A game of the tournament. Raises NotFound."""
    for game in tournament.games:
        if game.game_id == game_id:
            return game
    raise NotFound("Game", game_id)


def score_by_points_map(tournament: Tournament) -> ScoreGame:
    """Points by finishing place, from the tournament's own map. Source: formats, section 11."""
    return _score_by_rows(tournament.points_map or ())


def _score_by_rows(rows: Sequence[Sequence[int | str]]) -> ScoreGame:
    def score(game: Game, outcome: GameOutcome) -> ScoredResult:
        order = outcomes.derive_finishing_order(game, outcome)
        return ScoredResult(point_maps.points_by_slot(rows, game.player_ids, order), order)

    return score


def score_by_tiebreak_map(tournament: Tournament) -> ScoreGame:
    """What a tiebreak game adds, by finishing place. Source: formats, sections 11 and 13.4."""
    return _score_by_rows(tournament.tiebreaker_points_map or point_maps.TIEBREAKER)


def complete_game(
    tournament: Tournament, outcome: GameOutcome, score: ScoreGame, now: datetime
) -> list[Change]:
    """The game completed or corrected with this result; nothing when it has this result already.

    A tiebreak game is worth what the tiebreaker map says, whatever the format.

    Raises Conflict for a bye and for a game without the arena it needs, Invalid for a result that
    cannot be. Source: formats, section 10.
    """
    game = find_game(tournament, outcome.game_id)
    _check_can_be_recorded(tournament, game)
    made = score_by_tiebreak_map(tournament)(game, outcome) if game.is_tiebreak else score(game, outcome)
    after = replace(
        game,
        status="completed",
        result_points=made.points,
        result_positions=made.positions,
        finishing_order=made.finishing_order,
        result_scores=tuple(outcome.scores.get(player_id) for player_id in game.player_ids),
        forfeited_by=outcome.forfeited_by,
        scorekeeper_id=outcome.recorded_by,
        completed_at=game.completed_at or now,
    )
    changes = _correct_game(game, after) if game.status == "completed" else [GameCompleted(game, after)]
    # Whoever decides knows what the players sent in.
    said_of = [
        suggestion for suggestion in tournament.suggestions if suggestion.game_id == game.game_id and changes
    ]
    return [*(SuggestionDecided(one) for one in said_of), *changes]


def _correct_game(game: Game, after: Game) -> Sequence[Change]:
    # Who enters the same result again changes nothing, not even the name beside it; scores and an order
    # that are not said again are not taken back.
    is_scored = any(score is not None for score in after.result_scores)
    same = replace(
        after,
        scorekeeper_id=game.scorekeeper_id,
        result_scores=after.result_scores if is_scored else game.result_scores,
        finishing_order=after.finishing_order or game.finishing_order,
    )
    return [] if same == game else [GameCorrected(game, replace(after, has_mismatch=False))]


def _check_can_be_recorded(tournament: Tournament, game: Game) -> None:
    if game.is_bye:
        raise Conflict(f"Game {game.game_id} is a bye. It has its result already.")
    assignment = play_settings.arena_assignment(tournament.settings, default="disabled")
    if game.arena_id is None and assignment == "manual":
        raise Conflict(f"Game {game.game_id} has no arena yet. Choose one, then record the result.")


def clear_game(game: Game) -> list[Change]:
    """The game open again. Raises Conflict when it has no result."""
    if game.status != "completed" or game.is_bye:
        raise Conflict(f"Game {game.game_id} has no result to delete.")
    nothing: tuple[None, ...] = (None,) * len(game.player_ids)
    after = replace(
        game,
        status="started",
        result_points=nothing,
        result_positions=nothing,
        result_scores=nothing,
        finishing_order=(),
        forfeited_by=None,
        scorekeeper_id=None,
        completed_at=None,
        has_mismatch=False,
    )
    return [GameCleared(game, after)]


def open_games(games: Sequence[Game]) -> list[Game]:
    """Those without a result."""
    return [game for game in games if game.status != "completed"]
