"""Who met whom, and who played where, counted at once. The reference counts game by game."""

from collections import Counter
from itertools import permutations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from silverball.rules.ranking.meetings import CountsById, count_meetings_and_plays

NOTHING: tuple[list[int], list[int]] = ([], [])


def test_two_games_and_a_turn_alone_are_counted() -> None:
    """By hand: 7, 8 and 9 play on arena 4, 7 and 9 without an arena, 8 alone on arena 4."""
    games = ([21, 20], [0, 4])
    seats = ([20, 21, 20, 20, 21], [7, 9, 9, 8, 7])
    meetings, plays = count_meetings_and_plays(games, seats, ([8], [4]))
    assert meetings == {7: {8: 1, 9: 2}, 8: {7: 1, 9: 1}, 9: {7: 2, 8: 1}}
    assert plays == {7: {4: 1}, 8: {4: 2}, 9: {4: 1}}


def test_seats_of_games_that_do_not_count_are_left_out() -> None:
    """Games 10 and 30 are not over, or are byes."""
    seats = ([10, 10, 20, 20, 30, 30], [1, 2, 1, 3, 1, 2])
    meetings, plays = count_meetings_and_plays(([20], [5]), seats, NOTHING)
    assert meetings == {1: {3: 1}, 3: {1: 1}}
    assert plays == {1: {5: 1}, 3: {5: 1}}


def test_nothing_played_is_nothing_counted() -> None:
    assert count_meetings_and_plays(NOTHING, NOTHING, NOTHING) == ({}, {})
    assert count_meetings_and_plays(NOTHING, ([1, 1], [2, 3]), NOTHING) == ({}, {})


@given(
    st.dictionaries(
        st.integers(1, 40),
        st.tuples(st.integers(0, 5), st.sets(st.integers(1, 9), max_size=6), st.booleans()),
        max_size=25,
    ),
    st.lists(st.tuples(st.integers(1, 9), st.integers(1, 5)), max_size=20),
    st.randoms(use_true_random=False),
)
def test_it_counts_as_game_by_game(
    played: dict[int, tuple[int, set[int], bool]], alone: list[tuple[int, int]], dice: Random
) -> None:
    met: Counter[tuple[int, int]] = Counter()
    turns = Counter(alone)
    for arena_id, players, is_over in played.values():
        if is_over:
            met.update(permutations(players, 2))
            turns.update((player_id, arena_id) for player_id in players if arena_id)
    games = [(game_id, arena_id) for game_id, (arena_id, _, is_over) in played.items() if is_over]
    seats = [(game_id, player_id) for game_id, (_, players, _) in played.items() for player_id in players]
    dice.shuffle(games)
    dice.shuffle(seats)
    meetings, plays = count_meetings_and_plays(*map(_columns, (games, seats, alone)))
    assert (_flat(meetings), _flat(plays)) == (met, turns)


def test_the_counts_of_each_id_ascend_by_the_other_id() -> None:
    games = (list(range(50)), [50 - number for number in range(50)])
    seats = ([number for number in range(50) for _ in (0, 1)], [7, 60, *([7, 5] * 49)])
    for counts in count_meetings_and_plays(games, seats, NOTHING):
        assert list(counts) == sorted(counts)
        assert all(list(row) == sorted(row) for row in counts.values())


def _columns(pairs: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [first for first, _ in pairs], [second for _, second in pairs]


def _flat(counts: CountsById) -> Counter[tuple[int, int]]:
    return Counter(
        {(own_id, other_id): times for own_id, row in counts.items() for other_id, times in row.items()}
    )
