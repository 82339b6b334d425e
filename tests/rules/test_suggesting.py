"""Results suggested by players, and results entered in all ways. Source: formats, section 10."""

from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from rules import knockouts
from silverball.kit.errors import Conflict, Invalid
from silverball.kit.values import replace
from silverball.rules.commands import games
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model import outcome
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.outcome import GameOutcome
from silverball.rules.model.tournament import Tournament

NOW = datetime(2026, 3, 5, 20, tzinfo=UTC)
GAME = 1000


def open_night(**chosen: Any) -> Tournament:
    """A group of four that is being played, with standard strikes for two."""
    played = knockouts.knockout_tournament(
        [[{1: "-", 2: "-", 3: "-", 4: "-"}]],
        status="started",
        open_rounds=1,
        suggestions="restricted",
        arenaAssignment="disabled",
        **chosen,
    )
    return replace(played, games=tuple(replace(game, started_at=NOW) for game in played.games))


def outcome_in_order(*order: int) -> GameOutcome:
    return GameOutcome(game_id=GAME, finishing_order=order, recorded_by=7)


def test_a_late_word_differs_by_strikes_not_by_places_that_do_not_count() -> None:
    night = open_night()
    night = apply_changes(
        night, tournament_commands.record_result(night, outcome_in_order(1, 2, 3, 4), Random(1), NOW)
    )
    assert games.suggest_result(night, outcome_in_order(2, 1, 4, 3), 1, Random(1), NOW) == []
    changes = games.suggest_result(night, outcome_in_order(3, 1, 2, 4), 1, Random(1), NOW)
    after = apply_changes(night, changes)
    assert after.games[0].has_mismatch
    declined = games.decline_suggestion(after, after.suggestions[0].suggestion_id, Random(1), NOW)
    assert apply_changes(after, declined) == night


def test_a_correction_ends_the_mismatch_and_what_led_to_it() -> None:
    night = open_night()
    night = apply_changes(
        night, tournament_commands.record_result(night, outcome_in_order(1, 2, 3, 4), Random(1), NOW)
    )
    night = apply_changes(night, games.suggest_result(night, outcome_in_order(3, 1, 2, 4), 1, Random(1), NOW))
    night = apply_changes(
        night, tournament_commands.record_result(night, outcome_in_order(4, 1, 2, 3), Random(1), NOW)
    )
    assert (night.suggestions, night.games[0].has_mismatch) == ((), False)


def test_a_suggestion_that_says_half_of_it_is_not_approved() -> None:
    night = open_night()
    night = apply_changes(night, games.suggest_result(night, outcome_in_order(1, 2, 3, 4), 1, Random(1), NOW))
    half = replace(night.suggestions[0], results=(1, None, None, 4))
    with pytest.raises(Conflict, match="whole result"):
        games.approve_suggestion(replace(night, suggestions=(half,)), half.suggestion_id, 7, Random(1), NOW)


@pytest.mark.parametrize(
    ("given", "order"),
    [
        ({"finishing_order": (3, 1, 2, 4)}, (3, 1, 2, 4)),
        ({"scores": {1: 5, 2: 9, 3: 1, 4: 7}}, (2, 4, 1, 3)),
        ({"strokes": {1: 5, 2: 9, 3: 1, 4: 7}}, (3, 1, 4, 2)),
        # The order wins over equal scores.
        ({"scores": {1: 5, 2: 5, 3: 1, 4: 0}, "finishing_order": (2, 1, 3, 4)}, (2, 1, 3, 4)),
    ],
)
def test_the_finishing_order_follows_from_the_outcome(given: dict[str, Any], order: tuple[int, ...]) -> None:
    assert outcome.derive_finishing_order(open_night().games[0], GameOutcome(game_id=GAME, **given)) == order


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"strikers": (1, 2)}, "strikes"),
        ({"strokes": {1: 5, 2: 5, 3: 1, 4: 7}}, "strokes"),
        ({"strokes": {1: 5}}, "strokes"),
        ({"scores": {1: -1, 2: 5, 3: 1, 4: 7}, "finishing_order": (1, 2, 3, 4)}, "resultScores"),
        ({"scores": {1: 1}, "finishing_order": (1, 2, 3, 4)}, "resultScores"),
        ({}, "resultPositions"),
    ],
)
def test_a_result_without_an_order_is_refused_by_field(given: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        outcome.derive_finishing_order(open_night().games[0], GameOutcome(game_id=GAME, **given))
    assert list(refused.value.errors) == [field]
