"""The grade of an event. Source: ratings, B.3."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.rules.planning import tgp
from silverball.rules.planning.tgp import Finals, Stage


def finals(games: int, *, finalists: int = 16, last: int = 4) -> Finals:
    """Finals of a field of 40."""
    return Finals(
        stage=Stage(games=games), qualifying_players=40, finalist_count=finalists, last_players=last
    )


@pytest.mark.parametrize(
    ("qualifying", "separate", "percent", "is_capped"),
    [
        # Twelve and fifteen games in groups of four, ten in groups of three.
        (Stage(games=7), finals(24), 124, False),
        (Stage(games=7), finals(30), 148, False),
        (Stage(games=15), None, 60, False),
        (Stage(games=10, hours=20), None, 60, False),
        (Stage(games=20, hours=20), None, 100, False),
        (Stage(games=5, hours=19), None, 39, False),
        (Stage(games=10, hours=90), None, 60, False),
        (None, finals(30), 100, True),
        (Stage(games=25), None, 100, False),
        (Stage(games=40), None, 100, True),
        (Stage(games=25), finals(40), 200, True),
        (Stage(games=25, balls=1), None, 33, False),
        (Stage(games=25, balls=2), None, 66, False),
        (Stage(games=30, balls=1), None, 40, False),
        (Stage(games=25, balls=5), None, 100, False),
        (None, None, 0, False),
    ],
)
def test_a_grade_is_what_the_rules_say(
    qualifying: Stage | None, separate: Finals | None, percent: int, is_capped: bool
) -> None:
    grade = tgp.grade_event(qualifying, separate)
    assert (grade.percent, grade.is_capped) == (percent, is_capped)


@pytest.mark.parametrize(
    ("finalists", "last", "percent"),
    [(4, 4, 124), (3, 3, 100), (20, 4, 124), (16, 5, 100), (16, 2, 124), (21, 4, 96), (40, 4, 96)],
)
def test_finals_that_are_too_wide_or_never_come_down_to_four_do_not_pass_the_limit(
    finalists: int, last: int, percent: int
) -> None:
    assert tgp.grade_event(Stage(games=7), finals(24, finalists=finalists, last=last)).percent == percent


@pytest.mark.parametrize(("finalists", "games"), [(5, 19), (6, 12)])
def test_a_qualifying_counts_only_when_it_takes_away_half_of_the_field(finalists: int, games: int) -> None:
    """Source: tgp.json, limits: 5 of 11 advance: counts; 6 of 11: does not."""
    separate = Finals(stage=Stage(games=12), qualifying_players=11, finalist_count=finalists, last_players=4)
    assert tgp.grade_event(Stage(games=7), separate).games == games


def test_matches_of_a_frenzy_are_half_a_game_and_with_one_ball_a_third() -> None:
    assert tgp.frenzy_games(20) == 10
    assert tgp.frenzy_games(20, balls=1) == Fraction(20, 3)
    assert tgp.grade_event(Stage(games=tgp.frenzy_games(Fraction(41, 2)))).percent == 41


@pytest.mark.parametrize(("average", "games"), [(3, 9), (6, 9), (2, 6), (Fraction(5, 2), Fraction(15, 2))])
def test_an_easy_hole_is_less_than_a_game(average: Fraction | int, games: Fraction | int) -> None:
    assert tgp.golf_games(9, course_average=average) == games


@pytest.mark.parametrize(("games", "balls", "hours"), [(-1, 3, 0), (1, 0, 0), (1, 3, -1)])
def test_no_stage_has_less_than_nothing(games: int, balls: int, hours: int) -> None:
    with pytest.raises(ValueError, match="no negative games or hours"):
        Stage(games=games, balls=balls, hours=hours)


STAGES = st.builds(
    Stage,
    games=st.fractions(0, 60, max_denominator=6),
    balls=st.integers(1, 5),
    hours=st.integers(0, 80),
)


@given(
    st.none() | STAGES,
    st.none()
    | st.builds(
        Finals,
        stage=STAGES,
        qualifying_players=st.integers(1, 200),
        finalist_count=st.integers(1, 200),
        last_players=st.integers(1, 16),
    ),
)
def test_no_grade_is_above_its_limit(qualifying: Stage | None, separate: Finals | None) -> None:
    grade = tgp.grade_event(qualifying, separate)
    is_long = bool(qualifying and separate and separate.can_exceed_limit)
    assert 0 <= grade.percent <= grade.percent_max == (200 if is_long else 100)
    assert not grade.is_capped or grade.percent == grade.percent_max


@given(STAGES, st.integers(1, 20))
def test_more_games_never_lower_a_grade(stage: Stage, more: int) -> None:
    longer = Stage(games=stage.games + more, balls=stage.balls, hours=stage.hours)
    assert tgp.grade_event(longer).percent >= tgp.grade_event(stage).percent
