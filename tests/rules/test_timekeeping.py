"""The round timer and calls of players."""

from datetime import timedelta

import pytest

from rules.night import NOON, Night, a_night
from silverball.kit.errors import Conflict, NotFound
from silverball.rules.commands import clocks
from silverball.rules.mechanics.rounds import round_ends_at

MINUTE = timedelta(minutes=1)


def a_timed_night(minutes: int = 20) -> Night:
    """A match play with an open round and a timer, set when the round was three minutes old."""
    night = a_night("matchplay", players=4)
    night.start()
    night.open_round()
    night.now = NOON + 3 * MINUTE
    night.apply(clocks.set_round_timer(night.tournament, minutes, night.now))
    return night


def test_a_timer_counts_for_the_open_round_from_now_on() -> None:
    night = a_timed_night(minutes=20)
    assert round_ends_at(night.tournament) == NOON + 23 * MINUTE


def test_the_next_round_has_its_minutes_from_its_opening() -> None:
    night = a_timed_night(minutes=20)
    night.finish_round()
    night.complete_round()
    assert round_ends_at(night.tournament) is None
    night.now = NOON + 40 * MINUTE
    night.open_round()
    assert round_ends_at(night.tournament) == NOON + 60 * MINUTE


def test_a_timer_that_is_set_before_the_start_counts_from_the_first_round() -> None:
    night = a_night("matchplay", players=4)
    night.apply(clocks.set_round_timer(night.tournament, 15, night.now))
    assert round_ends_at(night.tournament) is None
    night.start()
    night.open_round()
    assert round_ends_at(night.tournament) == NOON + 15 * MINUTE


@pytest.mark.parametrize(
    ("minutes_later", "more", "end"),
    [(0, 5, 28), (0, -5, 18), (30, 5, 38), (0, -60, 3)],
    ids=["more", "fewer", "from now on, once it was over", "over at once"],
)
def test_the_open_round_gets_more_time(minutes_later: int, more: int, end: int) -> None:
    night = a_timed_night(minutes=20)
    night.now += minutes_later * MINUTE
    night.apply(clocks.extend_round(night.tournament, more, night.now))
    assert round_ends_at(night.tournament) == NOON + end * MINUTE


def test_no_minutes_switch_the_timer_off() -> None:
    night = a_timed_night()
    night.apply(clocks.set_round_timer(night.tournament, 0, night.now))
    assert round_ends_at(night.tournament) is None
    with pytest.raises(Conflict, match="No timer runs"):
        clocks.extend_round(night.tournament, 5, night.now)


@pytest.mark.parametrize("type_", ["bracket", "frenzy", "best_game"])
def test_formats_without_rounds_that_are_opened_have_no_timer(type_: str) -> None:
    night = a_night(type_)
    with pytest.raises(Conflict, match="have no timer"):
        clocks.set_round_timer(night.tournament, 20, night.now)


def test_a_completed_tournament_takes_no_timer() -> None:
    night = a_timed_night()
    night.complete(drops_open_round=True)
    with pytest.raises(Conflict, match="Reopen it"):
        clocks.set_round_timer(night.tournament, 20, night.now)


def test_players_are_called_once_more() -> None:
    night = a_timed_night()
    first, second = night.open_games()
    for minute, game in ((4, first), (5, second), (6, first)):
        night.apply(clocks.call_players(night.tournament, game.game_id, NOON + minute * MINUTE))
    calls = night.tournament.state.calls
    assert calls == {first.game_id: NOON + 6 * MINUTE, second.game_id: NOON + 5 * MINUTE}


def test_calls_of_games_that_have_ended_are_forgotten_with_the_next_call() -> None:
    night = a_timed_night()
    first, second = night.open_games()
    night.apply(clocks.call_players(night.tournament, first.game_id, night.now))
    night.record_order(first, *first.player_ids)
    night.apply(clocks.call_players(night.tournament, second.game_id, night.now))
    assert list(night.tournament.state.calls) == [second.game_id]


def test_only_players_of_open_games_are_called() -> None:
    night = a_timed_night()
    game = night.open_games()[0]
    night.record_order(game, *game.player_ids)
    with pytest.raises(Conflict):
        clocks.call_players(night.tournament, game.game_id, night.now)
    with pytest.raises(NotFound):
        clocks.call_players(night.tournament, 999, night.now)


def test_undo_takes_timers_and_calls_back() -> None:
    night = a_timed_night()
    night.apply(clocks.call_players(night.tournament, night.open_games()[0].game_id, night.now))
    night.undo()
    assert night.tournament.state.calls == {}
    night.undo()
    assert round_ends_at(night.tournament) is None
