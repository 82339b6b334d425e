"""A player's own page while the tournament runs."""

from web import page_forms
from web.director import Director
from web.scorekeeper_devices import page_of


def test_a_player_whose_strikes_are_up_is_out_with_a_place(director: Director) -> None:
    game = director.play("knockout", players=4, knockoutStrikeCount=1)
    winner, loser = game.player_ids
    other = next(other for other in director.open_games() if other.game_id != game.game_id)
    director.finish(game, winner, loser)
    director.finish(other)
    at = f"/t/{director.tournament_id}/players"
    assert "No game at the moment." in page_forms.text_of(page_of(director.visitor, f"{at}/{winner}"))
    director.send("round-open")
    out = page_forms.text_of(page_of(director.visitor, f"{at}/{loser}"))
    assert "Out of the tournament, in place 3." in out
    assert "No game at the moment" not in out


def test_a_player_who_was_dropped_has_no_more_games_tonight(director: Director) -> None:
    director.create("knockout", knockoutStrikeCount=2)
    director.start(players=4)
    gone = director.tournament().entrants[0].player_id
    director.send("leave", f"/player?player={gone}")
    page = page_of(director.visitor, f"/t/{director.tournament_id}/players/{gone}")
    assert "No more games tonight." in page_forms.text_of(page)
