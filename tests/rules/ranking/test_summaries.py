"""Summaries of a completed tournament. Source: formats, section 22."""

from decimal import Decimal
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.properties import quick
from silverball.rules.ranking import summaries
from silverball.rules.ranking.standing import WinLossRule
from silverball.rules.ranking.summaries import (
    ArenaSummary,
    GameRecord,
    MatchSummary,
    OpponentSummary,
    PlayerArenaSummary,
)


def _game(arena_id: int | None, *order: int) -> GameRecord:
    points = tuple(Decimal(len(order) - place) for place in range(len(order)))
    return GameRecord(arena_id, order, order, points)


GAMES = [
    _game(90, 1, 2),
    _game(90, 2, 1),
    _game(91, 1, 2, 3, 4),
    _game(None, 1, 2),
    GameRecord(None, (3,), (3,), (Decimal(1),), is_bye=True),
    GameRecord(91, (3,), is_single_player=True),
]


def test_each_played_arena_has_one_row() -> None:
    rows = summaries.arena_summaries(GAMES)
    assert rows == [ArenaSummary(90, 2, 0), ArenaSummary(91, 1, 1)]
    assert [row.games_total for row in rows] == [2, 2]


def test_each_player_has_one_row_per_arena() -> None:
    rows = summaries.player_arena_summaries(WinLossRule.POSITIONS, GAMES)
    assert rows == [
        PlayerArenaSummary(90, 1, 2, 0, 1, 1),
        PlayerArenaSummary(90, 2, 2, 0, 1, 1),
        PlayerArenaSummary(91, 1, 1, 0, 3, 0),
        PlayerArenaSummary(91, 2, 1, 0, 2, 1),
        PlayerArenaSummary(91, 3, 1, 1, 1, 2),
        PlayerArenaSummary(91, 4, 1, 0, 0, 3),
    ]
    assert rows[4].games_total == 2


def test_each_meeting_has_a_row_in_both_directions() -> None:
    rows = summaries.match_summaries(WinLossRule.POSITIONS, GAMES)
    assert rows[:2] == [MatchSummary(90, 1, 2, 2, 1, 1), MatchSummary(90, 2, 1, 2, 1, 1)]
    assert MatchSummary(91, 4, 1, 1, 0, 1) in rows
    assert len(rows) == 2 + 4 * 3


def test_a_meeting_that_separates_nobody_is_a_game_only() -> None:
    both_safe = GameRecord(90, (1, 2), (None, 2), (Decimal(1), Decimal(1)))
    assert summaries.match_summaries(WinLossRule.STRIKE, [both_safe])[0] == MatchSummary(90, 1, 2, 1, 0, 0)


@given(st.lists(st.tuples(st.integers(90, 92), st.permutations([1, 2, 3])), max_size=12))
@quick
def test_arena_rows_and_player_rows_count_the_same_games(played: list[tuple[int, list[int]]]) -> None:
    games = [_game(arena_id, *order) for arena_id, order in played]
    by_player = summaries.player_arena_summaries(WinLossRule.POSITIONS, games)
    assert sum(row.games for row in summaries.arena_summaries(games)) * 3 == sum(
        row.games for row in by_player
    )
    assert all(row.games + row.single_player_games > 0 for row in by_player)


def test_a_game_without_a_result_is_our_own_mistake() -> None:
    with pytest.raises(ValueError, match="one position"):
        summaries.player_arena_summaries(WinLossRule.POSITIONS, [GameRecord(90, (1, 2))])


def test_each_pair_has_a_row_in_both_directions_whatever_it_played_on() -> None:
    rows = summaries.opponent_summaries(WinLossRule.POSITIONS, GAMES)
    assert rows[0] == OpponentSummary(1, 2, games=4, wins=3, losses=1)
    assert OpponentSummary(2, 1, games=4, wins=1, losses=3) in rows
    assert [(row.player_id, row.opponent_id) for row in rows] == list(permutations((1, 2, 3, 4), 2))


def test_formats_without_a_record_have_no_opponents() -> None:
    assert summaries.opponent_summaries(WinLossRule.NONE, GAMES) == []
