"""Results of matches: a winner, games won, or the single games themselves. Source: formats, 14.10.

A match is one game. However its result was entered, the winner is the same, and so are standings and
ratings; only `resultPoints` shows how it was counted.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import UNSET

from silverball.kit.errors import Conflict, Invalid, Sentence
from silverball.kit.values import replace
from silverball.rules.drawing.groups import PAIR_SIZE
from silverball.rules.mechanics import results
from silverball.rules.model import settings_protocols
from silverball.rules.model.changes import (
    Altered,
    Change,
    GameCleared,
    GameCompleted,
    GameCorrected,
    MatchCounted,
    SuggestionDecided,
)
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.model.tournament import Game, Leg, Tournament


class NotPlayedInLegs(Conflict):
    sentence = "{game} has no single games: it is one game by itself."


class CountedWithoutLegs(Conflict):
    sentence = "{game} has a result without its single games. Delete the result, then record them."


class CountedByLegs(Conflict):
    sentence = "The single games of {game} are recorded. Change those: they say how it stands."


class MatchDecided(Conflict):
    sentence = "{game} is decided: {player} has won {count} games. There is no further one."


class LegsBehindDecision(Conflict):
    sentence = "{player} would win {game} before its last single game. Delete the games behind first."


def is_match(tournament: Tournament, game: Game) -> bool:
    """Whether two players meet in this game for as many single games as one of them needs to win."""
    is_own = not game.is_bye and not game.is_tiebreak and len(game.player_ids) == PAIR_SIZE
    return tournament.settings.has_matches and is_own


def is_played_in_legs(tournament: Tournament, game: Game) -> bool:
    """Whether this is a match of several single games."""
    return is_match(tournament, game) and settings_protocols.wins_needed(tournament.settings) > 1


def takes_legs(tournament: Tournament, game: Game) -> bool:
    """Whether the next single game of this match can be recorded."""
    is_counted_otherwise = not game.legs and any(points is not None for points in game.result_points)
    return is_played_in_legs(tournament, game) and game.status != "completed" and not is_counted_otherwise


def wins_by_leg(legs: Sequence[Leg]) -> Counter[int]:
    """Player id -> single games won."""
    return Counter(leg.finishing_order[0] for leg in legs)


def record_match(tournament: Tournament, outcome: GameOutcome, now: datetime) -> list[Change]:
    """Record or correct the result of a game of a bracket; no change when it has this result already.

    Raises as `results.complete_game` does, Invalid for games that nobody can have won, and CountedByLegs
    for a result that the recorded single games contradict.
    """
    game = results.find_game(tournament, outcome.game_id)
    if outcome.legs is not None:
        return _record_legs(tournament, game, outcome, outcome.legs, now)
    if outcome.games_won is not None and is_match(tournament, game):
        return _record_wins(tournament, game, outcome, outcome.games_won, now)
    if game.legs and _winner(wins_by_leg(game.legs), settings_protocols.wins_needed(tournament.settings)):
        raise CountedByLegs(game=game.game_id)
    return results.complete_game(tournament, outcome, results.score_by_points_map(tournament), now)


def _record_wins(
    tournament: Tournament, game: Game, outcome: GameOutcome, won: Mapping[int, int], now: datetime
) -> list[Change]:
    results.check_can_be_recorded(tournament, game)
    needed = settings_protocols.wins_needed(tournament.settings)
    _check_wins(game, won, needed)
    if game.legs and +Counter(won) != wins_by_leg(game.legs):
        raise CountedByLegs(game=game.game_id)
    winner = _winner(won, needed)
    if needed == 1 and winner is not None:
        # One game is a winner, not a count.
        order = (winner, *(player_id for player_id in game.player_ids if player_id != winner))
        entered = replace(outcome, games_won=None, finishing_order=order)
        return results.complete_game(tournament, entered, results.score_by_points_map(tournament), now)
    return _count(tournament, game, won, game.legs, outcome.recorded_by, now)


def _check_wins(game: Game, won: Mapping[int, int], needed: int) -> None:
    """Raise Invalid for strangers and for games that nobody can have won."""
    for player_id, count in won.items():
        if player_id not in game.player_ids:
            sentence = Sentence("{player} is not in {game}.", player=player_id, game=game.game_id)
            raise Invalid({"games": [sentence]})
        if not 0 <= count <= needed:
            sentence = Sentence(
                "{player} cannot have won {count}: who has won {needed} has won {game}.",
                player=player_id,
                count=count,
                needed=needed,
                game=game.game_id,
            )
            raise Invalid({"games": [sentence]})
    if list(won.values()).count(needed) > 1:
        sentence = Sentence(
            "Only one player can have won {needed} of {game}.", needed=needed, game=game.game_id
        )
        raise Invalid({"games": [sentence]})


def _record_legs(
    tournament: Tournament, game: Game, outcome: GameOutcome, legs: tuple[Leg, ...], now: datetime
) -> list[Change]:
    """Replace the single games of a match, which say how it stands."""
    results.check_can_be_recorded(tournament, game)
    needed = settings_protocols.wins_needed(tournament.settings)
    if not is_played_in_legs(tournament, game):
        raise NotPlayedInLegs(game=game.game_id)
    is_counted_by_legs = bool(game.legs) and None in game.result_positions and not game.gave_up
    if not is_counted_by_legs and any(points is not None for points in game.result_points):
        raise CountedWithoutLegs(game=game.game_id)
    early_winner = _winner(wins_by_leg(legs[:-1]), needed)
    if early_winner is not None:
        if len(legs) > len(game.legs):
            raise MatchDecided(game=game.game_id, player=early_winner, count=needed)
        raise LegsBehindDecision(game=game.game_id, player=early_winner)
    return _count(tournament, game, wins_by_leg(legs), legs, outcome.recorded_by, now)


def _winner(won: Mapping[int, int], needed: int) -> int | None:
    return next((player_id for player_id, count in won.items() if count >= needed), None)


def _count(
    tournament: Tournament,
    game: Game,
    won: Mapping[int, int],
    legs: tuple[Leg, ...],
    recorded_by: int | None,
    now: datetime,
) -> list[Change]:
    """Let the match stand at these wins; suggestions are settled once it is decided."""
    winner = _winner(won, settings_protocols.wins_needed(tournament.settings))
    nothing = (None, None)
    counted = tuple(Decimal(f"{won.get(player_id, 0)}.00") for player_id in game.player_ids)
    loser = [player_id for player_id in game.player_ids if player_id != winner]
    after = replace(
        game,
        status="started" if winner is None else "completed",
        result_points=counted if any(won.values()) else nothing,
        result_positions=nothing,
        result_scores=nothing,
        finishing_order=() if winner is None else (winner, *loser),
        forfeited_by=None,
        gave_up=(),
        scorekeeper_id=recorded_by if any(won.values()) else None,
        completed_at=None if winner is None else game.completed_at or results.clock_of(game, now),
        waiting_since=game.waiting_since if winner is None else UNSET,
        legs=legs,
    )
    if replace(after, scorekeeper_id=game.scorekeeper_id) == game:
        return []
    kind = _kind_of_change(game, after)
    settled = tournament.suggestions if kind in {GameCompleted, GameCorrected} else ()
    return [
        *(SuggestionDecided(suggestion) for suggestion in settled if suggestion.game_id == game.game_id),
        kind(game, replace(after, has_mismatch=False) if winner is None or settled else after),
    ]


def _kind_of_change(before: Game, after: Game) -> type[Altered[Game]]:
    if before.status != after.status:
        return GameCompleted if after.status == "completed" else GameCleared
    is_other_result = (before.result_points, before.forfeited_by) != (after.result_points, after.forfeited_by)
    return GameCorrected if after.status == "completed" and is_other_result else MatchCounted
