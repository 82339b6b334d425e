"""The lower third of the overlay: the game on stream."""

import pytest

from silverball.store.database.engine import Store
from web import page_forms
from web.director import Director
from web.public_visitor import PublicVisitor


def third_of(store: Store, director: Director, query: str = "") -> str:
    """The text of the lower third."""
    passer = PublicVisitor(store)
    page = passer.page(f"/t/{director.tournament_id}/overlay?parts=third{query}")
    passer.close()
    assert page.count('class="part part-') == 1
    return page_forms.text_of(page)


def test_it_shows_the_game_called_last_with_places(store: Store, director: Director) -> None:
    director.play("matchplay", players=6)
    first, second, _ = director.open_games()
    assert director.name(first.player_ids[0]) in third_of(store, director)
    director.send("call", game_id=second.game_id)
    text = third_of(store, director)
    for player_id in second.player_ids:
        assert f"{director.name(player_id)} place 1" in text
    assert director.name(first.player_ids[0]) not in text


def test_it_stays_at_one_machine(store: Store, director: Director) -> None:
    director.play("matchplay", players=6)
    _, _, third = director.open_games()
    query = f"&machine={third.arena_id}"
    assert director.name(third.player_ids[0]) in third_of(store, director, query)
    director.finish(third)
    assert director.name(third.player_ids[0]) not in third_of(store, director, query)


@pytest.mark.parametrize("machine", ["0", "none", "%00", "9" * 40])
def test_an_unknown_machine_shows_nothing(store: Store, director: Director, machine: str) -> None:
    director.play("matchplay", players=4)
    assert "place" not in third_of(store, director, f"&machine={machine}")
