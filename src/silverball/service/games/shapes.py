"""Games of a snapshot in the shape that the interface publishes."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache

from msgspec import UNSET, UnsetType

from silverball.rules.model import tournament as rules
from silverball.store.rows import seconds_between
from silverball_wire import times
from silverball_wire.games import Game, Suggestion


def wire_game(
    tournament_id: int,
    game: rules.Game,
    users: Mapping[int, int | None],
    suggestions: Sequence[Suggestion] = (),
) -> Game:
    """The game in its published shape. Takes player id -> account that claimed the player."""
    return Game(
        game_id=game.game_id,
        # Games of formats without rounds have round 0 on the wire.
        round_id=game.round_id or 0,
        tournament_id=tournament_id,
        arena_id=game.arena_id,
        bank_id=game.bank_id,
        index=game.game_index,
        set=game.set_number,
        player_id_advantage=game.advantage_id,
        scorekeeper_id=game.scorekeeper_id,
        status=game.status,
        started_at=times.iso_or_none(game.started_at),
        duration=seconds_between(game.started_at, game.completed_at),
        bye=game.is_bye,
        player_ids=game.player_ids,
        user_ids=tuple(map(users.get, game.player_ids)),
        result_positions=game.result_positions,
        result_points=tuple(map(_points_text, game.result_points)),
        result_scores=tuple([None if score is None else str(score) for score in game.result_scores]),
        result_count_mismatch=game.has_mismatch,
        suggestions=tuple(suggestions),
        waiting_since=UNSET if isinstance(game.waiting_since, UnsetType) else times.iso(game.waiting_since),
    )


# A league's nights have a few hundred different points.
@lru_cache(maxsize=4096)
def _points_text(points: Decimal | None) -> str | None:
    return None if points is None else f"{points:.2f}"


def wire_suggestion(tournament_id: int, suggestion: rules.Suggestion, round_id: int) -> Suggestion:
    """The suggestion for a game of this round in its published shape."""
    return Suggestion(
        suggestion_id=suggestion.suggestion_id,
        game_id=suggestion.game_id,
        round_id=round_id,
        tournament_id=tournament_id,
        player_id=suggestion.player_id,
        user_id=suggestion.user_id,
        results=suggestion.results,
        arena_id=None,
        scores=dict(suggestion.scores) or None,
        scorbit_data=None,
        partial=None in suggestion.results,
    )
