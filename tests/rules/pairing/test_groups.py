"""Group sizes. Source: formats, section 3 and section 25, item 1."""

import pytest

from silverball.rules.drawing import groups


@pytest.mark.parametrize(
    ("players", "sizes"),
    [
        (1, (1,)),
        (2, (2,)),
        (3, (3,)),
        (4, (4,)),
        (5, (3, 2)),
        (6, (3, 3)),
        (7, (4, 3)),
        (9, (3, 3, 3)),
        (10, (4, 3, 3)),
        (11, (4, 4, 3)),
        (13, (4, 3, 3, 3)),
        (17, (4, 4, 3, 3, 3)),
        (21, (4, 4, 4, 3, 3, 3)),
        (25, (4, 4, 4, 4, 3, 3, 3)),
    ],
)
def test_a_field_is_cut_in_fours_and_threes(players: int, sizes: tuple[int, ...]) -> None:
    assert groups.group_sizes(players) == sizes


@pytest.mark.parametrize("players", range(1, 161))
def test_groups_hold_everybody_and_only_five_players_or_two_make_a_group_of_two(players: int) -> None:
    sizes = groups.group_sizes(players)
    assert sum(sizes) == players
    assert sizes.count(2) == (players in {2, 5})
    assert list(sizes) == sorted(sizes, reverse=True)
    assert tuple(map(len, groups.slice_into_groups(range(players)))) == sizes


@pytest.mark.parametrize("players", [0, -1, 10_001])
def test_an_impossible_field_is_our_own_mistake(players: int) -> None:
    with pytest.raises(ValueError, match="cannot be put in groups"):
        groups.group_sizes(players)


def test_an_odd_player_out_has_a_bye() -> None:
    assert groups.pair_neighbours([4, 2, 9]) == groups.Draw(((4, 2),), (9,))
    assert groups.pair_neighbours([]) == groups.Draw(())
    assert groups.slice_into_groups([]) == ()
