"""The schedule of max match play. Source: formats, section 14.5 and section 25, item 9."""

from collections import Counter
from functools import partial
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.properties import quick
from silverball.rules.drawing import history, schedule
from silverball.rules.drawing.schedule import FreePlayer, Meeting

STEPS_MAX = 2000


def _pairs(meetings: list[Meeting]) -> Counter[Meeting]:
    return Counter((min(pair), max(pair)) for pair in meetings)


@given(st.integers(2, 17), st.integers(0, 20), st.integers())
@quick
def test_everybody_has_the_same_number_of_games_and_repeats_are_spread(
    players: int, games: int, seed: int
) -> None:
    games += players * games % 2
    pairs = _pairs(schedule.regular_schedule(range(players), games, Random(seed)))
    played = Counter(player for pair in pairs.elements() for player in pair)
    assert all(played[player] == games for player in range(players))
    whole, part = divmod(games, players - 1)
    assert {pairs[pair] for pair in combinations(range(players), 2)} <= {whole, whole + (part > 0)}


def _night(players: int, games: int, slots: int | None, dice: Random) -> list[Meeting]:
    """Play a schedule to its end: running games end in random order."""
    left = schedule.regular_schedule(range(players), games, dice)
    counts = dict.fromkeys(range(players), 0)
    turns = dict.fromkeys(range(players), 0)
    running: list[Meeting] = []
    played: list[Meeting] = []
    for step in range(STEPS_MAX):
        busy = {player for pair in running for player in pair}
        free = [FreePlayer(player, counts[player], turns[player]) for player in counts if player not in busy]
        open_slots = None if slots is None else slots - len(running)
        for pair in schedule.meetings_to_start(left, free, open_slots, dice):
            left.remove(pair if pair in left else pair[::-1])
            running.append(pair)
            counts[pair[0]] += 1
            counts[pair[1]] += 1
        if not running:
            break
        ended = running.pop(dice.randrange(len(running)))
        turns[ended[0]] = turns[ended[1]] = step
        played.append(ended)
    return played


@pytest.mark.parametrize("seed", range(0, 200, 10))
def test_ten_players_with_nine_games_meet_everybody_once_in_any_order(seed: int) -> None:
    for round_seed in range(seed, seed + 10):
        played = _pairs(_night(10, 9, None, Random(round_seed)))
        assert played == Counter(combinations(range(10), 2))


@pytest.mark.parametrize("slots", [1, 2, 4])
def test_a_night_ends_on_few_arenas_too(slots: int) -> None:
    played = _night(11, 6, slots, Random(7))
    assert Counter(player for pair in played for player in pair) == dict.fromkeys(range(11), 6)


def test_nobody_starts_more_games_than_fit() -> None:
    free = [FreePlayer(player, 0, player) for player in range(6)]
    meetings = list(combinations(range(6), 2))
    assert len(schedule.meetings_to_start(meetings, free, None, Random(7))) == 3
    assert len(schedule.meetings_to_start(meetings, free, 2, Random(7))) == 2
    assert schedule.meetings_to_start(meetings, free, 0, Random(7)) == []


def test_fewest_games_go_first_then_the_longest_wait() -> None:
    free = [FreePlayer(1, 3, 1), FreePlayer(2, 3, 2), FreePlayer(3, 1, 9), FreePlayer(4, 3, 3)]
    meetings = [(1, 2), (1, 3), (2, 3), (3, 4)]
    # Two games fit either way; with one arena the player with one game and the longest waiting start.
    assert [sorted(pair) for pair in schedule.meetings_to_start(meetings, free, 1, Random(7))] != [[1, 2]]
    assert sorted(schedule.meetings_to_start([(1, 3), (3, 4)], free, 1, Random(7))[0]) == [1, 3]


def test_a_free_arena_goes_to_those_who_know_it_least() -> None:
    free = [FreePlayer(1, 3, 1), FreePlayer(2, 3, 2), FreePlayer(3, 1, 9), FreePlayer(4, 3, 3)]
    meetings = [(1, 2), (1, 3), (3, 4)]
    plays = {3: {501: 1, 502: 0}, 1: {502: 4}}
    start = partial(schedule.meetings_to_start, meetings, free, 1, Random(7), plays=plays)
    # Who has the fewest games knows the one free arena; the other is new to them.
    assert [sorted(pair) for pair in start(arena_ids=[501])] == [[1, 2]]
    assert [sorted(pair) for pair in start(arena_ids=[501, 502])] == [[3, 4]]
    assert [sorted(pair) for pair in start(arena_ids=[])] == [[1, 3]]


def test_as_many_games_start_as_fit_whatever_is_known() -> None:
    free = [FreePlayer(player, 0, player) for player in range(4)]
    # The cheapest meeting alone would leave nobody for a second.
    plays = {player: {501: 1} for player in (0, 3)}
    meetings = [(0, 1), (1, 2), (2, 3)]
    for slots in (2, None):
        assert (
            len(
                schedule.meetings_to_start(
                    meetings, free, slots, Random(7), plays=plays, arena_ids=[501, 502]
                )
            )
            == 2
        )


def test_nine_games_for_eleven_players_are_refused() -> None:
    with pytest.raises(schedule.OddSchedule, match="11 players cannot play 9 games"):
        schedule.regular_schedule(range(11), 9, Random(7))


NEEDS = st.dictionaries(st.integers(1, 12), st.integers(0, 6), max_size=10)


@given(NEEDS, st.integers())
@quick
def test_a_rebuilt_schedule_gives_every_player_their_games_or_a_walkover(
    needs: dict[int, int], seed: int
) -> None:
    built = schedule.rebuild_schedule(needs, history.EMPTY_HISTORY, Random(seed))
    got = Counter(player for pair in built.meetings for player in pair)
    got.update(built.walkovers)
    assert +got == +Counter(needs)
    assert all(player_id != opponent_id for player_id, opponent_id in built.meetings)
    most, total = max(needs.values(), default=0), sum(needs.values())
    if total % 2 == 0 and 2 * most <= total:
        assert built.walkovers == {}


def test_a_rebuilt_schedule_avoids_those_already_met() -> None:
    past = history.history_of_rounds([[(1, 2), (3, 4), (5, 6)], [(1, 3), (2, 5), (4, 6)]])
    for seed in range(10):
        built = schedule.rebuild_schedule(dict.fromkeys(range(1, 7), 3), past, Random(seed))
        assert all(past.times_met(*pair) == 0 for pair in built.meetings)
        assert max(_pairs(list(built.meetings)).values()) == 1


def test_the_one_with_too_many_games_left_gets_walkovers() -> None:
    built = schedule.rebuild_schedule({1: 5, 2: 1, 3: 1}, history.EMPTY_HISTORY, Random(7))
    assert built.walkovers == {1: 3}
    assert schedule.rebuild_schedule({}, history.EMPTY_HISTORY, Random(7)).meetings == ()
