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
    waiting = page_forms.text_of(page_of(director.visitor, f"{at}/{winner}"))
    assert "Take a break Round 2 can be drawn. Your next game is shown here." in waiting
    director.send("round-open")
    out = page_forms.text_of(page_of(director.visitor, f"{at}/{loser}"))
    assert "Out of the tournament, in place 3." in out
    # The figure is in the unit of the format.
    assert "Place 3, 1 strike." in out
    assert "Take a break" not in out


def test_a_player_who_was_dropped_has_no_more_games_tonight(director: Director) -> None:
    director.create("knockout", knockoutStrikeCount=2)
    director.start(players=4)
    gone = director.tournament().entrants[0].player_id
    director.send("leave", f"/player?player={gone}")
    page = page_of(director.visitor, f"/t/{director.tournament_id}/players/{gone}")
    assert "No more games tonight." in page_forms.text_of(page)


def test_the_page_says_where_to_play_with_whom_and_who_starts(director: Director) -> None:
    director.play(duration=3)
    game = director.open_games()[0]
    first, second = game.player_ids[:2]
    at = f"/t/{director.tournament_id}/players"
    page = page_of(director.visitor, f"{at}/{second}")
    text = page_forms.text_of(page)
    assert "Play now Machine" in text
    assert 'data-letters="9"' in page
    assert "You play 2nd of 4. With you, in play order 1. " in text
    assert "You play 1st of 4." in page_forms.text_of(page_of(director.visitor, f"{at}/{first}"))
    director.finish(game)
    waiting = page_forms.text_of(page_of(director.visitor, f"{at}/{second}"))
    assert "Take a break 1 more result, then round 2 can be drawn. Your next game is shown here." in waiting
    assert "My games Machine" in waiting


def test_whoever_plays_at_will_is_not_told_to_rest(director: Director) -> None:
    for type_ in ("best_game", "golf"):
        director.create(type_)
        director.start(players=4)
        player = director.tournament().entrants[0].player_id
        page = page_of(director.visitor, f"/t/{director.tournament_id}/players/{player}")
        assert "Take a break" not in page_forms.text_of(page)
