"""A machine for two is never given to a group of three or four. Source: formats, section 7 and 26."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.night import Night, a_night
from rules.properties import quick
from silverball.kit.values import replace
from silverball.rules.commands import games
from silverball.rules.drawing import arenas
from silverball.rules.drawing.arenas import DrawableArena, DrawableBank
from silverball.rules.mechanics.lineups import ArenaForFewerPlayers

WAYS = ("balanced", "random", "category_banks")


def a_room(players: int, small: tuple[int, ...], **given: object) -> Night:
    """A group match play in which these arenas are for two."""
    night = a_night("group_matchplay", players=players, arenas=4, **given)
    state = replace(night.tournament.state, arena_limits=dict.fromkeys(small, 2))
    lineup = tuple(
        replace(arena, category_id=1 + number % 2) for number, arena in enumerate(night.tournament.lineup)
    )
    night.tournament = replace(night.tournament, state=state, lineup=lineup)
    night.start()
    return night


@pytest.mark.parametrize("way", WAYS)
def test_a_group_of_four_waits_for_a_machine_rather_than_play_one_for_two(way: str) -> None:
    night = a_room(8, (501, 502, 503), arena_assignment=way, games_per_round=2)
    given = {game.arena_id for game in night.open_round()}
    assert given == {504, None}


def test_a_pair_beside_a_group_of_three_takes_the_machine_for_two() -> None:
    # Five players are three and two: by hand, only one way gives both a machine.
    three = [DrawableArena(1, players_max=2), DrawableArena(2)]
    for seed in range(20):
        drawn = arenas.assign_balanced([(1, 2, 3), (4, 5)], three, {}, waves=1, dice=Random(seed))
        assert drawn == [(2,), (1,)]


def test_a_bank_with_a_machine_for_two_goes_to_no_group_of_four() -> None:
    banks = [DrawableBank(7, (1, 2), players_max=2), DrawableBank(8, (3, 4))]
    for seed in range(20):
        lineups = arenas.assign_banks([(1, 2, 3, 4)], banks, {}, waves=2, dice=Random(seed))
        assert [(lineup.bank_id, lineup.arenas) for lineup in lineups] == [(8, (3, 4))]
    only = arenas.assign_banks([(1, 2, 3, 4)], banks[:1], {}, waves=2, dice=Random(7))
    assert [(lineup.bank_id, lineup.arenas) for lineup in only] == [(None, (None, None))]


def test_no_machine_for_two_replaces_a_broken_one_of_four() -> None:
    choice = [DrawableArena(1, players_max=2), DrawableArena(2)]
    assert arenas.draw_replacement((1, 2, 3, 4), choice, {}, [], Random(7)) == 2
    assert arenas.draw_replacement((1, 2, 3, 4), choice, {}, [2], Random(7)) is None
    assert arenas.draw_replacement((1, 2), choice, {}, [2], Random(7)) == 1


@given(
    st.integers(0, 2**16),
    st.lists(st.integers(2, 4), min_size=1, max_size=5),
    st.lists(st.sampled_from([2, 3, 4]), min_size=1, max_size=6),
    st.integers(1, 3),
)
@quick
def test_every_machine_is_large_enough_whatever_is_drawn(
    seed: int, sizes: list[int], limits: list[int], waves: int
) -> None:
    groups = [tuple(range(10 * at, 10 * at + size)) for at, size in enumerate(sizes)]
    choice = [DrawableArena(at, players_max=limit) for at, limit in enumerate(limits)]
    for assigned in (
        arenas.assign_balanced(groups, choice, {}, waves=waves, dice=Random(seed)),
        arenas.assign_random(groups, choice, waves=waves, dice=Random(seed)),
    ):
        for group, lineup in zip(groups, assigned, strict=True):
            assert all(arena is None or len(group) <= limits[arena] for arena in lineup)


@given(st.integers(0, 2**16), st.integers(2, 9))
@quick
def test_a_draw_without_such_machines_is_what_it_was(seed: int, players: int) -> None:
    plain, known = a_night("group_matchplay", players=players), a_night("group_matchplay", players=players)
    state = replace(known.tournament.state, arena_limits={999: 2}, dice_seed=str(seed))
    known.tournament = replace(known.tournament, state=state)
    plain.tournament = replace(plain.tournament, state=replace(plain.tournament.state, dice_seed=str(seed)))
    for night in (plain, known):
        night.start()
    assert plain.open_round() == known.open_round()


def test_by_hand_it_is_refused_with_its_size() -> None:
    night = a_room(4, (501,), arena_assignment="manual")
    (game,) = night.open_round()
    with pytest.raises(ArenaForFewerPlayers):
        games.change_arena(night.tournament, game.game_id, 501)
    assert games.change_arena(night.tournament, game.game_id, 502)
