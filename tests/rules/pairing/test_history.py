"""The history that draws look at. Source: formats, section 6."""

from silverball.rules.drawing import history
from silverball.rules.drawing.history import DrawHistory


def test_a_group_meets_once_per_round_however_many_games_it_plays() -> None:
    past = history.history_of_rounds([[(1, 2), (2, 1), (3,)], [(2, 1), (3,)]])
    assert past.times_met(2, 1) == 2
    assert past.times_met(1, 3) == 0
    assert past.bye_count(3) == 2


def test_groups_of_fewer_than_four_are_short() -> None:
    past = history.history_of_rounds([[(1, 2, 3, 4), (5, 6, 7)]])
    assert dict(past.short_groups) == {5: 1, 6: 1, 7: 1}
    assert past.times_met(5, 7) == 1


def test_a_matrix_shows_the_meetings_of_the_players_asked_for() -> None:
    past = DrawHistory({(1, 2): 3, (2, 9): 1})
    assert past.meeting_matrix([2, 5, 1]) == [[0, 0, 3], [0, 0, 0], [3, 0, 0]]


def test_the_fewest_byes_are_found() -> None:
    assert history.players_with_fewest_byes([1, 2, 3], DrawHistory(byes={1: 1})) == [2, 3]
    assert history.players_with_fewest_byes([], history.EMPTY_HISTORY) == []


def test_a_late_player_starts_with_the_fewest_byes_of_the_others() -> None:
    past = DrawHistory(byes={1: 2, 2: 1, 4: 3})
    assert history.byes_on_entry([1, 2], past, 3) == 1
    assert history.byes_on_entry([1, 2], past, 4) == 3
    assert history.byes_on_entry([], past, 3) == 0
