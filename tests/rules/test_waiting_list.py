"""The waiting list by its rules alone: who is in, who waits in which order, and who moves up."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.night import Night, a_night
from silverball.kit.errors import Conflict, Invalid, NotFound
from silverball.kit.values import replace
from silverball.rules.commands import sign_ups
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.mechanics import waiting_list
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Entrant, SignUpEntry

PEOPLE = range(1, 9)


def a_door(limit: int) -> Night:
    """A planned tournament without players, with so many places."""
    night = a_night("matchplay", players=0)
    set_limit(night, limit)
    return night


def set_limit(night: Night, limit: int) -> None:
    details = {"rsvp_configuration": {"playerLimit": limit, "hasWaitlist": True}}
    night.tournament = replace(night.tournament, details=details)


def enact(night: Night, changes: Sequence[Change]) -> None:
    """Apply these changes with those that follow on the list, as one action."""
    after = apply_changes(night.tournament, changes)
    claimed = dict.fromkeys(PEOPLE)
    night.apply([*changes, *sign_ups.follow_list(after, changes, claimed, night.now)])


def do(night: Night, step: str, player_id: int) -> None:
    """Sign somebody up (`+`), remove them (`-`), let them in (`!`), or move them to the front (`<`)."""
    tournament, dice = night.tournament, Random(1)
    if step == "+":
        if waiting_list.free_places(tournament) > 0:
            entry = SignUpEntry(player_id=player_id, signed_up_at=night.now)
            enact(night, sign_ups.take(tournament, Entrant(player_id=player_id), entry, dice, night.now))
        else:
            enact(night, sign_ups.wait(tournament, player_id, night.now))
    elif step == "!":
        enact(night, sign_ups.admit(tournament, player_id, None, dice, night.now))
    elif step == "<":
        enact(night, sign_ups.move_waiting(tournament, player_id, 1))
    elif player_id in tournament.entrant_by_id:
        changes = tournament_commands.remove_entrant(tournament, player_id, dice=dice, now=night.now)
        enact(night, changes)
    else:
        enact(night, sign_ups.remove_waiting(tournament, player_id))


def playing(night: Night) -> list[int]:
    return list(night.tournament.active_ids)


def waiting(night: Night) -> list[int]:
    return [entry.player_id for entry in waiting_list.waiting_entries(night.tournament)]


@pytest.mark.parametrize(
    ("steps", "expected_in", "expected_waiting"),
    [
        ("+1 +2", [1, 2], []),
        ("+1 +2 +3 +4", [1, 2], [3, 4]),
        ("+1 +2 +3 +4 -1", [2, 3], [4]),
        ("+1 +2 +3 +4 -3", [1, 2], [4]),
        ("+1 +2 +3 +4 +5 <5", [1, 2], [5, 3, 4]),
        ("+1 +2 +3 +4 +5 <5 -2", [1, 5], [3, 4]),
        ("+1 +2 +3 +4 !4", [1, 2, 4], [3]),
        ("+1 +2 +3 +4 !4 -1", [2, 4], [3]),
        ("+1 +2 +3 +4 !4 -1 -2", [4, 3], []),
        ("+1 +2 +3 -1 +1", [2, 3], [1]),
    ],
)
def test_two_places_go_to_who_came_first(
    steps: str, expected_in: list[int], expected_waiting: list[int]
) -> None:
    night = a_door(2)
    for step in steps.split():
        do(night, step[0], int(step[1]))
    assert (playing(night), waiting(night)) == (expected_in, expected_waiting)
    positions = [waiting_list.position_of(night.tournament, player_id) for player_id in expected_waiting]
    assert positions == list(range(1, len(expected_waiting) + 1))


@given(
    limit=st.integers(1, 4),
    steps=st.lists(st.tuples(st.sampled_from("++++-<!"), st.sampled_from(PEOPLE)), max_size=25),
)
def test_nobody_waits_beside_a_free_place_nor_twice_and_undo_gives_the_list_back(
    limit: int, steps: list[tuple[str, int]]
) -> None:
    night = a_door(limit)
    states = [night.tournament]
    admitted = 0
    for step, player_id in steps:
        try:
            do(night, step, player_id)
        except (Conflict, NotFound):
            continue
        admitted += step == "!"
        assert not set(playing(night)) & set(waiting(night))
        assert len(set(waiting(night))) == len(waiting(night))
        assert len(playing(night)) <= limit + admitted
        assert not waiting(night) or waiting_list.free_places(night.tournament) <= 0
        if len(night.journal) == len(states):
            states.append(night.tournament)
    for earlier in reversed(states[:-1]):
        night.undo()
        assert (night.tournament.entrants, waiting(night)) == (
            earlier.entrants,
            [entry.player_id for entry in waiting_list.waiting_entries(earlier)],
        )


def test_a_second_sign_up_a_stranger_and_a_position_behind_the_end_are_refused() -> None:
    night = a_door(1)
    do(night, "+", 1)
    do(night, "+", 2)
    for listed in (1, 2):
        with pytest.raises(Conflict, match="on the list already"):
            do(night, "+", listed)
    for step in "!<-":
        with pytest.raises(NotFound):
            do(night, step, 7)
    with pytest.raises(Invalid):
        sign_ups.move_waiting(night.tournament, 2, 3)
