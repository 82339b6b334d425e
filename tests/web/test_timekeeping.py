"""The round timer and calls, from the console to the wall and to the players' pages."""

import re
from typing import Any

import pytest
from sqlalchemy import select

from mirror import Mirror
from silverball.service.journal.reads import verification
from silverball.store import tables
from silverball.store.database.engine import Store
from web.director import Director
from web.public_visitor import PublicVisitor
from web.scorekeeper_devices import become, page_of
from web.visitor import Visitor

TIMER = re.compile(r'data-timer="([^"]+)"')
CALL = re.compile(r'data-call="([^"]+)"')


@pytest.fixture
def game(director: Director) -> Any:
    """The first game of an open round."""
    return director.play("matchplay", players=4)


def set_timer(director: Director, minutes: int = 20) -> None:
    director.send("timer-set", minutes=minutes)


def call_game(director: Director, game: Any) -> None:
    director.send(f"call-{game.game_id}", f"/game?game={game.game_id}")


def test_a_timer_is_shown_on_the_console_the_wall_and_the_players_pages(
    director: Director, game: Any, store: Store
) -> None:
    assert not TIMER.search(director.page())
    set_timer(director)
    (end,) = TIMER.findall(director.page())
    passer = PublicVisitor(store)
    at = f"/t/{director.tournament_id}"
    for path in (at, f"{at}/wall", f"{at}/overlay"):
        assert TIMER.findall(passer.page(path)) == [end], path
    player_page = page_of(director.visitor, f"{at}/players/{game.player_ids[0]}")
    assert TIMER.findall(player_page) == [end]
    passer.close()


def test_a_round_gets_five_minutes_more_by_one_tap(director: Director, game: Any) -> None:
    set_timer(director)
    before = director.tournament().state.timed_round_ends_at
    director.send("timer-more", minutes=5)
    after = director.tournament().state.timed_round_ends_at
    assert before is not None
    assert after is not None
    assert (after - before).total_seconds() == 300


def test_a_timer_is_switched_off_by_no_minutes(director: Director, game: Any) -> None:
    set_timer(director)
    set_timer(director, 0)
    assert not TIMER.search(director.page())


@pytest.mark.parametrize("minutes", ["", "-1", "241", "soon"])
def test_impossible_minutes_are_refused(director: Director, game: Any, minutes: str) -> None:
    status, alert = director.refused("timer-set", minutes=minutes)
    assert status == 422
    assert "minutes" in alert.lower()
    assert director.tournament().state.round_minutes is None


def test_a_called_game_is_marked_on_the_wall_and_rings_again_on_a_players_page(
    director: Director, game: Any, store: Store
) -> None:
    player_page = f"/t/{director.tournament_id}/players/{game.player_ids[0]}"
    assert CALL.findall(page_of(director.visitor, player_page)) == [str(game.game_id)]
    call_game(director, game)
    (key,) = CALL.findall(page_of(director.visitor, player_page))
    assert key.startswith(f"{game.game_id}-")
    passer = PublicVisitor(store)
    wall = passer.page(f"/t/{director.tournament_id}/wall")
    assert wall.count(">called</span>") == 1
    passer.close()


def test_rows_of_open_games_share_a_form_that_calls(director: Director, game: Any) -> None:
    director.send("call", game_id=game.game_id)
    assert list(director.tournament().state.calls) == [game.game_id]
    assert f'name="game_id" value="{game.game_id}">Call again' in director.page()


def test_a_scorekeepers_device_calls_players_and_sets_no_timer(
    director: Director, game: Any, tablet: Visitor
) -> None:
    become(tablet, director)
    page = page_of(tablet, director.at)
    assert 'form="call"' in page
    assert "Round timer" not in page


def players_of(director: Director, game: Any) -> str:
    """The names of a game's players, in the order of their seats, as a sentence lists them."""
    with director.store.read() as db:
        rows = db.execute(select(tables.player.c.player_id, tables.player.c.name)).all()
    names = dict(tuple(row) for row in rows)
    return ", ".join(names[player_id] for player_id in game.player_ids)


def test_undo_and_history_name_timers_and_calls(director: Director, game: Any) -> None:
    set_timer(director)
    assert "Round timer set to 20 minutes" in director.page()
    director.send("timer-more", minutes=5)
    assert "Round timer changed" in director.page()
    call_game(director, game)
    called = f"Called: {players_of(director, game)}"
    assert called in director.page()
    director.send("undo")
    assert director.tournament().state.calls == {}
    history = director.page("/journal")
    assert "Round timer set to 20 minutes." in history
    assert f"{called}." in history


def test_followers_learn_of_timers_and_calls(director: Director, game: Any, store: Store) -> None:
    mirror = Mirror(store, director.tournament_id)
    set_timer(director)
    call_game(director, game)
    assert mirror.follow() == ["TournamentUpdated", "GameCreatedOrUpdated"]


def test_a_journal_with_timers_and_calls_is_verified(director: Director, game: Any, store: Store) -> None:
    set_timer(director)
    call_game(director, game)
    director.finish(game)
    with store.read() as db:
        assert not verification.verify_tournament(db, director.tournament_id).faults


def test_games_whose_time_is_up_are_listed_and_one_gets_more_time(director: Director, game: Any) -> None:
    set_timer(director)
    assert "Time is up in" not in director.page()
    director.send("timer-more", minutes=-240)
    assert "Time is up in 2 games" in director.page()
    director.send("extra-time-overdue", game_id=game.game_id)
    assert "Time is up in 1 game<" in director.page()
    assert f"Extra time: {players_of(director, game)}." in director.page("/journal")
    (own_end,) = TIMER.findall(
        page_of(director.visitor, f"/t/{director.tournament_id}/players/{game.player_ids[0]}")
    )
    assert own_end > TIMER.findall(director.page())[0]


def test_a_game_gets_more_time_on_its_own_page_which_undo_takes_back(director: Director, game: Any) -> None:
    set_timer(director)
    director.send(f"extra-time-{game.game_id}", f"/game?game={game.game_id}", minutes=5)
    assert list(director.tournament().state.extended_ends) == [game.game_id]
    director.send("undo")
    assert director.tournament().state.extended_ends == {}
