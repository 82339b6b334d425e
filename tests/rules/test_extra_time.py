"""Extra time for one game, and the list of the games whose time is up."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.night import NOON, Night, a_night
from silverball.kit.errors import Conflict, NotFound
from silverball.rules.commands import clocks
from silverball.rules.mechanics import rounds

MINUTE = timedelta(minutes=1)


def a_timed_night() -> Night:
    """Two open games of a round that ends at 12:20."""
    night = a_night("matchplay", players=8, arenas=4)
    night.start()
    night.open_round()
    night.apply(clocks.set_round_timer(night.tournament, 20, night.now))
    return night


@pytest.mark.parametrize(
    ("minute", "more", "end"),
    [(0, 5, 25), (19, 5, 25), (20, 5, 25), (28, 5, 33)],
    ids=["on top of the round", "shortly before the end", "at the end", "from now on, once it is over"],
)
def test_one_game_gets_more_time_than_its_round(minute: int, more: int, end: int) -> None:
    night = a_timed_night()
    first, second, *_ = night.open_games()
    now = NOON + minute * MINUTE
    night.apply(clocks.give_extra_time(night.tournament, first.game_id, more, now))
    assert rounds.game_ends_at(night.tournament, first) == NOON + end * MINUTE
    assert rounds.game_ends_at(night.tournament, second) == NOON + 20 * MINUTE
    assert rounds.round_ends_at(night.tournament) == NOON + 20 * MINUTE
    night.undo()
    assert rounds.game_ends_at(night.tournament, first) == NOON + 20 * MINUTE


def test_extra_time_adds_up_and_a_round_that_ends_later_still_holds() -> None:
    night = a_timed_night()
    game = night.open_games()[0]
    for _ in range(2):
        night.apply(clocks.give_extra_time(night.tournament, game.game_id, 3, NOON))
    assert rounds.game_ends_at(night.tournament, game) == NOON + 26 * MINUTE
    night.apply(clocks.extend_round(night.tournament, 10, NOON))
    assert rounds.game_ends_at(night.tournament, game) == NOON + 30 * MINUTE


def test_late_games_are_listed_the_latest_first() -> None:
    night = a_timed_night()
    first, second = night.open_games()[:2]
    assert rounds.late_games(night.tournament, NOON + 19 * MINUTE) == []
    night.apply(clocks.give_extra_time(night.tournament, first.game_id, 5, NOON))
    late = rounds.late_games(night.tournament, NOON + 22 * MINUTE)
    assert first.game_id not in [game.game_id for game, _ in late]
    assert {late_by for _, late_by in late} == {2 * MINUTE}
    latest = rounds.late_games(night.tournament, NOON + 27 * MINUTE)
    assert (latest[0][1], latest[-1]) == (7 * MINUTE, (first, 2 * MINUTE))
    night.record_order(second, *second.player_ids)
    left = rounds.late_games(night.tournament, NOON + 27 * MINUTE)
    assert second.game_id not in [game.game_id for game, _ in left]


@given(steps=st.lists(st.tuples(st.integers(0, 40), st.integers(1, 240)), max_size=6))
def test_extra_time_never_ends_a_game_before_its_round_or_before_now(steps: list[tuple[int, int]]) -> None:
    night = a_timed_night()
    game, other = night.open_games()[:2]
    minute = 0
    for passed, more in steps:
        minute += passed
        now = NOON + minute * MINUTE
        night.apply(clocks.give_extra_time(night.tournament, game.game_id, more, now))
        ends_at = rounds.game_ends_at(night.tournament, game)
        assert ends_at is not None
        assert ends_at >= max(now, NOON + 20 * MINUTE) + more * MINUTE
        assert rounds.game_ends_at(night.tournament, other) == NOON + 20 * MINUTE


def test_a_game_with_a_result_a_stranger_and_a_night_without_a_timer_get_none() -> None:
    night = a_timed_night()
    first, second = night.open_games()[:2]
    night.record_order(first, *first.player_ids)
    with pytest.raises(Conflict):
        clocks.give_extra_time(night.tournament, first.game_id, 5, night.now)
    with pytest.raises(NotFound):
        clocks.give_extra_time(night.tournament, 999, 5, night.now)
    night.apply(clocks.set_round_timer(night.tournament, 0, night.now))
    with pytest.raises(Conflict, match="No timer runs"):
        clocks.give_extra_time(night.tournament, second.game_id, 5, night.now)


def test_extra_time_of_games_that_have_ended_is_forgotten_with_the_next() -> None:
    night = a_timed_night()
    first, second = night.open_games()[:2]
    night.apply(clocks.give_extra_time(night.tournament, first.game_id, 5, night.now))
    night.record_order(first, *first.player_ids)
    night.apply(clocks.give_extra_time(night.tournament, second.game_id, 5, night.now))
    assert list(night.tournament.state.extended_ends) == [second.game_id]
