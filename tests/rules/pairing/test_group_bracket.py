"""Group elimination. Source: formats, section 14.12."""

import pytest

from silverball.kit.errors import Invalid
from silverball.rules.drawing import groups, tiers


@pytest.mark.parametrize(
    ("size", "playing", "waiting"),
    [
        # Source: formats, section 14.12, checks of the size arithmetic.
        (4, [4], 0),
        (6, [4, 4], 2),
        (8, [8, 4], 0),
        (10, [4, 8, 4], 6),
        (12, [8, 8, 4], 4),
        (16, [16, 8, 4], 0),
        (24, [16, 16, 8, 4], 8),
        (28, [24, 16, 8, 4], 4),
        (32, [32, 16, 8, 4], 0),
        (40, [16, 32, 16, 8, 4], 24),
        # Source: formats, section 26: two and three play one final, an odd number has a group of three.
        (2, [2], 0),
        (3, [3], 0),
        (5, [3, 4], 2),
        (7, [7, 4], 0),
        (9, [3, 8, 4], 6),
        (13, [11, 8, 4], 2),
        (15, [15, 8, 4], 0),
        (41, [19, 32, 16, 8, 4], 22),
        (127, [127, 64, 32, 16, 8, 4], 0),
    ],
)
def test_a_size_has_its_rounds_and_byes(size: int, playing: list[int], waiting: int) -> None:
    stages = groups.planned_rounds(size)
    assert [stage.player_count for stage in stages] == playing
    assert size - stages[0].player_count == waiting
    assert groups.round_count(size) == len(playing)


@pytest.mark.parametrize(
    ("size", "playing"), [(8, [4, 4, 4]), (16, [8, 8, 8, 4]), (64, [32, 32, 32, 16, 8, 4])]
)
def test_double_byes_bring_the_best_quarter_in_last(size: int, playing: list[int]) -> None:
    stages = groups.planned_rounds(size, has_double_byes=True)
    assert [stage.player_count for stage in stages] == playing
    assert (stages[2].best_joining_seed, stages[2].worst_joining_seed) == (1, size // 4)


@pytest.mark.parametrize("has_double_byes", [False, True])
def test_every_seed_joins_once_and_half_of_each_round_advances(has_double_byes: bool) -> None:
    for size in groups.DOUBLE_BYE_SIZES if has_double_byes else range(2, 129):
        joined: list[int] = []
        advancing = 0
        for stage in groups.planned_rounds(size, has_double_byes=has_double_byes):
            new = (
                list(range(stage.best_joining_seed, stage.worst_joining_seed + 1))
                if stage.worst_joining_seed
                else []
            )
            joined += new
            assert stage.player_count == advancing + len(new)
            advancing = 2 * -(-stage.player_count // 4)
        assert sorted(joined) == list(range(1, size + 1))


@pytest.mark.parametrize("size", [4, 8, 16, 32])
def test_groups_are_those_of_slaughter(size: int) -> None:
    seeds = range(1, size + 1)
    assert tuple(groups.groups_by_seed(seeds)) == tiers.slaughter_groups(seeds)


def test_forty_may_end_after_two_rounds() -> None:
    assert [stage.player_count for stage in groups.planned_rounds(40, is_short=True)] == [16, 32]
    # No other size does.
    assert groups.round_count(41, is_short=True) == groups.round_count(41)


def test_the_first_group_has_three_where_the_number_is_odd() -> None:
    assert groups.groups_by_seed(range(1, 8)) == [(1, 4, 5), (2, 3, 6, 7)]
    assert groups.groups_by_seed(range(1, 12)) == [(1, 6, 7), (2, 5, 8, 11), (3, 4, 9, 10)]
    assert groups.groups_by_seed([1, 2]) == [(1, 2)]


@pytest.mark.parametrize("size", range(2, 129))
def test_each_round_makes_groups_of_four_and_at_most_the_first_has_three(size: int) -> None:
    for at, stage in enumerate(groups.planned_rounds(size)):
        sizes = [len(group) for group in groups.groups_by_seed(range(stage.player_count))]
        assert sizes == sorted(sizes)
        assert set(sizes[1:]) <= {4}
        assert at == 0 or sizes[0] == 4


@pytest.mark.parametrize("size", [1, 129])
def test_a_group_bracket_that_does_not_exist_is_refused(size: int) -> None:
    with pytest.raises(Invalid, match="2 to 128 players"):
        groups.planned_rounds(size)
    with pytest.raises(ValueError, match="groups of four"):
        groups.groups_by_seed([1, 2, 3, 4, 5])
