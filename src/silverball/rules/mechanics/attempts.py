"""Single player games: one entrant, one arena, one score; the steps that formats share.

A format decides about points and consequences; opening, recording, correcting, clearing, voiding and the
checks before them are the same for all. Source: formats, sections 2, 18, 19.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct

from silverball.kit.errors import Conflict, Invalid, NotFound
from silverball.kit.values import replace
from silverball.rules.mechanics import results
from silverball.rules.model import moments
from silverball.rules.model.changes import (
    Change,
    EntrantChanged,
    EntriesBought,
    SinglePlayerGameChanged,
    SinglePlayerGameDeleted,
    SinglePlayerGameOpened,
    changes_between,
)
from silverball.rules.model.outcome import SCORE_MAX, AttemptOutcome, GameOutcome, NewAttempt
from silverball.rules.model.part_index import require_by_id
from silverball.rules.model.tournament import (
    Entrant,
    LineupArena,
    Purchase,
    Round,
    SinglePlayerGame,
    Tournament,
)

AttemptAction = Callable[[Tournament, SinglePlayerGame, datetime], list[Change]]
OpenAttempt = Callable[[Tournament, NewAttempt, datetime], list[Change]]
SetRound = Callable[[Tournament, Round, int | None, int | None, datetime], list[Change]]


class VoidingNotAllowed(Conflict):
    sentence = "Single player games of this tournament cannot be voided. Delete the result instead."


class AttemptNotPending(Conflict):
    sentence = "Single player game {attempt} is {status} already."


class AttemptIsVoided(Conflict):
    sentence = "Single player game {attempt} is voided. Un-void it first."


class AttemptWithoutResult(Conflict):
    sentence = "Single player game {attempt} has no result to delete."


class AttemptAlreadyVoided(Conflict):
    sentence = "Single player game {attempt} is voided already."


class AttemptNotBegun(Conflict):
    sentence = "Single player game {attempt} has not begun. Delete it instead."


class AttemptNotVoided(Conflict):
    sentence = "Single player game {attempt} is not voided."


class PlayerInactive(Conflict):
    sentence = "{player} is inactive. Set the player active first."


class ArenaInactive(Conflict):
    sentence = "{arena} is inactive. Set it active or choose another one."


class ArenaBlocked(Conflict):
    sentence = "{arena} is blocked. Unblock it or choose another one."


def refuse_to_void(_tournament: Tournament, _attempt: SinglePlayerGame, _now: datetime) -> list[Change]:
    """Refuse: every single player game counts. Raises Conflict."""
    raise VoidingNotAllowed


def allow_any_number(_tournament: Tournament, _entrant: Entrant, _arena_id: int) -> None:
    """Accept any number: the format decides how often each player plays."""


class AttemptRules(Struct, frozen=True, kw_only=True):
    """The actions on single player games in a format; results go to its `settle`.

    All take a started tournament and parts of it, return changes and raise refusals.
    """

    # Start or record a new one; None where the format makes all of them.
    open: OpenAttempt | None = None
    # Start a pending one.
    start: AttemptAction
    # Clear the result, or delete the game where it was opened by hand.
    delete: AttemptAction
    # Raises Conflict when this player may not play this arena any more: (tournament, entrant, arena id).
    check_entries_left: Callable[[Tournament, Entrant, int], None] = allow_any_number
    void: AttemptAction = refuse_to_void
    unvoid: AttemptAction = refuse_to_void
    # Give up an open one; None where that voids it.
    give_up: AttemptAction | None = None
    # The arena of a round and its target or bar: (tournament, round, arena id, score, now); None where
    # rounds have neither.
    set_round: SetRound | None = None
    # Whether a machine's score may stand for the result; strokes and rolls follow from it.
    accepts_scores: bool = True


def find_attempt(tournament: Tournament, single_player_game_id: int) -> SinglePlayerGame:
    """A single player game of the tournament. Raises NotFound."""
    return require_by_id(
        tournament.single_player_games, "single_player_game_id", single_player_game_id, "SinglePlayerGame"
    )


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
    """A single player game that waits for its turn; `new_id` is negative. Open it with `open_attempts`."""
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


def open_attempts(attempts: Sequence[SinglePlayerGame]) -> list[Change]:
    """Open these single player games."""
    return [SinglePlayerGameOpened(attempt) for attempt in attempts]


def start_attempt(attempt: SinglePlayerGame, now: datetime) -> list[Change]:
    """Start a pending single player game. Raises Conflict for any other."""
    if attempt.status != "pending":
        raise AttemptNotPending(attempt=attempt.single_player_game_id, status=attempt.status)
    return changes_between(
        SinglePlayerGameChanged, attempt, replace(attempt, status="started", started_at=now, updated_at=now)
    )


def start_pending_attempt(_tournament: Tournament, attempt: SinglePlayerGame, now: datetime) -> list[Change]:
    """Start a pending single player game, without consequences in the format."""
    return start_attempt(attempt, now)


def record_attempt(
    attempt: SinglePlayerGame, outcome: AttemptOutcome, *, points: Decimal | None, now: datetime
) -> list[Change]:
    """Record or correct the result of a single player game; no change when it has this result already.

    `points` are the format's, None where they are computed later. Raises Conflict for a voided game,
    Invalid for an impossible score.
    """
    check_score(outcome.score)
    if attempt.is_voided:
        raise AttemptIsVoided(attempt=attempt.single_player_game_id)
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
    # The same result entered again changes nothing, not even the scorekeeper.
    if attempt == replace(after, scorekeeper_id=attempt.scorekeeper_id, updated_at=attempt.updated_at):
        return []
    return [SinglePlayerGameChanged(attempt, after)]


def record_tiebreak_game(tournament: Tournament, outcome: GameOutcome, now: datetime) -> list[Change]:
    """Record a tiebreak game, the only game of several players in such formats."""
    return results.complete_game(tournament, outcome, results.score_by_tiebreak_map(tournament), now)


def _duration_seconds(attempt: SinglePlayerGame, now: datetime) -> int | None:
    return None if attempt.started_at is None else int(moments.seconds_between(attempt.started_at, now))


def clear_attempt(attempt: SinglePlayerGame, now: datetime) -> list[Change]:
    """Clear the result, so that the game is pending again. Raises Conflict when it has none."""
    if attempt.status != "completed":
        raise AttemptWithoutResult(attempt=attempt.single_player_game_id)
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
    """Void the game; its entry stays used up. Raises Conflict for a voided or a pending one."""
    if attempt.is_voided:
        raise AttemptAlreadyVoided(attempt=attempt.single_player_game_id)
    if attempt.status == "pending":
        raise AttemptNotBegun(attempt=attempt.single_player_game_id)
    # A game voided in progress is over too: no score will follow.
    after = replace(attempt, is_voided=True, status="completed", updated_at=now)
    return [SinglePlayerGameChanged(attempt, after)]


def unvoid_attempt(attempt: SinglePlayerGame, now: datetime) -> list[Change]:
    """Count the game again, or resume it when it has no score. Raises Conflict when it is not voided."""
    if not attempt.is_voided:
        raise AttemptNotVoided(attempt=attempt.single_player_game_id)
    status = attempt.status if attempt.score is not None else "started"
    return [
        SinglePlayerGameChanged(attempt, replace(attempt, is_voided=False, status=status, updated_at=now))
    ]


def delete_attempt(attempt: SinglePlayerGame) -> list[Change]:
    """Delete the game; its entry is free again."""
    return [SinglePlayerGameDeleted(attempt)]


def check_score(score: int | None) -> None:
    """Refuse an impossible score; None is no score. Raises Invalid."""
    if score is not None and not 0 <= score <= SCORE_MAX:
        raise Invalid({"score": [f"{score} is not a pinball score."]})


def require_player(tournament: Tournament, player_id: int) -> Entrant:
    """The active entrant. Raises NotFound for a stranger, Conflict for an inactive one."""
    entrant = tournament.entrant_by_id.get(player_id)
    if entrant is None:
        raise NotFound("Player", player_id)
    if not entrant.is_active:
        raise PlayerInactive(player=player_id)
    return entrant


def require_arena(tournament: Tournament, arena_id: int) -> LineupArena:
    """The playable lineup arena. Raises NotFound, and Conflict for an inactive or blocked one."""
    arena = next((each for each in tournament.lineup if each.arena_id == arena_id), None)
    if arena is None:
        raise NotFound("Arena", arena_id)
    if not arena.is_active:
        raise ArenaInactive(arena=arena_id)
    if arena.is_blocked:
        raise ArenaBlocked(arena=arena_id)
    return arena


# Limits on how often a player may play: entries bought, attempts allowed. Source: formats, 14.18, 19.


class EntriesUsedUp(Conflict):
    sentence = "{player} has used all {bought} entries. Add an entry first."


class AttemptsUsedUp(Conflict):
    sentence = "{player} has used all {limit} {unit} a player may have in this tournament."


class AttemptsOnArenaUsedUp(Conflict):
    sentence = "{player} has used all {limit} attempts on {arena}. Choose another arena."


def attempts_of_player(tournament: Tournament, player_id: int) -> Sequence[SinglePlayerGame]:
    """All single player games of a player; voided ones are used up too."""
    return tournament.attempts_by_player.get(player_id, ())


def require_entries_left(
    tournament: Tournament, entrant: Entrant, used: int, *, limit: int, unit: str
) -> None:
    """Refuse a player without entries or attempts left. Raises Conflict.

    Takes the number that the player has used up and the most that the settings allow (`unit`: "games"
    or "cards"), 0 for any number.
    """
    if tournament.has_entry_limits and used >= entrant.entries_bought:
        raise EntriesUsedUp(player=entrant.player_id, bought=entrant.entries_bought)
    if limit and used >= limit:
        raise AttemptsUsedUp(player=entrant.player_id, limit=limit, unit=unit)


def require_attempts_left_on_arena(
    tournament: Tournament, entrant: Entrant, arena_id: int, *, limit: int
) -> None:
    """Refuse a player who has used the attempts on this arena; 0 allows any number. Raises Conflict."""
    used = sum(attempt.arena_id == arena_id for attempt in attempts_of_player(tournament, entrant.player_id))
    if limit and used >= limit:
        raise AttemptsOnArenaUsedUp(player=entrant.player_id, limit=limit, arena=arena_id)


def automatic_entries(tournament: Tournament) -> int:
    """Number of entries that every player gets for free. Source: formats, section 19."""
    return int((tournament.details.get("entry_configuration") or {}).get("automaticEntries") or 0)


def give_entries(
    tournament: Tournament, player_ids: Sequence[int], quantity: int, now: datetime
) -> list[Change]:
    """Give these players their free entries, at the start or on late entry.

    Source: formats, section 19.
    """
    changes: list[Change] = []
    for player_id in player_ids if quantity else ():
        entrant = tournament.entrant_by_id[player_id]
        purchase = Purchase(
            entry_id=-1 - len(changes),
            player_id=player_id,
            type="comped",
            quantity=quantity,
            created_at=now,
        )
        changes.append(EntriesBought(purchase))
        changes.append(
            EntrantChanged(entrant, replace(entrant, entries_bought=entrant.entries_bought + quantity))
        )
    return changes
