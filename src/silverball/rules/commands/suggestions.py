"""Commands on results suggested by players: approve, decline, detect contradictions.

Each function returns changes or refuses. Source: formats, section 10.
"""

from collections.abc import Sequence
from datetime import datetime
from random import Random

from silverball.kit.errors import Conflict, NotFound, Refusal
from silverball.kit.values import replace
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.mechanics import results
from silverball.rules.model import outcome as outcomes
from silverball.rules.model import play_settings
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    Change,
    GameChanged,
    GameCorrected,
    SuggestionDecided,
    SuggestionMade,
    changes_between,
)
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.model.tournament import Game, Suggestion, Tournament

SUGGESTIONS_MAX = 20
AUTOMATIC, DISABLED = "automatic", "disabled"


class SuggestionsNotTaken(Conflict):
    sentence = "This tournament takes no suggested results. Tell a scorekeeper or the organizer."


class TooManySuggestions(Conflict):
    sentence = "{game} has {count} suggestions already. Decide on them first."


class SuggestionIncomplete(Conflict):
    sentence = "The suggestion is not a whole result. Decline it and record the result."


def find_suggestion(tournament: Tournament, suggestion_id: int) -> Suggestion:
    """A suggestion of the tournament. Raises NotFound."""
    for suggestion in tournament.suggestions:
        if suggestion.suggestion_id == suggestion_id:
            return suggestion
    raise NotFound("Suggestion", suggestion_id)


def suggest_result(
    tournament: Tournament, outcome: GameOutcome, player_id: int | None, dice: Random, now: datetime
) -> list[Change]:
    """Suggest a result of a game; where suggestions are automatic the first one becomes the result.

    A later suggestion equal to the result changes nothing. Raises as recording the result would, and
    Conflict where suggestions are off or a game has too many of them.
    """
    tournament_commands.require_started(tournament)
    way = play_settings.suggestion_mode(tournament.settings)
    if way == DISABLED:
        raise SuggestionsNotTaken
    game = results.find_game(tournament, outcome.game_id)
    tournament_commands.require_correctable(tournament, game)
    stated = tournament_commands.record_result(tournament, outcome, dice, now)
    if game.status != "completed" and way == AUTOMATIC:
        return stated
    if game.status == "completed" and not _differs_from_result(game, stated):
        return []
    if sum(suggestion.game_id == game.game_id for suggestion in tournament.suggestions) >= SUGGESTIONS_MAX:
        raise TooManySuggestions(game=game.game_id, count=SUGGESTIONS_MAX)
    new = Suggestion(
        suggestion_id=-1,
        game_id=game.game_id,
        player_id=player_id,
        user_id=outcome.recorded_by,
        results=outcomes.derive_finishing_order(game, outcome),
        scores=dict(outcome.scores),
    )
    is_late = game.status == "completed"
    marked = changes_between(GameChanged, game, replace(game, has_mismatch=is_late))
    return [SuggestionMade(new), *marked]


def approve_suggestion(
    tournament: Tournament, suggestion_id: int, by: int | None, dice: Random, now: datetime
) -> list[Change]:
    """Record the suggested result; other suggestions for the game are settled with it."""
    tournament_commands.require_started(tournament)
    suggestion = find_suggestion(tournament, suggestion_id)
    changes = tournament_commands.record_result(tournament, _suggested_outcome(suggestion, by), dice, now)
    return changes or decline_suggestion(tournament, suggestion_id, dice, now)


def decline_suggestion(
    tournament: Tournament, suggestion_id: int, dice: Random, now: datetime
) -> list[Change]:
    """Discard a suggestion."""
    tournament_commands.require_started(tournament)
    suggestion = find_suggestion(tournament, suggestion_id)
    changes: list[Change] = [SuggestionDecided(suggestion)]
    rest = apply_changes(tournament, changes)
    game = results.find_game(rest, suggestion.game_id)
    others = [other for other in rest.suggestions if other.game_id == game.game_id]
    is_open = game.status != "completed"
    has_mismatch = not is_open and any(_is_mismatch(rest, game, other, dice, now) for other in others)
    return [*changes, *changes_between(GameChanged, game, replace(game, has_mismatch=has_mismatch))]


def _suggested_outcome(suggestion: Suggestion, by: int | None) -> GameOutcome:
    order = tuple(player_id for player_id in suggestion.results if player_id is not None)
    if len(order) != len(suggestion.results):
        raise SuggestionIncomplete
    return GameOutcome(
        game_id=suggestion.game_id, finishing_order=order, scores=suggestion.scores, recorded_by=by
    )


def _is_mismatch(
    tournament: Tournament, game: Game, suggestion: Suggestion, dice: Random, now: datetime
) -> bool:
    try:
        return _differs_from_result(
            game,
            tournament_commands.record_result(tournament, _suggested_outcome(suggestion, None), dice, now),
        )
    except Refusal:
        # What cannot be recorded any more is not what was recorded.
        return True


def _differs_from_result(game: Game, stated: Sequence[Change]) -> bool:
    """Whether these changes give the completed game another result; additional scores do not count."""
    for change in stated:
        if isinstance(change, GameCorrected) and change.before.game_id == game.game_id:
            after = change.after
            is_ordered = None not in after.result_positions
            if is_ordered and game.finishing_order and None in game.result_positions:
                # The result was counted; who suggests its winner agrees with it.
                return after.result_positions != game.finishing_order
            return after.result_points != game.result_points or (
                is_ordered and after.result_positions != game.result_positions
            )
    return False
