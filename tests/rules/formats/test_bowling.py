"""Pinbowling. Source: formats, sections 14.20, 17 and 24; totals counted by hand."""

from decimal import Decimal
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.night import Night, a_night
from rules.properties import quick
from rules.single_player_night import bowl, find_game, undo_all
from silverball.kit.errors import Conflict, Invalid
from silverball.kit.values import replace
from silverball.rules.commands import single_player as single_player_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.model import settings
from silverball.rules.model.outcome import AttemptOutcome
from silverball.rules.model.tournament import Entrant
from silverball.rules.registry import FORMATS

KEYS = "scorekeeping golfDuration golfParScore golfStrokeLimit golfHolesCounted tiebreaker"
STRIKE = (10,)


def bowling_night(players: int = 2, **given: Any) -> Night:
    """A started night of ten frames."""
    night = a_night("bowling", players=players, **given)
    night.start()
    return night


def frame_values(night: Night, player_id: int) -> list[int | None]:
    """The values of the frames as they are stored; None where they are not decided."""
    games = [game for game in night.tournament.single_player_games if game.player_id == player_id]
    return [None if game.points is None else int(game.points) for game in games]


def pins_total(night: Night, player_id: int) -> str:
    return next(str(row.points) for row in night.standings() if row.player_id == player_id)


def test_the_payload_has_exactly_its_keys_with_ten_frames() -> None:
    defaults = settings.default_values(FORMATS["bowling"].settings)
    assert list(defaults) == KEYS.split()
    assert defaults["golfDuration"] == 10


def test_the_start_makes_all_frames() -> None:
    night = bowling_night()
    assert [round_.name for round_ in night.tournament.rounds_in_order[:2]] == ["Frame #1", "Frame #2"]
    assert len(night.tournament.single_player_games) == 20


NINE, SPARE = (9, 0), (5, 5)
# Source: formats, section 17, vectors.
VECTORS: dict[str, tuple[list[tuple[int, ...]], str, tuple[int, int]]] = {
    "twelve strikes": ([STRIKE] * 9 + [(10, 10, 10)], "300.00", (12, 0)),
    "all five and spare": ([SPARE] * 9 + [(5, 5, 5)], "150.00", (0, 10)),
    "strike and spare by turns": ([STRIKE, SPARE] * 4 + [STRIKE, (5, 5, 10)], "200.00", (6, 5)),
    "nine pins and a miss": ([NINE] * 10, "90.00", (0, 0)),
    "a strike, three and six": ([STRIKE, (3, 6)] + [(0, 0)] * 8, "28.00", (1, 0)),
}


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("order", ["forwards", "backwards", "mixed"])
def test_frames_count_the_same_in_whatever_order_they_are_played(name: str, order: str) -> None:
    frames, expected, (strikes, spares) = VECTORS[name]
    indices = list(range(10))
    if order != "forwards":
        indices = indices[::-1] if order == "backwards" else Random(7).sample(indices, 10)
    night = bowling_night()
    for index in indices:
        bowl(night, 1, index, *frames[index])
    row = night.standings()[0]
    assert (row.player_id, row.points, row.tiebreakers) == (1, expected, (expected, strikes, spares))
    assert row.games_played == 10


def test_bonus_rolls_reach_the_frames_before_as_they_arrive() -> None:
    night = bowling_night(golf_duration=4)
    bowl(night, 1, 0, 10)
    bowl(night, 1, 1, 10)
    assert (frame_values(night, 1), pins_total(night, 1)) == ([None, None, None, None], "0.00")
    bowl(night, 1, 2, 4, 6)
    # 10 + 10 + 4, and 10 + 4 + 6; the spare waits for the next roll.
    assert (frame_values(night, 1), pins_total(night, 1)) == ([24, 20, None, None], "44.00")
    bowl(night, 1, 3, 3, 2)
    assert (frame_values(night, 1), pins_total(night, 1)) == ([24, 20, 13, 5], "62.00")


def test_a_corrected_frame_changes_the_bonuses_of_those_before() -> None:
    night = bowling_night(golf_duration=2)
    bowl(night, 1, 0, 10)
    bowl(night, 1, 1, 3, 4)
    assert frame_values(night, 1) == [17, 7]
    bowl(night, 1, 1, 3, 5)
    assert frame_values(night, 1) == [18, 8]
    game_id = find_game(night, 1, 1).single_player_game_id
    night.apply(single_player_commands.delete_attempt(night.tournament, game_id, night.now))
    assert frame_values(night, 1) == [None, None]
    assert night.tournament.rounds_in_order[1].status == "started"


def without_rolls(night: Night) -> None:
    """Let the night be as another service publishes it: values of frames, and no rolls."""
    games = [replace(game, rolls=()) for game in night.tournament.single_player_games]
    night.tournament = replace(night.tournament, single_player_games=tuple(games))


def test_frames_without_rolls_are_worth_what_was_published() -> None:
    night = bowling_night(players=3, golf_duration=3)
    for index, rolls in enumerate((STRIKE, SPARE, (5, 4))):
        bowl(night, 1, index, *rolls)
    # A strike that waits for its bonus.
    bowl(night, 2, 0, *NINE)
    bowl(night, 2, 1, 10)
    totals = {row.player_id: row.points for row in night.standings()}
    assert totals == {1: "44.00", 2: "9.00", 3: "0.00"}
    without_rolls(night)
    rows = night.standings()
    assert {row.player_id: row.points for row in rows} == totals
    # Strikes and spares are not known, so they are not compared.
    assert [row.tiebreakers for row in rows] == [("44.00",), ("9.00",), ("0.00",)]
    assert FORMATS["bowling"].verify.attempt_faults(night.tournament) == []


def test_the_night_goes_on_where_frames_have_no_rolls() -> None:
    night = bowling_night(golf_duration=3)
    for player_id in (1, 2):
        bowl(night, player_id, 0, *NINE)
    without_rolls(night)
    bowl(night, 1, 1, 10)
    assert frame_values(night, 1) == [9, None, None]
    bowl(night, 1, 2, 3, 4)
    assert (frame_values(night, 1), pins_total(night, 1)) == ([9, 17, 7], "33.00")
    # Who enters the rolls of a frame has it counted from them.
    bowl(night, 1, 0, 10)
    assert (frame_values(night, 1), pins_total(night, 2)) == ([23, 17, 7], "9.00")


@pytest.mark.parametrize(("score", "pins"), [(0, 0), (99, 0), (100, 1), (555, 5), (999, 9)])
def test_a_score_below_the_target_is_an_open_frame_of_a_pin_per_tenth(score: int, pins: int) -> None:
    night = bowling_night()
    first = night.tournament.rounds_in_order[0].round_id
    night.apply(
        single_player_commands.set_round(night.tournament, first, arena_id=501, score=1000, now=night.now)
    )
    game_id = find_game(night, 1, 0).single_player_game_id
    night.record(AttemptOutcome(single_player_game_id=game_id, score=score))
    assert (find_game(night, 1, 0).rolls, frame_values(night, 1)[0]) == ((pins, 0), pins)


def test_most_pins_win_then_strikes_then_spares() -> None:
    night = bowling_night(players=4, golf_duration=2)
    # 10 + 8 and 8; 10 + 8 and 8 with a spare; 9 and 9; all added up by hand.
    lines = {1: (STRIKE, (4, 4)), 2: ((4, 6), (8, 0)), 3: ((9, 0), (9, 0)), 4: ((9, 0), (8, 1))}
    for player_id, frames in lines.items():
        for index, rolls in enumerate(frames):
            bowl(night, player_id, index, *rolls)
    assert [(row.position, row.player_id, row.tiebreakers) for row in night.standings()] == [
        (1, 1, ("26.00", 1, 0)),
        (2, 2, ("26.00", 0, 1)),
        (3, 3, ("18.00", 0, 0)),
        (3, 4, ("18.00", 0, 0)),
    ]


def test_a_late_player_and_a_leaver_change_what_is_still_to_be_bowled() -> None:
    night = bowling_night(golf_duration=1)
    dice, _seed = tournament_commands.dice_for(night.tournament, "late")
    night.apply(tournament_commands.add_entrants(night.tournament, [Entrant(player_id=9)], dice, night.now))
    for player_id in (1, 9):
        bowl(night, player_id, 0, 4, 4)
    assert not FORMATS["bowling"].is_over(night.tournament)
    night.apply(
        tournament_commands.set_active(night.tournament, 2, is_active=False, dice=dice, now=night.now)
    )
    assert FORMATS["bowling"].is_over(night.tournament)
    assert [row.player_id for row in night.standings()] == [1, 9]


def test_frames_that_were_never_bowled_count_nothing_in_the_end() -> None:
    night = bowling_night(golf_duration=2)
    bowl(night, 1, 0, 4, 5)
    night.complete()
    assert [(row.player_id, row.points) for row in night.standings()] == [(1, "9.00"), (2, "0.00")]


@pytest.mark.parametrize(
    ("index", "result", "sentence"),
    [
        (0, {}, "Enter the rolls"),
        (0, {"rolls": (4,)}, "A roll of this frame is missing"),
        (0, {"rolls": (6, 6)}, "Only 4 pins were standing"),
        (0, {"rolls": (10, 1)}, "too many rolls"),
        (0, {"rolls": (11,)}, "0 to 10 pins"),
        (9, {"rolls": (10, 10)}, "A roll of this frame is missing"),
        (0, {"score": 5}, "Frame #1 has no target"),
        (0, {"strokes": 3}, "Enter the rolls"),
    ],
)
def test_a_frame_that_cannot_be_is_refused(index: int, result: dict[str, Any], sentence: str) -> None:
    night = bowling_night()
    game_id = find_game(night, 1, index).single_player_game_id
    with pytest.raises(Invalid, match=sentence):
        night.record(AttemptOutcome(single_player_game_id=game_id, **result))


def test_a_target_that_was_reached_needs_its_rolls() -> None:
    night = bowling_night()
    first = night.tournament.rounds_in_order[0].round_id
    night.apply(
        single_player_commands.set_round(night.tournament, first, arena_id=501, score=1000, now=night.now)
    )
    game_id = find_game(night, 1, 0).single_player_game_id
    with pytest.raises(Invalid, match="a strike or a spare"):
        night.record(AttemptOutcome(single_player_game_id=game_id, score=1000))


def test_one_player_is_too_few() -> None:
    with pytest.raises(Conflict, match="too few"):
        bowling_night(players=1)


def test_undoing_everything_gives_the_planned_tournament_back() -> None:
    night = a_night("bowling", players=2, golf_duration=2)
    planned = night.tournament
    night.start()
    bowl(night, 1, 0, 10)
    bowl(night, 1, 1, 3, 4)
    bowl(night, 1, 1, 5, 5, 5)
    night.complete()
    night.apply(tournament_commands.reopen(night.tournament))
    assert undo_all(night) == planned


def ten_pin(rolls: list[int]) -> int:
    """Another way to count: roll by roll, through the whole line. Source: the rules of ten-pin bowling."""
    score = at = 0
    for _frame in range(10):
        if rolls[at] == 10:
            score += 10 + rolls[at + 1] + rolls[at + 2]
            at += 1
        else:
            pins = rolls[at] + rolls[at + 1]
            score += pins + (rolls[at + 2] if pins == 10 else 0)
            at += 2
    return score


@st.composite
def ten_pin_lines(draw: st.DrawFn) -> list[tuple[int, ...]]:
    frames: list[tuple[int, ...]] = []
    for _ in range(9):
        first = draw(st.integers(0, 10))
        frames.append((10,) if first == 10 else (first, draw(st.integers(0, 10 - first))))
    last = draw(
        st.sampled_from([(10, 10, 10), (10, 3, 7), (10, 0, 4), (6, 4, 10), (5, 5, 2), (8, 1), (0, 0)])
    )
    return [*frames, last]


@quick
@given(ten_pin_lines())
def test_a_line_counts_as_it_does_roll_by_roll(frames: list[tuple[int, ...]]) -> None:
    night = bowling_night()
    for index, rolls in enumerate(frames):
        bowl(night, 1, index, *rolls)
    expected = ten_pin([pins for rolls in frames for pins in rolls])
    assert Decimal(pins_total(night, 1)) == expected
    assert sum(value or 0 for value in frame_values(night, 1)) == expected
