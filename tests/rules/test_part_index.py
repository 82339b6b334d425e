"""Indexes and kept values follow the changes: at every state they are what that state alone would give."""

import pytest

from rules.test_corrections import ALL
from rules.verify import walked_nights
from silverball.kit.values import replace
from silverball.rules.families.round_robin import RoundRobinRules
from silverball.rules.format import PlayKind
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import GameOpened
from silverball.rules.model.part_index import find_by_id
from silverball.rules.model.tournament import INDEXES, MADE_FROM_PART, Game, Tournament
from silverball.rules.ranking import bestgame
from silverball.rules.registry import FORMATS

WALKS, STEPS = 2, 25


def made_anew(tournament: Tournament) -> Tournament:
    """The same state without anything that was carried to it."""
    bare = replace(tournament)
    assert not set(bare.__dict__) & {*INDEXES, *MADE_FROM_PART, "kept_values"}
    return bare


def assert_carried_as_made(tournament: Tournament) -> None:
    bare = made_anew(tournament)
    for name in (*INDEXES, *MADE_FROM_PART):
        if name in tournament.__dict__:
            carried, fresh = getattr(tournament, name), getattr(bare, name)
            assert carried == fresh, name
            assert not isinstance(carried, dict) or list(carried) == list(fresh), f"order of {name}"


@pytest.mark.sample(8)
@pytest.mark.parametrize("kind", sorted(ALL))
def test_indexes_of_random_nights_are_those_of_their_states(kind: str) -> None:
    is_played_for_scores = FORMATS[kind].play is PlayKind.SCORES
    for number in range(WALKS):
        before: Tournament | None = None
        for night in walked_nights.nights(ALL[kind], f"index {kind} {number}", steps=STEPS):
            after, form = night.tournament, FORMATS[kind]
            assert_carried_as_made(after)
            # What brackets, schedules and cards keep shows in these.
            assert form.rank(after) == form.rank(made_anew(after))
            assert form.is_over(after) == form.is_over(made_anew(after))
            if is_played_for_scores:
                assert bestgame.game_marks(after) == bestgame.game_marks(made_anew(after))
                assert bestgame.is_best_by_card(after) == bestgame.is_best_by_card(made_anew(after))
                if before is not None:
                    assert changed_marks(before, after) == changed_marks(made_anew(before), made_anew(after))
            before = after


def changed_marks(before: Tournament, after: Tournament) -> tuple[list[int], list[int]]:
    return (
        bestgame.games_with_changed_marks(before, after),
        bestgame.cards_with_changed_marks(before, after) if after.cards else [],
    )


def test_a_change_leaves_the_marks_of_other_machines_alone() -> None:
    night = walked_nights.random_night(
        ALL["best_game"], "machines apart", steps=20, prepare=walked_nights.journalled
    )
    before = night.tournament
    marks = bestgame.game_marks(before)
    last = next(game for game in reversed(before.single_player_games) if game.status == "completed")
    night.undo()
    night.undo()
    assert marks is bestgame.game_marks(before)
    untouched = [arena for arena in before.attempts_by_arena if arena != last.arena_id]
    kept = {name for name in night.tournament.kept_values if isinstance(name, tuple)}
    assert kept >= {("marks on arena", arena) for arena in untouched}


def test_a_result_leaves_the_other_rounds_of_a_round_robin_alone() -> None:
    night = walked_nights.random_night(
        ALL["round_robin"], "rounds apart", steps=20, prepare=walked_nights.journalled
    )
    before, rules = night.tournament, RoundRobinRules(is_double=False)
    rules.missing_games(before)
    night.undo()
    changed = {
        round_id
        for round_id, games in before.games_by_round.items()
        if games is not night.tournament.games_by_round.get(round_id)
    }
    rules.missing_games(night.tournament)
    kept = {
        name: value
        for name, value in before.kept_values.items()
        if isinstance(name, tuple) and name[0] == "missing games" and name[1] not in changed
    }
    assert kept
    assert all(night.tournament.kept_values[name] is value for name, value in kept.items())


def a_game(game_id: int) -> Game:
    return Game(
        game_id=game_id,
        round_id=None,
        status="started",
        player_ids=(1, 2),
        result_positions=(None, None),
        result_points=(None, None),
        result_scores=(None, None),
    )


def test_things_are_found_by_id_in_whatever_order_they_are() -> None:
    games = [a_game(number) for number in (7, 3, 9, -2, 1, -1)]
    for game in games:
        assert find_by_id(games, "game_id", game.game_id) is game
    assert find_by_id(games, "game_id", 4) is None
    assert find_by_id([], "game_id", 4) is None


def test_a_thing_that_exists_is_not_added_again() -> None:
    night = walked_nights.random_night(ALL["matchplay"], "twice", steps=12, prepare=walked_nights.journalled)
    for game in night.tournament.games:
        with pytest.raises(ValueError, match="exists already"):
            apply_changes(night.tournament, [GameOpened(game)])
