"""The end of a night on Now: the podium, sharing, payouts, the federation's file, and the next night."""

import pytest

from web import page_forms
from web.director import Director
from web.test_next_step import rank_apart

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def finish_a_night(director: Director) -> None:
    director.play(duration=1)
    director.finish_all()
    rank_apart(director)
    director.send("complete-now")


def test_now_has_the_podium_and_what_is_left_to_do(director: Director) -> None:
    finish_a_night(director)
    page = director.page()
    text = page_forms.text_of(page)
    assert "Winner: Player 1" in text
    assert "1 Player 1 1000 points 2 Player 2 980 points 3 Player 3 960 points Share the result" in text
    assert f'href="/t/{director.tournament_id}/summary" data-share=' in page
    assert "Results for the federation 8 players, 8 without a number" in text
    assert "Prize money none is set up" in text
    like = f"/run/new?like={director.tournament_id}"
    assert like in page
    assert "Like Night of group_matchplay" in page_forms.text_of(director.page(like))


def test_payouts_are_ticked_off_where_the_night_ends(director: Director) -> None:
    director.play(duration=1)
    director.send("prize-form", "/prizes", extras="90", places="2", shares="", currency="EUR")
    director.finish_all()
    rank_apart(director)
    assert "Payouts" not in director.page()
    director.send("complete-now")
    winner = director.tournament().entrants[0].player_id
    assert "Payouts 1. Player 1" in page_forms.text_of(director.page())
    assert director.send(f"paid-{winner}") == director.at
    assert "Take back : Player 1" in page_forms.text_of(director.page())


def test_places_without_points_show_no_figure(director: Director) -> None:
    director.create("bracket")
    director.start(4)
    while director.open_games():
        director.finish(director.open_games()[0])
    director.send("complete-now")
    assert "1 Player 1 2 Player" in page_forms.text_of(director.page())


def test_strikes_are_called_strikes(director: Director) -> None:
    director.play("knockout", players=4, knockoutStrikeCount=1)
    director.finish_all()
    director.send("round-open")
    director.finish_all()
    director.send("complete-now")
    assert "1 Player 1 0 strikes 2 Player" in page_forms.text_of(director.page())
