"""A script sends a form and asks for no page: the answer names the page; a refusal still has its own."""

import pytest

from web import page_forms
from web.director import Director

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

WITHOUT_PAGE = "return=minimal"


def test_a_taken_result_is_answered_with_the_address_of_its_page_alone(director: Director) -> None:
    game = director.play("matchplay")
    form, first = director.forms()[f"result-{game.game_id}"], game.player_ids[0]
    ask_for_no_page(director)
    for _ in range(2):
        # The second is a repetition: it acts once, and is answered alike.
        answer = director.post(form, first=first)
        assert (answer.status_code, answer.content) == (204, b"")
        assert answer.headers["location"] == director.at
        assert answer.headers["preference-applied"] == WITHOUT_PAGE
        assert answer.headers["cache-control"] == "no-store"
        assert "content-length" not in answer.headers
    assert director.game(game).result_positions == game.player_ids


def test_a_refused_result_has_its_page(director: Director) -> None:
    game = director.play("matchplay")
    first, second = game.player_ids
    stale = director.forms()[f"result-{game.game_id}"]
    director.send(f"result-{game.game_id}", first=first)
    ask_for_no_page(director)
    refused = director.post(stale, first=second)
    assert refused.status_code == 409
    assert "somebody was quicker" in page_forms.alerts_on(refused.text)[0]


def test_who_is_signed_out_gets_the_form_again_or_the_address_of_the_sign_in(director: Director) -> None:
    game = director.play("matchplay")
    first = game.player_ids[0]
    form = director.forms()[f"result-{game.game_id}"]
    director.visitor.cookies.clear()
    ask_for_no_page(director)
    assert director.post(form, first=first).status_code == 401
    # Without the word of the browser that it comes from one of our pages.
    answer = director.visitor.post(form.action, data=dict(form.filled(first=first)))
    assert (answer.status_code, answer.headers["location"]) == (204, "/account/sign-in")
    assert director.game(game).status == "started"


def ask_for_no_page(director: Director) -> None:
    director.visitor.headers["prefer"] = WITHOUT_PAGE
