"""What somebody says the result is, before a format makes points of it. Source: formats, section 10."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field

from silverball.kit.errors import Invalid
from silverball.rules.model.tournament import Game

SCORE_MAX = 2**63 - 1


@dataclass(frozen=True, kw_only=True)
class GameOutcome:
    """The result of a game: exactly one of order, scores, strikers, strokes and forfeit says it.

    Scores may stand beside an order, which wins.
    """

    game_id: int
    # First to last.
    finishing_order: tuple[int, ...] = ()
    scores: Mapping[int, int] = field(default_factory=dict)
    # The players who get a strike; None when it is not said that way.
    strikers: tuple[int, ...] | None = None
    # Player id -> strokes on a hole of pingolf.
    strokes: Mapping[int, int] = field(default_factory=dict)
    # The player who did not show up.
    forfeited_by: int | None = None
    # The account that recorded it.
    recorded_by: int | None = None


@dataclass(frozen=True, kw_only=True)
class AttemptOutcome:
    """The result of a single player game."""

    single_player_game_id: int
    score: int | None = None
    strokes: int | None = None
    rolls: tuple[int, ...] = ()
    # Safe without an exact score (amazing race).
    is_advanced: bool = False
    recorded_by: int | None = None


@dataclass(frozen=True, kw_only=True)
class NewAttempt:
    """A single player game that somebody plays or has played: with a score it is over, without it begins."""

    player_id: int
    arena_id: int
    score: int | None = None
    recorded_by: int | None = None


Outcome = GameOutcome | AttemptOutcome


def derive_finishing_order(game: Game, outcome: GameOutcome) -> tuple[int, ...]:
    """The players from first to last. Raises Invalid for strangers, missing players and ties."""
    if outcome.forfeited_by is not None:
        return _order_after_forfeit(game, outcome.forfeited_by)
    if outcome.finishing_order:
        _check_players("resultPositions", game, outcome.finishing_order)
        if outcome.scores:
            _check_players("resultScores", game, tuple(outcome.scores))
            _check_scores(outcome.scores)
        return outcome.finishing_order
    if outcome.strikers is not None:
        raise Invalid({"strikes": ["Strikes do not say a result here. Enter the order or the scores."]})
    if outcome.strokes:
        _check_players("strokes", game, tuple(outcome.strokes))
        return _sort_players("strokes", game, outcome.strokes, sign=1)
    if not outcome.scores:
        raise Invalid({"resultPositions": ["Say who finished in which place, or give the scores."]})
    _check_players("resultScores", game, tuple(outcome.scores))
    return _order_by_scores(game, outcome.scores)


def _order_after_forfeit(game: Game, player_id: int) -> tuple[int, ...]:
    if player_id not in game.player_ids:
        raise Invalid({"forfeit": [f"Player {player_id} is not in game {game.game_id}."]})
    if len(game.player_ids) != 2:
        raise Invalid({"forfeit": ["Only a game of two can be forfeited. Remove the player from the game."]})
    winner = next(one for one in game.player_ids if one != player_id)
    return (winner, player_id)


def _check_players(field_name: str, game: Game, named: tuple[int, ...]) -> None:
    strangers = [one for one in named if one not in game.player_ids]
    if strangers:
        raise Invalid({field_name: [f"Player {strangers[0]} is not in game {game.game_id}."]})
    if len(set(named)) != len(named):
        twice = next(one for one in named if named.count(one) > 1)
        raise Invalid({field_name: [f"Player {twice} is named twice."]})
    missing = [player_id for player_id in game.player_ids if player_id not in named]
    if missing:
        raise Invalid({field_name: [f"Player {missing[0]} of game {game.game_id} is missing."]})


def _order_by_scores(game: Game, scores: Mapping[int, int]) -> tuple[int, ...]:
    _check_scores(scores)
    return _sort_players("resultScores", game, scores, sign=-1)


def _check_scores(scores: Mapping[int, int]) -> None:
    for player_id, score in scores.items():
        if not 0 <= score <= SCORE_MAX:
            raise Invalid({"resultScores": [f"The score of player {player_id} is not a pinball score."]})


def _sort_players(field_name: str, game: Game, numbers: Mapping[int, int], *, sign: int) -> tuple[int, ...]:
    """The players by their numbers, smallest first when the sign is 1. Raises Invalid for equal ones."""
    ordered = sorted(game.player_ids, key=lambda player_id: sign * numbers[player_id])
    what = "score" if field_name == "resultScores" else "strokes"
    for one, other in itertools.pairwise(ordered):
        if numbers[one] == numbers[other]:
            sentence = f"Players {one} and {other} have the same {what}. Say who finished first."
            raise Invalid({field_name: [sentence]})
    return tuple(ordered)
