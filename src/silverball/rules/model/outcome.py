"""Results as they are entered, before a format turns them into points. Source: formats, section 10."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct, field

from silverball.kit.errors import Invalid, Sentence
from silverball.kit.values import replace
from silverball.rules.model.apply import ID_FIELDS
from silverball.rules.model.changes import Added, Altered, Change, Removed
from silverball.rules.model.tournament import Game, Leg

SCORE_MAX = 2**63 - 1


class GameOutcome(Struct, frozen=True, kw_only=True):
    """The result of a game, entered as exactly one of order, scores, strikers, strokes, games and forfeit.

    Scores may accompany an order, which wins. Players who gave up are last, whatever way the result of
    the others is entered in.
    """

    game_id: int
    # First to last.
    finishing_order: tuple[int, ...] = ()
    scores: Mapping[int, int] = field(default_factory=dict)
    # The players who get a strike; None when the result is entered in another way.
    strikers: tuple[int, ...] | None = None
    # Player id -> strokes on a hole of pingolf.
    strokes: Mapping[int, int] = field(default_factory=dict)
    # Player id -> single games of a match that the player has won so far.
    games_won: Mapping[int, int] | None = None
    # The single games of a match, in place of those that are there.
    legs: tuple[Leg, ...] | None = None
    # The player who did not show up, in a game of two.
    forfeited_by: int | None = None
    # All who gave up the game.
    gave_up: tuple[int, ...] = ()
    # The account that recorded it.
    recorded_by: int | None = None

    @property
    def gave_up_ids(self) -> tuple[int, ...]:
        """The players who gave up, in either form."""
        return self.gave_up if self.forfeited_by is None else (self.forfeited_by, *self.gave_up)

    @property
    def is_only_given_up(self) -> bool:
        """Whether it says who gave up and nothing else."""
        says_more = self.finishing_order or self.scores or self.strokes or self.strikers is not None
        return bool(self.gave_up_ids) and not says_more


class AttemptOutcome(Struct, frozen=True, kw_only=True):
    """The result of a single player game."""

    single_player_game_id: int
    score: int | None = None
    strokes: int | None = None
    rolls: tuple[int, ...] = ()
    # Safe without an exact score (amazing race).
    is_advanced: bool = False
    recorded_by: int | None = None


class NewAttempt(Struct, frozen=True, kw_only=True):
    """A new single player game: completed with a score, started without one."""

    player_id: int
    arena_id: int
    score: int | None = None
    recorded_by: int | None = None


Outcome = GameOutcome | AttemptOutcome


def derive_finishing_order(game: Game, outcome: GameOutcome) -> tuple[int, ...]:
    """The players from first to last. Raises Invalid for strangers, missing players and ties.

    Those who gave up stand at the end, and share the last place.
    """
    gone = outcome.gave_up_ids
    if gone:
        check_forfeit(game, gone)
        return (*_order_of_others(game, outcome, gone), *gone)
    if outcome.finishing_order:
        _check_players("resultPositions", game, outcome.finishing_order)
        if outcome.scores:
            _check_players("resultScores", game, tuple(outcome.scores))
            _check_scores(outcome.scores)
        return outcome.finishing_order
    if outcome.strikers is not None:
        raise Invalid(
            {"strikes": ["A result cannot be entered by strikes here. Enter the order or the scores."]}
        )
    if outcome.games_won is not None:
        raise Invalid(
            {"games": ["Games are counted in matches of two in a bracket. Enter the order or the scores."]}
        )
    if outcome.strokes:
        _check_players("strokes", game, tuple(outcome.strokes))
        return _sort_players("strokes", game, outcome.strokes, sign=1)
    if not outcome.scores:
        raise Invalid({"resultPositions": ["Enter the finishing order, or the scores."]})
    _check_players("resultScores", game, tuple(outcome.scores))
    return _order_by_scores(game, outcome.scores)


def check_forfeit(game: Game, gone: tuple[int, ...]) -> None:
    """Raise Invalid for strangers and for players who are named twice."""
    for at, player_id in enumerate(gone):
        if player_id not in game.player_ids:
            sentence = Sentence("{player} is not in {game}.", player=player_id, game=game.game_id)
            raise Invalid({"forfeit": [sentence]})
        if player_id in gone[:at]:
            raise Invalid({"forfeit": [Sentence("{player} is named twice.", player=player_id)]})


def _order_of_others(game: Game, outcome: GameOutcome, gone: tuple[int, ...]) -> tuple[int, ...]:
    """The players who did not give up, first to last; one alone is first without a word."""
    others = tuple(player_id for player_id in game.player_ids if player_id not in gone)
    if len(others) < len(game.player_ids) and len(others) < 2 and outcome.is_only_given_up:
        return others

    for player_id in outcome.finishing_order[: len(others)]:
        if player_id in gone:
            sentence = Sentence("{player} gave up, and cannot stand before the others.", player=player_id)
            raise Invalid({"resultPositions": [sentence]})

    def without_gone(values: Mapping[int, int]) -> dict[int, int]:
        return {player_id: value for player_id, value in values.items() if player_id not in gone}

    rest = replace(
        outcome,
        forfeited_by=None,
        gave_up=(),
        finishing_order=tuple(player_id for player_id in outcome.finishing_order if player_id not in gone),
        scores=without_gone(outcome.scores),
        strokes=without_gone(outcome.strokes),
    )
    return derive_finishing_order(replace(game, player_ids=others), rest)


def _check_players(field_name: str, game: Game, named: tuple[int, ...]) -> None:
    strangers = [player_id for player_id in named if player_id not in game.player_ids]
    if strangers:
        raise Invalid(
            {field_name: [Sentence("{player} is not in {game}.", player=strangers[0], game=game.game_id)]}
        )
    if len(set(named)) != len(named):
        twice = next(player_id for player_id in named if named.count(player_id) > 1)
        raise Invalid({field_name: [Sentence("{player} is named twice.", player=twice)]})
    missing = [player_id for player_id in game.player_ids if player_id not in named]
    if missing:
        raise Invalid(
            {field_name: [Sentence("{player} of {game} is missing.", player=missing[0], game=game.game_id)]}
        )


def _order_by_scores(game: Game, scores: Mapping[int, int]) -> tuple[int, ...]:
    _check_scores(scores)
    return _sort_players("resultScores", game, scores, sign=-1)


def _check_scores(scores: Mapping[int, int]) -> None:
    for player_id, score in scores.items():
        if not 0 <= score <= SCORE_MAX:
            raise Invalid(
                {
                    "resultScores": [
                        Sentence("The score of {player} is not a pinball score.", player=player_id)
                    ]
                }
            )


def _sort_players(field_name: str, game: Game, numbers: Mapping[int, int], *, sign: int) -> tuple[int, ...]:
    """The players by their numbers, smallest first when the sign is 1. Raises Invalid for equal ones."""
    ordered = sorted(game.player_ids, key=lambda player_id: sign * numbers[player_id])
    unit = "score" if field_name == "resultScores" else "strokes"
    for player_id, next_id in itertools.pairwise(ordered):
        if numbers[player_id] == numbers[next_id]:
            sentence = Sentence(
                "{players} have the same {unit}. Enter the finishing order.",
                players=(player_id, next_id),
                unit=unit,
            )
            raise Invalid({field_name: [sentence]})
    return tuple(ordered)


# Real ids for new things: rules number them from -1 down, `enact` assigns the stored ids.


# Field of a thing -> the part of the tournament that its id refers to.
PART_BY_ID_FIELD = {
    "round_id": "rounds",
    "game_id": "games",
    "suggestion_id": "suggestions",
    "single_player_game_id": "single_player_games",
    "card_id": "cards",
    "queue_id": "queue",
    "entry_id": "purchases",
}
NewId = Callable[[str], int]
AssignedIds = dict[tuple[str, int], int]


def assign_ids(changes: Sequence[Change], new_id: NewId) -> list[Change]:
    """The same changes with real ids. `new_id` takes the kind ("games", ...) and gives an unused id."""
    assigned: AssignedIds = {}
    return [_assign_ids_to_change(change, assigned, new_id) for change in changes]


def _assign_ids_to_change(change: Change, assigned: AssignedIds, new_id: NewId) -> Change:
    if isinstance(change, Added):
        name = ID_FIELDS[change.part]
        key = getattr(change.subject, name)
        if key < 0:
            assigned[change.part, key] = new_id(change.part)
    if isinstance(change, Added | Removed):
        subject = _with_real_ids(change.subject, assigned)
        return change if subject is change.subject else replace(change, subject=subject)
    if isinstance(change, Altered):
        before = _with_real_ids(change.before, assigned)
        after = _with_real_ids(change.after, assigned)
        is_same = before is change.before and after is change.after
        return change if is_same else replace(change, before=before, after=after)
    return change


def _with_real_ids(item: Any, assigned: AssignedIds) -> Any:
    with_ids = {}
    for name in _id_fields(item.__class__):
        value = getattr(item, name)
        if value is not None and value < 0:
            with_ids[name] = assigned[PART_BY_ID_FIELD[name], value]
    return replace(item, **with_ids) if with_ids else item


@cache
def _id_fields(kind: Any) -> tuple[str, ...]:
    """The fields of things of this kind that hold ids of new things."""
    return tuple(name for name in kind.__struct_fields__ if name in PART_BY_ID_FIELD)
