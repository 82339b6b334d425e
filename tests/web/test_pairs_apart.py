"""The page of the pairs that should not meet: chosen by name, seen by the organizer alone."""

import pytest

from web.director import Director
from web.page_forms import text_of
from web.public_visitor import PublicVisitor

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
PAGE = "/apart"


def test_pairs_are_chosen_by_name_and_taken_out_again(director: Director) -> None:
    director.create("group_matchplay")
    director.start(8, 4)
    ann, ben, cleo, dora, *_ = director.tournament().active_ids
    director.send("apart-in", PAGE, playerId=ben, withPlayerId=ann)
    director.send("apart-in", PAGE, playerId=cleo, withPlayerId=dora)
    assert director.tournament().state.apart == ((ann, ben), (cleo, dora))
    assert "Player 1 and Player 2" in text_of(director.page(PAGE))
    director.send("apart-out", PAGE, taken=f"{ann}-{ben}")
    assert director.tournament().state.apart == ((cleo, dora),)
    director.send("undo", PAGE)
    assert director.tournament().state.apart == ((ann, ben), (cleo, dora))
    public = PublicVisitor(director.store).page(f"/t/{director.tournament_id}")
    assert "should not meet" not in text_of(public)


def test_a_choice_that_is_none_is_refused_and_changes_nothing(director: Director) -> None:
    director.create("matchplay")
    director.start(4, 2)
    ann, *_ = director.tournament().active_ids
    assert (
        "is paired with themselves" in director.refused("apart-in", PAGE, playerId=ann, withPlayerId=ann)[1]
    )
    assert director.refused("apart-in", PAGE, playerId=ann, withPlayerId="")[0] == 422
    assert director.tournament().state.apart == ()


def test_formats_without_a_draw_say_so(director: Director) -> None:
    director.create("round_robin")
    director.fill(4, 2)
    assert "Nobody can be kept apart here" in text_of(director.page(PAGE))
    assert "apart-in" not in director.forms(PAGE)
