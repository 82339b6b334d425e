"""Open play on many arenas, one score after the other: shared by best games and cards.

Source: formats, sections 14.18, 14.19 and 18.
"""

from collections.abc import Mapping
from datetime import datetime
from random import Random
from typing import Any

from silverball.kit.errors import Conflict, Invalid
from silverball.kit.values import replace
from silverball.rules.mechanics import attempts, queues
from silverball.rules.mechanics.shared_room import ArenaBusyElsewhere, PlayerBusyElsewhere
from silverball.rules.model import play_settings
from silverball.rules.model.changes import CardChanged, Change, SinglePlayerGameChanged, changes_between
from silverball.rules.model.outcome import AttemptOutcome, NewAttempt
from silverball.rules.model.settings import TournamentSettings
from silverball.rules.model.tournament import Entrant, SinglePlayerGame, Tournament
from silverball.rules.ranking import bestgame


class QueuesExcludeSuggestions(Conflict):
    sentence = "Queues and results reported by players exclude each other. Turn one of them off first."


class PlayerIsPlaying(Conflict):
    sentence = "{player} is playing single player game {attempt}. Record or delete it first."


class ArenaIsPlayed(Conflict):
    sentence = "{arena} is taken by single player game {attempt}. Record or delete it first."


class AnotherPlayerIsUpOnArena(Conflict):
    sentence = "{player} is up on {arena}. Move or remove that player."


def start(tournament: Tournament, _dice: Random, _now: datetime) -> list[Change]:
    """Make nothing. Raises Conflict when queues and suggested results are both on."""
    if setting_faults(tournament.settings):
        raise QueuesExcludeSuggestions
    return []


def setting_faults(settings: TournamentSettings) -> Mapping[str, str]:
    """Wire key -> sentence, for settings with queues and suggested results."""
    if play_settings.uses_queues(settings) and play_settings.suggestion_mode(settings) != "disabled":
        return dict.fromkeys(("useQueues", "suggestions"), QueuesExcludeSuggestions.sentence)
    return {}


def defaults_beside(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """No suggested results where players wait in queues."""
    return {"suggestions": "disabled"} if given.get("useQueues") is True else {}


def uses_queues(tournament: Tournament) -> bool:
    """Whether players wait in queues."""
    return play_settings.uses_queues(tournament.settings)


def running_attempt(tournament: Tournament, player_id: int, arena_id: int) -> SinglePlayerGame | None:
    """The started single player game of this player on this arena."""
    for attempt in tournament.started_attempts:
        if (attempt.player_id, attempt.arena_id) == (player_id, arena_id):
            return attempt
    return None


def outcome_of_running_attempt(tournament: Tournament, new_attempt: NewAttempt) -> AttemptOutcome | None:
    """The score for the player's running game on the arena; None when it is for another game."""
    playing = running_attempt(tournament, new_attempt.player_id, new_attempt.arena_id)
    if playing is None or new_attempt.score is None:
        return None
    return AttemptOutcome(
        single_player_game_id=playing.single_player_game_id,
        score=new_attempt.score,
        recorded_by=new_attempt.recorded_by,
    )


def require_player_and_arena_free(tournament: Tournament, player_id: int, arena_id: int) -> None:
    """Refuse a player or an arena in another game of the room, or a player who is not up. Raises Conflict."""
    if player_id in tournament.state.busy_player_ids:
        raise PlayerBusyElsewhere(player=player_id)
    if arena_id in tournament.state.busy_arena_ids:
        raise ArenaBusyElsewhere(arena=arena_id)
    for attempt in tournament.started_attempts:
        if attempt.player_id == player_id:
            raise PlayerIsPlaying(player=player_id, attempt=attempt.single_player_game_id)
        if attempt.arena_id == arena_id:
            raise ArenaIsPlayed(arena=arena_id, attempt=attempt.single_player_game_id)
    up = queues.spot_that_is_up(tournament, arena_id=arena_id)
    if up is not None and up.player_id != player_id:
        raise AnotherPlayerIsUpOnArena(player=up.player_id, arena=arena_id)


def create_attempt(
    tournament: Tournament, new_attempt: NewAttempt, now: datetime, *, card_id: int | None, game_index: int
) -> list[Change]:
    """Start the single player game, or complete it when there is a score; a queue spot is done."""
    is_over = new_attempt.score is not None
    attempt = SinglePlayerGame(
        single_player_game_id=-1,
        player_id=new_attempt.player_id,
        status="completed" if is_over else "started",
        arena_id=new_attempt.arena_id,
        card_id=card_id,
        score=new_attempt.score,
        game_index=game_index,
        scorekeeper_id=new_attempt.recorded_by if is_over else None,
        created_at=now,
        updated_at=now,
        started_at=None if is_over else now,
    )
    changes = attempts.open_attempts([attempt])
    for spot in queues.spots_of_player(tournament, new_attempt.player_id):
        if spot.arena_id == new_attempt.arena_id:
            changes += queues.complete_spot(tournament, spot, now)
    return changes


def record_score(tournament: Tournament, outcome: AttemptOutcome, now: datetime) -> list[Change]:
    """Record or correct a score. Points follow from all scores, so none are stored here."""
    if outcome.score is None or outcome.strokes is not None or outcome.rolls or outcome.is_advanced:
        raise Invalid({"score": ["Enter the score: nothing else counts in this tournament."]})
    attempt = attempts.find_attempt(tournament, outcome.single_player_game_id)
    return attempts.record_attempt(attempt, outcome, points=None, now=now)


def leave_queues_when_inactive(
    tournament: Tournament, entrant: Entrant, _dice: Random, _now: datetime
) -> list[Change]:
    """Take an inactive player out of the queues; a game in progress may still be completed."""
    return [] if entrant.is_active else queues.leave_all_queues(tournament, entrant.player_id)


def store_final_marks(tournament: Tournament) -> list[Change]:
    """Store the final points and marks of every score for good. Source: formats, 14.18."""
    marks = bestgame.game_marks(tournament)
    in_progress = {card.card_id for card in tournament.cards if card.status != "completed"}
    changes: list[Change] = []
    for attempt in tournament.single_player_games:
        points, is_best = marks[attempt.single_player_game_id]
        if attempt.card_id in in_progress:
            points = bestgame.NO_MARK.points
        changes += changes_between(
            SinglePlayerGameChanged, attempt, replace(attempt, points=points, is_best=is_best)
        )
    best = bestgame.is_best_by_card(tournament)
    for card in tournament.cards:
        changes += changes_between(CardChanged, card, replace(card, is_best=best[card.card_id]))
    return changes


def clear_marks(tournament: Tournament) -> list[Change]:
    """Clear points and marks, which follow from the scores again."""
    changes: list[Change] = []
    for attempt in tournament.single_player_games:
        changes += changes_between(
            SinglePlayerGameChanged, attempt, replace(attempt, points=None, is_best=False)
        )
    for card in tournament.cards:
        changes += changes_between(CardChanged, card, replace(card, is_best=False))
    return changes
