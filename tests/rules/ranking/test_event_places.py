"""A qualifying and its final as one event. Cases are made by hand. Source: pages, 4; ratings, B.3."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.rules.ranking import series
from silverball.rules.ranking.series import ParticipationShare

NIGHT = {1: 1, 2: 2, 3: 2, 4: 4, 5: 5}


@pytest.mark.parametrize(
    ("finals", "expected"),
    [
        ({}, [(1, 1), (2, 2), (3, 2), (4, 4), (5, 5)]),
        # The third of the final is the best seed; nobody from outside passes them.
        ({2: 1, 3: 2, 1: 3}, [(2, 1), (3, 2), (1, 3), (4, 4), (5, 5)]),
        # Ties of the final stay ties, and so do those of the qualifying behind it.
        ({1: 1, 4: 1}, [(1, 1), (4, 1), (2, 3), (3, 3), (5, 5)]),
        # A final with a guest, who stands where the final puts them.
        ({9: 1, 1: 2}, [(9, 1), (1, 2), (2, 3), (3, 3), (4, 5), (5, 6)]),
    ],
)
def test_finalists_stand_by_the_final_and_the_others_by_the_qualifying(
    finals: dict[int, int], expected: list[tuple[int, int]]
) -> None:
    places = series.event_places(NIGHT, NIGHT, finals, {})
    assert [(place.player_id, place.position) for place in places] == expected
    assert {place.player_id for place in places if place.is_finalist} == set(finals)


@pytest.mark.parametrize(("played", "possible", "is_below"), [(3, 7, True), (4, 8, False), (0, 0, False)])
def test_who_played_fewer_than_half_is_marked_unless_they_reached_the_final(
    played: int, possible: int, is_below: bool
) -> None:
    shares = {1: ParticipationShare(played, possible), 5: ParticipationShare(played, possible)}
    places = {place.player_id: place for place in series.event_places(NIGHT, NIGHT, {1: 1}, shares)}
    assert (places[1].is_below_half, places[5].is_below_half) == (False, is_below)


@given(
    st.sets(st.integers(1, 9)),
    st.dictionaries(st.integers(1, 9), st.integers(1, 9)),
    st.dictionaries(st.integers(1, 9), st.integers(1, 9)),
)
def test_each_player_is_listed_exactly_once_and_finalists_come_first(
    entrants: set[int], qualifying: dict[int, int], finals: dict[int, int]
) -> None:
    places = series.event_places(entrants, qualifying, finals, {})
    assert sorted(place.player_id for place in places) == sorted(entrants | set(qualifying) | set(finals))
    assert {place.player_id for place in places[: len(finals)]} == set(finals)
    unplaced = {place.player_id for place in places if place.position is None}
    assert unplaced == entrants - set(qualifying) - set(finals)
