"""The grade of a format. Source: ratings, B.3."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.rules.wppr import tgp
from silverball.rules.wppr.tgp import Finals, PlayStyle, Stage


def finals(games: int, play: PlayStyle = "groups_of_four", *, finalists: int = 16, last: int = 4) -> Finals:
    """Finals of a field of 40."""
    return Finals(
        stage=Stage(games=games, play=play),
        qualifying_players=40,
        finalist_count=finalists,
        last_players=last,
    )


@pytest.mark.parametrize(
    ("qualifying", "separate", "percent"),
    [
        (Stage(games=7), finals(12), 124),
        (Stage(games=7), finals(15), 148),
        (Stage(games=10, play="groups_of_four"), None, 80),
        (Stage(games=5, play="hybrid_best_game"), None, 60),
        (Stage(games=5, play="unlimited_best_game", hours=20), None, 60),
        (Stage(games=5, play="unlimited_card", hours=20), None, 100),
        (Stage(games=5, play="unlimited_card", hours=19), None, 39),
        (None, finals(30), 100),
        (Stage(games=25), None, 100),
        (Stage(games=40), None, 100),
        (Stage(games=25), finals(40), 200),
        (Stage(games=10, play="groups_of_three"), None, 60),
        (Stage(games=10, play="multi_matchplay"), None, 40),
        (Stage(games=25, balls=1), None, 33),
        (Stage(games=25, balls=2), None, 66),
        (Stage(games=7, balls=1), None, 9),
        (Stage(games=25, balls=5), None, 100),
        (Stage(games=5, play="unlimited_best_game", hours=90), None, 60),
        (None, None, 0),
    ],
)
def test_a_grade_is_what_the_rules_say(
    qualifying: Stage | None, separate: Finals | None, percent: int
) -> None:
    assert tgp.tgp_percent(qualifying, separate) == percent


@pytest.mark.parametrize(
    ("finalists", "last", "percent"),
    [(4, 4, 124), (3, 3, 100), (20, 4, 124), (21, 4, 100), (16, 5, 100), (16, 2, 124)],
)
def test_finals_that_are_too_wide_or_never_come_down_to_four_do_not_pass_the_limit(
    finalists: int, last: int, percent: int
) -> None:
    assert tgp.tgp_percent(Stage(games=7), finals(12, finalists=finalists, last=last)) == percent


def test_matches_of_a_frenzy_are_half_a_game_and_with_one_ball_a_third() -> None:
    assert tgp.frenzy_games(20) == 10
    assert tgp.frenzy_games(20, balls=1) == Fraction(20, 3)
    assert tgp.tgp_percent(Stage(games=tgp.frenzy_games(Fraction(41, 2)))) == 41


@pytest.mark.parametrize(("average", "games"), [(3, 9), (6, 9), (2, 6), (Fraction(5, 2), Fraction(15, 2))])
def test_an_easy_hole_is_less_than_a_game(average: Fraction | int, games: Fraction | int) -> None:
    assert tgp.golf_games(9, course_average=average) == games


@pytest.mark.parametrize(("games", "balls", "hours"), [(-1, 3, 0), (1, 0, 0), (1, 3, -1)])
def test_no_stage_has_less_than_nothing(games: int, balls: int, hours: int) -> None:
    with pytest.raises(ValueError, match="no negative games or hours"):
        Stage(games=games, balls=balls, hours=hours)


PLAYS = st.sampled_from(list(tgp.MULTIPLIERS))
STAGES = st.builds(
    Stage, games=st.integers(0, 60), play=PLAYS, balls=st.integers(1, 5), hours=st.integers(0, 80)
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
    found = tgp.tgp_percent(qualifying, separate)
    assert 0 <= found <= (200 if qualifying and separate and separate.can_exceed_limit else 100)


@given(STAGES, st.integers(1, 20))
def test_more_games_never_lower_a_grade(stage: Stage, more: int) -> None:
    longer = Stage(games=stage.games + more, play=stage.play, balls=stage.balls, hours=stage.hours)
    assert tgp.tgp_percent(longer) >= tgp.tgp_percent(stage)
