"""The grade of events and the rounding of their values. Source: ratings, B.3."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.rules.planning import event as rules
from silverball.rules.planning.answers import MeaningfulGames, awaiting, no_number
from silverball.rules.planning.event import EventPart
from silverball.rules.planning.nights import SimulatedNight
from silverball.rules.planning.value import FieldPlayer, estimate_value


def a_part(
    games: Fraction | int,
    players: int,
    *,
    last: int | None = None,
    more: int | None = None,
    balls: int = 3,
    hours: int = 0,
) -> EventPart:
    answer = MeaningfulGames(
        games=Fraction(games),
        origin="rule",
        notes=(f"{games} games.",),
        last_players=last,
        games_of_next_round=None if more is None else Fraction(more),
        hours=hours,
    )
    return EventPart(meaningful_games=answer, players=players, balls=balls)


@pytest.mark.parametrize(
    ("first", "finals", "percent", "note"),
    [
        # The vectors of ratings, B.3.
        (a_part(7, 40), a_part(24, 16, last=4), 124, ""),
        (a_part(7, 40), a_part(30, 16, last=4), 148, ""),
        (a_part(20, 40), None, 80, ""),
        (a_part(15, 40), None, 60, ""),
        (a_part(10, 40, hours=20), None, 60, ""),
        (a_part(20, 40, hours=20), None, 100, ""),
        (a_part(5, 40, hours=19), None, 39, ""),
        (a_part(30, 40), None, 100, "more than the limit of 100 %"),
        (a_part(7, 40), a_part(24, 16), 100, "never come down to four"),
        (a_part(7, 40), a_part(24, 21, last=4), 96, "More than half of the field"),
        (a_part(25, 40, balls=1), None, 33, "one ball count a third"),
        (a_part(25, 40, balls=2), None, 66, "2 balls count two thirds"),
    ],
)
def test_an_event_has_the_grade_of_its_parts_and_says_which_rules_took_something(
    first: EventPart, finals: EventPart | None, percent: int, note: str
) -> None:
    found = rules.grade_of_event(first, finals)
    assert found.grade is not None
    assert found.grade.percent == percent
    assert note in " ".join(found.notes)


def test_an_event_of_which_a_part_has_no_number_has_none() -> None:
    night = SimulatedNight(ends_by="strikes", players=8, group_size=2, awards=((0,), (0, 1)), limit=2)
    unknown = EventPart(meaningful_games=no_number("Nobody knows."), players=8)
    computed = EventPart(meaningful_games=awaiting(night), players=8)
    for part, is_computed in ((unknown, False), (computed, True)):
        found = rules.grade_of_event(a_part(7, 40), part)
        assert (found.grade, found.is_being_computed) == (None, is_computed)


@pytest.mark.parametrize(
    ("games", "more", "percent"), [(5, 1, 24), (24, 1, 100), (25, 1, None), (5, None, None)]
)
def test_one_more_round_is_named_below_the_limit_only(games: int, more: int | None, percent: int) -> None:
    assert rules.grade_of_event(a_part(games, 40, more=more)).percent_of_next_round == percent


def test_the_sentence_names_the_winner_and_one_more_round() -> None:
    assert rules.worth_sentence(12.36, 13.91) == (
        "Worth 12.4 points to the winner. One more round would make it 13.9."
    )
    assert rules.worth_sentence(12.36, None) == "Worth 12.4 points to the winner."
    assert rules.worth_sentence(12.36, 12.38) == "Worth 12.4 points to the winner."


@given(st.floats(0, 200))
def test_a_rounded_number_is_a_half_and_at_most_a_quarter_away(number: float) -> None:
    rounded = rules.round_to_half(number)
    assert (rounded * 2).is_integer()
    assert abs(rounded - number) <= 0.25


def test_a_field_in_which_nobody_hides_keeps_every_bit() -> None:
    field = [FieldPlayer(ifpa_id=1, rank=146, womens_rank=None, rating=1432.69, total_events=9)]
    estimate = estimate_value(field)
    found = rules.value_of_field(estimate, hides_somebody=False)
    assert found.total == estimate.total
    hidden = rules.value_of_field(estimate, hides_somebody=True)
    assert (hidden.base, hidden.rating, hidden.ranking, hidden.total) == (0.5, 0.0, 0.5, 1.0)
