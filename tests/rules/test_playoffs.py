"""Selection and seeding of a playoff. Source: formats, sections 4 and 13.3."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.rules.commands import tournament
from silverball.rules.ranking.standing import Standing


def rows(*positions: int) -> list[Standing]:
    """Players 1, 2, ... at these positions."""
    return [
        Standing(player_id=player_id, position=position, points=0, tiebreakers=())
        for player_id, position in enumerate(positions, start=1)
    ]


@pytest.mark.parametrize(
    ("positions", "line", "tied"),
    [
        ((1, 2, 3, 4), 2, []),
        ((1, 2, 2, 4), 2, [2, 3]),
        # A tie that is entirely above or below the cutoff does not matter.
        ((1, 2, 2, 4), 3, []),
        ((1, 2, 2, 4), 1, []),
        ((1, 1, 1, 1), 2, [1, 2, 3, 4]),
        # All players go through, or the cutoff is where the previous band begins.
        ((1, 1), 2, []),
        ((1, 1), 0, []),
    ],
)
def test_only_a_tie_across_the_line_must_be_settled(
    positions: tuple[int, ...], line: int, tied: list[int]
) -> None:
    assert tournament.players_tied_across(rows(*positions), line) == tied


def test_a_player_who_has_left_is_passed_over() -> None:
    there = tournament.eligible_rows(rows(1, 2, 3), {1, 3})
    assert [entrant.player_id for entrant in there] == [1, 3]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=12), st.integers(0, 99))
def test_seeds_follow_positions_and_only_ties_are_drawn(positions: list[int], seed: int) -> None:
    ordered = rows(*sorted(positions))
    seeded = tournament.seed_players(ordered, Random(seed))
    assert sorted(seeded) == [row.player_id for row in ordered]
    place = {row.player_id: row.position for row in ordered}
    assert [place[player_id] for player_id in seeded] == sorted(positions)
    assert seeded == tournament.seed_players(ordered, Random(seed))
