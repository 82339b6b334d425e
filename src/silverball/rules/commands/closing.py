"""Closing a tournament, with or without an open round. Source: formats, sections 2 and 23."""

from datetime import datetime

from silverball.kit.errors import Invalid
from silverball.kit.values import replace
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.format import Rounds
from silverball.rules.mechanics import rounds
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    Change,
    GameDeleted,
    QueueLeft,
    SinglePlayerGameDeleted,
    SuggestionDecided,
    TournamentCompleted,
    tournament_changes,
)
from silverball.rules.model.engine_state import EngineState
from silverball.rules.model.tournament import Round, Tournament


def complete(tournament: Tournament, now: datetime, *, drops_open_round: bool = False) -> list[Change]:
    """Complete the tournament; of a round that is open, keep what is finished, or drop all of it.

    Raises Invalid when a round is to be dropped that comes from a schedule. Source: formats, sections 2
    and 23.
    """
    tournament_commands.require_started(tournament)
    form = tournament_commands.format_of(tournament)
    if drops_open_round and form.rounds is not Rounds.OPENED:
        sentence = "Rounds of this tournament are made by its format: none of them can be dropped."
        raise Invalid({"openRound": [sentence]})
    changes = _remove_unfinished(tournament)
    rest = apply_changes(tournament, changes)
    newest = rest.newest_round
    if newest is not None and newest.status != "completed" and form.rounds is not Rounds.FIXED:
        if drops_open_round or not _has_results(rest, newest):
            changes += rounds.delete_round(rest, newest)
        rest = apply_changes(tournament, changes)
    for round_ in rest.rounds_in_order:
        changes += rounds.complete_round(rest, round_, now)
    changes += form.at_close(apply_changes(tournament, changes), now)
    completed = {"status": "completed", "completed_at": now, "state": _state_at_close(tournament, rest)}
    return [*changes, *tournament_changes(TournamentCompleted, tournament, **completed)]


def _has_results(tournament: Tournament, round_: Round) -> bool:
    """Whether anything but byes is left of the round."""
    games = tournament.games_by_round.get(round_.round_id, ())
    attempts = tournament.attempts_by_round.get(round_.round_id, ())
    return bool(attempts) or not all(game.is_bye for game in games)


def _state_at_close(tournament: Tournament, rest: Tournament) -> EngineState:
    """The state with the players of the open round whose game is not among the rest."""
    newest, form = tournament.newest_round, tournament_commands.format_of(tournament)
    if newest is None or newest.status == "completed" or form.rounds is not Rounds.OPENED:
        return tournament.state
    kept = {game.game_id for game in rest.games}
    unfinished = {
        player_id
        for game in tournament.games_by_round.get(newest.round_id, ())
        if not game.is_tiebreak and game.game_id not in kept
        for player_id in game.player_ids
    }
    if not unfinished:
        return tournament.state
    unfinished_ids = tuple(sorted(unfinished))
    return replace(tournament.state, unfinished_round=newest.round_index, unfinished_ids=unfinished_ids)


def _remove_unfinished(tournament: Tournament) -> list[Change]:
    unfinished = {game.game_id for game in tournament.open_games}
    return [
        *(
            SuggestionDecided(suggestion)
            for suggestion in tournament.suggestions
            if suggestion.game_id in unfinished
        ),
        *(QueueLeft(spot) for spot in tournament.queue if not spot.is_done),
        *(GameDeleted(game) for game in tournament.games if game.game_id in unfinished),
        *(
            SinglePlayerGameDeleted(attempt)
            for attempt in tournament.single_player_games
            if attempt.status != "completed"
        ),
    ]
