"""Single player games: one entrant, one arena, one score. What formats that have them share.

A format decides what a result is worth (`points`) and what follows from it; opening, recording, correcting,
clearing, voiding and the checks that come before are the same for all. Source: formats, sections 2, 18, 19.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from silverball.kit.errors import Conflict, Invalid, NotFound
from silverball.rules.mechanics import results
from silverball.rules.model.changes import (
    Change,
    SinglePlayerGameChanged,
    SinglePlayerGameDeleted,
    SinglePlayerGameOpened,
    changes_between,
)
from silverball.rules.model.outcome import SCORE_MAX, AttemptOutcome, GameOutcome, NewAttempt
from silverball.rules.model.tournament import Entrant, LineupArena, Round, SinglePlayerGame, Tournament

AttemptAction = Callable[[Tournament, SinglePlayerGame, datetime], list[Change]]
OpenAttempt = Callable[[Tournament, NewAttempt, datetime], list[Change]]
SetRound = Callable[[Tournament, Round, int | None, int | None, datetime], list[Change]]


def refuse_to_void(_tournament: Tournament, _attempt: SinglePlayerGame, _now: datetime) -> list[Change]:
    """For formats in which every single player game counts. Raises Conflict."""
    raise Conflict("Single player games of this tournament cannot be voided. Delete the result instead.")


def allow_any_number(_tournament: Tournament, _entrant: Entrant, _arena_id: int) -> None:
    """For formats in which nobody chooses how often to play."""


def refuse_other_arena(
    _tournament: Tournament, _attempt: SinglePlayerGame, _arena_id: int | None, _now: datetime
) -> list[Change]:
    """For formats whose single player games get their arena with the round or the score. Raises Conflict."""
    raise Conflict("The arena of this game follows from its round or its score. Change it there.")


@dataclass(frozen=True, kw_only=True)
class AttemptRules:
    """What may be asked about the single player games of a format; results go to its `settle`.

    All are handed a started tournament and things of it, return changes and raise refusals.
    """

    # Begin or record one that is not there yet; None where the format makes all of them.
    open: OpenAttempt | None = None
    # Begin one that waits.
    start: AttemptAction
    # Take the result away, or the whole game where it was opened by hand.
    delete: AttemptAction
    # Raises Conflict when this player may not play this arena any more: (tournament, entrant, arena id).
    check_entries_left: Callable[[Tournament, Entrant, int], None] = allow_any_number
    void: AttemptAction = refuse_to_void
    unvoid: AttemptAction = refuse_to_void
    # Another arena for a game that is not over, or none: (tournament, game, arena id, now).
    change_arena: Callable[[Tournament, SinglePlayerGame, int | None, datetime], list[Change]] = (
        refuse_other_arena
    )
    # The arena of a round and its target or bar: (tournament, round, arena id, score, now); None where
    # rounds have neither.
    set_round: SetRound | None = None
    # Whether a machine's score may stand for the result; strokes and rolls follow from it.
    accepts_scores: bool = True


def find_attempt(tournament: Tournament, single_player_game_id: int) -> SinglePlayerGame:
    """A single player game of the tournament. Raises NotFound."""
    for attempt in tournament.single_player_games:
        if attempt.single_player_game_id == single_player_game_id:
            return attempt
    raise NotFound("SinglePlayerGame", single_player_game_id)


def attempts_in_round(tournament: Tournament, round_id: int) -> tuple[SinglePlayerGame, ...]:
    """The single player games of a round, ascending by id."""
    return tournament.attempts_by_round.get(round_id, ())


def pending_attempt(
    new_id: int,
    player_id: int,
    *,
    now: datetime | None,
    round_id: int,
    game_index: int,
    arena_id: int | None = None,
) -> SinglePlayerGame:
    """A single player game that waits for its turn; `new_id` is negative. Open it with `opened`."""
    return SinglePlayerGame(
        single_player_game_id=new_id,
        player_id=player_id,
        status="pending",
        arena_id=arena_id,
        round_id=round_id,
        game_index=game_index,
        created_at=now,
        updated_at=now,
    )


def open_attempts(made: Sequence[SinglePlayerGame]) -> list[Change]:
    """These single player games, there now."""
    return [SinglePlayerGameOpened(one) for one in made]


def start_attempt(attempt: SinglePlayerGame, now: datetime) -> list[Change]:
    """A pending single player game begins. Raises Conflict when it has begun or is over."""
    if attempt.status != "pending":
        raise Conflict(f"Single player game {attempt.single_player_game_id} is {attempt.status} already.")
    return changes_between(
        SinglePlayerGameChanged, attempt, replace(attempt, status="started", started_at=now, updated_at=now)
    )


def start_pending_attempt(_tournament: Tournament, attempt: SinglePlayerGame, now: datetime) -> list[Change]:
    """For formats in which nothing follows from it that a single player game begins."""
    return start_attempt(attempt, now)


def record_attempt(
    attempt: SinglePlayerGame, outcome: AttemptOutcome, *, points: Decimal | None, now: datetime
) -> list[Change]:
    """The result of a single player game, new or corrected; nothing when it has this result already.

    `points` is what the format makes of it, None where that is computed later. Raises Conflict for a
    voided game, Invalid for a score that cannot be.
    """
    check_score(outcome.score)
    if attempt.is_voided:
        raise Conflict(f"Single player game {attempt.single_player_game_id} is voided. Un-void it first.")
    after = replace(
        attempt,
        status="completed",
        score=outcome.score,
        points=points,
        rolls=outcome.rolls,
        is_advanced=outcome.is_advanced,
        scorekeeper_id=outcome.recorded_by,
        duration_seconds=attempt.duration_seconds
        if attempt.status == "completed"
        else _duration_seconds(attempt, now),
        updated_at=now,
    )
    # Who enters the same result again changes nothing, not even the name beside it.
    if attempt == replace(after, scorekeeper_id=attempt.scorekeeper_id, updated_at=attempt.updated_at):
        return []
    return [SinglePlayerGameChanged(attempt, after)]


def record_tiebreak_game(tournament: Tournament, outcome: GameOutcome, now: datetime) -> list[Change]:
    """The result of a tiebreak game: the only games of several players that such formats have."""
    return results.complete_game(tournament, outcome, results.score_by_tiebreak_map(tournament), now)


def _duration_seconds(attempt: SinglePlayerGame, now: datetime) -> int | None:
    return None if attempt.started_at is None else int((now - attempt.started_at).total_seconds())


def clear_attempt(attempt: SinglePlayerGame, now: datetime) -> list[Change]:
    """The result taken away: the single player game waits again. Raises Conflict when it has none."""
    if attempt.status != "completed":
        raise Conflict(f"Single player game {attempt.single_player_game_id} has no result to delete.")
    after = replace(
        attempt,
        status="pending",
        score=None,
        points=None,
        rolls=(),
        is_advanced=False,
        scorekeeper_id=None,
        started_at=None,
        duration_seconds=None,
        updated_at=now,
    )
    return [SinglePlayerGameChanged(attempt, after)]


def void_attempt(attempt: SinglePlayerGame, now: datetime) -> list[Change]:
    """Struck out of the results; the entry stays used up. Raises Conflict when it cannot be voided."""
    if attempt.is_voided:
        raise Conflict(f"Single player game {attempt.single_player_game_id} is voided already.")
    if attempt.status == "pending":
        raise Conflict(
            f"Single player game {attempt.single_player_game_id} has not begun. Delete it instead."
        )
    # A game given up while it was played is over too: nobody waits for its score.
    after = replace(attempt, is_voided=True, status="completed", updated_at=now)
    return [SinglePlayerGameChanged(attempt, after)]


def unvoid_attempt(attempt: SinglePlayerGame, now: datetime) -> list[Change]:
    """Back among the results, or back in play when it has no score. Raises Conflict when it is not voided."""
    if not attempt.is_voided:
        raise Conflict(f"Single player game {attempt.single_player_game_id} is not voided.")
    status = attempt.status if attempt.score is not None else "started"
    return [
        SinglePlayerGameChanged(attempt, replace(attempt, is_voided=False, status=status, updated_at=now))
    ]


def delete_attempt(attempt: SinglePlayerGame) -> list[Change]:
    """Gone, as if it had never been played: the entry is not used up."""
    return [SinglePlayerGameDeleted(attempt)]


def check_score(score: int | None) -> None:
    """Raises Invalid for a score that no machine shows; None is no score."""
    if score is not None and not 0 <= score <= SCORE_MAX:
        raise Invalid({"score": [f"{score} is not a pinball score."]})


def require_player(tournament: Tournament, player_id: int) -> Entrant:
    """The entrant who is to play. Raises NotFound for a stranger, Conflict for one who left."""
    found = tournament.entrant_by_id.get(player_id)
    if found is None:
        raise NotFound("Player", player_id)
    if not found.is_active:
        raise Conflict(f"Player {player_id} is inactive. Set the player active first.")
    return found


def require_arena(tournament: Tournament, arena_id: int) -> LineupArena:
    """The arena to play on. Raises NotFound for one elsewhere, Conflict for an inactive or blocked one."""
    found = next(
        (lineup_arena for lineup_arena in tournament.lineup if lineup_arena.arena_id == arena_id), None
    )
    if found is None:
        raise NotFound("Arena", arena_id)
    if not found.is_active:
        raise Conflict(f"Arena {arena_id} is inactive. Set it active or choose another one.")
    if found.is_blocked:
        raise Conflict(f"Arena {arena_id} is blocked. Unblock it or choose another one.")
    return found
