"""Results of games: recorded, corrected, cleared."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from silverball.kit.errors import Conflict, Invalid, Sentence
from silverball.kit.values import replace
from silverball.rules.drawing.groups import PAIR_SIZE
from silverball.rules.drawing.order import LOSER, first_in_order
from silverball.rules.model import moments, settings_protocols
from silverball.rules.model import outcome as outcomes
from silverball.rules.model.changes import (
    Change,
    GameChanged,
    GameCleared,
    GameCompleted,
    GameCorrected,
    MatchCounted,
    SuggestionDecided,
    changes_between,
)
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.model.part_index import require_by_id
from silverball.rules.model.refusals import GameWithoutResult
from silverball.rules.model.tournament import Game, Tournament
from silverball.rules.scoring import point_maps

ZERO = Decimal("0.00")


class ByeHasResult(Conflict):
    sentence = "{game} is a bye. It has its result already."


class GameWithoutArena(Conflict):
    sentence = "{game} has no arena yet. Choose one, then record the result."


class ScoredResult(Struct, frozen=True):
    """A result in the terms of a format: by slot, except `positions` (first to last)."""

    points: tuple[Decimal, ...]
    positions: tuple[int | None, ...]
    # The real order, where `positions` does not show it.
    finishing_order: tuple[int, ...] = ()


ScoreGame = Callable[[Game, GameOutcome], ScoredResult]


def find_game(tournament: Tournament, game_id: int) -> Game:
    """A game of the tournament. Raises NotFound."""
    return require_by_id(tournament.games, "game_id", game_id, "Game")


def score_by_points_map(tournament: Tournament) -> ScoreGame:
    """The scorer by finishing place, from the tournament's own map. Source: formats, section 11."""
    return _score_by_rows(tournament.points_map or ())


def _score_by_rows(rows: Sequence[Sequence[int | str]]) -> ScoreGame:
    def score(game: Game, outcome: GameOutcome) -> ScoredResult:
        order = outcomes.derive_finishing_order(game, outcome)
        points = point_maps.points_by_slot(rows, game.player_ids, order)
        return with_gone_last(game, outcome, ScoredResult(points, order), ZERO)

    return score


def with_gone_last(game: Game, outcome: GameOutcome, scored: ScoredResult, worth: Decimal) -> ScoredResult:
    """The result with these points for each player who gave up; several of them have no place.

    The others have the places, and the points, of the group as it was drawn. Source: formats, section 26.
    """
    gone = outcome.gave_up_ids
    if not gone:
        return scored
    slots = zip(game.player_ids, scored.points, strict=True)
    points = tuple(worth if player_id in gone else earned for player_id, earned in slots)
    if len(gone) == 1:
        return replace(scored, points=points)
    positions = tuple(None if player_id in gone else player_id for player_id in scored.positions)
    return replace(scored, points=points, positions=positions, finishing_order=())


def score_by_tiebreak_map(tournament: Tournament) -> ScoreGame:
    """The scorer of tiebreak games, by finishing place. Source: formats, sections 11 and 13.4."""
    return _score_by_rows(tournament.tiebreaker_points_map or point_maps.TIEBREAKER)


def complete_game(
    tournament: Tournament, outcome: GameOutcome, score: ScoreGame, now: datetime
) -> list[Change]:
    """Complete or correct a game; no change when it has this result already.

    The tiebreaker map scores a tiebreak game, whatever the format. Raises Conflict for a bye and for a
    game without the arena it needs, Invalid for an impossible result. Source: formats, section 10.
    """
    game = find_game(tournament, outcome.game_id)
    check_can_be_recorded(tournament, game)
    outcome = _with_those_who_gave_up(game, outcome)
    _require_scores_to_compare(tournament, game, outcome)
    scored = score_by_tiebreak_map(tournament)(game, outcome) if game.is_tiebreak else score(game, outcome)
    after = replace(
        game,
        status="completed",
        result_points=scored.points,
        result_positions=scored.positions,
        finishing_order=scored.finishing_order,
        result_scores=tuple(map(outcome.scores.get, game.player_ids)),
        **_gave_up_as_stored(game, outcome),
        scorekeeper_id=outcome.recorded_by,
        completed_at=game.completed_at or moments.end_at(game.started_at, clock_of(game, now)),
        waiting_since=UNSET,
    )
    changes = _correct_game(game, after) if game.status == "completed" else [GameCompleted(game, after)]
    # A recorded result settles the suggestions for the game.
    settled = [
        suggestion for suggestion in tournament.suggestions if suggestion.game_id == game.game_id and changes
    ]
    return [*(SuggestionDecided(suggestion) for suggestion in settled), *changes]


def _with_those_who_gave_up(game: Game, outcome: GameOutcome) -> GameOutcome:
    """The outcome of an open game with the players who gave it up before."""
    known = () if game.status == "completed" else game.gave_up_ids
    missing = tuple(player_id for player_id in known if player_id not in outcome.gave_up_ids)
    return replace(outcome, gave_up=(*outcome.gave_up, *missing)) if missing else outcome


def _gave_up_as_stored(game: Game, outcome: GameOutcome) -> dict[str, Any]:
    """The columns that say who gave up: the no-show of a game of two has one of its own."""
    gone = outcome.gave_up_ids
    if len(gone) == 1 and len(game.player_ids) == PAIR_SIZE:
        return {"forfeited_by": gone[0], "gave_up": ()}
    return {"forfeited_by": None, "gave_up": tuple(sorted(gone))}


def note_given_up(game: Game, gone: Sequence[int]) -> list[Change]:
    """Note in an open game who gave up: at least two others play on for the places before them.

    Raises Invalid for strangers.
    """
    outcomes.check_forfeit(game, tuple(gone))
    earlier = [player_id for player_id in game.result_positions if player_id is not None]
    last = [*(player_id for player_id in gone if player_id not in earlier), *earlier]
    positions = (*(None,) * (len(game.player_ids) - len(last)), *last)
    noted = tuple(sorted({*game.gave_up, *gone}))
    return changes_between(GameChanged, game, replace(game, gave_up=noted, result_positions=positions))


def _require_scores_to_compare(tournament: Tournament, game: Game, outcome: GameOutcome) -> None:
    """Refuse a game of a larger tiebreak unless each player has a score of their own. Raises Invalid."""
    if not game.is_tiebreak:
        return
    others = [
        other
        for other in tournament.games_by_round.get(game.round_id, ())
        if other.is_tiebreak and other.set_number == game.set_number and other.game_index != game.game_index
    ]
    if not others:
        return
    if any(player_id not in outcome.scores for player_id in game.player_ids):
        sentence = "This tiebreak is played in several games, which are compared by score: enter all scores."
        raise Invalid({"resultScores": [sentence]})
    taken = {score for other in others for score in other.result_scores}
    for player_id in game.player_ids:
        if outcome.scores[player_id] in taken:
            text = "{player} has the score of another player of this tiebreak: let the two play again."
            raise Invalid({"resultScores": [Sentence(text, player=player_id)]})


def _correct_game(game: Game, after: Game) -> Sequence[Change]:
    # The same result entered again changes nothing, not even the scorekeeper; scores and an order that
    # are not entered again stay.
    is_scored = any(score is not None for score in after.result_scores)
    same = replace(
        after,
        scorekeeper_id=game.scorekeeper_id,
        result_scores=after.result_scores if is_scored else game.result_scores,
        finishing_order=after.finishing_order or game.finishing_order,
    )
    return [] if same == game else [GameCorrected(game, replace(after, has_mismatch=False))]


def check_can_be_recorded(tournament: Tournament, game: Game) -> None:
    """Raise Conflict for a bye and for a game without the arena it needs."""
    if game.is_bye:
        raise ByeHasResult(game=game.game_id)
    assignment = settings_protocols.arena_assignment(tournament.settings, default="disabled")
    if game.arena_id is None and assignment == "manual":
        raise GameWithoutArena(game=game.game_id)


def clear_game(game: Game) -> list[Change]:
    """Open a completed game again, or a match that was counted in part, without its single games.

    A winner entered over recorded single games is taken back; they count again. Raises Conflict when
    there is no result.
    """
    has_result = game.status == "completed" or any(points is not None for points in game.result_points)
    if not has_result or game.is_bye:
        raise GameWithoutResult(game=game.game_id)
    nothing: tuple[None, ...] = (None,) * len(game.player_ids)
    legs = game.legs if None not in game.result_positions or game.gave_up else ()
    won = Counter(leg.finishing_order[0] for leg in legs)
    after = replace(
        game,
        status="started",
        result_points=tuple(Decimal(f"{won[player_id]}.00") for player_id in game.player_ids)
        if legs
        else nothing,
        result_positions=nothing,
        result_scores=nothing,
        finishing_order=(),
        forfeited_by=None,
        gave_up=(),
        scorekeeper_id=None,
        completed_at=None,
        has_mismatch=False,
        legs=legs,
    )
    return [GameCleared(game, after) if game.status == "completed" else MatchCounted(game, after)]


def last_places(game: Game, seats: Sequence[int]) -> tuple[int, ...]:
    """Those of the new seats of an open game who have left it and keep its last places.

    They keep them as long as two others play for the places before them.
    """
    places = game.result_positions
    gone = tuple(player_id for player_id in places if player_id is not None and player_id in seats)
    return gone if len(seats) - len(gone) >= 2 else ()


def with_players(game: Game, seats: tuple[int, ...]) -> Game:
    """The open game with these players; slot 0 has the advantage where there is one."""
    nothing: tuple[None, ...] = (None,) * len(seats)
    gone = last_places(game, seats)
    return replace(
        game,
        player_ids=seats,
        result_positions=(*nothing[len(gone) :], *gone),
        result_points=nothing,
        result_scores=nothing,
        gave_up=tuple(player_id for player_id in game.gave_up if player_id in gone),
        advantage_id=None if game.advantage_id is None else seats[0],
    )


def last_of_game(game: Game) -> int | None:
    """The player who came last in a game; None while it is open and where several share the last place."""
    ranked = game.finishing_order or game.result_positions
    return ranked[-1] if game.status == "completed" and ranked else None


def put_loser_first(tournament: Tournament, changes: Sequence[Change]) -> list[Change]:
    """The new order of each open game whose group has just finished the one before it in this round.

    Takes the tournament and the changes with the results; none unless `playerOrder` is `loser`. Who was
    last starts, the others keep their order. Source: formats, section 26.
    """
    if settings_protocols.player_order(tournament.settings, default="seed") != LOSER:
        return []
    started: list[Change] = []
    for change in changes:
        if isinstance(change, GameCompleted | GameCorrected):
            following = _next_of_group(tournament, change.after)
            last = last_of_game(change.after)
            if following is not None and last is not None and last in following.player_ids:
                seats = first_in_order(following.player_ids, last)
                started += changes_between(GameChanged, following, with_players(following, seats))
    return started


def _next_of_group(tournament: Tournament, game: Game) -> Game | None:
    """The open game that the group of a game plays after it in the round."""
    if game.is_tiebreak or game.round_id is None or game.game_index is None:
        return None
    for other in tournament.games_by_round.get(game.round_id, ()):
        is_next = other.set_number == game.set_number and other.game_index == game.game_index + 1
        if is_next and other.status == "started" and not other.is_tiebreak:
            return other
    return None


def clock_of(game: Game, now: datetime) -> datetime:
    """The time on the clock of a game, which stands still while the game waits for its machine."""
    return now if isinstance(game.waiting_since, UnsetType) else game.waiting_since


def open_games(games: Sequence[Game]) -> list[Game]:
    """The games without a result."""
    return [game for game in games if game.status != "completed"]
